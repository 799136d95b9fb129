"""The parts of the problem browser and how they are laid out; what they do is wired elsewhere."""

from html import escape
from pathlib import Path
from typing import Any

import ipywidgets

from lcbkit.display.answer import VIEW_STYLE
from lcbkit.html import badge
from lcbkit.judging.report import Report, Verdict
from lcbkit.problems import Problem
from lcbkit.rows.schema import DIFFICULTIES, PLATFORMS
from lcbkit.widgets.catalogue import COLUMNS, LEVELS, MODES
from lcbkit.widgets.editor import CodeEditor
from lcbkit.widgets.pane import Pane
from lcbkit.widgets.passages import Passages
from lcbkit.widgets.style import style_sheet
from lcbkit.widgets.table import DataTable

__all__ = ["TEST_SETS", "ProblemView", "headline", "samples", "status_words"]

_PARTS = ("Statement", "Samples", "Prompt", "Starter code")
TEST_SETS = {"hidden": "hidden tests", "public": "public tests", "all": "all tests"}

_STYLE = (Path(__file__).parent / "problem_view.css").read_text(encoding="utf-8")


def _field(widget: Any, basis: str) -> Any:
    widget.add_class("lcb-field")
    widget.layout = ipywidgets.Layout(flex=basis, width="auto", min_width="0")
    return widget


def _box(name: str, *children: Any, kind: type[Any] = ipywidgets.Box) -> Any:
    box = kind(list(children))
    box.add_class(name)
    return box


class ProblemView:
    """All widgets of a problem browser; `root` is what a notebook shows."""

    def __init__(self, height: int) -> None:
        self.search = _field(
            ipywidgets.Text(description="Search", placeholder="words of title, statement, id or contest"),
            "3 1 170px",
        )
        self.search.add_class("lcb-search")
        choices = {"Platform": PLATFORMS, "Difficulty": DIFFICULTIES, "Mode": MODES}
        self.platform, self.difficulty, self.mode = (
            _field(
                ipywidgets.Dropdown(
                    description=name, options=[("any", ""), *zip(options, options, strict=True)]
                ),
                "1 1 96px",
            )
            for name, options in choices.items()
        )
        self.start, self.end = (
            _field(ipywidgets.DatePicker(description=name), "1 1 112px") for name in ("From", "To")
        )
        self.reset = ipywidgets.Button(
            description="Reset", tooltip="Take all filters away", layout=ipywidgets.Layout(width="auto")
        )
        self.count = _box("lcb-count", ipywidgets.HTML())
        self.table = DataTable(
            columns=list(COLUMNS),
            height=height,
            label="Problems",
            empty="No problem matches. Reset takes all filters away.",
            search_focus=".lcb-search input",
            open_focus=".lcb-editor textarea",
        )
        self.head = ipywidgets.HTML()
        self.head.add_class("lcb-head")
        self._make_pages()
        self._make_bench()
        what = _box("lcb-group", self.search, self.platform, self.difficulty, self.mode)
        when = _box("lcb-group", self.start, self.end, self.reset, self.count)
        for group, basis in ((what, "3 1 490px"), (when, "1 1 400px")):
            group.layout = ipywidgets.Layout(flex=basis, min_width="0", overflow="visible")
        work = _box("lcb-work", self.left, self.right)
        bar = _box("lcb-bar", what, when)
        parts = (style_sheet(VIEW_STYLE + _STYLE), bar, self.table, self.head, work, self.results)
        self.root = _box("lcb", *parts, kind=ipywidgets.VBox)
        self.root.add_class("lcb-problems")
        self.root.layout = ipywidgets.Layout(width="100%", overflow="visible", padding="2px 2px 0")

    def _make_pages(self) -> None:
        self.tabs = ipywidgets.ToggleButtons(options=_PARTS)
        self.tabs.add_class("lcb-tabs")
        # Its outputs are set, never printed into: that works from any thread and stays with the widget.
        self.statement = ipywidgets.Output()
        self.samples = Passages(empty="This problem has no public tests.")
        self.prompt = Passages()
        self.starter = Passages(empty="No starter code: the program reads standard input.")
        pages = [_box("lcb-page", page) for page in (self.statement, self.samples, self.prompt, self.starter)]
        for page in pages:
            page.layout = ipywidgets.Layout(display="block")
        stack = ipywidgets.Stack(pages, selected_index=0, layout=ipywidgets.Layout(overflow="visible"))
        self.tabs.observe(lambda _: stack.set_trait("selected_index", self.tabs.index), "index")
        self.left = _box("lcb-side", self.tabs, stack)

    def _make_bench(self) -> None:
        self.judge = ipywidgets.Button(
            description="Judge", icon="play", button_style="primary", tooltip="Ctrl-Enter in the program"
        )
        self.stop = ipywidgets.Button(description="Stop", icon="stop", disabled=True)
        self.tests = ipywidgets.Dropdown(options=[(words, name) for name, words in TEST_SETS.items()])
        self.first = ipywidgets.Checkbox(description="to the first failure", indent=False)
        self.restore = ipywidgets.Button(
            description="Start over",
            tooltip="Take the starter code again",
            layout=ipywidgets.Layout(width="auto"),
        )
        self.editor = CodeEditor(placeholder="Write a Python program here and press Ctrl-Enter.")
        self.bar = ipywidgets.IntProgress(min=0, max=1)
        self.status = ipywidgets.HTML()
        self.results = Pane(label="What the judge found")
        self.results.add_class("lcb-results")
        tools = _box("lcb-tools", self.judge, self.stop, self.tests, self.first, self.restore)
        state = _box("lcb-state", self.bar, self.status)
        self.right = _box("lcb-side", tools, self.editor, state)


def headline(problem: Problem) -> str:
    """Title and facts of a problem, as HTML."""
    facts = [
        f"<code>{escape(problem.id)}</code>",
        escape(problem.platform),
        badge(problem.difficulty, LEVELS[problem.difficulty]),
        f"{escape(problem.mode)} mode",
        f"contest {escape(problem.contest_id)}, {problem.contest_date.date()}",
        f"{len(problem.public_tests)} public and {problem.hidden_test_count} hidden tests",
    ]
    if problem.fn_name:
        facts.insert(4, f"calls <code>{escape(problem.fn_name)}</code>")
    if problem.erratum:
        words = problem.erratum.replace("_", " ")
        facts.append(badge(f"listed as defective: {words}", "warn"))
    spans = "".join(f"<span>{fact}</span>" for fact in facts)
    return f'<h3>{escape(problem.title)}</h3><div class="lcb-facts">{spans}</div>'


def samples(problem: Problem) -> list[list[dict[str, str]]]:
    """A problem's public tests as passages."""
    return [
        [{"title": f"Input {number}", "text": test.input}, {"title": f"Output {number}", "text": test.output}]
        for number, test in enumerate(problem.public_tests, 1)
    ]


def status_words(report: Report, *, running: bool, stopped: bool) -> tuple[str, str]:
    """How a program does, as HTML, and the bar's style; `report` may be of the first tests only."""
    count = f"{report.pass_count} of {report.total} tests passed"
    if running:
        seen = f"{len(report.results)} of {report.total}" if report.total else "preparing"
        failed = len(report.results) - report.pass_count
        return f"judging: {seen}" + (f", {failed} failed" if failed else ""), "info"
    if report.passed:
        return f"{badge('✓ passed', 'good')} all {report.total} tests", "success"
    if stopped:
        return f"{badge('stopped', 'warn')} after {len(report.results)} of {report.total} tests", ""
    if report.first_failure is None:
        return badge("no test", "warn"), "warning"
    tone = "warn" if report.first_failure.verdict in (Verdict.BAD_TEST, Verdict.INTERNAL_ERROR) else "bad"
    return f"{badge(f'✗ {report.first_failure.verdict.words}', tone)} {count}", "warning"
