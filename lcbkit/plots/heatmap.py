"""pass@1 of every difficulty on every platform, as a map of cells."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lcbkit.errors import BadValueError
from lcbkit.plots.labels import fitted, percent
from lcbkit.plots.marks import group_word, shown_groups
from lcbkit.plots.panel import LINE, Panel, Runs, panel
from lcbkit.plots.style import NOTE_SIZE, SMALL, ThemeName, Width, heat_colours, lightness
from lcbkit.scoring.scores import Score

__all__ = ["plot_heatmap"]

MOST = 9
CELL_HEIGHT = 0.46  # inches: three lines of text


def plot_heatmap(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 by difficulty and platform at once, with counts and intervals in the cells.

    Args:
        runs: one run, several (up to 9, a map each), or a mapping from names to runs.
        ax: axes to draw into, for one run only.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.

    Returns:
        The figure. A cell holds pass@1, passed / counted instances and the 95 % interval in percent.

    Raises:
        BadValueError: for no run, too many, or several runs for one `ax`.
    """
    with panel(
        runs, "pass@1 by difficulty and platform", ax=ax, width=width, theme=theme, note=note, most=MOST
    ) as sheet:
        if ax is not None and len(sheet.series) > 1:
            raise BadValueError(f"one ax holds the map of one run, not of {len(sheet.series)}; leave ax out")
        maps = [series.run.by_both("difficulty", "platform") for series in sheet.series]
        rows = shown_groups([series.run.summary().by_difficulty for series in sheet.series])
        columns = shown_groups([series.run.summary().by_platform for series in sheet.series])
        for axes, series, cells in zip(_axes(sheet, len(rows)), sheet.series, maps, strict=True):
            _map(sheet, axes, cells, rows, columns)
            title = fitted(series.name, sheet.points / _across(sheet) - 48, SMALL + 0.5)
            axes.set_title(title, loc="left", pad=4)
        scores = [score for cells in maps for row in cells.values() for score in row.values()]
        shade = "darker" if theme == "light" else "brighter"
        sheet.notes.append(f"Cells: pass@1 (the {shade} the higher), passed / counted.")
        sheet.note_intervals(scores, "In brackets")
    return sheet.figure


def _across(sheet: Panel) -> int:
    return max(1, min(len(sheet.series), int(sheet.points // 150)))


def _axes(sheet: Panel, rows: int) -> Sequence[Axes]:
    if not sheet.owned:
        return [sheet.ax]
    across = _across(sheet)
    down = -(-len(sheet.series) // across)
    sheet.body = down * (rows * CELL_HEIGHT + 0.2 + LINE) + 0.05
    sheet.ax.remove()
    grid = sheet.figure.subplots(down, across, squeeze=False).flatten().tolist()
    for empty in grid[len(sheet.series) :]:
        empty.remove()
    return grid[: len(sheet.series)]


def _map(
    sheet: Panel,
    ax: Axes,
    cells: Mapping[str, Mapping[str, Score]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> None:
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xticks(range(len(columns)), [group_word(name) for name in columns])
    ax.set_yticks(range(len(rows)), [group_word(name) for name in rows])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            _cell(sheet, ax, x, y, cells.get(row, {}).get(column))


def _cell(sheet: Panel, ax: Axes, x: int, y: int, score: Score | None) -> None:
    theme = sheet.theme
    place = (x - 0.48, y - 0.47)
    if score is None or score.pass_at_1 is None or score.interval is None:
        ax.add_patch(
            Rectangle(place, 0.96, 0.94, facecolor=theme.pale, hatch="////", edgecolor=theme.faint, lw=0)
        )
        text = "no problem" if score is None or not score.n else f"none of {score.n}\ncounts"
        behind = {"facecolor": theme.pale, "edgecolor": "none", "pad": 1.5}
        ax.text(x, y, text, ha="center", va="center", fontsize=NOTE_SIZE, color=theme.ink, bbox=behind)
        return
    colour = to_hex(heat_colours(theme)(score.pass_at_1))
    ax.add_patch(Rectangle(place, 0.96, 0.94, facecolor=colour, edgecolor=theme.faint, linewidth=0.4))
    ink = "#111111" if lightness(colour) > 55 else "#ffffff"
    low, high = score.interval
    lines = f"{score.passed}/{score.scored}\n[{100 * low:.0f}, {100 * high:.0f}]"
    beside: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "color": ink}
    ax.annotate(
        percent(score.pass_at_1), (x, y), (0, 4), va="bottom", size=SMALL + 1, weight="bold", **beside
    )
    ax.annotate(lines, (x, y), (0, 3), va="top", size=NOTE_SIZE, linespacing=1.15, **beside)
