"""The problem browser: find a problem, read it, write a program and judge it, without leaving the notebook.

The widgets stand in `problem_view`, the search in `catalogue`, the judging in `bench`; here they are wired,
and everything that a click does is a method.
"""

import re
import threading
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any, Literal, cast

from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.html import badge, table
from lcbkit.judging.report import Report, Verdict
from lcbkit.judging.shelf import Tests
from lcbkit.problems import Problem, ProblemSet
from lcbkit.prompts import build_prompt
from lcbkit.selection import DateLike
from lcbkit.widgets.bench import Bench, Job, Order
from lcbkit.widgets.catalogue import COLUMNS, RESULT_COLUMN, Catalogue, Query
from lcbkit.widgets.interrupts import on_idle_interrupt
from lcbkit.widgets.problem_view import TEST_SETS, ProblemView, headline, samples, status_words
from lcbkit.widgets.statement import statement_markdown
from lcbkit.widgets.style import with_page

if TYPE_CHECKING:
    import pandas

__all__ = ["ProblemBrowser"]

_STATIC_ROWS = 100
_LINE = re.compile(r"line (\d+):")


class ProblemBrowser:
    """Problems to look through; as the last value of a cell it shows itself.

    Where widgets do not run (an exported page, a notebook on the web) a table stands instead.

    Args:
        problems: a `ProblemSet`, or problems.
        height: of the table, in pixels.
        time_limit: CPU seconds a test, as in `lcbkit.judge`.
    """

    def __init__(self, problems: Iterable[Problem], *, height: int = 264, time_limit: float = 6.0) -> None:
        self._catalogue = Catalogue(problems)
        self.time_limit = time_limit
        self._view = ProblemView(height)
        self._bench = Bench(self._follow)
        self._lock = threading.RLock()  # messages of widgets and cells may come on two threads
        self._quiet = False
        self._current: Problem | None = None
        self._programs: dict[str, str] = {}
        self._reports: dict[str, Report] = {}
        self._found: list[Problem] = []
        self._deaf: Callable[[], None] = lambda: None
        self._wire()
        self._view.start.value, self._view.end.value = None, None
        self.filter()
        if self._found:
            self.select(self._found[0].id)

    @property
    def problems(self) -> ProblemSet:
        """All problems."""
        return self._catalogue.problems

    @property
    def problem(self) -> Problem | None:
        """The selected problem."""
        return self._current

    @property
    def code(self) -> str:
        """The program in the editor."""
        return str(self._view.editor.code)

    @code.setter
    def code(self, code: str) -> None:
        self._view.editor.code = code

    @property
    def report(self) -> Report | None:
        """The last report on the selected problem; while it is judged or after a stop, of the first tests."""
        return self._reports.get(self._current.id) if self._current else None

    @property
    def found(self) -> ProblemSet:
        """The problems that the filters admit, in the dataset's order."""
        return self.problems.filter(only=[problem.id for problem in self._found])

    def filter(
        self,
        text: str = "",
        *,
        platform: str | None = None,
        difficulty: str | None = None,
        mode: str | None = None,
        start_date: DateLike | None = None,
        end_date: DateLike | None = None,
    ) -> ProblemSet:
        """Set all filters; what is left out admits all, so that `filter()` takes them away.

        Args:
            text: words that must all occur in id, title, contest or statement.
            platform: `leetcode`, `codeforces` or `atcoder`.
            difficulty: `easy`, `medium` or `hard`.
            mode: `stdin` or `functional`.
            start_date: first contest date.
            end_date: last contest date, that day included.

        Returns:
            The problems that are left.

        Raises:
            BadValueError: for a value outside of what is allowed.
        """
        query = Query.parse(
            text=text,
            platform=platform,
            difficulty=difficulty,
            mode=mode,
            start_date=start_date,
            end_date=end_date,
        )
        view, chosen = self._view, query.selection
        with self._lock:
            self._quiet = True
            try:
                view.search.value, view.platform.value = text, platform or ""
                view.difficulty.value, view.mode.value = difficulty or "", mode or ""
                view.start.value = None if start_date is None else chosen.start
                view.end.value = None if end_date is None else chosen.end
            finally:
                self._quiet = False
            self._show(query)
        return self.found

    def sort(self, column: str = "", *, descending: bool = False) -> None:
        """Sort the table by a column of `to_frame`; without one it keeps the dataset's order.

        Raises:
            BadValueError: for an unknown column.
        """
        known = [col["key"] for col in (*COLUMNS, RESULT_COLUMN)]
        if column and column not in known:
            raise BadValueError(f"column is {column!r}; allowed: {', '.join(known)}")
        with self._view.table.hold_trait_notifications():
            self._view.table.sort_key, self._view.table.sort_desc = column, descending

    def select(self, problem_id: str) -> Problem:
        """Show a problem, also one that the filters leave out.

        Raises:
            UnknownProblemError: for an id that is not here.
        """
        problem = self.problems[problem_id]
        with self._lock:
            self._view.table.selected = problem_id
            if problem is not self._current:
                self._current = problem
                self._show_problem(problem)
        return problem

    def show(self, part: str) -> None:
        """Turn to `Statement`, `Samples`, `Prompt` or `Starter code`.

        Raises:
            BadValueError: for any other word.
        """
        if part not in self._view.tabs.options:
            raise BadValueError(f"part is {part!r}; allowed: {', '.join(self._view.tabs.options)}")
        self._view.tabs.value = part

    def judge(
        self,
        code: str | None = None,
        *,
        tests: Tests | Literal["public"] | None = None,
        stop_on_failure: bool | None = None,
    ) -> Report:
        """Judge a program against the selected problem, show its progress, and wait for the end.

        Args:
            code: the program, which goes into the editor; None takes what stands there.
            tests: `hidden`, `public`, `all` or test cases; None: as chosen in the browser.
            stop_on_failure: leave out the tests after the first that does not pass; None: as chosen.

        Returns:
            The report; after a stop, of the tests until then.

        Raises:
            BadValueError: without a problem.
            SandboxError: no worker could be started.
        """
        if code is not None:
            self.code = code
        try:
            job = self._start(tests, stop_on_failure)
            job.wait()
        except LcbkitError:
            raise
        except BaseException:  # an interrupt, wherever it came
            self.stop()
            raise
        if job.error is not None:
            raise job.error
        return job.report

    def stop(self) -> None:
        """Stop judging; what is known until then stays, and no process of it is left."""
        self._bench.stop()

    def close(self) -> None:
        """Stop judging, end the idle workers and take the browser off the page."""
        self._bench.close()
        self._view.root.close()

    def to_frame(self) -> "pandas.DataFrame":
        """The table as it is shown: filtered, sorted, with the results of your programs."""
        import pandas

        keys = [column["key"] for column in (*COLUMNS, RESULT_COLUMN)]
        frame = pandas.DataFrame(self._view.table.in_order(), columns=keys)
        frame.attrs.update(self.found.provenance)
        return frame

    def __repr__(self) -> str:
        chosen = f", {self._current.id} selected" if self._current else ""
        return f"ProblemBrowser({len(self._found)} of {len(self.problems)} problems shown{chosen})"

    def _repr_html_(self) -> str:
        header = [column["label"] for column in COLUMNS]
        rows = self._view.table.in_order()
        cells = [["" if cell is None else escape(str(cell)) for cell in row[: len(header)]] for row in rows]
        more = f"<p>… and {len(cells) - _STATIC_ROWS} more</p>" if len(cells) > _STATIC_ROWS else ""
        caption = f"{len(cells)} of {len(self.problems)} problems of {self.problems.source}"
        return f"<div>{table(header, cells[:_STATIC_ROWS], caption=caption)}{more}</div>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_page(self._view.root, self._repr_html_(), repr(self), **options)

    def _wire(self) -> None:
        view = self._view
        for field in (view.search, view.platform, view.difficulty, view.mode, view.start, view.end):
            field.observe(lambda _: self._filtered(), "value")
        view.reset.on_click(lambda _: self.filter())
        view.table.observe(lambda change: change["new"] and self.select(change["new"]), "selected")
        view.editor.observe(lambda _: self._edited(), "code")
        view.editor.on_run(self._judge_clicked)
        view.judge.on_click(lambda _: self._judge_clicked())
        view.stop.on_click(lambda _: self.stop())
        view.restore.on_click(lambda _: self._start_over())

    def _filtered(self) -> None:
        if self._quiet:
            return
        view = self._view
        with self._lock:
            try:
                query = Query.parse(
                    text=view.search.value,
                    platform=view.platform.value or None,
                    difficulty=view.difficulty.value or None,
                    mode=view.mode.value or None,
                    start_date=view.start.value,
                    end_date=view.end.value,
                )
            except BadValueError as error:
                self._count(badge(str(error), "warn"))
                return
            self._show(query)

    def _show(self, query: Query) -> None:
        self._found = self._catalogue.find(query)
        row, reports = self._catalogue.row, self._reports
        self._view.table.rows = [row(problem, reports.get(problem.id)) for problem in self._found]
        self._count(f"{len(self._found):,} of {len(self.problems):,}")

    def _count(self, words: str) -> None:
        self._view.count.children[0].value = words

    def _show_problem(self, problem: Problem) -> None:
        view = self._view
        view.head.value = headline(problem)
        markdown = {"text/markdown": statement_markdown(problem.statement), "text/plain": problem.statement}
        view.statement.outputs = ({"output_type": "display_data", "data": markdown, "metadata": {}},)
        view.samples.groups = samples(problem)
        view.prompt.groups = [[{"title": "The user prompt of every team", "text": build_prompt(problem)}]]
        starter = problem.starter_code
        view.starter.groups = [[{"title": "Starter code", "text": starter}]] if starter else []
        view.editor.label = f"Program for {problem.id}"
        view.editor.code = self._programs.get(problem.id, starter)
        self._show_report()

    def _edited(self) -> None:
        self._view.editor.marked_line = 0
        if self._current is not None:
            self._programs[self._current.id] = self.code

    def _start_over(self) -> None:
        if self._current is not None:
            self.code = self._current.starter_code

    def _judge_clicked(self) -> None:
        if self._bench.busy or self._current is None:
            return
        try:
            self._start(None, None)
        except Exception as error:  # noqa: BLE001 - a click has no cell for a traceback
            self._view.status.value = badge(str(error), "bad")

    def _start(self, tests: Tests | str | None, stop_on_failure: bool | None) -> Job:
        problem, view = self._current, self._view
        if problem is None:
            raise BadValueError("there is no problem to judge; browse a set that is not empty")
        chosen = view.tests.value if tests is None else tests
        if isinstance(chosen, str) and chosen not in TEST_SETS:
            raise BadValueError(f"tests is {chosen!r}; allowed: {', '.join(TEST_SETS)}, or test cases")
        cases: Tests = problem.public_tests if chosen == "public" else cast("Tests", chosen)
        first = bool(view.first.value) if stop_on_failure is None else stop_on_failure
        view.judge.disabled, view.stop.disabled = True, False
        view.editor.marked_line = 0
        self._deaf()
        self._deaf = on_idle_interrupt(self.stop)
        order = Order(
            code=self.code, problem=problem, tests=cases, time_limit=self.time_limit, stop_on_failure=first
        )
        return self._bench.start(order)

    def _follow(self, job: Job) -> None:
        """A few more tests are judged, or the job has ended."""
        problem_id = job.order.problem.id
        self._reports[problem_id] = job.report
        if not job.running:
            self._deaf()
            self._view.judge.disabled, self._view.stop.disabled = False, True
            with self._lock:
                self._show_result(problem_id)
        if self._current is not None and self._current.id == problem_id:
            self._show_report()

    def _show_result(self, problem_id: str) -> None:
        table = self._view.table
        if len(table.columns) == len(COLUMNS):
            table.columns = [*COLUMNS, RESULT_COLUMN]
        new = self._catalogue.row(self.problems[problem_id], self._reports[problem_id])
        table.rows = [new if row[0] == problem_id else row for row in table.rows]

    def _show_report(self) -> None:
        view, report, job = self._view, self.report, self._bench.job
        view.bar.layout.visibility = "hidden" if report is None else "visible"
        if report is None:
            view.bar.value, view.bar.bar_style, view.status.value, view.results.html = 0, "", "", ""
            return
        own = job if job is not None and self._current is job.order.problem else None
        running, stopped = (own.running, own.stopped) if own else (False, len(report.results) < report.total)
        words, style = status_words(report, running=running, stopped=stopped)
        view.bar.max, view.bar.value = max(1, report.total), len(report.results)
        view.bar.bar_style = style
        view.status.value = badge(str(own.error), "bad") if own and own.error else words
        html = report.to_html(copy=True) if report.results else ""
        view.results.html = f'<div class="lcbv-report">{html}</div>'
        failure = report.first_failure
        if not running and failure and failure.verdict is Verdict.RUNTIME_ERROR:
            line = _LINE.match(failure.reason)
            view.editor.marked_line = int(line[1]) if line else 0
