"""What a score costs: pass@1 against tokens."""

import math
from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from lcbkit.errors import BadValueError
from lcbkit.plots.marks import interval, point_handle, whisker
from lcbkit.plots.panel import Panel, Runs, Series, panel
from lcbkit.plots.style import SMALL, ThemeName, Width
from lcbkit.scoring.costs import Cost

__all__ = ["plot_tokens"]

WIDE_RANGE = 8  # from here on a linear axis would press the cheap runs together


def plot_tokens(
    runs: Runs,
    *,
    per: Literal["problem", "solved"] = "problem",
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 against tokens, read and written by all agents of a team.

    Args:
        runs: one run, several (up to 8), or a mapping from names to runs.
        per: "problem": mean tokens of one submission to a problem, with a 95 % interval; "solved": tokens
            spent for each solved one.
        ax: axes to draw into; None makes a figure.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.

    Returns:
        The figure. Up and to the left is better.

    Raises:
        BadValueError: when no run reports tokens (or, per solved, none solved anything).
    """
    if per not in ("problem", "solved"):
        raise BadValueError(f"per is problem or solved, not {per!r}")
    title = f"pass@1 against tokens per {'problem' if per == 'problem' else 'solved problem'}"
    with panel(runs, title, ax=ax, width=width, theme=theme, note=note) as sheet:
        costs = [(series, series.run.cost()) for series in sheet.series]
        drawn = [(series, cost) for series, cost in costs if cost and _tokens(cost, per) is not None]
        if not drawn:
            lack = "reports tokens" if per == "problem" else "reports tokens and solved a problem"
            raise BadValueError(f"none of these runs {lack}, so there is nothing to draw score against")
        sheet.share_axis("y")
        _axis(sheet, [edge for _, cost in drawn for edge in _reach(cost, per)])
        sheet.ax.set_xlabel("tokens per problem" if per == "problem" else "tokens per solved problem")
        for series, cost in drawn:
            _point(sheet, series, cost, per)
        sheet.name_series([point_handle(series.look, sheet.theme, line=False) for series in sheet.series])
        _notes(sheet, drawn, per)
    return sheet.figure


def _tokens(cost: Cost, per: str) -> float | None:
    return cost.per_problem if per == "problem" else cost.per_solved


def _reach(cost: Cost, per: str) -> tuple[float, float]:
    """The interval of the tokens; a point where there is none."""
    known = cost.per_solved or 0.0
    return cost.interval if per == "problem" else (known, known)


def _axis(sheet: Panel, edges: Sequence[float]) -> None:
    low, high = min(edges), max(edges)
    axis = sheet.ax.xaxis
    if low > 0 and high / low > WIDE_RANGE:
        sheet.ax.set_xscale("log")
        sheet.ax.set_xlim(low / 1.3, high * 1.3)
        few = math.log10(high / low) > 2
        axis.set_major_locator(LogLocator(subs=(1,) if few else (1, 2, 5)))
        axis.set_minor_formatter(NullFormatter())
    else:
        sheet.ax.set_xlim(0, high * 1.12)
        axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    sheet.ax.grid(visible=True, axis="x")


def _short(tokens: float) -> str:
    for unit, word in ((1e6, "M"), (1e3, "k")):
        if tokens >= unit:
            return f"{tokens / unit:.3g}{word}"
    return f"{tokens:.3g}"


def _point(sheet: Panel, series: Series, cost: Cost, per: str) -> None:
    overall, x = series.run.summary().overall, _tokens(cost, per) or 0.0
    y = overall.pass_at_1 or 0.0
    whisker(sheet.ax, sheet.theme, x, overall, vertical=True)
    if per == "problem":
        interval(sheet.ax, sheet.theme, (x, y), _reach(cost, per), vertical=False)
    sheet.ax.plot(
        [x],
        [y],
        marker=series.look.marker,
        color=series.look.colour,
        markersize=6,
        markeredgecolor=sheet.theme.ink,
        markeredgewidth=0.6,
        linestyle="none",
        label=series.name,
        clip_on=False,
        zorder=6,
    )
    if cost.at_least:
        sheet.ax.annotate("≥", (x, y), (-5, 4), textcoords="offset points", ha="right", fontsize=SMALL)


def _notes(sheet: Panel, drawn: Sequence[tuple[Series, Cost]], per: str) -> None:
    sheet.note_intervals([series.run.summary().overall for series, _ in drawn], "Upright whiskers")
    if per == "problem":
        sheet.notes.append("Level whiskers: 95 % intervals of the mean (bootstrap over problems).")
    if any(cost.at_least for _, cost in drawn):
        sheet.notes.append("≥: some calls came without usage, so that there were more tokens.")
    names = [series.name for series, _ in drawn]
    if missing := [series.name for series in sheet.series if series.name not in names]:
        why = "no tokens reported" if per == "problem" else "no tokens reported or none solved"
        sheet.notes.append(f"Not shown, {why}: {', '.join(missing)}.")
