"""What the judge says of one submission: a verdict for each test case, and what a free run of a program gave.

Each value shows itself: `str` is what the terminal prints, `_repr_html_` what a notebook shows.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from html import escape
from itertools import groupby
from json import loads
from typing import Any

from lcbkit.display.difference import first_difference
from lcbkit.display.text import block, ending, last_error, last_line, one_line, size
from lcbkit.html import badge, chip, columns, copy_button, details, pre

__all__ = ["Execution", "Report", "TestResult", "Verdict"]


class Verdict(StrEnum):
    """How one test case ended."""

    PASSED = "passed"
    """It ended well, and gave what was expected."""
    WRONG_ANSWER = "wrong_answer"
    """It ended well, and gave something else."""
    RUNTIME_ERROR = "runtime_error"
    """An exception, another exit code than 0, a signal, or no such function."""
    TIME_LIMIT = "time_limit"
    """It used up its processor time, or waited for too long."""
    MEMORY_LIMIT = "memory_limit"
    """It asked for more memory than it may have, and ended over it."""
    OUTPUT_LIMIT = "output_limit"
    """It wrote more than is kept."""
    BAD_TEST = "bad_test"
    """The test itself is defective; says nothing about the submission."""
    INTERNAL_ERROR = "internal_error"
    """The judge failed; says nothing about the submission."""

    @property
    def words(self) -> str:
        """The verdict as a reader sees it."""
        return self.value.replace("_", " ")

    @property
    def letter(self) -> str:
        """The verdict in one capital letter, its first; no two share one."""
        return self.value[0].upper()


_SIGNS = {
    Verdict.PASSED: ("✓", "good"),
    Verdict.WRONG_ANSWER: ("✗", "bad"),
    Verdict.RUNTIME_ERROR: ("!", "bad"),
    Verdict.TIME_LIMIT: ("T", "bad"),
    Verdict.MEMORY_LIMIT: ("M", "bad"),
    Verdict.OUTPUT_LIMIT: ("O", "bad"),
    Verdict.BAD_TEST: ("?", "warn"),
    Verdict.INTERNAL_ERROR: ("?", "warn"),
}
_Marked = tuple[str, tuple[int, int] | None]
_QUIET_RUN = 30  # more passed tests in a row than this are one line in the terminal
_OTHER_FAILURES = 10  # failures after the first that a notebook can open
_SHORT_VALUE = 40  # characters of a returned value that is told whole, not only where it differs
_CUT = " characters are missing here]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """How a submission did on one test case.

    Texts longer than the judge keeps are cut in the middle, with a line that says how many characters are
    missing.

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

    @property
    def reason(self) -> str:
        """Why the test did not pass, in a few words; empty when it did."""
        match self.verdict:
            case Verdict.PASSED:
                return ""
            case Verdict.WRONG_ANSWER:
                return _place(self)
            case Verdict.RUNTIME_ERROR:
                return last_error(self.stderr) or ending(self.exit_code, self.signal)
            case Verdict.TIME_LIMIT:
                return f"{self.cpu_seconds:.2f} s of processor time, {self.wall_seconds:.2f} s elapsed"
            case Verdict.MEMORY_LIMIT:
                return last_error(self.stderr) or f"{size(self.memory_bytes)} in use"
            case _:
                return last_line(self.stderr)

    def __repr__(self) -> str:
        return f"<TestResult {self.index}: {self.verdict.words}, {self.wall_seconds:.2f} s>"

    def __str__(self) -> str:
        (expected, wanted_mark), (actual, mark) = _compared(self)
        parts = [
            f"results[{self.index}] {_claim(self)}",
            block("input", self.input),
            block("expected", expected, wanted_mark),
            block("actual", actual, mark),
        ]
        if self.stderr.strip():
            parts.append(block("stderr", self.stderr, tail=True))
        return "\n".join([*parts, f"  {_cost(self)}"])

    def _repr_html_(self) -> str:
        sign, tone = _SIGNS[self.verdict]
        return (
            f"<div>{badge(f'{sign} results[{self.index}] {self.verdict.words}', tone)} "
            f"{escape(one_line(self.reason, 200))}{_evidence(self)}</div>"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the judge found for one submission: the results in test order.

    With `stop_on_failure` the tests after the first failure were not run and have no result; `total` still
    counts them.

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
    def letters(self) -> str:
        """The verdicts in test order, a letter each; `-` for a test that was not run."""
        found = {result.index: result.verdict.letter for result in self.results}
        return "".join(found.get(index, "-") for index in range(self.total))

    @property
    def pass_rate(self) -> float:
        """Share of the tests that passed, in [0, 1]; 0 without a test."""
        return self.pass_count / self.total if self.total else 0.0

    @property
    def first_failure(self) -> TestResult | None:
        """The first result that did not pass, or None."""
        return next((result for result in self.results if not result.passed), None)

    def __repr__(self) -> str:
        return f"<Report {self._headline()}>"

    def __str__(self) -> str:
        lines = [self._headline(), *_test_lines(self.results)]
        if missing := self.total - len(self.results):
            lines.append(f"  {missing} not run")
        if failure := self.first_failure:
            lines += ["", str(failure)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, *, copy: bool = False) -> str:
        """The report as a notebook shows it.

        Args:
            copy: with buttons that copy what a failed test holds; they work where `widgets.Pane` shows it.
        """
        failures = [result for result in self.results if not result.passed]
        chips = [_chip(result) for result in self.results]
        chips += [chip(f"{index} ·", title="not run") for index in range(len(self.results), self.total)]
        shown = failures[: 1 + _OTHER_FAILURES]
        parts = [
            f'<div style="margin-bottom:.4em">{badge(*self._badge())} {escape(self._count())}</div>',
            f'<div style="display:flex;flex-wrap:wrap;gap:3px">{"".join(chips)}</div>',
            *(_folded(result, opened=result is failures[0], copy=copy) for result in shown),
        ]
        if len(failures) > len(shown):
            parts.append(f"<div>and {len(failures) - len(shown)} more that did not pass</div>")
        return f'<div style="max-width:72em">{"".join(parts)}</div>'

    def _badge(self) -> tuple[str, str]:
        if self.first_failure:
            sign, tone = _SIGNS[self.first_failure.verdict]
            return f"{sign} {self.first_failure.verdict.words}", tone
        return ("✓ passed", "good") if self.passed else ("no test", "warn")

    def _headline(self) -> str:
        if failure := self.first_failure:
            return f"{self._count()}, first failure results[{failure.index}] ({failure.verdict.words})"
        return self._count()

    def _count(self) -> str:
        count = f"{self.problem_id}: {self.pass_count} of {self.total} tests passed"
        if not self.results:
            return count
        seconds = max(result.cpu_seconds for result in self.results)
        memory = max(result.memory_bytes for result in self.results)
        return f"{count} (slowest {seconds:.2f} s, largest {size(memory)})"

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

    def __repr__(self) -> str:
        return f"<Execution {self._headline()}>"

    def __str__(self) -> str:
        parts = [block("stdout", self.stdout), block("stderr", self.stderr, tail=True)]
        return "\n".join([self._headline(), *parts])

    def _repr_html_(self) -> str:
        tone = "good" if self.exit_code == 0 and not self.timed_out else "bad"
        streams = [(name, text) for name, text in (("stdout", self.stdout), ("stderr", self.stderr)) if text]
        boxes = columns((name, pre(text)) for name, text in streams) if streams else "<div>no output</div>"
        return f'<div style="max-width:72em">{badge(self._headline(), tone)}{boxes}</div>'

    def _headline(self) -> str:
        end = "time limit" if self.timed_out else ending(self.exit_code, self.signal)
        return f"{end}, {_cost(self)}"


def _claim(result: TestResult) -> str:
    return (
        f"{result.verdict.words}: {one_line(result.reason, 200)}" if result.reason else result.verdict.words
    )


def _cost(outcome: TestResult | Execution) -> str:
    return (
        f"{outcome.cpu_seconds:.2f} s of processor time, {outcome.wall_seconds:.2f} s elapsed, "
        f"{size(outcome.memory_bytes)}"
    )


def _compared(result: TestResult) -> tuple[_Marked, _Marked]:
    """Expected and actual, written alike, each with the place where a wrong answer first differs."""
    expected, actual = result.expected, result.actual
    if result.mode == "functional":
        # It expects JSON, its result is shown as Python; what is cut, too deep or too long stays as stored.
        with suppress(ValueError, RecursionError):
            expected = repr(loads(expected))
    if result.verdict is Verdict.WRONG_ANSWER and (place := first_difference(expected, actual)):
        return (expected, place.expected), (actual, place.actual)
    return (expected, None), (actual, None)


def _place(result: TestResult) -> str:
    (expected, wanted_mark), (actual, mark) = _compared(result)
    if wanted_mark is None or mark is None:
        return last_line(result.stderr)
    if result.mode == "functional" and max(len(expected), len(actual)) <= _SHORT_VALUE:
        return f"expected {one_line(expected, _SHORT_VALUE)}, got {one_line(actual, _SHORT_VALUE)}"
    line = actual.count("\n", 0, mark[0]) + 1
    column = mark[0] - actual.rfind("\n", 0, mark[0])
    place = f"character {column}" if result.mode == "functional" else f"line {line}, column {column}"
    wanted, found = (
        one_line(text[start:end], 40) for text, (start, end) in ((expected, wanted_mark), (actual, mark))
    )
    return f"{place}: expected {wanted or 'the end'}, got {found or 'nothing more'}"


def _test_lines(results: tuple[TestResult, ...]) -> Iterator[str]:
    for passed, group in groupby(results, key=lambda result: result.passed):
        run = list(group)
        if passed and len(run) > _QUIET_RUN:
            yield f"  [{run[0].index}] to [{run[-1].index}] passed"
            continue
        for result in run:
            cost = f"{result.cpu_seconds:6.2f} s {size(result.memory_bytes):>9}"
            line = (
                f"  {f'[{result.index}]':<6}{result.verdict.words:<15}{cost}  {one_line(result.reason, 60)}"
            )
            yield line.rstrip()


def _chip(result: TestResult) -> str:
    sign, tone = _SIGNS[result.verdict]
    return chip(
        f"{result.index} {sign}", tone, title=f"results[{result.index}] {_claim(result)}; {_cost(result)}"
    )


def _folded(result: TestResult, *, opened: bool, copy: bool) -> str:
    sign, tone = _SIGNS[result.verdict]
    summary = f"{badge(f'{sign} results[{result.index}]', tone)} {escape(_claim(result))}"
    return details(summary, _evidence(result, copy=copy), opened=opened)


def _evidence(result: TestResult, *, copy: bool = False) -> str:
    (expected, wanted_mark), (actual, mark) = _compared(result)
    boxes = [
        ("input", pre(result.input, 2_000), _copying(result.input, "input") if copy else ""),
        (
            "expected",
            pre(expected, 2_000, mark=wanted_mark),
            _copying(result.expected, "expected output") if copy else "",
        ),
        ("actual", pre(actual, 2_000, mark=mark), _copying(actual, "actual output") if copy else ""),
    ]
    errors = columns([("stderr", pre(result.stderr, 2_000))]) if result.stderr.strip() else ""
    return columns(boxes) + errors + f'<div style="font-size:11px">{escape(_cost(result))}</div>'


def _copying(text: str, what: str) -> str:
    """A copy button, or the reason why there is none: half of a test would only mislead."""
    if _CUT in text:
        return '<span style="float:right">too long to copy here; the problem has the whole test</span>'
    return copy_button(text, what) if text else ""
