"""Figures of runs for papers and talks, and their export.

Each `plot_*` takes one run, several, or a mapping from names to runs, and returns a matplotlib figure that a
notebook shows by itself. Scores and intervals come from `lcbkit.results`; nothing is computed here.
"""

from lcbkit.plots.bars import plot_by_difficulty, plot_by_platform
from lcbkit.plots.every import every_figure
from lcbkit.plots.export import save_figure
from lcbkit.plots.heatmap import plot_heatmap
from lcbkit.plots.learning import plot_learning_curve
from lcbkit.plots.months import plot_by_month
from lcbkit.plots.pairs import plot_differences
from lcbkit.plots.teams import plot_overall, plot_team_sizes, plot_topologies
from lcbkit.plots.tokens import plot_tokens

__all__ = [
    "every_figure",
    "plot_by_difficulty",
    "plot_by_month",
    "plot_by_platform",
    "plot_differences",
    "plot_heatmap",
    "plot_learning_curve",
    "plot_overall",
    "plot_team_sizes",
    "plot_tokens",
    "plot_topologies",
    "save_figure",
]
