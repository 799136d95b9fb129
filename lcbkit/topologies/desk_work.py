"""What passes over a manager's desk: its jobs sorted out, handed to workers, their reports handed back."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.config import get_stream_writer

from lcbkit.topologies.agents import Agent
from lcbkit.topologies.answer import AgentRun, HandoffRecord
from lcbkit.topologies.delegation import DELEGATE, Job, jobs_by_call, jobs_by_line
from lcbkit.topologies.events import Handoff
from lcbkit.topologies.messages import Desk, own_words
from lcbkit.topologies.reports import fenced
from lcbkit.topologies.roles import Plan
from lcbkit.topologies.tools import PYTHON_EXEC
from lcbkit.topologies.transcript import replayed

__all__ = ["Reply", "deliver", "next_messages", "sort_calls", "unread"]

_JOB_ADVICE = "Do this job and report back."
_REPORT_ADVICE = "Decide what comes next."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a manager reads in answer to a call or a line of its own.

    Attributes:
        turn: of the manager's message.
        place: of the job in that message.
        name: of the tool that was called; of the worker for a line.
        call_id: of the tool call; empty for a line.
        text: what it reads.
    """

    turn: int
    place: int
    name: str
    call_id: str
    text: str


def sort_calls(
    run: AgentRun, workers: Sequence[str], turn: int, places: int, given: Collection[tuple[str, str]] = ()
) -> tuple[list[tuple[int, Job]], list[Reply]]:
    """The jobs that a manager's message gives, and replies to what in it cannot be done.

    Args:
        run: the manager's turn.
        workers: whom the team has.
        turn: of the manager.
        places: how many workers may still run.
        given: worker and instructions of each job that was done on the newest program.

    Returns:
        Each job with its place in the message; the replies.
    """
    last = next(m for m in reversed(run.messages) if m["role"] != "tool")
    calls = last.get("tool_calls", []) if last["role"] == "assistant" else []
    by_line = run.messages[-1]["role"] == "assistant" and not calls
    jobs, refused = list[tuple[int, Job]](), list[Reply]()
    found = jobs_by_line(run.text) if by_line else jobs_by_call(calls)
    for place, job in enumerate(found):
        known = (job.worker, job.instructions) in given
        reason = _reason_against(job, workers, known=known, full=len(jobs) >= places)
        if reason is None:
            jobs.append((place, job))
        else:
            name = DELEGATE + job.worker if job.call_id else job.worker
            refused.append(Reply(turn=turn, place=place, name=name, call_id=job.call_id, text=reason))
    for call in calls:
        if not call["name"].startswith((DELEGATE, PYTHON_EXEC)):
            text = f"ERROR: there is no tool {call['name']}"
            refused.append(Reply(turn=turn, place=99, name=call["name"], call_id=call["id"], text=text))
    return jobs, refused


def _reason_against(job: Job, workers: Sequence[str], *, known: bool, full: bool) -> str | None:
    if job.worker not in workers:
        return f"ERROR: there is no {job.worker}; the workers are {', '.join(workers) or 'none'}"
    if not job.instructions:
        return f"ERROR: not done: the job for {job.worker} has no instructions"
    if known:
        return (
            f"ERROR: not done: {job.worker} has done this very job, and reported. Give another job, or write "
            "the final program"
        )
    return "ERROR: not done: no turns are left for it" if full else None


def next_messages(
    plan: Plan, state: Mapping[str, Any], last_turn: int, *, closing: bool, by_line: bool
) -> list[BaseMessage]:
    """The manager's conversation as it goes on: the task, or the replies to its last message.

    Args:
        plan: of the team.
        state: of the graph.
        last_turn: the manager's turn before this one, -1 before the first.
        closing: whether the manager must end now.
        by_line: whether it gives jobs by lines. Models that cannot call tools are small as a rule: they copy
            the placeholder that ends the task, unless something follows it that says what to write.
    """
    if last_turn < 0:
        opening = [plan.texts["opening"]] if by_line and plan.texts["opening"] else []
        return [HumanMessage("\n\n".join([state["task"], *opening]))]
    replies = sorted(
        (reply for reply in state.get("replies", []) if reply.turn == last_turn),
        key=lambda reply: reply.place,
    )
    new: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": reply.call_id, "name": reply.name, "content": reply.text}
        for reply in replies
        if reply.call_id
    ]
    said = [reply.text for reply in replies if not reply.call_id]
    if not replies and state["transcript"][-1]["role"] != "tool":
        said.append(plan.texts["nudge"])
    if closing:
        said.append(plan.texts["close"])
    if said:
        new.append({"role": "user", "content": "\n\n".join(said)})
    return replayed([*state["transcript"], *new])


def unread(messages: Sequence[BaseMessage], transcript: Sequence[Mapping[str, Any]]) -> int:
    """How many of a manager's messages it has not seen in an earlier turn: those at the end that are new.

    Args:
        messages: of its next turn, from `next_messages`.
        transcript: of its turns so far; results of its own code stand at the end of it.
    """
    behind = next((n for n, message in enumerate(reversed(messages)) if message.type == "ai"), len(messages))
    seen = next((n for n, message in enumerate(reversed(transcript)) if message["role"] != "tool"), 0)
    return behind - seen


async def deliver(
    desk: Desk, agent: Agent, given: Mapping[str, Any], *, number: int, last_words: str = ""
) -> tuple[AgentRun, Reply, list[HandoffRecord]]:
    """Hand a job to a worker, let it work, and hand its report back.

    Args:
        desk: writes what is handed over.
        agent: the worker.
        given: the task, the starter code, the newest program, the job, its place and the manager's turn.
        number: the worker's number in the team.
        last_words: of what the worker reads.
    """
    job, turn, starter = given["job"], given["turn"], given["starter_code"]
    emit = get_stream_writer()
    order, asked = desk.hand_over(
        job.instructions,
        sender="manager",
        target=job.worker,
        round=turn,
        advice=_JOB_ADVICE,
        starter_code=starter,
    )
    emit(Handoff(record=asked))
    parts = [f"## Task\n\n{given['task'].strip()}"]
    if given["program"] is not None and given["program"] not in order:
        parts.append(f"## The newest program\n\n{fenced(given['program'], 'python')}")
    message = "\n\n".join([*parts, "## Your job", order, *([last_words] if last_words else [])])
    run = await agent.run([HumanMessage(message)], number=number, round=turn, starter_code=starter)
    text, told = desk.hand_over(
        own_words(run),
        sender=job.worker,
        target="manager",
        round=turn,
        advice=_REPORT_ADVICE,
        starter_code=starter,
    )
    emit(Handoff(record=told))
    name = DELEGATE + job.worker if job.call_id else job.worker
    return (
        run,
        Reply(turn=turn, place=given["place"], name=name, call_id=job.call_id, text=text),
        [asked, told],
    )
