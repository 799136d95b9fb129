"""Marks that several figures share: whiskers, legend keys, and what stands under a group."""

from collections.abc import Mapping, Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from lcbkit.plots.style import Look, Theme
from lcbkit.scoring.scores import UNKNOWN, Score, in_order

__all__ = [
    "EDGE",
    "NO_SCORE",
    "bar_handle",
    "group_label",
    "group_word",
    "interval",
    "point_handle",
    "seam",
    "shown_groups",
    "whisker",
]

EDGE = "#111111"
"""Of bars and hatches, in both themes: dark lines read on every colour of the palette."""

NO_SCORE = "\u2013"
"""Stands where a group has no score, which is not a score of 0."""


def shown_groups(tables: Sequence[Mapping[str, Score]]) -> list[str]:
    """The groups of which some run holds an instance, in the order that all tables share."""
    return sorted({name for table in tables for name, score in table.items() if score.n}, key=in_order)


def group_word(group: str) -> str:
    """What a figure calls a group of a table."""
    return "unknown" if group == UNKNOWN else group


def group_label(scores: Sequence[Score | None]) -> str:
    """How many instances a group's scores rest on: `n=18`, `n=16 of 18`, or `n=16-18` where runs differ."""
    counted = {(score.scored, score.n) if score else (0, 0) for score in scores}
    if len(counted) == 1:
        [(scored, n)] = counted
        return f"n={scored}" if scored == n else f"n={scored} of {n}"
    lowest, highest = min(scored for scored, _ in counted), max(scored for scored, _ in counted)
    return f"n={lowest}-{highest}" if lowest < highest else f"n={lowest}"


def whisker(ax: Axes, theme: Theme, at: float, score: Score, *, vertical: bool, thin: bool = False) -> None:
    """The interval of a score; nothing where there is no score."""
    if score.pass_at_1 is None or score.interval is None:
        return
    middle = (at, score.pass_at_1) if vertical else (score.pass_at_1, at)
    interval(ax, theme, middle, score.interval, vertical=vertical, thin=thin)


def interval(
    ax: Axes,
    theme: Theme,
    middle: tuple[float, float],
    ends: tuple[float, float],
    *,
    vertical: bool,
    thin: bool = False,
) -> None:
    """A whisker through a point, on a pale seam that parts it from what lies behind."""
    centre = middle[1] if vertical else middle[0]
    # Rounding may put a bound a hair's breadth inside the value, which errorbar refuses.
    reach = [[max(0.0, centre - ends[0])], [max(0.0, ends[1] - centre)]]
    drawn = ax.errorbar(
        *middle,
        xerr=None if vertical else reach,
        yerr=reach if vertical else None,
        fmt="none",
        ecolor=theme.ink,
        elinewidth=0.5 if thin else 0.8,
        capsize=1.2 if thin else 1.8,
        capthick=0.5 if thin else 0.8,
        clip_on=False,
        zorder=4,
    )
    for part in (*drawn[1], *drawn[2]):
        seam(part, theme)


def seam(part: Artist, theme: Theme) -> None:
    """Part a thin line from what lies behind it."""
    part.set_path_effects([withStroke(linewidth=2.0, foreground=theme.paper)])


def bar_handle(look: Look) -> Artist:
    """A legend's key for bars."""
    return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=EDGE, linewidth=0.5)


def point_handle(look: Look, theme: Theme, *, line: bool) -> Artist:
    """A legend's key for points, with the line between them."""
    return Line2D(
        [],
        [],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line if line else "none",
        markeredgecolor=theme.ink,
        markeredgewidth=0.5,
    )
