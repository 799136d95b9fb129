"""The centralized team: a manager gives jobs to workers, reads their reports, and writes the submission.

`python -m lcbkit.topologies.centralized` shows it on the two built-in problems; with `--batch` it runs a
batch.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from langchain_core.runnables import Runnable
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from lcbkit.topologies.agents import Agent
from lcbkit.topologies.answer import AgentRun, HandoffRecord, TeamAnswer
from lcbkit.topologies.delegation import Job, says_stop
from lcbkit.topologies.desk_work import Reply, deliver, next_messages, sort_calls, unread
from lcbkit.topologies.messages import Desk
from lcbkit.topologies.roles import Plan, Role
from lcbkit.topologies.rollout import Rollout, TeamState, node
from lcbkit.topologies.submission import newest_program

__all__ = ["build_graph"]

_MAX_NUDGES = 2
_BROKEN_OFF = ("error", "timeout", "recursion_limit")


class HubState(TeamState, total=False):
    """A team's state and the manager's.

    `transcript` is the manager's conversation as plain values, `replies` what has come back for its calls and
    lines, `jobs` those of its last message by their place in it, `given` all of them with the program that
    was the newest then. `turns` counts manager calls and worker runs alike, `nudges` the turns that led
    nowhere; `done` ends the work.
    """

    transcript: list[dict[str, Any]]
    replies: Annotated[list[Reply], operator.add]
    jobs: list[tuple[int, Job]]
    given: Annotated[list[tuple[Job, str | None]], operator.add]
    turns: Annotated[int, operator.add]
    nudges: int
    done: bool


def build_graph(
    plan: Plan, agents: Mapping[str, Agent], desk: Desk
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """START -> manager -> the workers that it gave jobs to -> manager -> ... -> finish -> END."""
    (_, lead), *workers = plan.active
    max_turns = plan.max_turns or 1
    by_line = not agents[lead.name].python_exec

    async def manage(state: HubState) -> HubState:
        turn, used = len(_of_manager(state.get("answers", []))), state.get("turns", 0)
        nudges = state.get("nudges", 0)
        closing = used >= max_turns or nudges > _MAX_NUDGES
        messages = next_messages(plan, state, turn - 1, closing=closing, by_line=by_line)
        run = await agents[lead.name].run(
            messages,
            number=0,
            round=turn,
            starter_code=state.get("starter_code", ""),
            offer_tools=not closing,
        )
        transcript = list(run.messages[1:])
        program = newest_program(plan, [*state.get("answers", []), run])
        given = {(job.worker, job.instructions) for job, then in state.get("given", []) if then == program}
        left = max_turns - used - 1
        jobs, refused = ([], []) if closing else sort_calls(run, plan.workers, turn, left, given)
        done = closing or run.stop_reason in _BROKEN_OFF
        if not done and not jobs and not _ran_code(run):
            told = says_stop(run.text) and program
            done = not refused and (bool(run.code or told) or nudges >= _MAX_NUDGES)
            nudges += not done
        new = unread(messages, state.get("transcript", []))
        kept = replace(run, messages=run.messages[1 + len(messages) - new :]) if turn else run
        return {
            "answers": [kept],
            "transcript": transcript,
            "replies": refused,
            "jobs": [] if done else jobs,
            "given": [] if done else [(job, program) for _, job in jobs],
            "turns": 1,
            "nudges": nudges,
            "done": done,
        }

    def hand_out(state: HubState) -> list[Send] | str:
        if state["done"]:
            return "finish"
        program = newest_program(plan, state["answers"])
        shared = {"task": state["task"], "starter_code": state.get("starter_code", ""), "program": program}
        turn = len(_of_manager(state["answers"])) - 1
        return [
            Send(job.worker, {**shared, "job": job, "place": place, "turn": turn})
            for place, job in state["jobs"]
        ] or lead.name

    def worker(number: int, role: Role) -> Runnable[Any, Any]:
        last_words = plan.texts["program"] if by_line and role.programs else ""

        async def work(given: Mapping[str, Any]) -> HubState:
            run, reply, handoffs = await deliver(
                desk, agents[role.name], given, number=number, last_words=last_words
            )
            return {"answers": [run], "replies": [reply], "handoffs": handoffs, "turns": 1}

        return node(work)

    async def finish(state: HubState) -> HubState:
        return {"result": _answer(plan, desk, state["answers"], state.get("handoffs", []))}

    graph = StateGraph(HubState, context_schema=Rollout)
    graph.add_node(lead.name, node(manage))
    graph.add_edge(START, lead.name)
    for number, role in workers:
        graph.add_node(role.name, worker(number, role))
        graph.add_edge(role.name, lead.name)
    graph.add_node("finish", node(finish))
    graph.add_conditional_edges(lead.name, hand_out, [*plan.workers, lead.name, "finish"])
    graph.add_edge("finish", END)
    return graph.compile(name=plan.topology).with_config(recursion_limit=4 * max_turns)


def _of_manager(runs: Sequence[AgentRun]) -> list[AgentRun]:
    return [run for run in runs if run.agent == 0]


def _ran_code(run: AgentRun) -> bool:
    return bool(run.messages[-1]["role"] == "tool")


def _answer(
    plan: Plan, desk: Desk, runs: Sequence[AgentRun], handoffs: Sequence[HandoffRecord]
) -> TeamAnswer:
    """The manager's newest program, else the newest of its workers.

    If the endpoint broke off the manager, there is none: what the team would have answered is open.
    """
    own = _of_manager(runs)
    written = [run for run in own if run.submission is not None]
    code = written[-1].submission if written else newest_program(plan, runs)
    return TeamAnswer.of(
        code=None if own[-1].infra else code,
        raw=(written or own)[-1].text,
        trajectory=runs,
        handoffs=handoffs,
        communication=desk.measured(runs, handoffs, expected=len(runs)),
    )


if __name__ == "__main__":
    from lcbkit.cli import benchmark

    benchmark("centralized")
