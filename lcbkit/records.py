"""One line of a run: how one submission to one problem was made and how it ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from lcbkit.errors import RunFolderError

__all__ = ["SCHEMA_VERSION", "Record", "Status"]

SCHEMA_VERSION = 1


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
_ROW_NAME = {"problem_id": "id", "code": "predicted_code", "pass_count": "pass"}
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
        for field in fields(self):
            if field.name != "passed":
                row[_ROW_NAME.get(field.name, field.name)] = getattr(self, field.name)
            else:
                row["em"] = float(self.passed)
        return row | {
            "status": str(self.status),
            "agents": [dict(agent) for agent in self.agents],
            "pass_rate": self.pass_rate,
            "latency_s": self.latency_s,
            "total_tokens": self.total_tokens,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Record":
        """Read a row: one that `to_row` wrote, or any with an id and a verdict.

        Args:
            row: needs `id` (or `question_id`) and `em` (or `passed`), or a `status` other than ok; other
                names are left out.

        Raises:
            RunFolderError: names the row and the field that cannot be read.
        """
        values = {_ALIASES.get(name, name): value for name, value in row.items() if not _missing(value)}
        problem_id = values.get("id")
        if not isinstance(problem_id, str | int):
            raise RunFolderError(f"a record needs the problem's `id`; this one has only {sorted(row)}")
        try:
            return cls(problem_id=str(problem_id), **_verdict(values), **_rest(values))
        except (TypeError, ValueError) as error:
            raise RunFolderError(f"the record of problem {problem_id!r} cannot be read: {error}") from error


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _verdict(values: Mapping[str, Any]) -> dict[str, Any]:
    status = Status(values.get("status", Status.OK))
    if "em" not in values and status is Status.OK:
        raise ValueError("it has neither `em` (1 or 0) nor another `status` than ok")
    em = values.get("em", 0)
    if em not in (0, 1):
        raise ValueError(f"`em` is {em!r} and must be 0 or 1")
    return {"status": status, "passed": bool(em)}


def _rest(values: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for field in fields(Record):
        name = _ROW_NAME.get(field.name, field.name)
        if name in values and field.name not in ("problem_id", "status", "passed"):
            found[field.name] = _READERS.get(field.type, lambda value: value)(values[name])
    if "contest_date" in found:
        found["contest_date"] = str(found["contest_date"])[:10]
    return found


# A data frame turns whole numbers into floats where one is missing, and JSON has no tuples.
_READERS: dict[Any, Callable[[Any], Any]] = {
    int: int,
    int | None: int,
    tuple[Mapping[str, Any], ...]: tuple,
}
