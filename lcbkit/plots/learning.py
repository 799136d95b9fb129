"""Learning curves of prompt optimization: the best so far against what was spent."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lcbkit.errors import BadValueError
from lcbkit.plots.labels import fitted, printable, wrapped
from lcbkit.plots.layout import hold_places
from lcbkit.plots.panel import LEGEND, LINE, NotebookFigure, legend_columns
from lcbkit.plots.provenance import add_facts
from lcbkit.plots.style import (
    LOOKS,
    NOTE_SIZE,
    SMALL,
    ThemeName,
    Width,
    inches,
    look_of,
    styled,
    theme_named,
)

__all__ = ["plot_learning_curve"]

_TITLE = "Learning curves"
_NOTE = (
    "Best mean score so far, on the problems that the method itself looks at: what is deployed is decided on "
    "validation. Dotted: carried forward after the search had ended."
)


def plot_learning_curve(
    jobs: Any,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """The best score so far against the rollouts charged, a line for each job.

    Args:
        jobs: what `optimize` gave, several of them, or a mapping from names to them.
        ax: axes to draw into; None makes a figure.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.

    Returns:
        The figure. A job whose method told no score has no line.

    Raises:
        BadValueError: without a job, with more than fit, or when none of them told a score.
    """
    named, colours, wide = _named(jobs), theme_named(theme), inches(width)
    curves = {name: _scored(job.learning_curve) for name, job in named.items()}
    if not any(curves.values()):
        raise BadValueError("none of these jobs told a score on its way, so there is no curve to draw")
    with styled(colours):
        if owned := ax is None:
            figure: Figure = NotebookFigure(figsize=(wide, 2.6), layout="constrained")
            FigureCanvasAgg(figure)
            ax = figure.add_subplot()
        else:
            figure = ax.get_figure(root=True)  # type: ignore[assignment]
        for number, (name, rows) in enumerate(curves.items()):
            look = look_of(number, colours)
            for part, dashes in ((_searched(rows), look.line), (_carried(rows), (0, (1, 2)))):
                x, y = [row["point"] for row in part], [row["score"] for row in part]
                label = printable(name) if part and dashes == look.line else None
                ax.plot(x, y, color=look.colour, linestyle=dashes, drawstyle="steps-post", label=label)
            ends = _searched(rows)[-1:]
            ax.plot(
                [row["point"] for row in ends],
                [row["score"] for row in ends],
                color=look.colour,
                marker=look.marker,
                linestyle="",
            )
        ax.set_ylim(0, 1.02)
        ax.set_xlim(left=0)
        ax.set_yticks([tick / 100 for tick in range(0, 101, 20)], [f"{tick}%" for tick in range(0, 101, 20)])
        ax.set_ylabel("best mean score so far")
        ax.set_xlabel("rollouts charged")
        ax.grid(visible=True, axis="y")
        if len(curves) > 1:
            _name_curves(figure, ax, owned=owned)
        silent = [name for name, rows in curves.items() if not rows]
        notes = [_NOTE, *([f"Without a score of its own: {', '.join(silent)}."] if silent else [])]
        if owned:
            if note:
                text = wrapped(" ".join(notes), 0.95 * (wide * 72 - 24), NOTE_SIZE)
                figure.supxlabel(text, x=4 / (wide * 72), fontsize=NOTE_SIZE, color=colours.ink, ha="left")
            hold_places(figure)
        add_facts(figure, _TITLE, [_facts(name, job) for name, job in named.items()], notes)
    return figure


def _name_curves(figure: Figure, ax: Axes, *, owned: bool) -> None:
    """A legend above the axes, where no curve can run."""
    keys, names = ax.get_legend_handles_labels()
    wide, height = figure.get_size_inches()
    room = 72 * (wide if owned else ax.get_position().width * wide)
    names = [fitted(name, room - 80, SMALL) for name in names]
    columns = legend_columns(names, room - 36)
    if owned:
        figure.set_size_inches(wide, height + LINE * -(-len(names) // columns))
    ax.legend(keys, names, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, **LEGEND)


def _named(jobs: Any) -> dict[str, Any]:
    if hasattr(jobs, "learning_curve"):
        jobs = [jobs]
    found = list(jobs.values() if isinstance(jobs, Mapping) else jobs if isinstance(jobs, Sequence) else ())
    if not found or not all(hasattr(job, "learning_curve") for job in found):
        raise BadValueError("a learning curve needs what `optimize` gave, one or several of them")
    if len(found) > len(LOOKS):
        raise BadValueError(f"{len(found)} curves do not fit; give at most {len(LOOKS)} at a time")
    return dict(jobs) if isinstance(jobs, Mapping) else {_name(job): job for job in found}


def _name(job: Any) -> str:
    return f"{job.job['cell']['method']}, seed {job.job['optimizer_seed']}"


def _scored(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["score"] is not None]


def _searched(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if not row["carried_forward"]] or list(rows[:1])


def _carried(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows after the search, from its last one on."""
    carried = [row for row in rows if row["carried_forward"]]
    return [*_searched(rows)[-1:], *carried] if carried else []


def _facts(name: str, job: Any) -> dict[str, Any]:
    known = job.job
    return {
        "label": name,
        "cell": known["cell"],
        "optimizer_seed": known["optimizer_seed"],
        "protocol_conformant": known["protocol_conformant"],
        "job_sha256": known["sha256"],
    }
