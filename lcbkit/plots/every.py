"""Every figure that fits some runs."""

from collections.abc import Callable, Iterator
from datetime import date
from functools import partial

from matplotlib.figure import Figure

from lcbkit.errors import BadValueError
from lcbkit.plots.bars import plot_by_difficulty, plot_by_platform
from lcbkit.plots.heatmap import plot_heatmap
from lcbkit.plots.months import day_of, plot_by_month
from lcbkit.plots.pairs import plot_differences
from lcbkit.plots.panel import Runs, named_runs
from lcbkit.plots.style import ThemeName, Width, inches, theme_named
from lcbkit.plots.teams import plot_overall, plot_team_sizes, plot_topologies
from lcbkit.plots.tokens import plot_tokens
from lcbkit.results import Run

__all__ = ["every_figure"]


def every_figure(
    runs: Runs,
    *,
    cutoff: str | date | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Iterator[tuple[str, Figure | str]]:
    """Draw all figures that fit these runs, one at a time.

    Args:
        runs: one run, several, or a mapping from names to runs.
        cutoff: as in `plot_by_month`.
        width: as in `plot_by_difficulty`.
        theme: "light" or "dark".
        note: whether to print the small print.

    Yields:
        A name that serves as a file's stem, and the figure, or the sentence why there is none.

    Raises:
        BadValueError: for runs that no figure can show, or a wrong cut-off, width or theme.
    """
    day = None if cutoff is None else day_of(cutoff)
    inches(width), theme_named(theme)  # a wrong word ends all of them, not each in turn
    named = named_runs(runs)
    drawings: dict[str, Callable[..., Figure]] = {
        "overall": plot_overall,
        "by_difficulty": plot_by_difficulty,
        "by_platform": plot_by_platform,
        "heatmap": plot_heatmap,
        "by_month": partial(plot_by_month, cutoff=day),
        "topologies": plot_topologies,
        "team_sizes": plot_team_sizes,
        "tokens": plot_tokens,
        "tokens_per_solved": partial(plot_tokens, per="solved"),
        "differences": plot_differences,
    }
    for name, draw in drawings.items():
        if why := _unfit(name, list(named.values())):
            yield name, why
            continue
        try:
            yield name, draw(runs, width=width, theme=theme, note=note)
        except BadValueError as error:
            yield name, str(error)


def _unfit(name: str, runs: list[Run]) -> str | None:
    """Why a figure that could be drawn would say nothing."""
    first = [run.records[0] for run in runs]
    if name == "overall" and len(runs) == 1:
        return "one run has one pass@1, which its summary prints; give several"
    if name == "topologies" and len({record.topology for record in first if record.topology}) < 2:
        return "it needs runs of at least two topologies"
    if name == "team_sizes" and len({record.size for record in first if record.size}) < 2:
        return "it needs runs of at least two team sizes"
    if name == "differences" and len(runs) != 2:
        return f"it compares two runs, and there are {len(runs)}"
    return None
