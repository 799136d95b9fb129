"""A report shows at a glance what failed and why, in the terminal and in a notebook, and survives storage."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest
from finished_tests import PASSED

from lcbkit.judging.report import Execution, Report, TestResult, Verdict

CRASH = (
    'Traceback (most recent call last):\n  File "/box/main.py", line 8, in main\n    f()\nValueError: empty\n'
)


def outcome(verdict: Verdict, index: int = 1, **changes: object) -> TestResult:
    return replace(PASSED, verdict=verdict, index=index, **changes)


def report(*results: TestResult, total: int | None = None) -> Report:
    return Report(problem_id="2727", total=len(results) if total is None else total, results=tuple(results))


class Balance(HTMLParser):
    """Counts what is opened and not closed, and collects the tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") for name, _ in attrs)
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_report_without_tests_has_not_passed() -> None:
    assert not report().passed
    assert report().pass_rate == 0
    assert "no test" in report()._repr_html_()


def test_tests_that_were_not_run_still_count() -> None:
    stopped = report(PASSED, outcome(Verdict.WRONG_ANSWER), total=5)
    assert (stopped.passed, stopped.pass_count, stopped.pass_rate) == (False, 1, 0.2)
    assert "3 not run" in str(stopped)
    assert stopped._repr_html_().count("not run") == 3


def test_a_report_survives_json() -> None:
    stored = report(PASSED, outcome(Verdict.RUNTIME_ERROR, stderr="é\udce9\x00", exit_code=None, signal=11))
    assert Report.from_dict(json.loads(json.dumps(stored.to_dict()))) == stored


def test_the_terminal_shows_one_line_a_test_and_the_first_failure_with_its_difference_marked() -> None:
    wrong = outcome(Verdict.WRONG_ANSWER, expected="1 2\n3 4\n", actual="1.0 2\n3 5\n")
    later = outcome(Verdict.TIME_LIMIT, 2, cpu_seconds=6.02)
    lines = str(report(PASSED, wrong, later)).splitlines()
    assert lines[0] == (
        "2727: 1 of 3 tests passed (slowest 6.02 s, largest 9 MiB), first failure results[1] (wrong answer)"
    )
    assert [line.split()[0] for line in lines[1:4]] == ["[0]", "[1]", "[2]"]
    assert lines[2].endswith("line 2, column 3: expected 4, got 5")
    after = lines[lines.index("  actual:") :]
    assert after[1:4] == ["    1.0 2", "    3 5", "      ^"]
    assert "6.02 s of processor time" not in "\n".join(lines[5:])


def test_a_long_run_of_passed_tests_is_one_line() -> None:
    passed = [replace(PASSED, index=index) for index in range(200)]
    assert "  [0] to [199] passed" in str(report(*passed)).splitlines()


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (PASSED, ""),
        (outcome(Verdict.WRONG_ANSWER, actual=""), "line 1, column 1: expected 6, got nothing more"),
        (
            outcome(Verdict.WRONG_ANSWER, mode="functional", expected="[1, null]", actual="[1, False]"),
            "expected [1, None], got [1, False]",
        ),
        (
            outcome(Verdict.WRONG_ANSWER, mode="functional", expected='"ab"', actual="7"),
            "expected 'ab', got 7",
        ),
        (
            outcome(
                Verdict.WRONG_ANSWER,
                mode="functional",
                expected=f"[{'1, ' * 20}2]",
                actual=f"[{'1, ' * 20}3]",
            ),
            "character 62: expected 2, got 3",
        ),
        (
            outcome(
                Verdict.WRONG_ANSWER, mode="functional", actual="6", expected="6", stderr="not plain data"
            ),
            "not plain data",
        ),
        (outcome(Verdict.RUNTIME_ERROR, stderr=CRASH, exit_code=1), "line 8: ValueError: empty"),
        (outcome(Verdict.RUNTIME_ERROR, exit_code=3), "exit code 3"),
        (outcome(Verdict.RUNTIME_ERROR, exit_code=None, signal=11), "ended by SIGSEGV"),
        (
            outcome(Verdict.TIME_LIMIT, cpu_seconds=6.02, wall_seconds=6.5),
            "6.02 s of processor time, 6.50 s elapsed",
        ),
        (outcome(Verdict.MEMORY_LIMIT, memory_bytes=1 << 30), "1024 MiB in use"),
        (outcome(Verdict.BAD_TEST, stderr="line 1 of the input is empty"), "line 1 of the input is empty"),
    ],
)
def test_a_result_says_why(result: TestResult, reason: str) -> None:
    assert result.reason == reason


def test_a_short_representation_holds_no_data() -> None:
    big = outcome(Verdict.WRONG_ANSWER, actual="x" * 100_000)
    assert repr(big) == "<TestResult 1: wrong answer, 0.03 s>"
    assert len(repr(report(big))) < 200


def test_a_notebook_shows_the_verdicts_and_opens_the_first_failure_only() -> None:
    shown = report(PASSED, outcome(Verdict.WRONG_ANSWER, actual="7\n"), outcome(Verdict.TIME_LIMIT, 2))
    html = shown._repr_html_()
    assert html.count("<details open") == 1
    assert html.count("<details") == 2
    assert html.index("<details open") < html.index("results[1]</span> wrong answer: line 1")
    assert html.count("<mark") == 2
    assert not Balance(html).open


def test_a_pane_copies_a_failed_tests_texts_whole_and_none_that_the_judge_cut() -> None:
    long = "1 " * 3_000
    failed = outcome(Verdict.WRONG_ANSWER, input=long, expected='"<6>"\n', actual="")
    html = report(failed).to_html(copy=True)
    assert [unescape(text) for text in re.findall(r'data-copy="([^"]*)"', html)] == [long, '"<6>"\n']
    cut = replace(failed, input="1\n[9 characters are missing here]\n2")
    assert "Copy the input" not in report(cut).to_html(copy=True)
    assert "too long to copy" in report(cut).to_html(copy=True)
    assert "<button" not in report(failed)._repr_html_(), "a page without our scripts has no dead button"
    assert not Balance(html).open


def test_what_a_submission_wrote_stays_text() -> None:
    hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x"
    verdicts = [outcome(verdict, i, actual=hostile, input=hostile) for i, verdict in enumerate(Verdict)]
    hurt = [replace(result, expected=hostile[:-1], stderr=hostile) for result in verdicts]
    tags = Balance(replace(report(*hurt), problem_id=hostile)._repr_html_()).tags
    assert not {"script", "img"} & set(tags)


def test_a_notebook_stays_small_whatever_the_size_of_the_data() -> None:
    flood = "<&>" * 300_000
    results = [outcome(Verdict.WRONG_ANSWER, i, actual=flood, input=flood, stderr=flood) for i in range(150)]
    html = report(*results)._repr_html_()
    assert len(html) < 500_000
    assert "139 more" in html


def test_a_difference_deep_in_a_long_output_is_in_sight() -> None:
    rows = [str(number) for number in range(20_000)]
    expected = "\n".join(rows)
    rows[15_000] = "here"
    wrong = outcome(Verdict.WRONG_ANSWER, expected=expected, actual="\n".join(rows))
    assert wrong.reason == "line 15001, column 1: expected 15000, got here"
    assert ">here</mark>" in wrong._repr_html_()
    assert "    here\n    ^^^^" in str(wrong)


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({}, "exit code 0"),
        ({"exit_code": 2}, "exit code 2"),
        ({"exit_code": None, "signal": 6}, "ended by SIGABRT"),
        ({"exit_code": None, "signal": 9, "timed_out": True}, "time limit"),
    ],
)
def test_an_execution_shows_its_ending_and_its_streams(changes: dict[str, int], headline: str) -> None:
    run = Execution(
        stdout="<b>out</b>\n",
        stderr="err\n",
        exit_code=0,
        signal=None,
        timed_out=False,
        wall_seconds=0.2,
        cpu_seconds=0.1,
        memory_bytes=8 << 20,
    )
    run = replace(run, **changes)
    assert str(run).startswith(f"{headline}, 0.10 s of processor time, 0.20 s elapsed, 8 MiB\n")
    assert "    <b>out</b>" in str(run)
    assert "&lt;b&gt;out" in run._repr_html_()
    assert not Balance(run._repr_html_()).open
