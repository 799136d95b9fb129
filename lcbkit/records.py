"""One line of a run: how one submission to one problem was made and how it ended."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from enum import StrEnum
from functools import cache
from sys import intern
from typing import Any

from lcbkit.errors import RunFolderError

__all__ = ["SCHEMA_VERSION", "Record", "Status", "count_of"]

SCHEMA_VERSION = 1
"""Stands in each row; changes when a field changes its meaning."""


class Status(StrEnum):
    """How one instance ended; the last three say nothing about the team and do not count in pass@1."""

    OK = "ok"
    """A program was judged."""
    NO_CODE = "no_code"
    """The team gave no program."""
    AGENT_ERROR = "agent_error"
    """The team failed; counts as not passed."""
    INFRA_ERROR = "infra_error"
    """The model could not be reached, retries included."""
    JUDGE_ERROR = "judge_error"
    """The judge failed; the program is kept."""
    BAD_TEST = "bad_test"
    """A test of the problem is defective, and none failed otherwise."""


UNSCORED = frozenset({Status.INFRA_ERROR, Status.JUDGE_ERROR, Status.BAD_TEST})

# Fields whose name in a row is not the attribute's: the benchmark's own names, of which one is a keyword.
_ROW_NAME = {"problem_id": "id", "passed": "em", "code": "predicted_code", "pass_count": "pass"}
_ALIASES = {"question_id": "id", "passed": "em"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """How one sample of one problem went. Times are seconds; None means unknown.

    Attributes:
        problem_id: the problem (`id` in a row).
        sample: which of several submissions to it, from 0.
        status: how the instance ended.
        passed: whether every test passed (`em` in a row, as 0.0 or 1.0).
        pass_count: tests passed (`pass` in a row).
        total: tests there were to pass; 0 where only the verdict is known.
        code: the program that was judged (`predicted_code` in a row).
        title: the problem's title.
        difficulty: easy, medium or hard.
        platform: leetcode, atcoder or codeforces.
        mode: stdin or functional.
        contest_date: day of the contest, as YYYY-MM-DD.
        erratum: why the problem is known to be defective.
        topology: how the team is wired.
        size: the team's size, None for a single agent.
        rounds: rounds of a debate.
        format: the team's message format.
        model: the model's name.
        seed: of the run, before it is spread over samples and agents.
        stop_reason: why the answering role stopped.
        winner: the agent whose program won a vote.
        votes: sizes of the groups in a vote.
        agents: a short line for each agent run.
        first_failure: test, mode, kind and message of the first test that did not pass.
        verdicts: how many tests ended in each verdict.
        test_verdicts: a letter per test in the judged order, as `Report.letters` has them.
        solve_s: time from the start of the team to its answer.
        judge_s: time in the judge.
        prompt_tokens: tokens read, over all agents and rounds.
        completion_tokens: tokens written.
        reasoning_tokens: those of them that were reasoning.
        cached_tokens: those of the read ones that the endpoint had cached.
        n_llm_calls: model calls.
        n_tool_calls: tool calls.
        calls_without_usage: calls whose tokens nobody reported, so that the sums are lower bounds.
        communication: what the message format measured.
        error: what failed, as `Type: message`.
    """

    problem_id: str
    sample: int = 0
    status: Status = Status.OK
    passed: bool = False
    pass_count: int = 0
    total: int = 0
    code: str | None = None
    title: str | None = None
    difficulty: str | None = None
    platform: str | None = None
    mode: str | None = None
    contest_date: str | None = None
    erratum: str | None = None
    topology: str | None = None
    size: int | None = None
    rounds: int | None = None
    format: str | None = None
    model: str | None = None
    seed: int | None = None
    stop_reason: str | None = None
    winner: int | None = None
    votes: Mapping[str, Any] | None = None
    agents: tuple[Mapping[str, Any], ...] = ()
    first_failure: Mapping[str, Any] | None = None
    verdicts: Mapping[str, int] | None = None
    test_verdicts: str | None = None
    solve_s: float | None = None
    judge_s: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    n_llm_calls: int = 0
    n_tool_calls: int = 0
    calls_without_usage: int = 0
    communication: Mapping[str, Any] | None = None
    error: str | None = None

    @property
    def key(self) -> tuple[str, int]:
        """What tells one instance from another within a run."""
        return self.problem_id, self.sample

    @property
    def scored(self) -> bool:
        """Whether the instance counts in pass@1."""
        return self.status not in UNSCORED

    @property
    def pass_rate(self) -> float:
        """Share of the tests that passed, in [0, 1]; the verdict where the tests are unknown."""
        return self.pass_count / self.total if self.total else float(self.passed)

    @property
    def month(self) -> str | None:
        """Month of the contest, as YYYY-MM."""
        return self.contest_date[:7] if self.contest_date else None

    @property
    def latency_s(self) -> float | None:
        """Seconds from the team's start to the verdict."""
        known = [part for part in (self.solve_s, self.judge_s) if part is not None]
        return round(sum(known), 3) if known else None

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def to_row(self) -> dict[str, Any]:
        """The record as one flat row of plain JSON values, under the benchmark's names."""
        row: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
        for name, attribute in _COLUMNS:
            row[name] = getattr(self, attribute)
        return row | {
            "status": str(self.status),
            "em": float(self.passed),
            "agents": [dict(agent) for agent in self.agents],
            "pass_rate": self.pass_rate,
            "latency_s": self.latency_s,
            "total_tokens": self.total_tokens,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Record":
        """Read a row: one that `to_row` wrote, or any with an id and a verdict.

        Args:
            row: needs `id` (or `question_id`) and a verdict: `em` (or `passed`), `pass` and `total`, or a
                `status` other than ok; other names are left out.

        Raises:
            RunFolderError: names the row and the field that cannot be read.
        """
        try:
            values = _values(row)
            if "problem_id" not in values:
                raise RunFolderError(f"a record needs the problem's `id`; this one has only {sorted(row)}")
            return cls(**values | _verdict(values))
        except (TypeError, ValueError, AttributeError) as error:
            name = row.get("id", row.get("question_id"))
            raise RunFolderError(f"the record of problem {name!r} cannot be read: {error}") from error


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that a row tells, None and a frame's NaN left out."""
    values: dict[str, Any] = {}
    for name, value in row.items():
        if value is None or name not in _FIELDS or (isinstance(value, float) and value != value):
            continue
        attribute, read = _FIELDS[name]
        try:
            values[attribute] = read(value) if read else value
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"its `{name}` is {value!r:.80}: {error}") from error
    if 0 < values.get("total", 0) < values.get("pass_count", 0):
        raise ValueError(f"it passed {values['pass_count']} of {values['total']} tests")
    return values


def _verdict(values: Mapping[str, Any]) -> dict[str, Any]:
    """Status and verdict as they must be."""
    status = Status(values.get("status", Status.OK))
    em = values.get("passed", _passed(values))
    if em is None:
        if status is Status.OK:
            raise ValueError(
                "it has neither `em` (1 or 0), nor `pass` and `total`, nor another `status` than ok"
            )
        em = 0
    if em not in (0, 1):
        raise ValueError(f"`em` is {em!r} and must be 0 or 1")
    return {"status": status, "passed": bool(em)}


def _passed(values: Mapping[str, Any]) -> bool | None:
    """The verdict that the counts of tests tell, if they do."""
    passed, total = values.get("pass_count"), values.get("total")
    return passed == total if passed is not None and total else None


def count_of(value: Any) -> int | None:
    """The whole number, not negative, that a value from outside is; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return _count(value)
    except ValueError:
        return None


# Each reader lets through at once what `to_row` writes: runs have tens of thousands of records.


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if not isinstance(value, str | int | float):  # a data frame may hold numbers where all are digits
        raise TypeError("it must be a text")
    return str(value)


def _name(value: Any) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise TypeError("it must be a text or a whole number")
    return str(value)


def _shared(value: Any) -> str:
    """The one string of this text: thousands of records have the same model, platform and so on."""
    return intern(_text(value))


@cache
def _iso_day(text: str) -> str:
    return intern(date.fromisoformat(text).isoformat())


def _day(value: Any) -> str:
    return _iso_day(str(value)[:10])


def _whole(value: Any) -> int:
    """A data frame turns whole numbers into floats where one is missing."""
    if isinstance(value, float) and not value.is_integer():
        raise ValueError("it must be a whole number")
    return int(value)


def _count(value: Any) -> int:
    number = value if type(value) is int else _whole(value)
    if number < 0:
        raise ValueError("it must not be negative")
    return number


def _seconds(value: Any) -> float:
    number = value if type(value) is float else float(value)
    if not math.isfinite(number):
        raise ValueError("it must be a number of seconds")
    return number


def _object(value: Any) -> Mapping[str, Any]:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise TypeError("it must be an object")
    found: Mapping[str, Any] = value
    return found


def _agents(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple([{intern(name): fact for name, fact in _object(agent).items()} for agent in value])


_READERS: dict[Any, Callable[[Any], Any]] = {
    int: _count,
    int | None: _whole,
    float | None: _seconds,
    str | None: _text,
    Mapping[str, Any] | None: _object,
    Mapping[str, int] | None: _object,
    tuple[Mapping[str, Any], ...]: _agents,
}
_OWN_READERS: dict[str, Callable[[Any], Any]] = {
    "problem_id": _name,
    "contest_date": _day,
    **dict.fromkeys(("title", "difficulty", "platform", "mode", "erratum"), _shared),
    **dict.fromkeys(("topology", "format", "model", "stop_reason"), _shared),
}
# By name in a row: the attribute, and what reads its value.
_FIELDS = {
    _ROW_NAME.get(field.name, field.name): (
        field.name,
        _OWN_READERS.get(field.name) or _READERS.get(field.type),
    )
    for field in fields(Record)
}
_COLUMNS = [(name, attribute) for name, (attribute, _) in _FIELDS.items()]
_FIELDS |= {alias: _FIELDS[name] for alias, name in _ALIASES.items()}
