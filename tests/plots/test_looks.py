"""How figures look: within their sheet at every edge, told apart in grey, as the reader chooses."""

import io
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from PIL import Image

from lcbkit import plots
from lcbkit.errors import BadValueError
from lcbkit.plots.labels import wrapped
from lcbkit.plots.marks import EDGE
from lcbkit.plots.style import LOOKS, THEMES, heat_colours, lightness, look_of
from tests.plots.drawn import PANELS, made, teams, words

EDGES = {
    "nothing solved": lambda: made(share=0.0),
    "all solved": lambda: made(share=1.1),
    "one problem": lambda: made(1),
    "unknown groups": lambda: made(difficulty=None, platform=None),
    "a long name": lambda: made(model="organisation/" + "a-very-long-model-name-" * 8),
    "a hostile name": lambda: made(model="_$\\frac{1}$<b>&\n\x1b[31m漢字"),
    "several samples": lambda: made(samples=3),
    "most of it failed": lambda: made(broken=20),
    "many runs": lambda: [made(seed=i, model=f"model-{i}") for i in range(8)],
}


def test_the_heat_maps_colours_keep_their_order_in_grey() -> None:
    for theme in THEMES.values():
        shades = [lightness(mpl.colors.to_hex(heat_colours(theme)(i / 20))) for i in range(21)]
        steps = np.diff(shades)
        assert (steps < 0).all() or (steps > 0).all()
        assert abs(shades[0] - shades[-1]) > 60


@pytest.mark.parametrize("edge", EDGES)
def test_every_figure_of_every_edge_is_drawn_within_its_sheet(edge: str) -> None:
    made_runs: Any = EDGES[edge]()
    runs = made_runs if isinstance(made_runs, list) else [made_runs, *teams()[:2]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, (name, draw) in enumerate(PANELS.items()):
            theme: Any = list(THEMES)[number % 2]
            figure = draw(runs[:2] if name == "differences" else runs, theme=theme)
            width, height = figure.get_size_inches()
            assert width == pytest.approx(3.3), name
            for dpi in (130, 100):  # letters are not as wide on coarse pixels as in print
                figure.set_dpi(dpi)
                figure.draw_without_rendering()
                box = figure.get_tightbbox()
                assert box.x0 > -0.03, name
                assert box.y0 > -0.03, name
                assert box.x1 < width + 0.03, (name, box)
                assert box.y1 < height + 0.03, name
            for ax in figure.axes:
                inside = ax.get_window_extent()
                assert inside.width / figure.dpi > 0.8, name
                assert inside.height / figure.dpi > 0.15, name


def test_names_hold_only_what_runs_differ_in() -> None:
    legend = plots.plot_by_difficulty(teams()[:3]).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == [
        "single",
        "independent, 2 agents",
        "independent, 4 agents",
    ]
    twins = plots.plot_by_difficulty([made(), made(seed=1)]).legends[0]
    assert len({text.get_text() for text in twins.get_texts()}) == 2


@pytest.mark.parametrize("theme", list(THEMES))
def test_every_pair_of_series_is_told_apart_in_grey(theme: str) -> None:
    looks = [look_of(i, THEMES[theme]) for i in range(len(LOOKS))]
    for a, b in combinations(looks, 2):
        assert a.hatch != b.hatch
        assert a.marker != b.marker
        assert a.line != b.line
    # The usual two or three runs differ in lightness alone, whatever a print does to hatches.
    for a, b in combinations(looks[:3], 2):
        assert abs(lightness(a.colour) - lightness(b.colour)) > 10
    for look in looks[:7]:
        assert abs(lightness(look.colour) - lightness(EDGE)) > 35, "hatches must show on the colour"
        assert abs(lightness(look.colour) - lightness(THEMES[theme].paper)) > 25


def test_hatches_are_seen_in_the_pixels_of_a_grey_print() -> None:
    figure = plots.plot_by_difficulty([made(share=1.1, seed=i, model=f"m{i}") for i in range(8)])
    image = np.asarray(Image.open(io.BytesIO(figure._repr_png_()[0])).convert("L"), dtype=float)
    figure.draw_without_rendering()
    spreads = []
    scale = image.shape[1] / figure.bbox.width
    for container in [c for c in figure.axes[0].containers if isinstance(c, BarContainer)]:
        box = container.patches[0].get_window_extent()
        left, right = (round(x * scale) for x in (box.x0 + 0.15 * box.width, box.x0 + 0.35 * box.width))
        low, high = (
            round(image.shape[0] - y * scale) for y in (box.y0 + 0.6 * box.height, box.y0 + 0.1 * box.height)
        )
        spreads.append(image[low:high, left:right].std())
    assert spreads[0] < 3, "the first series is plain"
    assert min(spreads[1:7]) > 8, spreads


def test_axes_of_ones_own_are_drawn_into_and_keep_their_sheet() -> None:
    figure = Figure(figsize=(7, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert plots.plot_by_difficulty(made(), ax=left) is figure
    assert plots.plot_differences([made(), made(seed=1)], ax=right) is figure
    assert tuple(figure.get_size_inches()) == (7, 3)
    assert len(plots.provenance.provenance(figure)["panels"]) == 2
    assert "Whiskers" in words(figure)
    assert left.get_axisbelow() is True, "no grid line across a bar"
    with pytest.raises(BadValueError, match="leave ax out"):
        plots.plot_heatmap([made(), made(seed=1)], ax=left)


def test_small_print_and_size_are_the_readers_choice() -> None:
    assert "Whiskers" not in words(plots.plot_by_difficulty(made(), note=False))
    assert plots.plot_by_difficulty(made(), width="wide").get_size_inches()[0] == pytest.approx(6.9)
    assert plots.plot_by_difficulty(made(), width=5.5).get_size_inches()[0] == pytest.approx(5.5)
    for wrong in ("broad", 0.1, True):
        with pytest.raises(BadValueError, match="width is"):
            plots.plot_by_difficulty(made(), width=wrong)  # type: ignore[arg-type]
    with pytest.raises(BadValueError, match="theme is"):
        plots.plot_by_difficulty(made(), theme="blue")  # type: ignore[arg-type]


def test_the_readers_own_settings_neither_change_a_figure_nor_are_changed(tmp_path: Path) -> None:
    plain = plots.save_figure(plots.plot_by_difficulty(made()), tmp_path / "a", "svg")[0].read_bytes()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "pink", "svg.fonttype": "path"}):
        before = dict(mpl.rcParams)
        own = plots.save_figure(plots.plot_by_difficulty(made()), tmp_path / "b", "svg")[0].read_bytes()
        assert dict(mpl.rcParams) == before
    assert own == plain


def test_a_percent_sign_stays_with_its_number_at_every_width() -> None:
    text = "In brackets: 95 % intervals (Wilson). 20 problems."
    for points in range(40, 200):
        lines = wrapped(text, points, 6.5).split("\n")
        assert " ".join(lines) == text or points < 60, "narrower than its longest word it may be cut"
        assert not any(line.startswith("%") for line in lines)
