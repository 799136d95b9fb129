"""What happens around each call that an agent makes: retries for the model, budgets for the tools.

Of LangChain's middleware hooks only those that wrap a call are used: the ones before and after a call are
steps of the graph and would eat the agent's recursion limit.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langgraph.types import Command

from lcbkit.models import call_with_retries, seeded
from lcbkit.topologies.answer import Usage
from lcbkit.topologies.pace import Pace
from lcbkit.topologies.transcript import MALFORMED, answer_text, repaired, was_cut

__all__ = ["MAX_CALLS_PER_MESSAGE", "MAX_CALLS_PER_RUN", "Calls", "Work", "answered", "refusal"]

MAX_CALLS_PER_MESSAGE = 8
MAX_CALLS_PER_RUN = 30

_TOO_MANY_AT_ONCE = f"ERROR: not run: at most {MAX_CALLS_PER_MESSAGE} calls in one message"
_TOO_MANY = f"ERROR: not run: all {MAX_CALLS_PER_RUN} calls are used up; answer with what you have"
_NOT_JSON = "ERROR: not run: the arguments are not valid JSON; call again with one complete JSON object"


@dataclass(slots=True, kw_only=True)
class Work:
    """One agent run under way, as its middleware sees it.

    Attributes:
        seed: sent with each model call.
        pace: its time limits and the gate.
        given: how many messages the agent was given; what follows is its own.
        on_tool: is told each tool call and its result.
        usage: of the model calls so far.
        answers: how many model calls were answered.
        asked_again: whether an empty answer has been asked for again.
        offer_tools: whether the agent may call tools in this run.
    """

    seed: int
    pace: Pace
    given: int
    on_tool: Callable[[ToolCall, str], None]
    usage: Usage = field(default_factory=Usage)
    answers: int = 0
    asked_again: bool = False
    offer_tools: bool = True


class Calls(AgentMiddleware[AgentState[Any], Work]):
    """The wraps around an agent's model and tool calls; all state is in the `Work` of the run."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Work],
        handler: Callable[[ModelRequest[Work]], Awaitable[ModelResponse[Any]]],
    ) -> AIMessage:
        """Ask the model, once more if its answer is empty."""
        work = request.runtime.context
        model, settings = seeded(request.model, work.seed)
        ready = request.override(model=model, model_settings={**request.model_settings, **settings})

        async def ask() -> BaseMessage:
            return (await handler(ready)).result[0]

        return await answered(work, ask, number=len(request.messages))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run a tool, or refuse: an exhausted budget and broken arguments are told to the model."""
        work = cast("Work", request.runtime.context)
        call, messages = request.tool_call, request.state["messages"]
        reason = refusal(call, [m for m in messages[work.given :] if isinstance(m, AIMessage)])
        if reason is None:
            result = await handler(request)
        else:
            result = ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")
        if isinstance(result, ToolMessage):
            work.on_tool(request.tool_call, result.text)
        return result


async def answered(work: Work, ask: Callable[[], Awaitable[BaseMessage]], *, number: int) -> AIMessage:
    """Ask the model at a place of its own, once more if its answer is empty.

    Args:
        work: the agent run that asks.
        ask: makes the call.
        number: of the answer in the conversation.
    """

    async def ask_in_place() -> BaseMessage:
        async with work.pace.place():
            return await ask()

    message = await _counted(work, ask_in_place)
    if _is_empty(message) and not work.asked_again:
        work.asked_again = True
        message = await _counted(work, ask_in_place)
    return repaired(message, number)


def refusal(call: ToolCall, own: Sequence[AIMessage]) -> str | None:
    """Why a call is not run; counted in the conversation itself, so that a replay refuses the same calls.

    Args:
        call: of the last message.
        own: the agent's own messages.
    """
    place = [other["id"] for other in own[-1].tool_calls].index(call["id"])
    if place >= MAX_CALLS_PER_MESSAGE:
        return _TOO_MANY_AT_ONCE
    if sum(len(message.tool_calls) for message in own[:-1]) + place >= MAX_CALLS_PER_RUN:
        return _TOO_MANY
    return _NOT_JSON if MALFORMED in call["args"] else None


async def _counted(work: Work, ask: Callable[[], Awaitable[BaseMessage]]) -> AIMessage:
    """One model call with retries; counted however it ends."""
    usage = Usage.of_call(None)
    try:
        message = await call_with_retries(ask)
        if not isinstance(message, AIMessage):
            raise TypeError(f"the model answered with a {type(message).__name__}, not with an AIMessage")
        calls = len(message.tool_calls) + len(message.invalid_tool_calls)
        usage = Usage.of_call(message.usage_metadata) + Usage(n_tool_calls=calls)
        work.answers += 1
        return message
    finally:
        work.usage += usage


def _is_empty(message: AIMessage) -> bool:
    wants_tools = message.tool_calls or message.invalid_tool_calls
    return not (wants_tools or answer_text(message) or was_cut(message))
