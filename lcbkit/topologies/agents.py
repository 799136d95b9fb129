"""An agent: a chat model in a loop with its tools, whose every ending is a record."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolCall
from langgraph.config import get_stream_writer
from langgraph.errors import GraphRecursionError
from langgraph.graph.state import CompiledStateGraph

from lcbkit.errors import LcbkitError
from lcbkit.models import is_infrastructure_error
from lcbkit.topologies.answer import AgentRun
from lcbkit.topologies.calls import Calls, Work
from lcbkit.topologies.events import AgentFinished, AgentStarted, ToolCalled
from lcbkit.topologies.pace import Pace
from lcbkit.topologies.rollout import current_rollout
from lcbkit.topologies.tools import python_exec_tool
from lcbkit.topologies.transcript import answer_text, last_program, last_text, plain, was_cut
from lcbkit.topologies.turns import turn_loop

__all__ = ["AGENT_SECONDS", "Agent"]

AGENT_SECONDS = 600.0
"""How long one agent run may work."""

_ERROR_CHARS = 1_000


class Agent:
    """One role of a team, ready to work; holds nothing between runs.

    Args:
        role: its name.
        prompt: its system prompt as sent.
        model: what it asks.
        python_exec: whether it has the tool.
        max_tool_rounds: how often it may go to its tools and back before it must have answered.
        delegates: tools that give jobs to workers. An agent that is given them, even none, works one turn a
            run: one model call, whose calls to these are left to the caller.

    Raises:
        NotImplementedError: if it has the tool and the model cannot call tools.
    """

    def __init__(
        self,
        *,
        role: str,
        prompt: str,
        model: BaseChatModel,
        python_exec: bool,
        max_tool_rounds: int,
        delegates: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        self._role = role
        self._prompt = prompt
        self.python_exec = python_exec
        # A round is two steps of the loop, model and tools; one more is the answer after the last round, and
        # the loop raises when it has used up its limit.
        self._config: Any = {"recursion_limit": 2 * max_tool_rounds + 2}
        tools = [python_exec_tool()] if python_exec else []
        if tools:
            model.bind_tools(tools)  # a model that cannot says so now, not on the first problem
        self._loop: CompiledStateGraph[Any, Work, Any, Any]
        if delegates is not None:
            self._loop = turn_loop(model, prompt, delegates)
        else:
            self._loop = create_agent(
                model, tools, system_prompt=prompt, middleware=[Calls()], context_schema=Work
            )

    async def run(
        self,
        messages: Sequence[BaseMessage],
        *,
        number: int,
        round: int = 0,
        starter_code: str = "",
        offer_tools: bool = True,
    ) -> AgentRun:
        """Let the agent work, inside a node of a team's graph.

        Args:
            messages: what it reads; its system prompt comes first by itself.
            number: the agent's number in the team; its seed follows from it.
            round: of a debate, or turn of a manager.
            starter_code: of the problem.
            offer_tools: False withholds the tools of an agent that works by turns.

        Returns:
            The record. A failure is one too: only a cancellation and a user's mistake (a request that the
            recording does not hold, say) are raised.
        """
        rollout, emit = current_rollout(), get_stream_writer()
        emit(AgentStarted(agent=number, role=self._role, round=round))

        def on_tool(call: ToolCall, result: str) -> None:
            arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
            emit(
                ToolCalled(
                    agent=number, role=self._role, tool=call["name"], arguments=arguments, result=result
                )
            )

        work = Work(
            seed=rollout.seed + number,
            pace=Pace(AGENT_SECONDS, rollout.deadline, rollout.gate),
            given=len(messages),
            on_tool=on_tool,
            offer_tools=offer_tools,
        )
        conversation, stop_reason, failure = await self._converse(list(messages), work)
        own = conversation[work.given :]
        run = AgentRun(
            agent=number,
            role=self._role,
            round=round,
            seed=work.seed,
            text=_final_text(own, stop_reason),
            code=last_program(own, starter_code),
            stop_reason=stop_reason,
            error=None if failure is None else self._explained(failure),
            infra=failure is not None and is_infrastructure_error(failure),
            usage=work.usage,
            latency_s=work.pace.worked,
            messages=tuple(plain(message) for message in [SystemMessage(self._prompt), *conversation]),
        )
        emit(AgentFinished(run=run))
        return run

    async def _converse(
        self, messages: list[BaseMessage], work: Work
    ) -> tuple[list[BaseMessage], str, Exception | None]:
        """The conversation as far as it came, how it ended, and the failure that ended it, if any."""
        conversation = messages
        try:
            async with work.pace.limit():
                states = self._loop.astream(
                    {"messages": messages}, self._config, context=work, stream_mode="values"
                )
                async for state in states:
                    conversation = state["messages"]
        except GraphRecursionError:
            return conversation, "recursion_limit", None
        except LcbkitError:
            raise
        except Exception as error:  # noqa: BLE001 - what ends an agent must not end its team
            if not (isinstance(error, TimeoutError) and work.pace.expired):
                return conversation, "error", error
            silence = f"the model gave no answer in {work.pace.worked:.0f} seconds"
            hangs = not work.answers and work.pace.worked >= AGENT_SECONDS
            return conversation, "timeout", TimeoutError(silence) if hangs else None
        return conversation, _ending(_last_answer(conversation)), None

    def _explained(self, failure: Exception) -> str:
        """The failure in words, with the way out where a server refuses tools."""
        words = f"{type(failure).__name__}: {failure}"[:_ERROR_CHARS]
        if self.python_exec and not is_infrastructure_error(failure) and "tool" in words.lower():
            words += (
                " (if this endpoint cannot call tools, build the team with python_exec=False; on the command "
                "line, --no-python-exec)"
            )
        return words


def _last_answer(conversation: Sequence[BaseMessage]) -> AIMessage:
    """The agent's last message; results of tools may stand behind it."""
    return next(message for message in reversed(conversation) if isinstance(message, AIMessage))


def _ending(message: AIMessage) -> str:
    if was_cut(message):
        return "truncated"
    return "end" if answer_text(message) or message.tool_calls else "empty"


def _final_text(own: Sequence[BaseMessage], stop_reason: str) -> str:
    """The answer's text; of a conversation that was broken off, the last text that there was."""
    if stop_reason in ("end", "empty", "truncated"):
        return answer_text(_last_answer(own))
    return last_text(own)
