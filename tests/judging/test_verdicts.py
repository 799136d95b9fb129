"""How a test ended becomes one verdict, and a text that says why."""

from typing import Any

import pytest

from lcbkit import TestCase, Verdict
from lcbkit.judging.outcomes import Limits, Outcome, parse_outcome
from lcbkit.judging.verdicts import execution, judge_outcome

LIMITS = Limits(time_limit=2.0, memory_limit=1 << 30)
STDIN = TestCase(input="1", output="6\n", mode="stdin")
FUNCTIONAL = TestCase(input="1", output="[6]", mode="functional")


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        ({"main": b"6"}, Verdict.PASSED),
        ({"main": b"7"}, Verdict.WRONG_ANSWER),
        ({"main": b"6\xff"}, Verdict.WRONG_ANSWER),
        ({"main": b"6", "status": 1}, Verdict.RUNTIME_ERROR),
        ({"main": b"6", "status": -11}, Verdict.RUNTIME_ERROR),
        ({"main": b"6", "cpu": 2.1}, Verdict.TIME_LIMIT),
        ({"main": b"6", "killed": "time", "status": -9}, Verdict.TIME_LIMIT),
        ({"main": b"6", "status": -24}, Verdict.TIME_LIMIT),
        ({"main": b"6", "killed": "output", "status": -9}, Verdict.OUTPUT_LIMIT),
        ({"main": b"6", "killed": "memory", "status": -9}, Verdict.MEMORY_LIMIT),
        ({"status": 1, "stderr": b"Traceback\nMemoryError\n"}, Verdict.MEMORY_LIMIT),
        ({"status": 1, "stderr": b"numpy._core._exceptions._ArrayMemoryError: Unable"}, Verdict.MEMORY_LIMIT),
        ({"status": 1, "stderr": b"MemoryError\nValueError: no MemoryError"}, Verdict.RUNTIME_ERROR),
        ({"main": b"6", "stderr": b"MemoryError"}, Verdict.PASSED),
        ({"bad_test": "why"}, Verdict.BAD_TEST),
        ({"internal": "why"}, Verdict.INTERNAL_ERROR),
    ],
)
def test_an_end_has_a_verdict(outcome: dict[str, Any], verdict: Verdict) -> None:
    assert judge_outcome(0, STDIN, Outcome(**outcome), LIMITS).verdict is verdict


@pytest.mark.parametrize(
    ("payload", "verdict", "actual"),
    [
        (b"J[6]\n", Verdict.PASSED, "[6]"),
        (b'T["l",6.0]\n', Verdict.PASSED, "[6.0]"),
        (b'T["t",6]\n', Verdict.WRONG_ANSWER, "(6,)"),
        (b'T["s",6]\n', Verdict.WRONG_ANSWER, "{6}"),
        (b'T["o","<generator>"]\n', Verdict.WRONG_ANSWER, "<generator>"),
        (b"J[6]", Verdict.RUNTIME_ERROR, ""),
        (b"", Verdict.RUNTIME_ERROR, ""),
        (b"forged\n", Verdict.WRONG_ANSWER, "something that the judge cannot read"),
    ],
)
def test_a_value_has_a_verdict_and_is_shown_as_python_writes_it(
    payload: bytes, verdict: Verdict, actual: str
) -> None:
    result = judge_outcome(0, FUNCTIONAL, Outcome(main=payload), LIMITS)
    assert (result.verdict, result.actual) == (verdict, actual)


def test_a_value_far_longer_than_the_expected_one_is_wrong_without_being_decoded() -> None:
    payload = b"J" + b"[" * 5_000_000 + b"]" * 5_000_000 + b"\n"
    result = judge_outcome(0, FUNCTIONAL, Outcome(main=payload), LIMITS)
    assert result.verdict is Verdict.WRONG_ANSWER
    assert len(result.actual) < 20_000


def test_an_integer_of_many_digits_is_shown_though_this_process_does_not_convert_it() -> None:
    case = TestCase(input="1", output="5", mode="functional")
    result = judge_outcome(0, case, Outcome(main=b'T["n","0x' + b"f" * 9_000 + b'"]\n'), LIMITS)
    assert result.verdict is Verdict.WRONG_ANSWER
    assert "0xfff" in result.actual


def test_a_broken_expected_value_is_the_tests_fault_however_the_program_ended() -> None:
    case = TestCase(input="1", output="[6", mode="functional")
    assert judge_outcome(0, case, Outcome(status=1), LIMITS).verdict is Verdict.BAD_TEST


def test_long_texts_are_cut_in_the_middle_and_say_so() -> None:
    result = judge_outcome(3, STDIN, Outcome(main=b"a" * 100_000 + b"z"), LIMITS)
    assert len(result.actual) < 20_000
    assert result.actual.startswith("aaa")
    assert result.actual.endswith("az")
    assert "84001 characters are missing" in result.actual
    assert result.index == 3


def test_a_note_stands_where_standard_error_is_empty() -> None:
    assert "limit is 2 s" in judge_outcome(0, STDIN, Outcome(killed="time", cpu=2.5), LIMITS).stderr
    assert judge_outcome(0, STDIN, Outcome(status=1, stderr=b"own"), LIMITS).stderr == "own"
    assert "signal 11" in judge_outcome(0, STDIN, Outcome(status=-11), LIMITS).stderr


def test_a_free_run_keeps_status_and_signal_apart() -> None:
    assert execution(Outcome(status=3), LIMITS).exit_code == 3
    assert execution(Outcome(status=-9, killed="time"), LIMITS).signal == 9
    assert execution(Outcome(status=-24), LIMITS).timed_out


def test_bytes_that_are_no_text_equal_no_expected_output() -> None:
    """Not even one that holds the sign which stands for them where they are shown."""
    case = TestCase(input="", output="\ufffd", mode="stdin")
    result = judge_outcome(0, case, Outcome(main=b"\xff\n"), LIMITS)
    assert (result.verdict, result.actual) == (Verdict.WRONG_ANSWER, "\ufffd\n")
    assert judge_outcome(0, case, Outcome(main="\ufffd\n".encode()), LIMITS).verdict is Verdict.PASSED


def test_what_no_worker_says_is_no_outcome() -> None:
    with pytest.raises(ValueError, match="surprise"):
        parse_outcome({"surprise": 1}, b"")
