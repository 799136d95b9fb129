import json
from pathlib import Path

import pytest

from lcbkit.dataset import load_problems
from lcbkit.errors import BadValueError, UnknownProblemError
from lcbkit.records import Status
from lcbkit.results import Run, load_run
from lcbkit.widgets import browse
from lcbkit.widgets.run_browser import RunBrowser
from tests.widgets.conftest import RECORDS, record


def test_browse_opens_a_run_and_shows_its_first_instance(run: Run) -> None:
    browser = browse(run)
    assert isinstance(browser, RunBrowser)
    assert [row[0] for row in browser.table.rows] == ["p0", "p1", "p2", "p3", "p4"]
    assert browser.selected == "p0"
    assert "Title 0" in browser._panes[0].html


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"show": "failed"}, ["p1", "p2", "p3"]),
        ({"show": "wrong_answer"}, ["p1"]),
        ({"show": "no_code"}, ["p3"]),
        ({"show": "infrastructure"}, ["p4"]),
        ({"show": "passed", "difficulty": "hard"}, []),
        ({"platform": "leetcode"}, ["p1", "p3"]),
        ({"text": "TITLE print(2)"}, ["p2"]),
        ({"text": "gone"}, ["p4"]),
    ],
)
def test_filters_work_from_python(run: Run, filters: dict[str, str], left: list[str]) -> None:
    browser = browse(run, **filters)
    assert browser.filter() == left
    assert list(browser.to_frame()["id"]) == left
    assert f"{len(left)} of 5" in repr(browser)


def test_a_word_that_is_no_filter_is_answered_with_those_that_are(run: Run) -> None:
    with pytest.raises(BadValueError, match="no_code, agent_error"):
        browse(run).filter(show="broken")


def test_an_instance_shows_its_report_without_the_problem_at_hand(run: Run) -> None:
    browser = browse(run)
    browser.select("p1")
    report = browser.report()
    assert report is not None
    assert report.letters == "PW-"
    html = browser._panes[0].html
    assert "&lt;i&gt;6&lt;/i&gt;" in html or "&lt;" in html
    assert "<i>6</i>" not in html
    browser.select("p2")
    assert browser.report() is None
    assert "time limit" in browser._panes[0].html
    browser.select("p4")
    assert "ConnectionError: &lt;b&gt;gone&lt;/b&gt;" in browser._panes[0].html


def test_selecting_what_the_run_lacks_names_what_is_near(run: Run) -> None:
    with pytest.raises(UnknownProblemError, match="p1"):
        browse(run).select("p11")


def test_the_page_without_widgets_holds_the_same_list(run: Run) -> None:
    data, _ = browse(run, show="failed")._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    page = data["text/html"]
    assert page.count("<tr>") == 4
    assert "Title 1" in page
    assert "Title 0" not in page
    assert data["text/plain"].startswith("RunBrowser(run: 3 of 5 instances)")


def test_two_runs_show_first_where_one_alone_passed() -> None:
    better = Run([record(i, test_verdicts="PP" if i in (2, 4) else "PW") for i in range(5)])
    worse = Run([record(i, test_verdicts="WW" if i == 1 else "PW") for i in range(4)])
    browser = browse(better, worse)
    assert browser.filter() == ["p2", "p4", "p1", "p0", "p3"]
    assert browser.filter(show="only_a") == ["p2"], "as `compare` has it: b never tried p4"
    browser.filter(show="all")
    passed_by = {row[0]: row[2] for row in browser.table.rows}
    assert passed_by == {"p2": "only a", "p4": "not compared"} | dict.fromkeys(["p0", "p1", "p3"], "neither")
    assert browser.filter(show="different") == ["p2", "p4", "p1"]
    browser.select("p4")
    assert [pane is not None for pane in browser.records()] == [True, False]
    assert "nothing to show" in browser._panes[1].html


def test_problems_alone_stand_beside_nothing() -> None:
    with pytest.raises(BadValueError, match="two runs side by side"):
        browse(load_problems("sample"), Run(RECORDS))


def test_samples_are_looked_at_one_by_one_or_by_problem() -> None:
    verdicts = ["PP", "PW", "TT"]
    run = Run([record(i, sample=k, test_verdicts=verdicts[(i + k) % 3]) for k in range(3) for i in range(2)])
    browser = browse(run)
    assert browser.filter() == ["p0", "p1", "p0 #1", "p1 #1", "p0 #2", "p1 #2"]
    browser.select("p1", sample=2)
    assert browser.selected == "p1 #2"
    assert browser._sample.layout.display == "none", "a line per instance leaves nothing to choose"
    browser._lines.value = "problems"
    assert browser._sample.layout.display == ""
    assert [row[2] for row in browser.table.rows] == ["PWT", "WTP"]
    browser.select("p1", sample=2)
    (shown,) = browser.records()
    assert shown is not None
    assert shown.key == ("p1", 2)


def test_a_program_is_judged_again_where_its_problem_is_at_hand() -> None:
    problems = load_problems("sample", limit=1)
    unjudged = record(0, problem_id=problems[0].id, code="print(1)", test_verdicts="")
    browser = browse(Run([unjudged]), problems=problems)
    report = browser.judge_again()
    assert report.total == problems[0].hidden_test_count
    assert browser.report() == report
    assert "statement" in browser._panes[0].html
    with pytest.raises(BadValueError, match="problems="):
        browse(Run([unjudged])).judge_again()


def test_thousands_of_instances_open_without_reading_their_texts(tmp_path: Path) -> None:
    lines = [
        json.dumps(record(i, sample=k, test_verdicts="PW" * 20).to_row())
        for k in range(4)
        for i in range(1055)
    ]
    (tmp_path / "predictions.jsonl").write_text("\n".join(lines))
    (tmp_path / "trajectories").mkdir()
    for name in ("p0-0", "p1054-3"):
        (tmp_path / "trajectories" / f"{name}.json").write_text("not read unless looked at")
    run = load_run(tmp_path)
    (tmp_path / "trajectories" / "p0-0.json").write_text('{"trajectory": []}')
    browser = browse(run)
    assert len(browser.filter(show="failed")) == 4220
    assert len(json.dumps(browser.table.rows)) < 1_000_000, "what goes to the page"


def test_an_empty_run_is_no_error() -> None:
    browser = browse(Run([]))
    assert browser.records() == ()
    assert browser.filter(show="failed") == []
    assert "<table" in browser._repr_mimebundle_()[0]["text/html"]


def test_infrastructure_is_told_from_failure() -> None:
    run = Run([record(0, status=Status.JUDGE_ERROR), record(1, status=Status.BAD_TEST)])
    browser = browse(run)
    assert browser.filter(show="failed") == []
    assert browser.filter(show="unscored") == ["p0", "p1"]
    assert browser.filter(show="infrastructure") == ["p0"]
