"""The sheet that every figure is drawn on: its size, names of the runs, legend and small print."""

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from lcbkit.errors import BadValueError
from lcbkit.plots.labels import fitted, name_runs, printable, width_of, wrapped
from lcbkit.plots.layout import hold_places, restore_places
from lcbkit.plots.provenance import add_provenance
from lcbkit.plots.style import (
    LOOKS,
    NOTE_SIZE,
    SMALL,
    Look,
    Theme,
    ThemeName,
    Width,
    inches,
    look_of,
    styled,
    theme_named,
)
from lcbkit.records import Status
from lcbkit.results import MAX_INFRA_RATE, Run
from lcbkit.scoring.scores import Score

__all__ = [
    "LEGEND",
    "LINE",
    "NotebookFigure",
    "Panel",
    "Runs",
    "Series",
    "legend_columns",
    "named_runs",
    "panel",
]

Runs = Run | Sequence[Run] | Mapping[str, Run]
"""One run, several, or several under names of one's own."""

LINE = 0.135  # height of a legend's line, in inches
NOTE_LINE = 0.105
LEGEND: dict[str, Any] = {
    "borderaxespad": 0.5,
    "borderpad": 0,
    "handlelength": 2.0,
    "handletextpad": 0.5,
    "columnspacing": 1.2,
    "labelspacing": 0.35,
}
"""How close together a legend stands."""


class NotebookFigure(Figure):
    """A figure that a notebook shows without pyplot, sharp, and as large as it will be in print or larger."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        memory = io.BytesIO()
        restore_places(self)
        self.savefig(memory, format="png", dpi=2 * _SCREEN_DPI)
        width, height = self.get_size_inches() * _SCREEN_DPI
        return memory.getvalue(), {"width": round(width), "height": round(height)}


_SCREEN_DPI = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A run with its name and its look."""

    run: Run
    name: str
    look: Look


@dataclass(slots=True, kw_only=True)
class Panel:
    """What a figure draws on.

    Attributes:
        figure: the whole.
        ax: the axes to draw into.
        theme: the colours around the data.
        series: the runs.
        title: what the figure shows, for its files.
        owned: whether the figure is ours; a given `ax` keeps its size and its neighbours.
        body: height of what is between legend and small print, in inches.
        notes: the small print, a sentence each.
    """

    figure: Figure
    ax: Axes
    theme: Theme
    series: Sequence[Series]
    title: str
    owned: bool
    body: float = 1.9
    notes: list[str] = field(default_factory=list)

    @property
    def points(self) -> float:
        """Width for the axes and their labels, in points."""
        whole = self.figure.get_figure(root=True).get_size_inches()[0] * 72
        return float(whole if self.owned else self.ax.get_position().width * whole)

    def share_axis(self, which: Literal["x", "y"], step: int = 20) -> None:
        """Let an axis run from 0 to 100 %, the same in every figure, with a tick every `step` percent."""
        axis = getattr(self.ax, f"{which}axis")
        getattr(self.ax, f"set_{which}lim")(0, 1)
        ticks = range(0, 101, step)
        axis.set_ticks([tick / 100 for tick in ticks], [f"{tick}%" for tick in ticks])
        getattr(self.ax, f"set_{which}label")("pass@1")
        self.ax.grid(visible=True, axis=which)
        self.ax.set_axisbelow(True)  # axes that are given have their own setting

    def note_intervals(self, scores: Sequence[Score], what: str) -> None:
        """Say how the intervals were made."""
        methods = sorted({score.method for score in scores if score.method})
        if methods:
            self.notes.append(f"{what}: 95 % intervals ({' or '.join(methods)}).")
        if any(score.says_nothing for score in scores):
            self.notes.append(
                "Those of one problem, or of problems all alike, have no width and say nothing."
            )

    def name_series(self, keys: Sequence[Artist], *, lift: float = 2) -> None:
        """Name the runs above the axes: one in a plain line, several in a legend.

        Args:
            keys: the legend's key of each series.
            lift: room for labels on top of the data, in points.
        """
        names = [series.name for series in self.series]
        if len(names) == 1:
            self.title_line(names[0], lift=lift)
        else:
            self.legend(list(zip(keys, names, strict=True)), lift=lift)

    def title_line(self, text: str, *, lift: float = 2) -> None:
        """Put a line above the axes."""
        if text:
            self.ax.set_title(fitted(text, self.points - 40, SMALL + 0.5), loc="left", pad=3 + lift)
            self.body += LINE

    def legend(self, entries: Sequence[tuple[Artist, str]], *, lift: float = 2) -> None:
        """Put a legend above the axes, in as many columns as fit.

        Args:
            entries: keys and names.
            lift: room for labels on top of the data, in points, where the axes are not ours.
        """
        names = [fitted(text, self.points - 44, SMALL) for _, text in entries]
        columns = legend_columns(names, self.points)
        up = ScaledTranslation(0, (1 + lift) / 72, self.figure.dpi_scale_trans)
        place: dict[str, Any] = {
            "loc": "lower left",
            "bbox_to_anchor": (0, 1),
            "bbox_transform": self.ax.transAxes + up,
        }
        host = self.figure if self.owned else self.ax
        host.legend(
            [key for key, _ in entries],
            # A name with an underscore in front would be left out by matplotlib.
            [f" {name}" if name.startswith("_") else name for name in names],
            ncols=columns,
            **({"loc": "outside upper left"} if self.owned else place),
            **LEGEND,
        )
        self.body += LINE * -(-len(names) // columns)


def legend_columns(names: Sequence[str], points: float) -> int:
    """In how many columns a legend of these names fits into so many points."""
    key, gap = 2.5 * SMALL, 1.2 * SMALL
    widest = max(width_of(name, SMALL) for name in names) + key + gap
    return max(1, min(len(names), int((points - 8 + gap) // widest)))


def named_runs(runs: Runs) -> dict[str, Run]:
    """The runs under names that tell them apart.

    Raises:
        BadValueError: without a run, or with one of which no instance counts in pass@1.
    """
    if isinstance(runs, Run):
        runs = [runs]
    if not isinstance(runs, Mapping):
        strange = next((run for run in runs if not isinstance(run, Run)), None)
        if strange is not None:
            raise BadValueError(
                f"a figure takes runs, not {strange!r}; lcbkit.load_run opens a folder or file"
            )
        runs = dict(zip(name_runs(list(runs)), runs, strict=True))
    if not runs:
        raise BadValueError("there is no run to draw; give one or several of them")
    for name, run in runs.items():
        overall = run.summary().overall
        if not overall.scored:
            raise BadValueError(
                f"no instance of {name!r} counts in pass@1 ({overall.n} in the run); see its summary for why"
            )
    return {printable(name): run for name, run in runs.items()}


@contextmanager
def panel(
    runs: Runs,
    title: str,
    *,
    ax: Axes | None,
    width: Width,
    theme: ThemeName,
    note: bool,
    most: int = len(LOOKS),
) -> Iterator[Panel]:
    """A sheet to draw these runs on; afterwards it gets its size, its small print and its provenance.

    Args:
        runs: what to draw.
        title: what the figure shows.
        ax: axes of one's own, or None for a figure of its own.
        width: of that figure.
        theme: light or dark.
        note: whether to print the small print.
        most: so many runs still fit.

    Raises:
        BadValueError: for no run, too many runs or a wrong width or theme.
    """
    named, colours, wide = named_runs(runs), theme_named(theme), inches(width)
    if len(named) > most:
        raise BadValueError(f"{title}: {len(named)} runs do not fit; give at most {most} at a time")
    with styled(colours):
        if owned := ax is None:
            figure: Figure = NotebookFigure(figsize=(wide, 2.5), layout="constrained")
            FigureCanvasAgg(figure)
            ax = figure.add_subplot()
        else:
            figure = ax.get_figure(root=True)  # type: ignore[assignment]
        series = [
            Series(run=run, name=name, look=look_of(i % len(LOOKS), colours))
            for i, (name, run) in enumerate(named.items())
        ]
        sheet = Panel(figure=figure, ax=ax, theme=colours, series=series, title=title, owned=owned)
        yield sheet
        sheet.notes += _what_counts(series)
        _finish(sheet, note)
        add_provenance(figure, title, list(named.items()), sheet.notes)


def _what_counts(series: Sequence[Series]) -> list[str]:
    """Which problems, and what was left out of the scores: nothing leaves a denominator unseen."""
    runs = [item.run for item in series]
    ids = [frozenset(record.problem_id for record in run.records) for run in runs]
    sources = {run.config.get("dataset", {}).get("source") for run in runs}
    [source] = sources if len(sources) == 1 else [None]
    where = f" of {source.rpartition('/')[2]}" if source else ""
    samples = {number for run in runs for number in Counter(r.problem_id for r in run.records).values()}
    fewest, most = min(samples), max(samples)
    each = f", {most if fewest == most else f'{fewest} to {most}'} samples each" if most > 1 else ""
    if len(set(ids)) == 1:
        notes = [f"{_count(len(ids[0]), 'problem')}{where}{each}."]
    else:
        sizes = sorted({len(own) for own in ids})
        between = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
        notes = [f"The runs hold different problems ({between}){where}{each}."]
    return notes + _not_counted(series)


def _not_counted(series: Sequence[Series]) -> list[str]:
    """What does not count in pass@1: by name while that is short, and always where it spoils a score."""
    parts = [
        (item, number, word)
        for item in series
        for status, word in _REASONS.items()
        if (number := item.run.summary().statuses[status])
    ]
    named = [f"{_count(number, word)} in {item.name}" for item, number, word in parts]
    total = {word: sum(number for _, number, other in parts if other == word) for *_, word in parts}
    if len(series) == 1 or len(parts) > 3:
        named = [_count(number, word) for word, number in total.items()]
    notes = [f"Not counted: {'; '.join(named)}."] if named else []
    broken = [item.name for item in series if _is_no_score(item.run)]
    if broken:
        notes.append(f"So many infrastructure errors that this is no score: {'; '.join(broken)}.")
    return notes


_REASONS = {
    Status.INFRA_ERROR: "infrastructure error",
    Status.JUDGE_ERROR: "judge error",
    Status.BAD_TEST: "defective test",
}


def _is_no_score(run: Run) -> bool:
    return run.summary().infra_rate > float(run.config.get("max_infra_rate", MAX_INFRA_RATE))


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"


def _finish(sheet: Panel, note: bool) -> None:
    small: dict[str, Any] = {
        "fontsize": NOTE_SIZE,
        "color": sheet.theme.ink,
        "ha": "left",
        "linespacing": 1.25,
    }
    # On coarse pixels letters are up to a twentieth wider than in print.
    lines = wrapped(" ".join(sheet.notes), 0.95 * (sheet.points - 8), NOTE_SIZE) if note else ""
    if sheet.owned:
        if lines:
            sheet.figure.supxlabel(lines, x=4 / sheet.points, **small)
        height = sheet.body + NOTE_LINE * (lines.count("\n") + 1 if lines else 0) + 0.1
        sheet.figure.set_size_inches(sheet.points / 72, height)
        hold_places(sheet.figure)
    elif lines:
        sheet.ax.annotate(
            lines,
            xy=(0, 0),
            xycoords=("axes fraction", sheet.ax.xaxis.label),
            xytext=(0, -4),
            textcoords="offset points",
            va="top",
            annotation_clip=False,
            **small,
        )
