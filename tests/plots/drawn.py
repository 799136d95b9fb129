"""Runs to draw, and reading what a figure shows."""

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from lcbkit import plots
from lcbkit.results import Run
from lcbkit.scoring.scores import Score

__all__ = ["PANELS", "approx_all", "export", "made", "points", "teams", "whiskers", "words"]


PANELS = {
    "overall": plots.plot_overall,
    "by_difficulty": plots.plot_by_difficulty,
    "by_platform": plots.plot_by_platform,
    "heatmap": plots.plot_heatmap,
    "by_month": plots.plot_by_month,
    "topologies": plots.plot_topologies,
    "team_sizes": plots.plot_team_sizes,
    "tokens": plots.plot_tokens,
    "differences": plots.plot_differences,
}


def made(
    n: int = 30, *, share: float = 0.5, seed: int = 0, samples: int = 1, broken: int = 0, **facts: Any
) -> Run:
    """A run of n problems of all kinds; the first `broken` instances are infrastructure errors."""
    chance = np.random.default_rng(seed)
    rows = [
        {
            "id": f"p{i}",
            "sample": sample,
            "em": float(chance.random() < share),
            "difficulty": ("easy", "medium", "hard")[i % 3],
            "platform": ("leetcode", "codeforces", "atcoder")[i // 3 % 3],
            "contest_date": f"2024-{1 + i % 12:02d}-15",
            "status": "infra_error" if i * samples + sample < broken else "ok",
            "topology": "sequential",
            "size": 4,
            "format": "freeform",
            "model": "a-model",
            "prompt_tokens": int(1000 * chance.lognormal(0, 0.5)),
            "completion_tokens": 300,
            "n_llm_calls": 4,
            **facts,
        }
        for i in range(n)
        for sample in range(samples)
    ]
    return Run.from_frame(pd.DataFrame(rows), config={"dataset": {"source": "release_v6"}})


def teams() -> list[Run]:
    single = made(topology="single", size=None, share=0.3)
    many = [
        made(topology=topology, size=size, share=0.4, seed=size)
        for topology in ("independent", "decentralized")
        for size in (2, 4)
    ]
    return [single, *many]


def whiskers(ax: Axes, axis: int = 1) -> list[tuple[float, float]]:
    return [
        tuple(float(end) for end in segment[:, axis])  # type: ignore[misc]
        for container in ax.containers
        if not isinstance(container, BarContainer)
        for lines in container[2]
        for segment in lines.get_segments()
    ]


def points(ax: Axes, name: str) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for line in ax.lines
        if line.get_label() == name
        for x, y in zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True)
    ]


def words(figure: Figure) -> str:
    """Everything the figure writes."""
    memory = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(memory, format="svg")
    root = ElementTree.fromstring(memory.getvalue())
    return " ".join("".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text"))


def approx_all(scores: list[Score]) -> Any:
    return [pytest.approx(score.interval, abs=1e-9) for score in scores]


def export(folder: Path, *, again: bool = False) -> None:
    """Save four kinds of figures; at choice a second time, each right after the first."""
    for name in ("by_difficulty", "heatmap", "tokens", "differences"):
        figure = PANELS[name](teams()[:2])
        for part in ("first", "again") if again else ("first",):
            plots.save_figure(figure, folder / part / name, dpi=100)
