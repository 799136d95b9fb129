"""pass@1 in bars: by difficulty and by platform."""

from collections.abc import Mapping
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcbkit.plots.labels import percent, width_of
from lcbkit.plots.marks import EDGE, NO_SCORE, bar_handle, group_label, group_word, shown_groups, whisker
from lcbkit.plots.panel import Panel, Runs, panel
from lcbkit.plots.style import NOTE_SIZE, SMALL, ThemeName, Width
from lcbkit.scoring.scores import Score

__all__ = ["plot_by_difficulty", "plot_by_platform"]


def plot_by_difficulty(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 of easy, medium and hard problems, with 95 % intervals.

    Args:
        runs: one run, several (up to 8), or a mapping from names to runs.
        ax: axes to draw into; None makes a figure.
        width: of that figure: "column" (3.3 in), "wide" (6.9 in), or inches.
        theme: "light" or "dark".
        note: whether to print problems, interval method and what is not counted below the axes.

    Returns:
        The figure; it shows itself at the end of a cell, and `save_figure` writes it.

    Raises:
        BadValueError: for no run, too many, or one without any scored instance.
    """
    return _grouped(runs, "difficulty", ax=ax, width=width, theme=theme, note=note)


def plot_by_platform(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 of the problems of each platform, with 95 % intervals; else as `plot_by_difficulty`."""
    return _grouped(runs, "platform", ax=ax, width=width, theme=theme, note=note)


def _grouped(
    runs: Runs,
    what: Literal["difficulty", "platform"],
    *,
    ax: Axes | None,
    width: Width,
    theme: ThemeName,
    note: bool,
) -> Figure:
    with panel(runs, f"pass@1 by {what}", ax=ax, width=width, theme=theme, note=note) as sheet:
        tables = [getattr(series.run.summary(), f"by_{what}") for series in sheet.series]
        groups = shown_groups(tables)
        sheet.share_axis("y")
        sheet.ax.set_xlim(-0.5, len(groups) - 0.5)
        sheet.ax.set_xticks(
            range(len(groups)),
            [
                f"{group_word(group)}\n{group_label([table.get(group) for table in tables])}"
                for group in groups
            ],
        )
        sheet.ax.tick_params(axis="x", length=0)
        bar = 0.8 / len(tables)
        labelled = _labels_fit(sheet, bar, len(groups))
        for number, table in enumerate(tables):
            left = -0.4 + bar * (number + 0.5)
            _bars(
                sheet, number, {i + left: table.get(group) for i, group in enumerate(groups)}, bar, labelled
            )
        sheet.name_series([bar_handle(series.look) for series in sheet.series], lift=8 if labelled else 2)
        sheet.note_intervals([score for table in tables for score in table.values()], "Whiskers")
    return sheet.figure


def _labels_fit(sheet: Panel, bar: float, groups: int) -> bool:
    available = (sheet.points - 40 * sheet.owned) * bar / groups
    return available > width_of("100%", NOTE_SIZE)


def _bars(
    sheet: Panel, number: int, scores: Mapping[float, Score | None], width: float, labelled: bool
) -> None:
    """The bars of one run with their whiskers; a group without a score shows a dash, not a bar of 0."""
    look, theme = sheet.series[number].look, sheet.theme
    known = {x: score for x, score in scores.items() if score and score.pass_at_1 is not None}
    sheet.ax.bar(
        list(known),
        [score.pass_at_1 or 0.0 for score in known.values()],
        width * 0.92,
        color=look.colour,
        hatch=look.hatch,
        edgecolor=EDGE,
        linewidth=0.5,
        label=sheet.series[number].name,
        clip_on=False,
    )
    for x, score in known.items():
        whisker(sheet.ax, theme, x, score, vertical=True)
        if labelled and score.interval:
            text = percent(score.pass_at_1 or 0.0)
            sheet.ax.annotate(
                text,
                (x, score.interval[1]),
                (0, 1.5),
                textcoords="offset points",
                ha="center",
                fontsize=NOTE_SIZE,
            )
    for x in scores.keys() - known.keys():
        sheet.ax.text(x, 0.01, NO_SCORE, ha="center", va="bottom", fontsize=SMALL, color=theme.ink)
