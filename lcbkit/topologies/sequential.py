"""The sequential team: a line of specialists, each of whom reads the task and all that was written before.

`python -m lcbkit.topologies.sequential` shows it on the two built-in problems; with `--batch` it runs a
batch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from lcbkit.topologies.agents import Agent
from lcbkit.topologies.answer import AgentRun, HandoffRecord, TeamAnswer
from lcbkit.topologies.events import Handoff
from lcbkit.topologies.messages import Desk, own_words
from lcbkit.topologies.roles import Plan
from lcbkit.topologies.rollout import Rollout, TeamState, node
from lcbkit.topologies.submission import submitted

__all__ = ["build_graph"]

_ADVICE = "Use this in your own part."


def build_graph(
    plan: Plan, agents: Mapping[str, Agent], desk: Desk
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START -> one stage after the other -> END; nothing goes back."""

    def stage(number: int, role: str) -> Runnable[Any, Any]:
        async def work(state: TeamState) -> TeamState:
            before, starter = state.get("answers", []), state.get("starter_code", "")
            notes, handoffs = _notes(desk, before, role, starter)
            text = _message(plan.texts[role], state["task"], notes, role)
            run = await agents[role].run([HumanMessage(text)], number=number, starter_code=starter)
            update: TeamState = {"answers": [run], "handoffs": handoffs}
            if number == plan.active[-1][0]:
                read = [*state.get("handoffs", []), *handoffs]
                update["result"] = _answer(plan, desk, [*before, run], read)
            return update

        return node(work)

    graph = StateGraph(TeamState, context_schema=Rollout)
    last = START
    for number, role in plan.active:
        graph.add_node(role.name, stage(number, role.name))
        graph.add_edge(last, role.name)
        last = role.name
    graph.add_edge(last, END)
    return graph.compile(name=plan.topology).with_config(recursion_limit=len(plan.roles) + 5)


def _notes(
    desk: Desk, before: Sequence[AgentRun], reader: str, starter_code: str
) -> tuple[list[str], list[HandoffRecord]]:
    """What the earlier stages wrote, as this one reads it."""
    handed = [
        desk.hand_over(
            own_words(run), sender=run.role, target=reader, round=0, advice=_ADVICE, starter_code=starter_code
        )
        for run in before
    ]
    emit = get_stream_writer()
    for _, record in handed:
        emit(Handoff(record=record))
    return [text for text, _ in handed], [record for _, record in handed]


def _message(order: str, task: str, notes: Sequence[str], role: str) -> str:
    """The user message of a stage; its last line keeps the task's own last line from having the last word."""
    parts = [order, f"## Task\n\n{task.strip()}"]
    if notes:
        parts += ["## Notes of your colleagues", *notes]
    return "\n\n".join([*parts, f"Now do your part, that of the {role.replace('_', ' ')}."])


def _answer(
    plan: Plan, desk: Desk, runs: Sequence[AgentRun], handoffs: Sequence[HandoffRecord]
) -> TeamAnswer:
    return TeamAnswer.of(
        code=submitted(plan, runs),
        raw=runs[-1].text,
        trajectory=runs,
        handoffs=handoffs,
        communication=desk.measured(runs, handoffs, expected=len(runs)),
    )


if __name__ == "__main__":
    from lcbkit.cli import benchmark

    benchmark("sequential")
