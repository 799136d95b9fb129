"""The run browser: every instance with its verdicts, program, failures and the team's texts; two runs too."""

import threading
from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from lcbkit.display.answer import VIEW_STYLE
from lcbkit.errors import BadValueError, UnknownProblemError
from lcbkit.html import table
from lcbkit.judging.pool import judge
from lcbkit.judging.report import Report
from lcbkit.problems import Problem
from lcbkit.records import Record
from lcbkit.results import Comparison, Run, compare
from lcbkit.rows.schema import DIFFICULTIES
from lcbkit.widgets.instance_view import instance_html
from lcbkit.widgets.outcomes import LETTERS, SHOWN, is_shown, legend, outcome, strip
from lcbkit.widgets.pane import Pane
from lcbkit.widgets.run_rows import DIFFERENCES, Filter, PairView, ProblemView, RunView
from lcbkit.widgets.style import STYLE, style_sheet, with_page
from lcbkit.widgets.table import DataTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RunBrowser"]

_STATIC_ROWS = 100
_ANY = "all"
_LINE = 28  # pixels of a line of the table


class RunBrowser:
    """Looks through a run, or through two side by side; as the last value of a cell it shows itself.

    Everything that a click does is a method too. Texts are read from the run's folder when an instance is
    looked at, so that a run of thousands opens at once.

    Args:
        run: from `evaluate` or `load_run`.
        other: a second run; then `run` is a and `other` is b.
        problems: adds statements and lets programs be judged again; the run itself needs none.
        height: of the table, in pixels.
        **filters: as in `filter`.

    Attributes:
        runs: the one or two runs.
        view: the widget.
        table: the list of instances in it.
    """

    def __init__(
        self,
        run: Run,
        other: Run | None = None,
        *,
        problems: Iterable[Problem] | None = None,
        height: int = 308,
        **filters: str,
    ) -> None:
        self.runs = (run,) if other is None else (run, other)
        self._problems = {problem.id: problem for problem in problems or ()}
        self._reports: dict[tuple[int, str, int], Report] = {}
        self._samples = max((record.sample for record in run.records), default=0) + 1
        self._instances = RunView(run) if other is None else PairView(run, other)
        self._by_problem = ProblemView(run) if other is None and self._samples > 1 else None
        self._build(height)
        self.filter(**filters)
        if first := next(iter(self.table.rows), None):
            self._show(str(first[0]))

    def filter(
        self,
        *,
        show: str | None = None,
        platform: str | None = None,
        difficulty: str | None = None,
        text: str | None = None,
    ) -> list[str]:
        """Narrow the list; what is not named stays as it is.

        Args:
            show: all, passed, failed, wrong_answer, runtime_error, time_limit, memory_limit, no_code,
                agent_error, infrastructure or unscored; with two runs also different, only_a or only_b.
            platform: "all" for each.
            difficulty: "all" for each.
            text: words that occur in the id, the title, the program or the error.

        Returns:
            The keys of the instances that are left.

        Raises:
            BadValueError: for a word that is none of these.
        """
        chosen = ((self._show_box, show), (self._platform, platform), (self._difficulty, difficulty))
        for box, value in chosen:
            known = [item[1] for item in box.options]
            if value is not None and value not in known:
                raise BadValueError(f"a run browser has no {value!r} there; say {', '.join(known)}")
        for box, value in (*chosen, (self._text, text)):
            if value is not None:
                box.value = value
        return [str(row[0]) for row in self.table.rows]

    def select(self, problem_id: str, sample: int = 0) -> None:
        """Show an instance, whatever the filters are.

        Raises:
            UnknownProblemError: if no run here holds it.
        """
        key = f"{problem_id} #{sample}" if sample and self._view is self._instances else problem_id
        if key not in self._view.members:
            raise UnknownProblemError(
                problem_id, list({record.problem_id for record in self.runs[0].records})
            )
        self._sample.value = min(sample, self._samples - 1)
        self._show(key)

    def records(self) -> tuple[Record | None, ...]:
        """The records of the selected instance, one per run; None where a run lacks it."""
        members = self._view.members.get(self.selected, ())
        if self._by_problem is not None and self._view is self._by_problem:
            return tuple(record for record in members if record and record.sample == self._sample.value)
        return tuple(members)

    def trajectory(self) -> dict[str, Any] | None:
        """What was saved of the team's work on the selected instance, in the first run that has it."""
        for run, record in zip(self.runs, self.records(), strict=False):
            if record and (texts := run.trajectory(record.problem_id, record.sample)):
                return texts
        return None

    def report(self, which: int = 0) -> Report | None:
        """The judge's report on the selected instance in the first (0) or second (1) run, or None."""
        record = self.records()[which]
        if record is None:
            return None
        fresh = self._reports.get((which, *record.key))
        texts = self.runs[which].trajectory(*record.key) or {}
        return fresh or (Report.from_dict(texts["report"]) if texts.get("report") else None)

    def judge_again(self, which: int = 0) -> Report:
        """Judge the selected instance's program once more, with the run's limits, and show that report.

        Raises:
            BadValueError: if there is no program, or the browser was not given the problem.
        """
        record = self.records()[which]
        if record is None or record.code is None:
            raise BadValueError(f"{self.selected} has no program to judge")
        if record.problem_id not in self._problems:
            raise BadValueError(
                f"to judge {record.problem_id!r} again, name its problem: browse(run, problems=...)"
            )
        limits = self.runs[which].config.get("settings", {}).get("judging", {})
        report = judge(record.code, self._problems[record.problem_id], **limits)
        self._reports[which, *record.key] = report
        self._fill()
        return report

    def to_frame(self) -> "pd.DataFrame":
        """The list as it stands, one line a row."""
        import pandas as pd

        return pd.DataFrame(self.table.in_order(), columns=[column["key"] for column in self.table.columns])

    @property
    def selected(self) -> str:
        """What is shown: the problem's id, with ` #k` for sample k > 0; empty if there is nothing."""
        return str(self.table.selected)

    @property
    def _view(self) -> RunView | ProblemView | PairView:
        return self._by_problem if self._by_problem and self._lines.value == "problems" else self._instances

    def _build(self, height: int) -> None:
        self._height = height
        self._text = w.Text(
            placeholder="id, title, program or error", layout=w.Layout(flex="2 1 180px", min_width="0")
        )
        self._text.add_class("lcb-search")
        self._show_box = self._choice("Show", _counted(self.runs), "1 1 210px")
        records = [record for run in self.runs for record in run.records]
        self._platform = self._choice("Platform", _values(record.platform for record in records), "0 1 170px")
        self._difficulty = self._choice(
            "Difficulty", _values(record.difficulty for record in records), "0 1 170px"
        )
        self._lines = w.ToggleButtons(options=["instances", "problems"], style={"button_width": "86px"})
        self._sample = w.BoundedIntText(
            0, 0, self._samples - 1, description="Sample", layout=w.Layout(width="130px")
        )
        self._count = w.HTML()
        filters = [self._text, self._show_box, self._platform, self._difficulty]
        if self._by_problem is not None:
            filters += [self._lines, self._sample]
        self.table = DataTable(
            columns=self._instances.columns,
            label="Instances of the run",
            search_focus=".lcb-search input",
            open_focus=".lcbv summary",
        )
        self._legend = w.HTML()
        self._panes = [Pane(layout=w.Layout(flex="1 1 380px", min_width="0")) for _ in self.runs]
        self._again = w.Button(description="Judge again", icon="gavel", layout=w.Layout(width="130px"))
        self.view = w.VBox(
            [
                style_sheet(VIEW_STYLE),
                w.HTML(self._head()),
                _row([*filters, self._count]),
                self.table,
                self._legend,
                *([self._again] if self._problems and len(self.runs) == 1 else []),
                _row(self._panes, gap="18px", align="flex-start"),
            ],
            layout=w.Layout(width="100%"),
        )
        self.view.add_class("lcb")
        for box in (self._text, self._show_box, self._platform, self._difficulty, self._lines):
            box.observe(lambda _: self._fill_table(), "value")
        self._sample.observe(lambda _: self._fill(), "value")
        self.table.observe(lambda _: self._fill(), "selected")
        self._again.on_click(lambda _: threading.Thread(target=self._judge_in_view, daemon=True).start())
        self._fill_table()

    @staticmethod
    def _choice(name: str, options: list[tuple[str, str]], flex: str) -> w.Dropdown:
        style = {"description_width": "auto"}
        return w.Dropdown(
            options=options, description=name, style=style, layout=w.Layout(flex=flex, min_width="0")
        )

    def _wanted(self) -> Filter:
        platform, difficulty = (
            "" if box.value == _ANY else box.value for box in (self._platform, self._difficulty)
        )
        return Filter(
            show=self._show_box.value, platform=platform, difficulty=difficulty, text=self._text.value
        )

    def _fill_table(self) -> None:
        view = self._view
        rows = view.rows(self._wanted())
        strips = [i for i, column in enumerate(view.columns) if column.get("strip")]
        letters = {letter for row in rows for i in strips for letter in row[i]}
        with self.table.hold_sync():
            if self.table.columns != view.columns:
                self.table.columns, self.table.sort_key = view.columns, ""
            self.table.rows = rows
            # As high as the whole run needs, so that nothing below moves while filters change.
            self.table.height = min(self._height, 30 + _LINE * max(3, len(view.members)))
        self._sample.layout.display = "none" if view is self._instances else ""  # a line names its sample
        self._count.value = f'<span class="lcb-tone-soft">{len(rows):,} of {len(view.members):,}</span>'
        self._legend.value = f"<div>{legend(''.join(letters))}</div>"
        if self.selected and self.selected not in view.members:
            self._show(str(rows[0][0]) if rows else "")

    def _show(self, key: str) -> None:
        if self.table.selected == key:
            self._fill()
        self.table.selected = key

    def _fill(self) -> None:
        for which, (pane, html) in enumerate(zip(self._panes, self._details(), strict=True)):
            pane.label = f"Instance {self.selected}" + (
                f" in run {'ab'[which]}" if len(self.runs) > 1 else ""
            )
            pane.html = html
        record = next(iter(self.records()), None)
        self._again.disabled = (
            record is None or record.code is None or record.problem_id not in self._problems
        )

    def _details(self) -> list[str]:
        records = self.records() or (None,) * len(self.runs)
        parts = []
        for which, (run, record) in enumerate(zip(self.runs, records, strict=True)):
            label = f"{'ab'[which]}: {run.label}" if len(self.runs) > 1 else ""
            if record is None:
                none = '<div class="lcbv-none">nothing to show</div>'
                parts.append(f'<div class="lcbv-label">{escape(label)}</div>{none}')
                continue
            word, tone = LETTERS[outcome(record)]
            parts.append(
                instance_html(
                    record,
                    run.trajectory(*record.key),
                    word=word,
                    tone=tone,
                    label=label,
                    report=self._reports.get((which, *record.key)),
                    problem=self._problems.get(record.problem_id),
                )
            )
        return parts

    def _judge_in_view(self) -> None:
        self._again.disabled, self._again.description = True, "Judging …"
        try:
            self.judge_again()
        except Exception as error:  # noqa: BLE001 - a thread's error is lost unless it is shown
            self._panes[0].html = f'<div class="lcbv-error">{escape(str(error))}</div>' + self._panes[0].html
        finally:
            self._again.disabled, self._again.description = False, "Judge again"

    def _head(self) -> str:
        if len(self.runs) == 1:
            return f'<div class="lcb-run">{_title(self.runs[0])}</div>'
        lines = [f"<b>{name}</b> {_title(run)}" for name, run in zip("ab", self.runs, strict=True)]
        try:
            lines.append(escape(_difference(compare(*self.runs))))
        except BadValueError as error:
            lines.append(escape(str(error)))
        return "".join(f'<div class="lcb-run">{line}</div>' for line in lines)

    def _static_html(self) -> str:
        view = self._view
        rows = self.table.in_order()
        cells = [
            [
                strip(str(cell)) if column.get("strip") else escape(_plain(cell, column))
                for cell, column in zip(row, view.columns, strict=True)
            ]
            for row in rows[:_STATIC_ROWS]
        ]
        more = f"<div>… and {len(rows) - _STATIC_ROWS:,} more</div>" if len(rows) > _STATIC_ROWS else ""
        listing = table([column["label"] for column in view.columns], cells)
        return (
            f'<div class="lcb"><style>{STYLE}</style>{self._head()}{listing}{more}{self._legend.value}</div>'
        )

    def __repr__(self) -> str:
        names = ", ".join(run.label for run in self.runs)
        return f"RunBrowser({names}: {len(self.table.rows)} of {len(self._view.members)} instances)"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_page(self.view, self._static_html(), repr(self), **options)


def _title(run: Run) -> str:
    summary = run.summary()
    score = str(summary.overall)
    counts = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in summary.statuses.items() if n)
    soft = f'<span class="lcb-tone-soft">{escape(counts)}</span>'
    return f"<b>{escape(run.label)}</b> pass@1 {escape(score)} {soft}"


def _difference(comparison: Comparison) -> str:
    low, high = (100 * bound for bound in comparison.interval)
    words = (
        f"b - a: {100 * comparison.difference:+.1f} points, 95 % {low:+.1f} to {high:+.1f}, on the "
        f"{comparison.problems} problems scored by both"
    )
    if comparison.only_a is None or comparison.only_b is None:
        return words
    alone = f"a alone passed {len(comparison.only_a)}, b alone {len(comparison.only_b)}"
    return f"{words}; {alone} (exact McNemar p = {comparison.p_value:.3g})"


def _counted(runs: tuple[Run, ...]) -> list[tuple[str, str]]:
    """The list's entries, with how many instances each has where one run is shown."""
    if len(runs) > 1:
        return [
            (words, name)
            for name, words in [*list(SHOWN.items())[:1], *DIFFERENCES.items(), *list(SHOWN.items())[1:]]
        ]
    alike = {(record.status, record.passed, outcome(record)): record for record in runs[0].records}
    numbers = Counter((record.status, record.passed, outcome(record)) for record in runs[0].records)
    counts = {name: sum(numbers[kind] for kind in alike if is_shown(alike[kind], name)) for name in SHOWN}
    return [(f"{words} ({counts[name]:,})", name) for name, words in SHOWN.items()]


def _values(found: Iterable[str | None]) -> list[tuple[str, str]]:
    known = sorted({value for value in found if value})
    ranked = [value for value in DIFFICULTIES if value in known] or known
    return [(value, value) for value in (_ANY, *ranked, *(value for value in known if value not in ranked))]


def _plain(cell: Any, column: dict[str, Any]) -> str:
    if cell is None:
        return ""
    text = f"{cell:.{column['digits']}f}" if isinstance(cell, float) and "digits" in column else str(cell)
    return text + str(column.get("unit", ""))


def _row(children: list[w.Widget], *, gap: str = "4px 10px", align: str = "center") -> w.Box:
    layout = w.Layout(display="flex", flex_flow="row wrap", align_items=align, width="100%", grid_gap=gap)
    return w.Box(children, layout=layout)
