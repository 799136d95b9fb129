"""The score of a rollout: whether its program passes the first three hidden tests, and what may be told.

The metric is the benchmark's; the driver is the library's own judge, so that methods of a class and functions
with several arguments are called as their problems mean it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcbkit.extract import has_statement
from lcbkit.judging.pool import Pool
from lcbkit.judging.report import Report, TestResult, Verdict
from lcbkit.optimizers.ledger import INFRASTRUCTURE_FAILURE, SEMANTIC_FAILURE, SUCCESS
from lcbkit.problems import Problem, TestCase

__all__ = ["SCORED_TESTS", "SCORER_ID", "Score", "Scorer"]

SCORED_TESTS = 3
TIME_LIMIT = 5.0
SCORER_ID = "lcbkit-first-3-hidden-5s-v1"
"""Names the metric in every identity; it changes with what a score means."""

_TAIL = 120
_KEPT_CHARACTERS = 1_000_000
_NO_VERDICT = (Verdict.BAD_TEST, Verdict.INTERNAL_ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What the scorer says.

    Attributes:
        status: as `Rollout.status`.
        score: 1.0 or 0.0.
        feedback: in words, fit for a reflection model: never a hidden input, at most the end of an output.
        error: why there is no observation, else None.
        metadata: `passed_tests`, `total_tests` and the verdicts.
    """

    status: str
    score: float
    feedback: str
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Scorer:
    """Scores submissions; safe to use from many threads.

    Args:
        pool: judges them.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        # Decoding takes up to seconds and a search meets a problem many times.
        self._kept: dict[str, tuple[TestCase, ...]] = {}

    def score(self, code: str | None, problem: Problem) -> Score:
        """Score a program, or the lack of one.

        Args:
            code: the program, or None.
            problem: whose first three hidden tests decide; defective ones among them are left out.
        """
        if code is None or not has_statement(code):
            return Score(
                status=SEMANTIC_FAILURE,
                score=0.0,
                feedback="No program was found: the final answer must end with one fenced python block.",
                metadata={"passed_tests": 0, "total_tests": min(SCORED_TESTS, problem.hidden_test_count)},
            )
        return _of_report(self._pool.judge(code, problem, tests=self._tests(problem), time_limit=TIME_LIMIT))

    def _tests(self, problem: Problem) -> tuple[TestCase, ...]:
        if (tests := self._kept.get(problem.id)) is None:
            tests = problem.hidden_tests[:SCORED_TESTS]
            if sum(len(test.input) + len(test.output) for test in tests) <= _KEPT_CHARACTERS:
                self._kept[problem.id] = tests
        return tests


def _of_report(report: Report) -> Score:
    results = [result for result in report.results if result.verdict is not Verdict.BAD_TEST]
    passed = sum(result.passed for result in results)
    metadata = {
        "passed_tests": passed,
        "total_tests": len(results),
        "verdicts": [str(result.verdict) for result in report.results],
    }
    broken = [result for result in results if result.verdict is Verdict.INTERNAL_ERROR]
    failed = [result for result in results if not result.passed and result.verdict not in _NO_VERDICT]
    if not results or (broken and not failed):
        reason = broken[0].reason if broken else "none of its tests is usable"
        return Score(
            status=INFRASTRUCTURE_FAILURE,
            score=0.0,
            feedback="",
            error=f"the judge has no verdict: {reason}",
            metadata=metadata,
        )
    if not failed:
        return Score(
            status=SUCCESS, score=1.0, feedback=f"All {passed} hidden tests passed.", metadata=metadata
        )
    return Score(status=SEMANTIC_FAILURE, score=0.0, feedback=_complaint(results, failed), metadata=metadata)


def _complaint(results: Sequence[TestResult], failed: Sequence[TestResult]) -> str:
    first, passed = failed[0], sum(result.passed for result in results)
    said = f"The program passed {passed} of {len(results)} hidden tests."
    if first.verdict is Verdict.WRONG_ANSWER:
        return (
            f"{said} The first that failed: a wrong answer. The expected output ends with:\n"
            f"{_end(first.expected)}\nThe program's output ends with:\n{_end(first.actual)}"
        )
    if first.verdict is Verdict.RUNTIME_ERROR:
        return f"{said} The first that failed: a runtime error ({_end(first.reason)})."
    return f"{said} The first that failed: {first.verdict.words}."


def _end(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _TAIL else f"…{text[-_TAIL:]}"
