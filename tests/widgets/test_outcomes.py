import pytest

from lcbkit.judging.report import Verdict
from lcbkit.records import Status
from lcbkit.widgets.outcomes import LETTERS, SHOWN, is_shown, outcome, strip
from tests.widgets.conftest import RECORDS, record


def test_every_verdict_and_status_has_a_letter_of_its_own() -> None:
    verdicts = [verdict.letter for verdict in Verdict]
    assert len(set(verdicts)) == len(verdicts)
    assert set(verdicts) <= set(LETTERS)
    ends = [outcome(record(0, status=status)) for status in Status]
    assert len(set(ends)) == len(ends)


@pytest.mark.parametrize("which", range(len(RECORDS)))
def test_an_instance_is_shown_under_its_own_word(which: int) -> None:
    words = [name for name in SHOWN if is_shown(RECORDS[which], name)]
    own = ("passed", "wrong_answer", "time_limit", "no_code", "infrastructure")[which]
    assert own in words
    assert "all" in words
    assert ("failed" in words) is (which in (1, 2, 3))


def test_a_verdict_without_a_known_failure_is_failed() -> None:
    assert outcome(record(0, passed=False, first_failure=None)) == "F"


def test_letters_from_a_file_cannot_become_tags() -> None:
    assert "<b>" not in strip("P<b>")
