"""The review team: an author drafts, critics read the draft side by side, and the author writes it anew.

`python -m lcbkit.topologies.example_review` shows it on the two built-in problems; with `--batch` it runs a
batch.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from lcbkit.topologies.agents import Agent
from lcbkit.topologies.answer import TeamAnswer
from lcbkit.topologies.events import Handoff
from lcbkit.topologies.messages import Desk, own_words
from lcbkit.topologies.roles import Plan
from lcbkit.topologies.rollout import Rollout, TeamState, node
from lcbkit.topologies.submission import submitted

__all__ = ["build_graph"]


def build_graph(
    plan: Plan, agents: Mapping[str, Agent], desk: Desk
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START -> author -> every critic at once -> author again -> END.

    Without the author, the first critic that acts takes its place.
    """
    (lead, author), *critics = [(number, role.name) for number, role in plan.active]

    def read(text: str, sender: str, target: str, starter: str) -> tuple[str, Any]:
        given, record = desk.hand_over(
            text, sender=sender, target=target, round=0, advice="Judge for yourself.", starter_code=starter
        )
        get_stream_writer()(Handoff(record=record))
        return given, record

    async def draft(state: TeamState) -> TeamState:
        starter = state.get("starter_code", "")
        run = await agents[author].run([HumanMessage(state["task"])], number=lead, starter_code=starter)
        return {"answers": [run]}

    def critic(number: int, role: str) -> Runnable[Any, Any]:
        async def review(state: TeamState) -> TeamState:
            starter = state.get("starter_code", "")
            given, record = read(own_words(state["answers"][0]), author, role, starter)
            task = f"{state['task']}\n\n{given}\n\n{plan.texts['review']}"
            run = await agents[role].run([HumanMessage(task)], number=number, starter_code=starter)
            return {"answers": [run], "handoffs": [record]}

        return node(review)

    async def revise(state: TeamState) -> TeamState:
        starter = state.get("starter_code", "")
        first, *reviews = state["answers"]
        found = [read(own_words(run), run.role, author, starter) for run in reviews]
        parts = [state["task"], own_words(first), *(text for text, _ in found)]
        run = await agents[author].run(
            [HumanMessage("\n\n".join(parts))], number=lead, round=1, starter_code=starter
        )
        runs = [first, *sorted(reviews, key=lambda one: one.agent), run]
        handoffs = [*state.get("handoffs", []), *(record for _, record in found)]
        answer = TeamAnswer.of(
            code=submitted(plan, runs),
            raw=run.text,
            trajectory=runs,
            handoffs=handoffs,
            communication=desk.measured(runs, handoffs, expected=len(runs)),
        )
        return {"answers": [run], "result": answer}

    graph = StateGraph(TeamState, context_schema=Rollout)
    graph.add_node("draft", node(draft))
    graph.add_node("revise", node(revise))
    graph.add_edge(START, "draft")
    for number, role in critics:
        graph.add_node(f"critic_{number}", critic(number, role))
        graph.add_edge("draft", f"critic_{number}")
    graph.add_edge([f"critic_{number}" for number, _ in critics] or ["draft"], "revise")
    graph.add_edge("revise", END)
    return graph.compile(name=plan.topology)


if __name__ == "__main__":
    from lcbkit.cli import benchmark

    benchmark("example_review")
