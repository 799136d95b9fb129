"""The single team: one agent, which solves, tests and answers alone.

`python -m lcbkit.topologies.single` shows it on the two built-in problems; with `--batch` it runs a batch.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from lcbkit.topologies.agents import Agent
from lcbkit.topologies.answer import TeamAnswer
from lcbkit.topologies.messages import Desk
from lcbkit.topologies.roles import Plan
from lcbkit.topologies.rollout import Rollout, TeamState, node

__all__ = ["build_graph"]


def build_graph(
    plan: Plan, agents: Mapping[str, Agent], desk: Desk
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START -> solver -> END."""
    role = plan.roles[0].name

    async def solve(state: TeamState) -> TeamState:
        run = await agents[role].run(
            [HumanMessage(state["task"])], number=0, starter_code=state.get("starter_code", "")
        )
        answer = TeamAnswer.of(
            code=run.submission,
            raw=run.text,
            trajectory=[run],
            communication=desk.measured([run], expected=1),
        )
        return {"answers": [run], "result": answer}

    graph = StateGraph(TeamState, context_schema=Rollout)
    graph.add_node(role, node(solve))
    graph.add_edge(START, role)
    graph.add_edge(role, END)
    return graph.compile(name=plan.topology)


if __name__ == "__main__":
    from lcbkit.cli import benchmark

    benchmark("single")
