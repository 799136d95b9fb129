"""pass@1 of whole runs: one below the other, across topologies, and across team sizes."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcbkit.errors import BadValueError
from lcbkit.plots.labels import distinctions, in_two_lines, percent, shared_facts, width_of
from lcbkit.plots.marks import group_label, point_handle, whisker
from lcbkit.plots.panel import Panel, Runs, panel
from lcbkit.plots.style import LOOKS, NOTE_SIZE, SMALL, Look, ThemeName, Width, look_of
from lcbkit.results import Run
from lcbkit.scoring.scores import Score
from lcbkit.topologies.roles import TOPOLOGIES

__all__ = ["plot_overall", "plot_team_sizes", "plot_topologies", "topology_of"]

MOST = 60
ROW = 0.15  # inches
GAP = 0.07


def plot_overall(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 of whole runs, a line each, with 95 % intervals; other models' result files fit in as well.

    Args:
        runs: one run, several, or a mapping from names to runs; drawn in the given order.
        ax: axes to draw into; None makes a figure.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.
    """
    with panel(runs, "pass@1", ax=ax, width=width, theme=theme, note=note, most=MOST) as sheet:
        look = look_of(0, sheet.theme)
        _forest(sheet, [(s.name, [(look, s.run.summary().overall, s.name)]) for s in sheet.series])
    return sheet.figure


def plot_topologies(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 across topologies, with 95 % intervals.

    Args:
        runs: runs of teams, or a mapping from names to them. What they differ in beside their topology
            (size, message format, model, ...) makes the entries of the legend, at most 8.
        ax: axes to draw into; None makes a figure.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.

    Raises:
        BadValueError: for a run that was not made by a team.
    """
    with panel(runs, "pass@1 by topology", ax=ax, width=width, theme=theme, note=note, most=MOST) as sheet:
        found = [series.run for series in sheet.series]
        places = [topology_of(run) for run in found]
        looks = _looks(sheet, _names(runs, found, places, without=_shown_by_topology(found)))
        order = sorted(set(places), key=lambda name: (*TOPOLOGIES, name).index(name))
        rows = [
            (
                place,
                [
                    (look, run.summary().overall, name)
                    for (name, look), run, other in zip(looks, found, places, strict=True)
                    if other == place
                ],
            )
            for place in order
        ]
        _forest(sheet, rows)
        _title(sheet, found, looks, line=False)
    return sheet.figure


def plot_team_sizes(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """pass@1 across team sizes, a line for each topology, with 95 % intervals.

    Args:
        runs: runs of teams, or a mapping from names to them. A single agent's run stands as a level line
            with its interval behind it, as what a team has to beat.
        ax: axes to draw into; None makes a figure.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.

    Raises:
        BadValueError: when no run has a team size.
    """
    with panel(runs, "pass@1 by team size", ax=ax, width=width, theme=theme, note=note, most=MOST) as sheet:
        found = [series.run for series in sheet.series]
        sizes = [size_of(run) for run in found]
        known = sorted({size for size in sizes if size is not None})
        if not known:
            raise BadValueError("none of these runs has a team size; give runs of teams, of several sizes")
        looks = _looks(sheet, _names(runs, found, [str(size) for size in sizes], without=("size",)))
        sheet.share_axis("y")
        sheet.ax.set_xlim(-0.5, len(known) - 0.5)
        columns = [[run.summary().overall for run, own in zip(found, sizes, strict=True) if own == size]
                   for size in known]  # fmt: skip
        sheet.ax.set_xticks(
            range(len(known)),
            [f"{size}\n{group_label(column)}" for size, column in zip(known, columns, strict=True)],
        )
        sheet.ax.set_xlabel("agents in the team")
        names = list(dict(looks))
        # A level line needs no place beside the points of the teams.
        sized = {own for (own, _), size in zip(looks, sizes, strict=True) if size is not None}
        placed = [name for name in names if name in sized]
        for name in names:
            line = {
                size: run.summary().overall
                for (own, _), run, size in zip(looks, found, sizes, strict=True)
                if own == name
            }
            shift = 0.5 * ((placed.index(name) + 0.5) / len(placed) - 0.5) if name in placed else 0.0
            _line(sheet, name, dict(looks)[name], line, known, shift)
        sheet.note_intervals([run.summary().overall for run in found], "Whiskers")
        _title(sheet, found, looks, line=True)
    return sheet.figure


def topology_of(run: Run) -> str:
    """The run's topology.

    Raises:
        BadValueError: for a run that was not made by a team.
    """
    if (name := run.records[0].topology) is None:
        raise BadValueError(f"{run.label!r} names no topology; plot_overall draws runs from elsewhere")
    return name


def size_of(run: Run) -> int | None:
    """The run's team size, None for a single agent and for a run from elsewhere."""
    return run.records[0].size


def _shown_by_topology(runs: Sequence[Run]) -> tuple[str, ...]:
    """That a single agent has no size is no difference when all teams have the same."""
    return ("topology", "size") if len({size_of(run) for run in runs} - {None}) < 2 else ("topology",)


def _names(runs: Runs, found: Sequence[Run], places: Sequence[str], *, without: Sequence[str]) -> list[str]:
    if isinstance(runs, Mapping):
        return [str(name) for name in runs]
    names = distinctions(found, places, without=without)
    if not any(names):
        return names
    return [
        name or ("one agent" if size_of(run) is None else "the others")
        for name, run in zip(names, found, strict=True)
    ]


def _looks(sheet: Panel, names: Sequence[str]) -> list[tuple[str, Look]]:
    """Each run's name beside its topology or size, with the look that all runs of this name share."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) > len(LOOKS):
        raise BadValueError(
            f"{sheet.title}: the runs differ in {len(distinct)} ways, {distinct[0]!r} and "
            f"{distinct[1]!r} among them; give runs that differ in at most {len(LOOKS)}"
        )
    return [(name, look_of(distinct.index(name), sheet.theme)) for name in names]


def _title(sheet: Panel, runs: Sequence[Run], looks: Sequence[tuple[str, Look]], *, line: bool) -> None:
    if len(distinct := dict(looks)) > 1:
        sheet.legend([(point_handle(look, sheet.theme, line=line), name) for name, look in distinct.items()])
    else:
        sheet.title_line(shared_facts(runs))


def _forest(sheet: Panel, rows: Sequence[tuple[str, Sequence[tuple[Look, Score, str]]]]) -> None:
    """Points with whiskers in rows, from top to bottom; at the right what each one says in numbers."""
    places, height = [], 0.0
    for _, marks in rows:
        places.append([height + ROW * (i + 0.5) for i in range(len(marks))])
        height += ROW * len(marks) + GAP
    room = sheet.points * 0.38
    names = [in_two_lines(name, room, SMALL) for name, _ in rows]
    used = max(width_of(line, SMALL) for name in names for line in name.split("\n"))
    sheet.share_axis("x", step=20 if sheet.points - used > 170 else 50)
    sheet.ax.set_ylim(height, -GAP)
    sheet.ax.set_yticks([sum(place) / len(place) for place in places], names, linespacing=0.95)
    sheet.ax.tick_params(axis="y", length=0)
    sheet.ax.spines["left"].set_visible(False)
    right = sheet.ax.get_yaxis_transform()
    for place, (_, marks) in zip(places, rows, strict=True):
        for y, (look, score, name) in zip(place, marks, strict=True):
            _point(sheet, score.pass_at_1 or 0.0, y, look, name)
            whisker(sheet.ax, sheet.theme, y, score, vertical=False)
            text = f"{percent(score.pass_at_1 or 0.0)}  {score.passed}/{score.scored}"
            sheet.ax.annotate(text, (1, y), (5, 0), xycoords=right, textcoords="offset points", va="center",
                              fontsize=NOTE_SIZE, annotation_clip=False)  # fmt: skip
    stretch = 1.5 if any("\n" in name for name in names) else 1.0
    sheet.body = height * stretch + 0.45
    sheet.note_intervals([score for _, marks in rows for _, score, _ in marks], "Whiskers")
    sheet.notes.append("Right: passed / counted.")


def _point(sheet: Panel, x: float, y: float, look: Look, name: str) -> None:
    sheet.ax.plot(
        [x],
        [y],
        marker=look.marker,
        color=look.colour,
        markersize=4.5,
        markeredgecolor=sheet.theme.ink,
        markeredgewidth=0.5,
        linestyle="none",
        label=name,
        clip_on=False,
        zorder=5,
    )


def _line(
    sheet: Panel,
    name: str,
    look: Look,
    scores: Mapping[int | None, Score],
    sizes: Sequence[int],
    shift: float,
) -> None:
    """One topology's way over the sizes; a single agent's level line."""
    if (level := scores.get(None)) and level.pass_at_1 is not None and level.interval is not None:
        sheet.ax.axhline(level.pass_at_1, color=look.colour, linestyle=look.line, linewidth=1.2, label=name)
        sheet.ax.axhspan(*level.interval, color=look.colour, alpha=0.13, linewidth=0, zorder=0)
    at = {sizes.index(size) + shift: score for size, score in scores.items() if size is not None}
    if not at:
        return
    sheet.ax.plot(
        sorted(at),
        [at[x].pass_at_1 or 0.0 for x in sorted(at)],
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=4.5,
        markeredgecolor=sheet.theme.ink,
        markeredgewidth=0.5,
        label=name,
        clip_on=False,
        zorder=5,
    )
    for x, score in at.items():
        whisker(sheet.ax, sheet.theme, x, score, vertical=True)
