"""What the judge says of one submission: a verdict for each test case, and what a free run of a program gave."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

__all__ = ["Execution", "Report", "TestResult", "Verdict"]


class Verdict(StrEnum):
    """How one test case ended."""

    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    BAD_TEST = "bad_test"
    """The test itself is defective; says nothing about the submission."""
    INTERNAL_ERROR = "internal_error"
    """The judge failed; says nothing about the submission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """How a submission did on one test case.

    Texts longer than the judge keeps are cut in the middle, with a line that says how many characters are missing.

    Attributes:
        index: the test's place in the list that was judged, from 0.
        mode: `stdin` or `functional`.
        verdict: how it ended.
        input: what the submission was given.
        expected: the expected output.
        actual: standard output (stdin), or the returned value as Python writes it (functional).
        stderr: standard error, or the reason where there is none.
        exit_code: exit status of the submission's process, None if a signal ended it.
        signal: number of the signal that ended it, else None.
        wall_seconds: elapsed time.
        cpu_seconds: processor time of the submission's whole process tree.
        memory_bytes: peak resident memory.
    """

    __test__ = False  # keeps pytest from collecting the class in a user's test module

    index: int
    mode: str
    verdict: Verdict
    input: str
    expected: str
    actual: str
    stderr: str
    exit_code: int | None
    signal: int | None
    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int

    @property
    def passed(self) -> bool:
        """Whether the verdict is `passed`."""
        return self.verdict is Verdict.PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the judge found for one submission: the results in test order.

    With `stop_on_failure` the tests after the first failure were not run and have no result; `total` still counts them.

    Attributes:
        problem_id: the problem that was judged.
        total: how many tests there were to pass.
        results: one result per test that was run.
    """

    problem_id: str
    total: int
    results: tuple[TestResult, ...]

    @property
    def pass_count(self) -> int:
        """How many tests passed."""
        return sum(result.passed for result in self.results)

    @property
    def passed(self) -> bool:
        """Whether the submission passed every test; never true without a test."""
        return 0 < self.total == self.pass_count

    @property
    def pass_rate(self) -> float:
        """Share of the tests that passed, in [0, 1]; 0 without a test."""
        return self.pass_count / self.total if self.total else 0.0

    @property
    def first_failure(self) -> TestResult | None:
        """The first result that did not pass, or None."""
        return next((result for result in self.results if not result.passed), None)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return asdict(self) | {
            "passed": self.passed,
            "pass_count": self.pass_count,
            "pass_rate": self.pass_rate,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "Report":
        """The report that `to_dict` wrote."""
        results = tuple(
            TestResult(**{**result, "verdict": Verdict(result["verdict"])}) for result in value["results"]
        )
        return cls(problem_id=value["problem_id"], total=value["total"], results=results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What one free run of a program gave (no expected output involved).

    Attributes:
        stdout: standard output, decoded as UTF-8 with replacement.
        stderr: standard error, likewise.
        exit_code: exit status, None if a signal ended the process.
        signal: number of that signal, else None.
        timed_out: whether the time limit ended it.
        wall_seconds: elapsed time.
        cpu_seconds: processor time of the whole process tree.
        memory_bytes: peak resident memory.
    """

    stdout: str
    stderr: str
    exit_code: int | None
    signal: int | None
    timed_out: bool
    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
