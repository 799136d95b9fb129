"""How the instances of runs ended."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcbkit.plots.marks import EDGE
from lcbkit.plots.panel import Runs, panel
from lcbkit.plots.style import ThemeName, Width

__all__ = ["plot_example_statuses"]


def plot_example_statuses(
    runs: Runs,
    *,
    ax: Axes | None = None,
    width: Width = "column",
    theme: ThemeName = "light",
    note: bool = True,
) -> Figure:
    """How many instances ended in each status, a group of bars for each run; else as `plot_by_difficulty`."""
    with panel(runs, "how instances ended", ax=ax, width=width, theme=theme, note=note) as sheet:
        names = [name for name, n in sheet.series[0].run.summary().statuses.items() if n or name == "ok"]
        for number, series in enumerate(sheet.series):
            counts = series.run.summary().statuses
            places = [place + 0.8 * number / len(sheet.series) for place in range(len(names))]
            sheet.ax.bar(
                places,
                [counts[name] for name in names],
                0.8 / len(sheet.series),
                color=series.look.colour,
                hatch=series.look.hatch,
                edgecolor=EDGE,
                label=series.name,
            )
        sheet.ax.set_xticks(range(len(names)), names)
        sheet.ax.set_ylabel("instances")
    return sheet.figure
