"""The notebook about figures: each one drawn, saved and traceable, offline and on real problems."""

import base64
import io
import json
import re
from pathlib import Path

from nbformat import NotebookNode
from PIL import Image

from tests.notebooks.kernel import LIVE_MODEL, data, executed, executed_live, tagged, text

FIGURES = ("difficulty", "platform", "heatmap", "month", "topologies", "tokens", "differences", "exercise")


def check(notebook: NotebookNode, model: str) -> None:
    for tag in FIGURES:
        with Image.open(io.BytesIO(base64.b64decode(data(tagged(notebook, tag), "image/png")))) as image:
            assert image.width == 792, tag  # a column, twice as sharp as a screen needs it
            assert len(image.convert("L").getcolors() or ()) > 10, tag
    assert data(tagged(notebook, "panels"), "image/png"), "the figure of two panels is seen, not only saved"
    saved = text(tagged(notebook, "save"))
    for stem in ("by_difficulty", "by_month", "heatmap", "overall", "topologies", "tokens"):
        assert f"figures/{stem}.png figures/{stem}.svg figures/{stem}.pdf" in saved
    assert "no team_sizes: " in saved
    facts = data(tagged(notebook, "provenance"), "text/plain")
    assert model in facts
    assert re.search(r"'verdicts': '[0-9a-f]{12}'", facts)
    scores = re.findall(r": (\d+\.\d%) \((\d+)/(\d+), 95 %", text(tagged(notebook, "runs")))
    assert len(scores) == 5
    assert f"\n{scores[0][2]} problems " in f"\n{text(tagged(notebook, 'runs'))}"
    assert json.loads(re.search(r"'passed': (\d+)", facts)[1]) == int(scores[0][1])  # type: ignore[index]


def test_every_figure_is_drawn_saved_and_traceable_offline() -> None:
    check(executed("05_figures"), "qwen")


def test_every_figure_is_drawn_on_real_problems_with_a_live_model(shared: Path) -> None:
    live = executed_live("05_figures", shared)
    check(live.notebook, LIVE_MODEL)
    assert live.n_requests > 18 * 10
