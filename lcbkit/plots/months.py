"""pass@1 by contest month: what a model may have seen in training, and what it cannot have seen."""

import calendar
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lcbkit.errors import BadValueError
from lcbkit.plots.labels import percent
from lcbkit.plots.marks import group_label, point_handle, whisker
from lcbkit.plots.panel import Panel, Runs, Series, panel
from lcbkit.plots.style import NOTE_SIZE, ThemeName, Width
from lcbkit.scoring.scores import UNKNOWN, Score

__all__ = ["day_of", "plot_by_month"]

LABEL = 8.5  # points that one turned label needs


def plot_by_month(
    runs: Runs,
    *,
    cutoff: str | date | None = None,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 by the month of the contest, with the day up to which a model may know the problems.

    Args:
        runs: one run, several (up to 8), or a mapping from names to runs.
        cutoff: last day of the model's training data: a date, "2024-05-31", or "2024-05" for the month's
            last day. A line marks it, and pass@1 before and after it is drawn and printed.
        ax: axes to draw into; None makes a figure.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.

    Returns:
        The figure. Months without a contest keep their place, so that time runs evenly.

    Raises:
        BadValueError: for a wrong cut-off, or when no instance has a contest date.
    """
    day = None if cutoff is None else day_of(cutoff)
    with panel(runs, "pass@1 by contest month", ax=ax, width=width, theme=theme, note=note) as sheet:
        tables = [series.run.by("month") for series in sheet.series]
        months = _months(tables)
        sheet.share_axis("y")
        sheet.ax.set_xlim(-0.6, len(months) - 0.4)
        _name_months(sheet, months, tables)
        keys: list[tuple[Artist, str]] = []
        for number, (series, table) in enumerate(zip(sheet.series, tables, strict=True)):
            shift = 0.6 * ((number + 0.5) / len(tables) - 0.5)
            _points(sheet, series, {i + shift: table.get(month) for i, month in enumerate(months)})
            keys.append((point_handle(series.look, sheet.theme, line=True), series.name))
        if day:
            keys += _cut(sheet, day, months)
        sheet.note_intervals([score for table in tables for score in table.values()], "Whiskers")
        undated = sum(table[UNKNOWN].n for table in tables if UNKNOWN in table)
        if undated:
            sheet.notes.append(f"Without a contest date and not shown: {undated}.")
        if len(keys) > 1:
            sheet.legend(keys)
        else:
            sheet.name_series([])
    return sheet.figure


def day_of(cutoff: str | date) -> date:
    """The day that a cut-off names; of a month its last.

    Raises:
        BadValueError: for anything else.
    """
    if isinstance(cutoff, datetime):
        return cutoff.date()
    if isinstance(cutoff, date):
        return cutoff
    try:
        if len(cutoff) == 7:
            first = date.fromisoformat(f"{cutoff}-01")
            return first.replace(day=calendar.monthrange(first.year, first.month)[1])
        return date.fromisoformat(cutoff)
    except (TypeError, ValueError):
        raise BadValueError(
            f"cutoff is a day such as 2024-05-31 or a month such as 2024-05, not {cutoff!r}"
        ) from None


def _months(tables: Sequence[Mapping[str, Score]]) -> list[str]:
    """Every month from the first to the last, those without a contest included."""
    known = sorted({month for table in tables for month in table} - {UNKNOWN})
    if not known:
        raise BadValueError("no instance of these runs has a contest date, so there is no month to draw")
    (year, month), last = map(int, known[0].split("-")), known[-1]
    months = [known[0]]
    while months[-1] < last:
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        months.append(f"{year:04d}-{month:02d}")
    return months


def _name_months(sheet: Panel, months: Sequence[str], tables: Sequence[Mapping[str, Score]]) -> None:
    room = (sheet.points - 40 * sheet.owned) / len(months)
    step = max(1, math.ceil(LABEL / room))
    shown = range(0, len(months), step)
    names = [f"{months[i]}  {group_label([table.get(months[i]) for table in tables])}" for i in shown]
    sheet.ax.set_xticks(list(shown), names, rotation=90, fontsize=NOTE_SIZE)
    sheet.body += 0.55
    if step > 1:
        sheet.ax.set_xticks(range(len(months)), minor=True)


def _points(sheet: Panel, series: Series, scores: Mapping[float, Score | None]) -> None:
    """A run's months: points with whiskers, joined where months follow each other."""
    look, theme = series.look, sheet.theme
    heights = [float("nan") if score is None or score.pass_at_1 is None else score.pass_at_1
               for score in scores.values()]  # fmt: skip
    sheet.ax.plot(
        list(scores),
        heights,
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=3.6,
        markeredgecolor=theme.ink,
        markeredgewidth=0.4,
        label=series.name,
        clip_on=False,
        zorder=5,
    )
    for x, score in scores.items():
        if score:
            whisker(sheet.ax, theme, x, score, vertical=True, thin=True)


def _cut(sheet: Panel, day: date, months: Sequence[str]) -> list[tuple[Artist, str]]:
    """Mark the cut-off and each run's score on both sides of it; returns what the legend says of it."""
    month = f"{day:%Y-%m}"
    sides = [(series, series.run.around(day)) for series in sheet.series]
    if not months[0] <= month <= months[-1]:
        where = "before" if month < months[0] else "after"
        sheet.notes.append(f"The cut-off, {day}, lies {where} every contest shown.")
        return []
    length = calendar.monthrange(day.year, day.month)[1]
    x = months.index(month) - 0.5 + day.day / length
    left, right = sheet.ax.get_xlim()
    sheet.ax.axvspan(left, x, color=sheet.theme.pale, zorder=0, linewidth=0)
    sheet.ax.axvline(x, color=sheet.theme.ink, linestyle=(0, (4, 2)), linewidth=1.0, zorder=6)
    for series, scores in sides:
        for side, ends in (("before", (left, x)), ("after", (x, right))):
            if (height := scores[side].pass_at_1) is not None:
                sheet.ax.hlines(height, *ends, color=series.look.colour, linewidth=2.2, alpha=0.45, zorder=3)
    names = [f"{series.name} " if len(sides) > 1 else "" for series, _ in sides]
    pooled = "; ".join(
        f"{name}{_score(both['before'])} and {_score(both['after'])}"
        for name, (_, both) in zip(names, sides, strict=True)
    )
    sheet.notes.append(f"Shaded: contests up to the cut-off. Bands: all before and all after it: {pooled}.")
    line = Line2D([], [], color=sheet.theme.ink, linestyle=(0, (4, 2)), linewidth=1.0)
    return [(line, f"cut-off {day}")]


def _score(score: Score) -> str:
    return "no score" if score.pass_at_1 is None else f"{percent(score.pass_at_1)} (n={score.scored})"
