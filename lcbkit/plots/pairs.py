"""Where two runs differ, problem by problem."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from lcbkit.errors import BadValueError
from lcbkit.plots.labels import fitted
from lcbkit.plots.marks import EDGE, group_word, shown_groups
from lcbkit.plots.panel import Panel, Runs, panel
from lcbkit.plots.style import LOOKS, SMALL, Theme, ThemeName, Width
from lcbkit.results import Comparison, compare
from lcbkit.scoring.scores import UNKNOWN

__all__ = ["plot_differences"]

LARGEST = 0.15  # inches, of a cell
NAMED = 6  # so many ids still fit into the small print


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One way in which a problem can end in two runs."""

    name: str
    colour: str
    marker: str


def plot_differences(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """Where two runs differ: a cell for each problem that both scored, sorted within each difficulty.

    Args:
        runs: two runs, or a mapping with two names.
        ax: axes to draw into; None makes a figure.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print: difference with its interval, and the exact McNemar test.

    Raises:
        BadValueError: unless there are two runs with a scored problem in common.
    """
    with panel(runs, "where two runs differ", ax=ax, width=width, theme=theme, note=note) as sheet:
        if len(sheet.series) != 2:
            raise BadValueError(f"two runs are compared, not {len(sheet.series)}; give two")
        a, b = sheet.series
        comparison = compare(a.run, b.run)
        kinds = _kinds(sheet.theme, a.name, b.name, several=comparison.only_a is None)
        difficulty = {
            record.problem_id: record.difficulty or UNKNOWN for record in (*b.run.records, *a.run.records)
        }
        order = shown_groups([a.run.summary().by_difficulty, b.run.summary().by_difficulty])
        groups = {name: [i for i in comparison.outcomes if difficulty[i] == name] for name in order}
        _grid(sheet, {name: ids for name, ids in groups.items() if ids}, comparison, kinds)
        _legend(sheet, comparison, kinds)
        sheet.notes += _words(comparison, a.name, b.name)
    return sheet.figure


def _kinds(theme: Theme, a: str, b: str, *, several: bool) -> Mapping[str, _Kind]:
    more = " more often" * several
    return {
        "both": _Kind(name="alike" if several else "both pass", colour=theme.faint, marker=""),
        "a": _Kind(name=f"{a}{more or ' only'}", colour=LOOKS[0].colour, marker="^"),
        "b": _Kind(name=f"{b}{more or ' only'}", colour=LOOKS[1].colour, marker="v"),
        "neither": _Kind(name="none pass" if several else "neither", colour=theme.paper, marker=""),
    }


def _kind(shares: tuple[float, float]) -> str:
    left, right = shares
    if left != right:
        return "a" if left > right else "b"
    return "both" if left else "neither"


def _grid(
    sheet: Panel, groups: Mapping[str, Sequence[str]], comparison: Comparison, kinds: Mapping[str, _Kind]
) -> None:
    """Rows of cells below each other, a block for each difficulty."""
    ax, wide = sheet.ax, sheet.points / 72 - (0.75 if sheet.owned else 0)
    most = max(map(len, groups.values()))
    # Wide enough that the largest block takes a third of the width in rows, never larger than a letter.
    columns = max(round(wide / LARGEST), math.ceil(math.sqrt(most * 3)))
    y, middles, names = 0.0, [], []
    for name, ids in groups.items():
        ordered = sorted(ids, key=lambda i: list(kinds).index(_kind(comparison.outcomes[i])))
        cells = [(i % columns, y + i // columns) for i in range(len(ordered))]
        _cells(sheet, cells, [_kind(comparison.outcomes[i]) for i in ordered], kinds, wide / columns)
        rows = math.ceil(len(ordered) / columns)
        middles.append(y + rows / 2 - 0.5)
        names.append(f"{group_word(name)}\nn={len(ids)}")
        y += max(rows, 0.25 / (wide / columns)) + 0.6
    ax.set(xlim=(-0.6, columns - 0.4), ylim=(y - 1.1, -0.6))
    ax.set_aspect("equal", anchor="W")
    ax.set_yticks(middles, names)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    sheet.body = y * wide / columns + 0.05


def _cells(
    sheet: Panel,
    cells: Sequence[tuple[int, float]],
    found: Sequence[str],
    kinds: Mapping[str, _Kind],
    inches: float,
) -> None:
    for key, kind in kinds.items():
        own = [cell for cell, name in zip(cells, found, strict=True) if name == key]
        if not own:
            continue
        squares = PatchCollection(
            [Rectangle((x - 0.44, y - 0.44), 0.88, 0.88) for x, y in own],
            facecolor=kind.colour,
            edgecolor=sheet.theme.ink if key == "neither" else EDGE,
            linewidth=0.35,
            label=kind.name,
        )
        sheet.ax.add_collection(squares)
        if kind.marker:
            size = (inches * 72 * 0.42) ** 2
            x, y = zip(*own, strict=True)
            sheet.ax.scatter(x, y, s=size, marker=kind.marker, color=_mark(key), linewidth=0, zorder=3)


def _mark(key: str) -> str:
    return "#ffffff" if key == "a" else "#111111"


def _legend(sheet: Panel, comparison: Comparison, kinds: Mapping[str, _Kind]) -> None:
    found = [_kind(shares) for shares in comparison.outcomes.values()]
    entries = [
        (_key(sheet, key, kind), f"{_short(sheet, kind)}: {found.count(key)}") for key, kind in kinds.items()
    ]
    sheet.legend(entries)


def _short(sheet: Panel, kind: _Kind) -> str:
    return fitted(kind.name, sheet.points - 80, SMALL)


def _key(sheet: Panel, key: str, kind: _Kind) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        marker="s",
        markersize=6.5,
        markerfacecolor=kind.colour,
        markeredgecolor=sheet.theme.ink if key == "neither" else EDGE,
        markeredgewidth=0.4,
    )


def _words(comparison: Comparison, a: str, b: str) -> list[str]:
    low, high = comparison.interval
    notes = [
        f"pass@1 {comparison.a_pass_at_1:.1%} and {comparison.b_pass_at_1:.1%}: "
        f"{100 * comparison.difference:+.1f} points, "
        f"95 % interval {100 * low:+.1f} to {100 * high:+.1f} (bootstrap over problems)."
    ]
    if comparison.p_value is not None:
        notes.append(f"Exact McNemar test on the problems that one alone passed: p={comparison.p_value:.2g}.")
    for name, ids in ((a, comparison.only_a), (b, comparison.only_b)):
        if ids and len(ids) <= NAMED:
            notes.append(f"Only {name}: {', '.join(ids)}.")
    if comparison.left_out:
        why = ", ".join(f"{number} {reason}" for reason, number in comparison.reasons.items())
        notes.append(f"Left out: {comparison.left_out} ({why}).")
    return notes + [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in comparison.notes]
