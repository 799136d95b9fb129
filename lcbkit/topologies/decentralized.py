"""The decentralized team: peers answer, read each other's answers, answer again, and vote in the end.

`python -m lcbkit.topologies.decentralized` shows it on the two built-in problems; with `--batch` it runs a
batch.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from lcbkit.topologies.agents import Agent
from lcbkit.topologies.answer import AgentRun, HandoffRecord, TeamAnswer
from lcbkit.topologies.events import Handoff, RoundFinished, Voted
from lcbkit.topologies.messages import Desk, own_words
from lcbkit.topologies.roles import Plan
from lcbkit.topologies.rollout import Rollout, TeamState, node
from lcbkit.topologies.submission import submitted
from lcbkit.topologies.transcript import replayed
from lcbkit.topologies.vote import count_votes

__all__ = ["build_graph"]

_ADVICE = "Weigh this answer against your own."
_NOBODY_ELSE = (
    "No other peer works on this task. Look at your own answer again: for a case that it does not handle, "
    "and for a limit that it is too slow for. Change your program only for such a reason. Then write your "
    "whole program again in one block, changed or not."
)


class DebateState(TeamState, total=False):
    """A team's state, and `round`, the one that the peers work on, from 0."""

    round: int


def build_graph(
    plan: Plan, agents: Mapping[str, Agent], desk: Desk
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START -> every peer at once -> gather -> every peer again | vote -> END."""
    rounds = plan.rounds or 1
    names = [f"peer_{number}" for number, _ in plan.active]

    def peer(number: int, role: str) -> Runnable[Any, Any]:
        async def answer(state: DebateState) -> DebateState:
            round, handoffs = state.get("round", 0), list[HandoffRecord]()
            messages: list[BaseMessage] = [HumanMessage(state["task"])]
            if round:
                messages, handoffs = _continued(plan, desk, state, number)
            run = await agents[role].run(
                messages, number=number, round=round, starter_code=state.get("starter_code", "")
            )
            return {"answers": [run], "handoffs": handoffs}

        return node(answer)

    async def gather(state: DebateState) -> DebateState:
        round = state.get("round", 0)
        programs = sum(run.code is not None for run in _of_round(state, round))
        get_stream_writer()(RoundFinished(round=round, programs=programs))
        return {"round": round + 1}

    def again_or_vote(state: DebateState) -> list[str]:
        # An endpoint that failed every peer is not asked once more.
        dead = all(run.infra for run in _of_round(state, state["round"] - 1))
        return ["vote"] if dead or state["round"] >= rounds else names

    async def vote(state: DebateState) -> DebateState:
        runs = sorted(state["answers"], key=lambda run: (run.round, run.agent))
        numbers = range(len(plan.roles))
        programs = [submitted(plan, [run for run in runs if run.agent == number]) for number in numbers]
        votes = count_votes(programs)
        get_stream_writer()(Voted(votes=votes))
        speaker = plan.active[0][0] if votes.winner is None else votes.winner
        answer = TeamAnswer.of(
            code=programs[speaker],
            raw=[run for run in runs if run.agent == speaker][-1].text,
            trajectory=runs,
            votes=votes,
            handoffs=state.get("handoffs", []),
            communication=desk.measured(runs, state.get("handoffs", []), expected=rounds * len(names)),
        )
        return {"result": answer}

    graph = StateGraph(DebateState, context_schema=Rollout)
    for name, (number, role) in zip(names, plan.active, strict=True):
        graph.add_node(name, peer(number, role.name))
        graph.add_edge(START, name)
    graph.add_node("gather", node(gather))
    graph.add_node("vote", node(vote))
    graph.add_edge(names, "gather")
    graph.add_conditional_edges("gather", again_or_vote, [*names, "vote"])
    graph.add_edge("vote", END)
    return graph.compile(name=plan.topology).with_config(recursion_limit=3 * rounds + 5)


def _continued(
    plan: Plan, desk: Desk, state: DebateState, number: int
) -> tuple[list[BaseMessage], list[HandoffRecord]]:
    """A peer's own conversation with what the others answered one round earlier, under names that last."""
    last = {run.agent: run for run in _of_round(state, state["round"] - 1)}
    handed = [
        desk.hand_over(
            own_words(run),
            sender=f"peer_{other}",
            target=f"peer_{number}",
            round=run.round,
            advice=_ADVICE,
            starter_code=state.get("starter_code", ""),
        )
        for other, run in sorted(last.items())
        if other != number
    ]
    emit = get_stream_writer()
    for _, record in handed:
        emit(Handoff(record=record))
    opening = "The other peers work on the same task and have answered as follows."
    text = "\n\n".join(
        [
            f"You are peer_{number}. {opening if handed else _NOBODY_ELSE}",
            *(text for text, _ in handed),
            *([plan.texts["revise"]] if handed else []),
            f"The task again:\n\n{state['task'].strip()}",
        ]
    )
    conversation = [*last[number].messages, {"role": "user", "content": text}]
    return replayed(conversation), [record for _, record in handed]


def _of_round(state: DebateState, round: int) -> list[AgentRun]:
    return [run for run in state["answers"] if run.round == round]


if __name__ == "__main__":
    from lcbkit.cli import benchmark

    benchmark("decentralized")
