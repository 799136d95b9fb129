from datetime import date, datetime

import numpy
import pytest
from row_factory import make_row

from lcbkit.errors import BadValueError, UnknownProblemError
from lcbkit.problems import Problem
from lcbkit.selection import Selection

DIFFICULTIES = ("easy", "medium", "hard")
PROBLEMS = [
    Problem.from_row(
        make_row(
            f"p{n}",
            difficulty=DIFFICULTIES[n % 3],
            platform="codeforces" if n % 2 else "atcoder",
            contest_date=f"2024-05-0{1 + n}T20:00:00",
        )
    )
    for n in range(9)
]


def ids(**arguments: object) -> list[str]:
    return [problem.id for problem in Selection.parse(**arguments).take(PROBLEMS)]  # type: ignore[arg-type]


def test_filters_come_before_offset_and_limit() -> None:
    assert ids(difficulty="easy", offset=1, limit=1) == ["p3"]
    assert ids(platform="codeforces", difficulty=("easy", "hard")) == ["p3", "p5"]
    assert ids(offset=7) == ["p7", "p8"]
    assert ids(limit=0) == []


def test_ids_lift_offset_and_limit_and_keep_the_order_of_the_dataset() -> None:
    assert ids(only=["p5", "p2"], offset=3, limit=1) == ["p2", "p5"]
    assert ids(only="p4") == ["p4"]
    assert ids(only=["p5", "p2"], difficulty="hard") == ["p2", "p5"]
    assert ids(only=["p5", "p0"], difficulty="hard") == ["p5"]
    assert ids(only=[]) == []


@pytest.mark.parametrize("day", ["2024-05-03", date(2024, 5, 3), datetime(2024, 5, 3), "2024-05-03T06:00:00"])
def test_dates_count_as_whole_days(day: object) -> None:
    assert ids(start_date=day, end_date=day) == ["p2"]


def test_no_more_is_taken_than_needed() -> None:
    def watched(last: int) -> object:
        for number, problem in enumerate(PROBLEMS):
            assert number <= last
            yield problem

    assert len(list(Selection.parse(limit=2, offset=1).take(watched(2)))) == 2  # type: ignore[arg-type]
    assert len(list(Selection.parse(only=["p1", "p3"]).take(watched(3)))) == 2  # type: ignore[arg-type]
    assert not list(Selection.parse(limit=0).take(watched(-1)))  # type: ignore[arg-type]


def test_an_unknown_id_is_an_error_with_near_ones() -> None:
    with pytest.raises(UnknownProblemError, match=r"'p44' \(near: p4\).*all 9"):
        ids(only=["p1", "p44"])


def test_every_unknown_id_is_named() -> None:
    with pytest.raises(UnknownProblemError, match=r"'p44' .*, nor 'zz', 'zzz';"):
        ids(only=["zzz", "p1", "zz", "p44"])


def test_an_id_that_was_passed_over_is_known() -> None:
    assert not list(Selection.parse(only=["q"]).take(PROBLEMS, skipped={"q": "no tests"}))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"difficulty": "insane"}, "'insane'; allowed: easy, medium, hard"),
        ({"platform": ["atcoder", "topcoder"]}, "'topcoder'; allowed: leetcode, codeforces, atcoder"),
        ({"errata": "skip"}, "'skip'; allowed: 'keep', 'drop'"),
        ({"limit": -1}, "limit is -1"),
        ({"limit": 2.0}, "limit is 2.0"),
        ({"limit": True}, "limit is True"),
        ({"offset": -3}, "offset is -3"),
        ({"start_date": "May"}, "start_date is 'May'"),
        ({"end_date": 2024}, "end_date is 2024"),
        ({"start_date": "2024-05-02", "end_date": "2024-05-01"}, "2024-05-02 is after end_date 2024-05-01"),
        ({"only": [2727]}, "only holds 2727"),
    ],
)
def test_a_value_outside_of_what_is_allowed_is_refused_with_what_is(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(BadValueError) as caught:
        ids(**arguments)
    assert words in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    assert ids(limit=numpy.int64(2)) == ["p0", "p1"]
