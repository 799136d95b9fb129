import pytest

from lcbkit.records import Record, Status
from lcbkit.results import Run
from lcbkit.scoring.tables import score_table


def record(name: str, passed: bool, **facts: object) -> Record:
    return Record(problem_id=name, passed=passed, **facts)  # type: ignore[arg-type]


RECORDS = [
    record("a", True, difficulty="hard", platform="atcoder", contest_date="2024-05-03"),
    record("b", False, difficulty="hard", platform="leetcode", contest_date="2024-04-30"),
    record("c", True, difficulty="easy", platform="leetcode", contest_date="2024-05-01"),
    record("d", False, difficulty="easy", platform="leetcode", status=Status.INFRA_ERROR),
]


def test_one_grouping_has_a_line_a_group_and_one_for_all() -> None:
    lines = score_table(RECORDS, "difficulty").rows()
    assert [line[0] for line in lines] == ["easy", "hard", "all"]
    assert [line[1] for line in lines] == ["100.0%", "50.0%", "66.7%"]
    assert [line[3] for line in lines] == ["1 / 1 (of 2)", "1 / 2", "2 / 3 (of 4)"]


def test_two_groupings_make_a_grid_with_sums_at_its_edges() -> None:
    grid = score_table(RECORDS, ("difficulty", "platform"))
    assert grid.header() == ["difficulty \\ platform", "leetcode", "atcoder", "all"]
    assert grid.rows() == [
        ["easy", "100.0% (1/1)", "-", "100.0% (1/1)"],
        ["hard", "0.0% (0/1)", "100.0% (1/1)", "50.0% (1/2)"],
        ["all", "50.0% (1/2)", "100.0% (1/1)", "66.7% (2/3)"],
    ]


def test_months_come_from_the_contest_dates() -> None:
    grid = score_table(RECORDS, "month")
    assert [line[:2] for line in grid.rows()] == [
        ["2024-04", "0.0%"],
        ["2024-05", "100.0%"],
        ["unk", "-"],
        ["all", "66.7%"],
    ]


def test_a_fact_that_no_record_knows_is_said() -> None:
    text = str(score_table([record("a", True)], "month,difficulty"))
    assert "no record says its month, since none holds its contest date" in text
    assert "no record says its difficulty" in text
    assert "no record" not in str(score_table(RECORDS, "month,difficulty"))


def test_the_frame_has_a_line_for_each_group_in_which_something_ran() -> None:
    frame = score_table(RECORDS, "difficulty,platform").to_frame()
    assert next(iter(frame.itertuples(index=False, name=None)))[:6] == ("easy", "leetcode", 2, 1, 1, 1.0)
    assert frame["n"].sum() == 4
    assert list(score_table(RECORDS, "mode").to_frame()["mode"]) == ["unk"]


def test_samples_are_in_the_order_of_their_numbers() -> None:
    many = [record("a", True, sample=number) for number in range(12)]
    assert [line[0] for line in Run(many).table("sample").rows()[-3:]] == ["10", "11", "all"]


@pytest.mark.parametrize("by", ["colour", "", "difficulty,difficulty", "mode,month,platform", ()])
def test_other_words_are_refused(by: str) -> None:
    with pytest.raises(ValueError, match="group"):
        Run(RECORDS).table(by)


def test_markup_is_escaped() -> None:
    assert "<b>" not in score_table([record("a", True, platform="<b>")], "platform")._repr_html_()
