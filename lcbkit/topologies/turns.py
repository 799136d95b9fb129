"""One turn of an agent that works through others: one model call, and the tools that are its own.

Calls that give a worker its job are left open: the team's graph runs the workers and answers them.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolCall, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime

from lcbkit.models import seeded
from lcbkit.topologies.calls import Work, answered, refusal
from lcbkit.topologies.delegation import DELEGATE
from lcbkit.topologies.tools import PYTHON_EXEC, python_exec_tool

__all__ = ["delegate_tools", "turn_loop"]


def delegate_tools(workers: Sequence[str], texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """A tool for each worker, in OpenAI's form.

    Args:
        workers: their names.
        texts: what each is good for, by its name.
    """
    job = {"type": "string", "description": "What the worker is to do, with all that it needs to know."}
    parameters = {"type": "object", "properties": {"instructions": job}, "required": ["instructions"]}
    return [
        {
            "type": "function",
            "function": {
                "name": DELEGATE + worker,
                "description": f"Give {worker} a job and read its report. {texts[worker]}",
                "parameters": parameters,
            },
        }
        for worker in workers
    ]


def turn_loop(
    model: BaseChatModel, prompt: str, delegates: Sequence[Mapping[str, Any]]
) -> CompiledStateGraph[Any, Work, Any, Any]:
    """The loop of one turn: the model, then those of its calls that run code.

    Args:
        model: what is asked.
        prompt: the system prompt as sent.
        delegates: the tools that stay unanswered here.
    """
    runner = python_exec_tool()
    runner.handle_validation_error = True  # arguments that do not fit are told to the model
    offered: list[Any] = [runner, *delegates]

    async def ask(state: MessagesState) -> dict[str, Any]:
        work = get_runtime(Work).context
        chosen, settings = seeded(model, work.seed)
        bound = chosen.bind_tools(offered, **settings) if work.offer_tools else chosen.bind(**settings)
        messages: list[BaseMessage] = [SystemMessage(prompt), *state["messages"]]

        async def call() -> BaseMessage:
            return await bound.ainvoke(messages)

        return {"messages": [await answered(work, call, number=len(state["messages"]))]}

    async def run_code(state: MessagesState) -> dict[str, Any]:
        work = get_runtime(Work).context
        results = await asyncio.gather(
            *(run(call, reason) for call, reason in _code_calls(state["messages"]))
        )
        for (call, _), result in zip(_code_calls(state["messages"]), results, strict=True):
            work.on_tool(call, result.text)
        return {"messages": results}

    async def run(call: ToolCall, reason: str | None) -> ToolMessage:
        if reason is not None:
            return ToolMessage(reason, name=call["name"], tool_call_id=call["id"], status="error")
        result: ToolMessage = await runner.ainvoke(call)
        return result

    graph = StateGraph(MessagesState, context_schema=Work)
    graph.add_node("ask", ask)
    graph.add_node("run_code", run_code)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", lambda state: "run_code" if _code_calls(state["messages"]) else END)
    graph.add_edge("run_code", END)
    return graph.compile()


def _code_calls(messages: Sequence[BaseMessage]) -> list[tuple[ToolCall, str | None]]:
    """The last message's calls of python_exec, each with the reason not to run it, if there is one."""
    own = [_without_delegations(message) for message in messages if isinstance(message, AIMessage)]
    return [(call, refusal(call, own)) for call in own[-1].tool_calls]


def _without_delegations(message: AIMessage) -> AIMessage:
    """The message with its calls of python_exec alone: jobs for workers have a budget of their own."""
    calls = [call for call in message.tool_calls if call["name"] == PYTHON_EXEC]
    return message.model_copy(update={"tool_calls": calls})
