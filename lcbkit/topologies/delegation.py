"""How a manager gives jobs to its workers: by tool calls, or by lines where the model cannot call tools."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["DELEGATE", "STOP_WORD", "Job", "jobs_by_call", "jobs_by_line", "manager_note", "says_stop"]

DELEGATE = "delegate_to_"
"""What the name of a tool begins with that gives a worker a job; the worker's name follows."""

STOP_WORD = "TERMINATE"

_LINE = re.compile(r"[ \t]*(?:[-*] )?[*_`]*DELEGATE[*_`]*[ \t]+[*_`<]*(\w+)[*_`>]*[ \t]*:[*_`]*[ \t]*(.*)")
_STOP = re.compile(rf"^[ \t*_`]*{STOP_WORD}[ \t*_`.!]*$", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")

_BY_CALL = """Call the tool delegate_to_<worker> with all that the worker needs to know. To write to a
worker in your text does nothing. Several calls in one message give several jobs at once."""

_BY_LINE = """Write a line that begins with DELEGATE, then the worker's name, a colon, and the job, with all
that the worker needs to know:
DELEGATE <worker>: <job>
The lines below it, up to the next such line, belong to the job. Several such lines give several jobs."""

_ALONE = f"""## Your workers
There are none this time: no job can be given. Solve the task alone, by the rules above. Only one thing
follows the program of your final reply: the word {STOP_WORD}, alone on a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a manager wants done.

    Attributes:
        worker: who is to do it; not necessarily one whom the team has.
        instructions: the manager's words; empty if they were left out.
        call_id: of the tool call; empty for a line.
    """

    worker: str
    instructions: str
    call_id: str = ""


def jobs_by_call(calls: Sequence[Mapping[str, Any]]) -> list[Job]:
    """The jobs in a message's tool calls, in order; calls of other tools are passed over."""
    return [
        Job(
            worker=call["name"].removeprefix(DELEGATE),
            instructions=_words(call["args"].get("instructions")),
            call_id=call["id"],
        )
        for call in calls
        if call["name"].startswith(DELEGATE)
    ]


def jobs_by_line(text: str) -> list[Job]:
    """The jobs in a message's lines, in order; lines inside a fenced block are not looked at."""
    jobs: list[tuple[str, list[str]]] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        match = None if fence else _LINE.fullmatch(line)
        if match:
            jobs.append((match[1], [match[2]]))
        elif jobs and not (not fence and _STOP.fullmatch(line)):
            jobs[-1][1].append(line)
    return [Job(worker=worker, instructions="\n".join(lines).strip()) for worker, lines in jobs]


def says_stop(text: str) -> bool:
    """Whether the stop word stands alone on a line; in a sentence it means nothing."""
    return bool(_STOP.search(text))


def manager_note(workers: Sequence[str], texts: Mapping[str, str], *, by_line: bool) -> str:
    """What a manager's system prompt says about its workers.

    Args:
        workers: their names; none if all of them are masked.
        texts: what each is good for, by its name.
        by_line: whether jobs are given by lines rather than by tool calls.
    """
    if not workers:
        return _ALONE
    listed = "\n".join(f"- {worker}: {texts[worker]}" for worker in workers)
    return f"""## Your workers
{listed}
{_BY_LINE if by_line else _BY_CALL}
A worker sees the task, your words and the newest program, nothing else. You read its report in your next
turn. The rules above on how a reply must begin and end hold for your final reply alone: one that gives out
jobs holds its jobs and no program. Only one thing follows the program of your final reply: the word
{STOP_WORD}, alone on a line."""


def _words(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
