"""One team on one problem: what all graphs share of it, whatever their wiring."""

import asyncio
import operator
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime

from lcbkit.topologies.answer import AgentRun, HandoffRecord, TeamAnswer
from lcbkit.topologies.pace import Deadline
from lcbkit.waiting import run_sync

__all__ = ["ROLLOUT_SECONDS", "Rollout", "TeamState", "abstaining", "current_rollout", "node"]

ROLLOUT_SECONDS = 1_800.0
"""How long a team may work on one problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The context of one run of a team's graph.

    Attributes:
        seed: of agent 0; agent i gets `seed + i`.
        gate: held around each model call; None lets every call through.
        deadline: bounds the work of all agents together.
    """

    seed: int = 0
    gate: asyncio.Semaphore | None = None
    deadline: Deadline = field(default_factory=lambda: Deadline(ROLLOUT_SECONDS))


class TeamState(TypedDict, total=False):
    """What every team's graph holds.

    `task` is the problem's prompt, the one input that must be given; `starter_code` tells an answer from an
    untouched starter; `answers` collects the agent runs and `handoffs` what they read of each other; `result`
    is the team's answer.
    """

    task: str
    starter_code: str
    answers: Annotated[list[AgentRun], operator.add]
    handoffs: Annotated[list[HandoffRecord], operator.add]
    result: TeamAnswer


def current_rollout() -> Rollout:
    """The rollout of the graph that runs here; a plain one when the graph was invoked without a context."""
    return get_runtime(Rollout).context or Rollout()


def node(work: Callable[[Any], Awaitable[Any]]) -> Runnable[Any, Any]:
    """A graph node from a coroutine function that also serves `graph.invoke`, in a running loop as well."""

    async def asynchronously(state: Any) -> Any:
        return await work(state)

    def synchronously(state: Any) -> Any:
        return run_sync(lambda: asynchronously(state))

    return RunnableLambda(synchronously, afunc=asynchronously)


def abstaining(topology: str) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph of a team in which nobody acts: it gives an answer without a program, and asks no model."""

    async def abstain(_state: TeamState) -> TeamState:
        return {"result": TeamAnswer.of(code=None, raw="", trajectory=[])}

    graph = StateGraph(TeamState, context_schema=Rollout)
    graph.add_node("abstain", node(abstain))
    graph.add_edge(START, "abstain")
    graph.add_edge("abstain", END)
    return graph.compile(name=topology)
