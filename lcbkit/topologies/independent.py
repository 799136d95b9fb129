"""The independent team: agents that know nothing of each other solve the task, and a vote decides.

`python -m lcbkit.topologies.independent` shows it on the two built-in problems; with `--batch` it runs a
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
from lcbkit.topologies.events import Voted
from lcbkit.topologies.messages import Desk
from lcbkit.topologies.roles import Plan
from lcbkit.topologies.rollout import Rollout, TeamState, node
from lcbkit.topologies.vote import count_votes

__all__ = ["build_graph"]


def build_graph(
    plan: Plan, agents: Mapping[str, Agent], desk: Desk
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START -> every coder at once -> vote -> END."""

    def coder(number: int, role: str) -> Runnable[Any, Any]:
        async def solve(state: TeamState) -> TeamState:
            starter = state.get("starter_code", "")
            task = [HumanMessage(state["task"])]
            return {"answers": [await agents[role].run(task, number=number, starter_code=starter)]}

        return node(solve)

    async def vote(state: TeamState) -> TeamState:
        runs = sorted(state["answers"], key=lambda run: run.agent)
        programs = {run.agent: run.submission for run in runs}
        votes = count_votes([programs.get(number) for number in range(len(plan.roles))])
        get_stream_writer()(Voted(votes=votes))
        speaker = next((run for run in runs if run.agent == votes.winner), runs[0])
        answer = TeamAnswer.of(
            code=speaker.submission,
            raw=speaker.text,
            trajectory=runs,
            votes=votes,
            communication=desk.measured(runs, expected=len(runs)),
        )
        return {"result": answer}

    graph = StateGraph(TeamState, context_schema=Rollout)
    names = [f"{role.name}_{number}" for number, role in plan.active]
    for name, (number, role) in zip(names, plan.active, strict=True):
        graph.add_node(name, coder(number, role.name))
        graph.add_edge(START, name)
    graph.add_node("vote", node(vote))
    graph.add_edge(names, "vote")
    graph.add_edge("vote", END)
    return graph.compile(name=plan.topology)


if __name__ == "__main__":
    from lcbkit.cli import benchmark

    benchmark("independent")
