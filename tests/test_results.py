import csv
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pandas as pd
import pytest

from lcbkit.errors import BadValueError, RunFolderError
from lcbkit.records import Record, Status
from lcbkit.results import Run, compare, load_run

# The table of the leaderboard's README: passed / problems of o1-mini and o1-preview.
LEADERBOARD = {
    "all": ((602, 880), (489, 880)),
    "easy": ((265, 279), (263, 279)),
    "medium": ((243, 331), (188, 331)),
    "hard": ((94, 270), (38, 270)),
    "leetcode": ((287, 381), (279, 381)),
    "atcoder": ((308, 490), (206, 490)),
    "codeforces": ((7, 9), (4, 9)),
}
FIRST_50 = {
    "all": ((40, 50), (42, 50)),
    "easy": ((18, 18), (17, 18)),
    "medium": ((16, 23), (21, 23)),
    "hard": ((6, 9), (4, 9)),
    "leetcode": ((33, 41), (38, 41)),
    "atcoder": ((0, 0), (0, 0)),
    "codeforces": ((7, 9), (4, 9)),
}


def leaderboard(shared: Path, model: str, rows: int | None = None) -> Run:
    frame = pd.read_csv(shared / "data/leaderboard/o1_880.csv", nrows=rows)
    return Run.from_frame(frame.rename(columns={model: "em"}), config={"label": model})


@pytest.mark.parametrize(("rows", "expected"), [(None, LEADERBOARD), (50, FIRST_50)])
@pytest.mark.parametrize("column", [0, 1])
def test_scores_equal_the_leaderboards(
    shared: Path, rows: int | None, expected: dict[str, tuple[tuple[int, int], ...]], column: int
) -> None:
    run = leaderboard(shared, ("o1mini_pass", "o1preview_pass")[column], rows)
    found = {name: (score.passed, score.scored) for name, score in run.summary().rows()}
    assert found == {name: pair[column] for name, pair in expected.items()}


@pytest.mark.parametrize(("name", "passed"), [("o1-mini", 84), ("o1-preview", 83)])
def test_official_result_files_open_with_their_score(shared: Path, name: str, passed: int) -> None:
    summary = load_run(shared / f"data/submissions/{name}.json").summary()
    assert (summary.overall.passed, summary.overall.scored, summary.n_extracted) == (passed, 100, 100)
    assert sum(score.n for score in summary.by_mode.values()) == 100


@pytest.mark.parametrize(("name", "column"), [("o1-mini", 0), ("o1-preview", 1)])
def test_official_result_files_score_by_difficulty_and_platform_as_the_leaderboard_says(
    shared: Path, name: str, column: int
) -> None:
    run = load_run(shared / f"data/submissions/{name}.json")
    first_50 = Run(run.records[:50])
    found = {name: (score.passed, score.scored) for name, score in first_50.summary().rows()}
    assert {group: found[group] for group in FIRST_50} == {k: pair[column] for k, pair in FIRST_50.items()}
    whole = leaderboard(shared, ("o1mini_pass", "o1preview_pass")[column], 100)
    for by in ("difficulty", "platform", "difficulty,platform"):
        assert str(run.table(by)) == str(whole.table(by))


def test_months_partition_a_run(shared: Path) -> None:
    run = leaderboard(shared, "o1mini_pass")
    with (shared / "data/leaderboard/o1_880.csv").open() as file:
        may = [
            row["o1mini_pass"] == "1" for row in csv.DictReader(file) if row["contest_date"][:7] == "2024-05"
        ]
    months = run.by("month")
    assert (months["2024-05"].passed, months["2024-05"].n) == (sum(may), len(may))
    assert list(months) == sorted(months)
    assert sum(score.n for score in months.values()) == 880


def test_grouping_by_another_word_names_the_choices() -> None:
    with pytest.raises(ValueError, match=r"difficulty, platform.*'colour'"):
        Run([]).by("colour")


def test_where_an_instance_occurs_twice_the_later_line_wins(tmp_path: Path) -> None:
    rows = [{"id": "a", "em": 1}, {"id": "b", "em": 0}, {"id": "b", "em": 1}]
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    summary = load_run(tmp_path).summary()
    assert (summary.n, summary.pass_at_1) == (2, 1.0)


def test_a_run_survives_a_data_frame() -> None:
    run = Run(
        [
            Record(problem_id="a", passed=True, pass_count=2, total=2, code="x", size=4, winner=0),
            Record(problem_id="a", sample=1, status=Status.INFRA_ERROR, error="down", agents=({"agent": 0},)),
        ]
    )
    assert Run.from_frame(run.to_frame()).records == run.records


def test_a_summary_is_worked_out_once_for_a_run_and_anew_for_other_records() -> None:
    run = Run([Record(problem_id="a", passed=True)])
    assert run.summary() is run.summary()
    other = replace(run, records=[Record(problem_id="a")])
    assert (run.summary().pass_at_1, other.summary().pass_at_1) == (1.0, 0.0)


def test_an_empty_run_has_the_columns_of_any_other() -> None:
    empty, full = Run([]).to_frame(), Run([Record(problem_id="a")]).to_frame()
    assert list(empty.columns) == list(full.columns)
    assert Run.from_frame(empty).records == ()


def test_a_torn_last_line_is_passed_over_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_text('{"id": "a", "em": 1}\n{"id": "b", "e')
    assert load_run(path).summary().n == 1
    path.write_text('{"id": "a", "e\n{"id": "b", "em": 1}\n')
    with pytest.raises(RunFolderError, match="line 1"):
        load_run(path)


@pytest.mark.parametrize("name", ["nothing", "nothing.jsonl", "nothing.json"])
def test_no_run_there_says_what_to_give(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunFolderError, match="give a run folder"):
        load_run(tmp_path / name)


def test_a_file_that_is_no_run_and_a_folder_of_runs_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(RunFolderError, match="a file of another kind; give a run folder"):
        load_run(tmp_path / "notes.txt")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "predictions.jsonl").touch()
    with pytest.raises(RunFolderError, match="but the runs one, two"):
        load_run(tmp_path)


def test_a_loaded_run_is_in_the_order_of_its_dataset(tmp_path: Path) -> None:
    rows = [{"id": i, "em": 1, "sample": s} for s, i in ((1, "c"), (0, "c"), (0, "x"), (1, "b"), (0, "b"))]
    (tmp_path / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "run.json").write_text(json.dumps({"dataset": {"source": "sample", "ids": ["b", "c"]}}))
    run = load_run(tmp_path)
    assert [record.key for record in run.records] == [("b", 0), ("c", 0), ("x", 0), ("b", 1), ("c", 1)]
    assert "on sample" in repr(run)


def test_a_run_shows_its_table_as_text_and_its_markup_escaped() -> None:
    run = Run([Record(problem_id="a", passed=True, topology="single", format="freeform", model="<script>")])
    assert "100.0%" in repr(run)
    assert "single, freeform, <script>" in repr(run)
    assert "<script>" not in run._repr_html_()


def test_too_many_outages_are_said_to_be_no_score() -> None:
    records = [
        Record(problem_id=str(i), status=Status.INFRA_ERROR if i < 2 else Status.OK) for i in range(10)
    ]
    assert "no score" in repr(Run(records, {"max_infra_rate": 0.1}))
    assert "no score" in Run(records)._repr_html_()
    assert "no score" not in repr(Run(records, {"max_infra_rate": 0.2}))


def paired(outcomes: str) -> Run:
    """One record a problem: 1 passed, 0 failed, x an outage, a space for none."""
    status = {"x": Status.INFRA_ERROR}
    return Run(
        [
            Record(problem_id=str(i), passed=c == "1", status=status.get(c, Status.OK))
            for i, c in enumerate(outcomes)
            if c != " "
        ]
    )


def test_compare_pairs_the_problems_that_both_scored() -> None:
    found = compare(paired("11100x1 "), paired("10111111"))
    assert (found.problems, found.left_out) == (6, 2)
    assert (found.only_a, found.only_b) == (("1",), ("3", "4"))
    assert found.difference == pytest.approx(5 / 6 - 4 / 6)
    assert found.interval[0] < found.difference < found.interval[1]
    assert found.p_value == 1.0
    assert "McNemar" in str(found)


def test_compare_of_a_run_with_itself_finds_nothing() -> None:
    found = compare(paired("1100"), paired("1100"))
    assert (found.difference, found.interval, found.p_value) == (0.0, (0.0, 0.0), 1.0)


def test_compare_weighs_problems_alike_however_many_samples_they_have() -> None:
    one = Run([Record(problem_id=i) for i in "ab"])
    several = [Record(problem_id="a", sample=s, passed=s == 0) for s in range(4)]
    found = compare(one, Run([*several, Record(problem_id="b", passed=True)]))
    assert found.difference == pytest.approx((0.25 + 1) / 2)
    assert (found.p_value, found.only_a) == (None, None)


def test_a_path_in_place_of_a_run_is_told_how_to_get_one() -> None:
    with pytest.raises(BadValueError, match=r"not 'runs/a'; load_run\(...\) opens"):
        compare(Run([]), "runs/a")  # type: ignore[arg-type]


def test_runs_without_a_common_problem_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="no scored problem in common"):
        compare(paired("1"), paired(" 1"))


def test_two_groupings_at_once_agree_with_each_alone_and_keep_empty_cells(shared: Path) -> None:
    run = leaderboard(shared, "o1mini_pass")
    cells = run.by_both("difficulty", "platform")
    assert list(cells) == ["easy", "medium", "hard"]
    assert all(list(row) == ["leetcode", "codeforces", "atcoder"] for row in cells.values())
    for difficulty, score in run.by("difficulty").items():
        assert sum(cell.passed for cell in cells[difficulty].values()) == score.passed
        assert sum(cell.n for cell in cells[difficulty].values()) == score.n
    for platform, score in run.by("platform").items():
        assert sum(row[platform].scored for row in cells.values()) == score.scored
    assert Run([]).by_both("difficulty", "platform") == {}
    nameless = Run([Record(problem_id="a"), Record(problem_id="b", difficulty="easy", platform="atcoder")])
    assert {
        name: {key: cell.n for key, cell in row.items()}
        for name, row in nameless.by_both("difficulty", "platform").items()
    } == {
        "easy": {"atcoder": 1},
        "unk": {"atcoder": 0, "unk": 1},
    }


def test_a_day_parts_a_run_and_belongs_to_the_time_before(shared: Path) -> None:
    run = leaderboard(shared, "o1mini_pass")
    with (shared / "data/leaderboard/o1_880.csv").open() as file:
        rows = [(row["contest_date"][:10], row["o1mini_pass"] == "1") for row in csv.DictReader(file)]
    day = sorted(when for when, _ in rows)[400]
    sides = run.around(date.fromisoformat(day))
    before = [passed for when, passed in rows if when <= day]
    assert (sides["before"].passed, sides["before"].n) == (sum(before), len(before))
    assert sides["after"].n == 880 - len(before)
    assert list(sides) == ["before", "after"]
    assert Run([Record(problem_id="a")]).around(date(2024, 1, 1))["unk"].n == 1


def test_the_cost_counts_the_scored_instances_only() -> None:
    records = [
        Record(problem_id="a", passed=True, prompt_tokens=100, completion_tokens=20),
        Record(problem_id="b", prompt_tokens=50, completion_tokens=10, calls_without_usage=1),
        Record(problem_id="c", status=Status.INFRA_ERROR, prompt_tokens=999),
    ]
    cost = Run(records).cost()
    assert cost is not None
    assert (cost.per_problem, cost.per_solved, cost.at_least) == (90, 180, True)
    assert cost.interval == (60, 120)
    unsolved = Run(records[1:2]).cost()
    assert unsolved is not None
    assert unsolved.per_solved is None
    assert Run(records[2:]).cost() is None
    assert Run([Record(problem_id="a", passed=True)]).cost() is None


def test_an_interval_names_its_method() -> None:
    one = Run([Record(problem_id="a"), Record(problem_id="b")]).summary().overall
    several = Run([Record(problem_id="a"), Record(problem_id="a", sample=1)]).summary().overall
    assert (one.method, several.method, Run([]).summary().overall.method) == (
        "Wilson",
        "bootstrap over problems",
        None,
    )


def test_a_comparison_holds_each_problems_outcome_in_both_runs() -> None:
    a = Run([Record(problem_id="p", passed=True), Record(problem_id="q"), Record(problem_id="r")])
    b = Run([Record(problem_id="q", passed=True), Record(problem_id="q", sample=1), Record(problem_id="p")])
    assert compare(a, b).outcomes == {"p": (1.0, 0.0), "q": (0.0, 0.5)}
