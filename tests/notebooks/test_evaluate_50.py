"""What `04_evaluate_50` shows when it is executed."""

import re

import lcbkit
from tests.notebooks.kernel import data, executed, tagged, text

STEM = "04_evaluate_50"


def test_its_live_views_leave_pages_that_need_no_widget() -> None:
    rehearsal = data(tagged(executed(STEM), "rehearsal"), "text/html")
    assert "finished" in rehearsal
    assert "4 of 4 instances" in rehearsal
    whole = data(tagged(executed(STEM), "progress"), "text/html")
    assert "18 of 18 instances" in whole
    assert "pass@1" in whole
    assert "widget-view" not in str(tagged(executed(STEM), "progress").outputs[0].data.keys())


def test_its_table_has_the_score_by_difficulty_with_intervals() -> None:
    table = data(tagged(executed(STEM), "table"), "text/html")
    for word in ("pass@1", "easy", "medium", "hard", "95"):
        assert word in table, word


def test_its_browser_is_a_widget_and_a_list_for_readers_without_one() -> None:
    cell = tagged(executed(STEM), "browser")
    assert data(cell, "text/html").count("<tr>") == 19, "a head and 18 instances"
    assert "widget-view+json" in str(cell.outputs[0].data.keys())
    wrong = tagged(executed(STEM), "wrong")
    (count,) = re.findall(r"^(\d+) wrong answers:", text(wrong))
    assert int(count) > 0
    assert "tests passed" in data(wrong, "text/html")


def test_a_second_call_finds_everything_done() -> None:
    assert "18 instances, the same records: True" in text(tagged(executed(STEM), "resume"))
    records = data(tagged(executed(STEM), "records"), "text/html")
    assert 'class="dataframe"' in records
    assert "test_verdicts" in records


def test_its_exercise_judges_a_failed_program_and_a_repaired_one_passes() -> None:
    cell = tagged(executed(STEM), "exercise")
    assert "lka1_a: 1 of 12 tests passed" in data(cell, "text/html")
    problem = lcbkit.load_problems("sample", only=["lka1_a"])[0]
    repaired = "a, b, x, y, c = map(int, input().split())\nprint(max(0, a * x + b * y - c))"
    assert lcbkit.judge(repaired, problem, stop_on_failure=True).passed
