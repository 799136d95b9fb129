"""The problem browser as code drives it; tests/browser drives the same by mouse and keyboard."""

import threading
from collections.abc import Iterator
from datetime import date

import psutil
import pytest
from row_factory import make_row

import lcbkit
from lcbkit.errors import BadValueError, UnknownProblemError
from lcbkit.problems import ProblemSet
from lcbkit.widgets import browse
from lcbkit.widgets.problem_browser import ProblemBrowser

RIGHT = "a, b, x, y, c = map(int, input().split())\nprint(max(0, a * x + b * y - c))\n"
WRONG = "a, b, x, y, c = map(int, input().split())\nprint(a * x + b * y - c)\n"
ENDLESS = "while True: pass\n"


@pytest.fixture(scope="module")
def problems() -> ProblemSet:
    return lcbkit.load_problems("sample")


@pytest.fixture
def shown(problems: ProblemSet) -> Iterator[ProblemBrowser]:
    browser = browse(problems)
    yield browser
    browser.close()


def workers() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@pytest.mark.parametrize(
    "wanted",
    [
        {"platform": "leetcode"},
        {"difficulty": "hard"},
        {"platform": "atcoder", "difficulty": "easy"},
        {"start_date": "2024-08-03", "end_date": date(2024, 12, 15)},
        {"end_date": "2024-06-08"},
    ],
)
def test_filters_admit_what_a_problem_set_admits(
    shown: ProblemBrowser, problems: ProblemSet, wanted: dict[str, object]
) -> None:
    assert shown.filter(**wanted).ids == problems.filter(**wanted).ids
    assert list(shown.to_frame()["id"]) == list(problems.filter(**wanted).ids)


def test_a_search_finds_problems_that_hold_all_words_whatever_their_capitals(shown: ProblemBrowser) -> None:
    assert shown.filter("COUPON aquarium").ids == ("lka1_a",)
    assert shown.filter("lk103").ids == ("lk103",)
    assert shown.filter("coupon nowhere").ids == ()
    assert len(shown.filter()) == 18


def test_modes_part_the_problems(shown: ProblemBrowser, problems: ProblemSet) -> None:
    functional, stdin = shown.filter(mode="functional").ids, shown.filter(mode="stdin").ids
    assert all(problems[name].mode == "functional" for name in functional)
    assert sorted((*functional, *stdin)) == sorted(problems.ids)


def test_fields_and_methods_are_two_ways_to_the_same(shown: ProblemBrowser) -> None:
    view = shown._view
    view.search.value = "coupon"
    view.difficulty.value = "easy"
    assert shown.found.ids == ("lka1_a",)
    shown.filter(platform="leetcode", start_date="2024-12-01")
    assert (view.search.value, view.difficulty.value, view.platform.value) == ("", "", "leetcode")
    assert view.start.value == date(2024, 12, 1)
    view.reset.click()
    assert len(shown.found) == 18
    view.end.value, view.start.value = date(2024, 6, 8), date(2024, 6, 9)
    assert "after" in view.count.children[0].value


def test_wrong_words_are_answered_with_those_that_are_right(shown: ProblemBrowser) -> None:
    with pytest.raises(BadValueError, match="codeforces"):
        shown.filter(platform="spoj")
    with pytest.raises(BadValueError, match="functional"):
        shown.filter(mode="both")
    with pytest.raises(BadValueError, match="contest_date"):
        shown.sort("date")
    with pytest.raises(BadValueError, match="Statement"):
        shown.show("statements")
    with pytest.raises(BadValueError, match="public"):
        shown.judge(RIGHT, tests="secret")
    with pytest.raises(UnknownProblemError, match="lka1_a"):
        shown.select("lka1")
    with pytest.raises(BadValueError, match=r"not 'sample'; load_problems"):
        browse("sample")


def test_the_frame_is_in_the_order_of_the_table(shown: ProblemBrowser) -> None:
    shown.sort("difficulty", descending=True)
    frame = shown.to_frame()
    assert list(frame["difficulty"]) == ["hard"] * 4 + ["medium"] * 6 + ["easy"] * 8
    assert frame.attrs["source"] == "sample"


def test_a_selected_problem_is_shown_with_its_prompt_its_samples_and_its_starter(
    shown: ProblemBrowser, problems: ProblemSet
) -> None:
    for name in ("lka1_a", "lk103"):
        shown.select(name)
        view, problem = shown._view, problems[name]
        assert view.table.selected == name
        assert problem.title in view.head.value
        assert view.prompt.groups[0][0]["text"] == lcbkit.build_prompt(problem)
        assert [pair[0]["text"] for pair in view.samples.groups] == [t.input for t in problem.public_tests]
        assert shown.code == problem.starter_code
        [statement] = view.statement.outputs
        assert statement["data"]["text/plain"] == problem.statement


def test_a_click_on_a_row_selects_it(shown: ProblemBrowser) -> None:
    shown._view.table.selected = "lk103"
    assert shown.problem is not None
    assert shown.problem.id == "lk103"


def test_each_problem_keeps_its_program(shown: ProblemBrowser) -> None:
    shown.code = RIGHT
    shown.select("lk103")
    shown.code = "class Solution: ..."
    shown.select("lka1_a")
    assert shown.code == RIGHT
    shown.select("lk103")
    shown._view.restore.click()
    assert shown.code == shown.problem.starter_code


def test_a_right_and_a_wrong_program_are_judged_as_by_judge(shown: ProblemBrowser) -> None:
    report = shown.judge(RIGHT)
    assert report.passed
    assert "passed" in shown._view.status.value
    frame = shown.to_frame().set_index("id")
    assert frame.loc["lka1_a", "result"] == "passed"

    report = shown.judge(WRONG)
    alone = lcbkit.judge(WRONG, shown.problem)
    assert [(r.index, r.verdict, r.actual) for r in report.results] == [
        (r.index, r.verdict, r.actual) for r in alone.results
    ]
    assert "wrong answer" in shown._view.status.value
    assert "expected" in shown._view.results.html
    assert shown._view.bar.value == shown._view.bar.max == report.total
    assert shown._view.judge.disabled is False
    assert shown._view.stop.disabled is True


def test_public_tests_and_the_first_failure_can_be_chosen(shown: ProblemBrowser) -> None:
    assert shown.judge(RIGHT, tests="public").total == len(shown.problem.public_tests)
    report = shown.judge("print(0)", stop_on_failure=True)
    assert not report.results[-1].passed
    assert sum(not result.passed for result in report.results) == 1
    assert shown.judge(RIGHT, stop_on_failure=True).passed


def test_the_line_of_a_runtime_error_stands_out(shown: ProblemBrowser) -> None:
    shown.judge("x = 1\nprint(undefined_name)\n", tests="public")
    assert shown._view.editor.marked_line == 2
    shown.code = "x = 2"
    assert shown._view.editor.marked_line == 0


def test_stopping_ends_the_job_and_its_workers(shown: ProblemBrowser) -> None:
    before = set(workers())
    stopper = threading.Timer(3, shown.stop)
    stopper.start()
    report = shown.judge(ENDLESS)
    stopper.join()
    assert len(report.results) < report.total
    assert "stopped" in shown._view.status.value
    assert not set(workers()) - before
    assert shown.judge(RIGHT).passed, "a stop is not the end of the browser"


def test_a_report_that_comes_while_another_problem_is_shown_waits_for_its_own(
    shown: ProblemBrowser,
) -> None:
    shown.code = RIGHT
    job = shown._start(None, None)
    shown.select("lk103")
    job.wait()
    assert shown.report is None
    assert "passed" not in shown._view.status.value
    shown.select("lka1_a")
    assert shown.report.passed
    assert "passed" in shown._view.status.value


def test_hostile_titles_and_outputs_are_text() -> None:
    title = "<img src=x onerror=alert(1)>"
    problem = lcbkit.Problem.from_row(make_row("p", question_title=title, question_content=title))
    shown = browse([problem])
    shown.judge(f"print({title!r})\nprint({title!r}, file=__import__('sys').stderr)")
    parts = (shown._view.head.value, shown._view.results.html, shown._repr_html_())
    shown.close()
    for part in parts:
        assert "<img" not in part
        assert "&lt;img" in part


def test_without_widgets_a_table_stands_and_says_how_much_it_leaves_out() -> None:
    rows = [make_row(f"p{i}") for i in range(150)]
    shown = browse([lcbkit.Problem.from_row(each) for each in rows])
    bundle, _ = shown._repr_mimebundle_()
    shown.close()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].count("<tr>") == 101
    assert "50 more" in bundle["text/html"]
    assert bundle["text/plain"] == "ProblemBrowser(150 of 150 problems shown, p0 selected)"


def test_an_empty_set_is_shown_as_such() -> None:
    shown = browse(lcbkit.load_problems("sample")[:0])
    assert shown.problem is None
    with pytest.raises(BadValueError, match="not empty"):
        shown.judge("print(1)")
    shown.close()
