"""The problem browser as code drives it; tests/browser drives the same by mouse and keyboard."""

import threading
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
def browser(problems: ProblemSet):
    shown = browse(problems)
    yield shown
    shown.close()


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
    browser: ProblemBrowser, problems: ProblemSet, wanted: dict[str, object]
) -> None:
    assert browser.filter(**wanted).ids == problems.filter(**wanted).ids
    assert list(browser.to_frame()["id"]) == list(problems.filter(**wanted).ids)


def test_a_search_finds_problems_that_hold_all_words_whatever_their_capitals(browser: ProblemBrowser) -> None:
    assert browser.filter("COUPON aquarium").ids == ("lka1_a",)
    assert browser.filter("lk103").ids == ("lk103",)
    assert browser.filter("coupon nowhere").ids == ()
    assert len(browser.filter()) == 18


def test_modes_part_the_problems(browser: ProblemBrowser, problems: ProblemSet) -> None:
    functional, stdin = browser.filter(mode="functional").ids, browser.filter(mode="stdin").ids
    assert all(problems[name].mode == "functional" for name in functional)
    assert sorted((*functional, *stdin)) == sorted(problems.ids)


def test_fields_and_methods_are_two_ways_to_the_same(browser: ProblemBrowser) -> None:
    view = browser._view
    view.search.value = "coupon"
    view.difficulty.value = "easy"
    assert browser.found.ids == ("lka1_a",)
    browser.filter(platform="leetcode", start_date="2024-12-01")
    assert (view.search.value, view.difficulty.value, view.platform.value) == ("", "", "leetcode")
    assert view.start.value == date(2024, 12, 1)
    view.reset.click()
    assert len(browser.found) == 18
    view.end.value, view.start.value = date(2024, 6, 8), date(2024, 6, 9)
    assert "after" in view.count.children[0].value


def test_wrong_words_are_answered_with_those_that_are_right(browser: ProblemBrowser) -> None:
    with pytest.raises(BadValueError, match="codeforces"):
        browser.filter(platform="spoj")
    with pytest.raises(BadValueError, match="functional"):
        browser.filter(mode="both")
    with pytest.raises(BadValueError, match="contest_date"):
        browser.sort("date")
    with pytest.raises(BadValueError, match="Statement"):
        browser.show("statements")
    with pytest.raises(BadValueError, match="public"):
        browser.judge(RIGHT, tests="secret")
    with pytest.raises(UnknownProblemError, match="lka1_a"):
        browser.select("lka1")


def test_the_frame_is_in_the_order_of_the_table(browser: ProblemBrowser) -> None:
    browser.sort("difficulty", descending=True)
    frame = browser.to_frame()
    assert list(frame["difficulty"]) == ["hard"] * 4 + ["medium"] * 6 + ["easy"] * 8
    assert frame.attrs["source"] == "sample"


def test_a_selected_problem_is_shown_with_its_prompt_its_samples_and_its_starter(
    browser: ProblemBrowser, problems: ProblemSet
) -> None:
    for name in ("lka1_a", "lk103"):
        browser.select(name)
        view, problem = browser._view, problems[name]
        assert view.table.selected == name
        assert problem.title in view.head.value
        assert view.prompt.groups[0][0]["text"] == lcbkit.build_prompt(problem)
        assert [pair[0]["text"] for pair in view.samples.groups] == [t.input for t in problem.public_tests]
        assert browser.code == problem.starter_code
        [shown] = view.statement.outputs
        assert shown["data"]["text/plain"] == problem.statement


def test_a_click_on_a_row_selects_it(browser: ProblemBrowser) -> None:
    browser._view.table.selected = "lk103"
    assert browser.problem is not None
    assert browser.problem.id == "lk103"


def test_each_problem_keeps_its_program(browser: ProblemBrowser) -> None:
    browser.code = RIGHT
    browser.select("lk103")
    browser.code = "class Solution: ..."
    browser.select("lka1_a")
    assert browser.code == RIGHT
    browser.select("lk103")
    browser._view.restore.click()
    assert browser.code == browser.problem.starter_code


def test_a_right_and_a_wrong_program_are_judged_as_by_judge(browser: ProblemBrowser) -> None:
    report = browser.judge(RIGHT)
    assert report.passed
    assert "passed" in browser._view.status.value
    frame = browser.to_frame().set_index("id")
    assert frame.loc["lka1_a", "result"] == "passed"

    report = browser.judge(WRONG)
    alone = lcbkit.judge(WRONG, browser.problem)
    assert [(r.index, r.verdict, r.actual) for r in report.results] == [
        (r.index, r.verdict, r.actual) for r in alone.results
    ]
    assert "wrong answer" in browser._view.status.value
    assert "expected" in browser._view.results.value
    assert browser._view.bar.value == browser._view.bar.max == report.total
    assert browser._view.judge.disabled is False
    assert browser._view.stop.disabled is True


def test_public_tests_and_the_first_failure_can_be_chosen(browser: ProblemBrowser) -> None:
    assert browser.judge(RIGHT, tests="public").total == len(browser.problem.public_tests)
    report = browser.judge("print(0)", stop_on_failure=True)
    assert not report.results[-1].passed
    assert sum(not result.passed for result in report.results) == 1
    assert browser.judge(RIGHT, stop_on_failure=True).passed


def test_the_line_of_a_runtime_error_stands_out(browser: ProblemBrowser) -> None:
    browser.judge("x = 1\nprint(undefined_name)\n", tests="public")
    assert browser._view.editor.marked_line == 2
    browser.code = "x = 2"
    assert browser._view.editor.marked_line == 0


def test_stopping_ends_the_job_and_its_workers(browser: ProblemBrowser) -> None:
    before = set(workers())
    stopper = threading.Timer(3, browser.stop)
    stopper.start()
    report = browser.judge(ENDLESS)
    stopper.join()
    assert len(report.results) < report.total
    assert "stopped" in browser._view.status.value
    assert not set(workers()) - before
    assert browser.judge(RIGHT).passed, "a stop is not the end of the browser"


def test_a_report_that_comes_while_another_problem_is_shown_waits_for_its_own(
    browser: ProblemBrowser,
) -> None:
    browser.code = RIGHT
    job = browser._start(None, None)
    browser.select("lk103")
    job.wait()
    assert browser.report is None
    assert "passed" not in browser._view.status.value
    browser.select("lka1_a")
    assert browser.report.passed
    assert "passed" in browser._view.status.value


def test_hostile_titles_and_outputs_are_text() -> None:
    title = "<img src=x onerror=alert(1)>"
    problem = lcbkit.Problem.from_row(make_row("p", question_title=title, question_content=title))
    browser = browse([problem])
    browser.judge(f"print({title!r})\nprint({title!r}, file=__import__('sys').stderr)")
    shown = (browser._view.head.value, browser._view.results.value, browser._repr_html_())
    browser.close()
    for part in shown:
        assert "<img" not in part
        assert "&lt;img" in part


def test_without_widgets_a_table_stands_and_says_how_much_it_leaves_out() -> None:
    rows = [make_row(f"p{i}") for i in range(150)]
    browser = browse([lcbkit.Problem.from_row(each) for each in rows])
    bundle = browser._repr_mimebundle_()
    browser.close()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].count("<tr>") == 101
    assert "50 more" in bundle["text/html"]
    assert bundle["text/plain"] == "ProblemBrowser(150 of 150 problems shown, p0 selected)"


def test_an_empty_set_is_shown_as_such() -> None:
    browser = browse(lcbkit.load_problems("sample")[:0])
    assert browser.problem is None
    with pytest.raises(BadValueError, match="not empty"):
        browser.judge("print(1)")
    browser.close()
