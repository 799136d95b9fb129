"""Figures: what they draw equals what the tables say, at every edge, and what they write opens elsewhere."""

import gc
import io
import json
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pypdfium2
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

import lcbkit
from lcbkit import plots
from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.plots.marks import EDGE, shown_groups
from lcbkit.plots.style import LOOKS, THEMES, heat_colours, lightness, look_of
from lcbkit.results import Run, compare, wilson_interval
from lcbkit.scoring.scores import Score

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


@pytest.mark.parametrize("what", ["difficulty", "platform"])
def test_bars_and_whiskers_are_the_tables_scores(what: str) -> None:
    runs = {"first": made(), "second": made(share=0.8, seed=1, broken=4)}
    figure = PANELS[f"by_{what}"](runs)
    [ax] = figure.axes
    bars = [container for container in ax.containers if isinstance(container, BarContainer)]
    assert [bar.get_label() for bar in bars] == ["first", "second"]
    expected = [list(getattr(run.summary(), f"by_{what}").values()) for run in runs.values()]
    for container, scores in zip(bars, expected, strict=True):
        assert [patch.get_height() for patch in container.patches] == [score.pass_at_1 for score in scores]
    assert whiskers(ax) == approx_all([score for scores in expected for score in scores])
    assert ax.get_ylim() == (0, 1)
    assert ax.get_ylabel() == "pass@1"
    assert [tick.get_text() for tick in ax.get_yticklabels()][::5] == ["0%", "100%"]
    names = list(getattr(runs["first"].summary(), f"by_{what}"))
    assert [tick.get_text().partition("\n")[0] for tick in ax.get_xticklabels()] == names
    counted = [[score.scored for score in scores] for scores in expected]
    for low, high in ((min(pair), max(pair)) for pair in zip(*counted, strict=True)):
        assert f"n={low}-{high}" in words(figure) or low == high
    assert "95 % intervals (Wilson)" in words(figure)
    assert "Not counted: 4 infrastructure errors in second." in words(figure)


def test_whiskers_agree_with_the_formula_and_not_only_with_the_table() -> None:
    rows = [{"id": str(i), "em": i < 3, "difficulty": "easy"} for i in range(10)]
    [ax] = plots.plot_by_difficulty(Run.from_frame(pd.DataFrame(rows))).axes
    assert whiskers(ax) == [pytest.approx((0.1078, 0.6032), abs=1e-4)]
    assert whiskers(ax) == [pytest.approx(wilson_interval(3, 10))]


def test_the_heat_map_prints_each_cell_and_marks_those_without_a_score(shared: Path) -> None:
    run = lcbkit.load_run(shared / "data/submissions/o1-mini.json")
    figure = plots.plot_heatmap(run)
    text = words(figure)
    for row in run.by_both("difficulty", "platform").values():
        for score in row.values():
            assert f"{score.passed}/{score.scored}" in text
    lonely = made(2, platform="atcoder")
    assert "none of 1 counts" in " ".join(words(plots.plot_heatmap(made(2, broken=1))).split())
    assert "no problem" in words(plots.plot_heatmap([made(9), lonely]))
    assert len(plots.plot_heatmap([made(9), lonely, made(9, seed=3)]).axes) == 3


def test_the_heat_maps_colours_keep_their_order_in_grey() -> None:
    for theme in THEMES.values():
        shades = [lightness(mpl.colors.to_hex(heat_colours(theme)(i / 20))) for i in range(21)]
        steps = np.diff(shades)
        assert (steps < 0).all() or (steps > 0).all()
        assert abs(shades[0] - shades[-1]) > 60


def test_months_stand_where_time_puts_them_and_the_cutoff_between_them() -> None:
    rows = [
        {"id": f"{i}", "em": i % 2, "contest_date": day}
        for i, day in enumerate(["2023-11-02", "2023-11-30", "2024-02-01", "2024-02-20"])
    ]
    run = Run.from_frame(pd.DataFrame(rows), config={"label": "r"})
    figure = plots.plot_by_month(run, cutoff="2024-01")
    [ax] = figure.axes
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names == ["2023-11  n=2", "2023-12  n=0", "2024-01  n=0", "2024-02  n=2"]
    assert points(ax, "r")[0] == (0, 0.5)
    assert points(ax, "r")[3] == (3, 0.5)
    assert np.isnan(points(ax, "r")[1][1])
    line = next(line for line in ax.lines if line.get_xdata()[0] == line.get_xdata()[-1] == 2.5)  # type: ignore[index]
    assert isinstance(line, Line2D)
    text = words(figure)
    assert "cut-off 2024-01-31" in text
    assert "50% (n=2) and 50% (n=2)" in text
    assert whiskers(ax) == approx_all([run.by("month")[month] for month in ("2023-11", "2024-02")])


def test_a_cutoff_outside_of_the_months_is_said_and_a_wrong_one_refused() -> None:
    assert "lies before every contest shown" in words(plots.plot_by_month(made(), cutoff="2020-01"))
    with pytest.raises(BadValueError, match=r"2024-05-31.*'soon'"):
        plots.plot_by_month(made(), cutoff="soon")
    undated = made(3, contest_date=None)
    with pytest.raises(BadValueError, match="no instance of these runs has a contest date"):
        plots.plot_by_month(undated)
    half = Run([*made(3).records, *made(5, contest_date=None, id="x", sample=9).records])
    assert "Without a contest date and not shown: 1." in words(plots.plot_by_month(half))


def test_topologies_stand_in_rows_with_their_scores_in_numbers() -> None:
    runs = teams()
    figure = plots.plot_topologies(runs)
    [ax] = figure.axes
    assert ax.get_xlim() == (0, 1)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["single", "independent", "decentralized"]
    scores = [run.summary().overall for run in runs]
    drawn = sorted(x for name in ("one agent", "2 agents", "4 agents") for x, _ in points(ax, name))
    assert drawn == sorted(score.pass_at_1 or 0.0 for score in scores)
    assert sorted(whiskers(ax, 0)) == approx_all(sorted(scores, key=lambda score: score.interval or (0, 0)))
    for score in scores:
        assert f"{score.passed}/{score.scored}" in words(figure)
    with pytest.raises(BadValueError, match=r"names no topology; plot_overall"):
        plots.plot_topologies(made(topology=None))


def test_team_sizes_are_lines_over_the_single_agents_level() -> None:
    runs = teams()
    figure = plots.plot_team_sizes(runs)
    [ax] = figure.axes
    assert [tick.get_text().partition("\n")[0] for tick in ax.get_xticklabels()] == ["2", "4"]
    for topology in ("independent", "decentralized"):
        own = [run for run in runs if run.records[0].topology == topology]
        assert [y for _, y in points(ax, topology)] == [run.summary().pass_at_1 for run in own]
    assert {y for _, y in points(ax, "single")} == {runs[0].summary().pass_at_1}
    assert ax.get_ylim() == (0, 1)
    with pytest.raises(BadValueError, match="team size"):
        plots.plot_team_sizes(runs[0])


@pytest.mark.parametrize("per", ["problem", "solved"])
def test_tokens_are_those_of_the_runs_cost(per: Any) -> None:
    runs = {
        "cheap": made(),
        "dear": made(seed=1, prompt_tokens=90_000),
        "silent": made(prompt_tokens=0, completion_tokens=0),
    }
    figure = plots.plot_tokens(runs, per=per)
    [ax] = figure.axes
    for name in ("cheap", "dear"):
        cost = runs[name].cost()
        assert cost is not None
        expected = cost.per_problem if per == "problem" else cost.per_solved
        assert points(ax, name) == [(expected, runs[name].summary().pass_at_1)]
    assert ax.get_xscale() == "log"
    assert "Not shown, no tokens reported" in words(figure)
    assert "silent" in words(figure).split("Not shown")[1]
    with pytest.raises(BadValueError, match="reports tokens"):
        plots.plot_tokens(runs["silent"], per=per)


def test_tokens_that_are_a_lower_bound_say_so() -> None:
    assert "some calls came without usage" in words(plots.plot_tokens(made(calls_without_usage=1)))
    assert "without usage" not in words(plots.plot_tokens(made()))


def test_differences_show_every_problem_once_and_the_paired_test(shared: Path) -> None:
    a, b = (lcbkit.load_run(shared / f"data/submissions/{name}.json") for name in ("o1-mini", "o1-preview"))
    comparison = compare(a, b)
    assert comparison.only_a is not None
    assert comparison.only_b is not None
    figure = plots.plot_differences([a, b])
    cells: Counter[str] = Counter()
    for collection in figure.axes[0].collections:
        if not str(collection.get_label()).startswith("_"):
            cells[str(collection.get_label())] += len(collection.get_paths())
    assert cells["o1-mini only"] == len(comparison.only_a) == 9
    assert cells["o1-preview only"] == len(comparison.only_b) == 8
    assert sum(cells.values()) == 100
    text = words(figure)
    assert f"p={comparison.p_value:.2g}" in text
    assert f"{100 * comparison.difference:+.1f} points" in text
    with pytest.raises(BadValueError, match="two runs are compared, not 1"):
        plots.plot_differences(a)


def test_differences_of_several_samples_name_no_test_that_does_not_hold() -> None:
    figure = plots.plot_differences({"a": made(samples=3), "b": made(samples=3, seed=2)})
    assert "McNemar" not in words(figure)
    assert "a more often" in words(figure)


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


@pytest.mark.parametrize("edge", EDGES)
def test_every_figure_of_every_edge_is_drawn_within_its_sheet(edge: str) -> None:
    made_runs: Any = EDGES[edge]()
    runs = made_runs if isinstance(made_runs, list) else [made_runs, *teams()[:2]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, (name, draw) in enumerate(PANELS.items()):
            theme: Any = list(THEMES)[number % 2]
            figure = draw(runs[:2] if name == "differences" else runs, theme=theme)
            figure.draw_without_rendering()
            box = figure.get_tightbbox()
            width, height = figure.get_size_inches()
            assert width == pytest.approx(3.3), name
            assert box.x0 > -0.03, name
            assert box.y0 > -0.03, name
            assert box.x1 < width + 0.03, (name, box)
            assert box.y1 < height + 0.03, name
            for ax in figure.axes:
                inside = ax.get_window_extent()
                assert inside.width / figure.dpi > 0.8, name
                assert inside.height / figure.dpi > 0.15, name


def test_a_run_whose_score_is_none_says_so_on_the_figure() -> None:
    text = words(plots.plot_by_difficulty(made(broken=10)))
    assert "Not counted: 10 infrastructure errors." in text
    assert "this is no score" in text
    with pytest.raises(BadValueError, match=r"no instance of .* counts in pass@1"):
        plots.plot_overall(made(broken=30))
    with pytest.raises(BadValueError, match="no run"):
        plots.plot_overall([])
    with pytest.raises(BadValueError, match="at most 8"):
        plots.plot_by_difficulty([made(seed=i) for i in range(9)])
    with pytest.raises(BadValueError, match="load_run"):
        plots.plot_by_difficulty(["runs/a"])  # type: ignore[list-item]


def test_runs_of_different_problems_are_called_so() -> None:
    assert "The runs hold different problems (9 to 30)" in words(plots.plot_overall([made(), made(9)]))
    assert "30 problems of release_v6" in words(plots.plot_overall([made(), made(seed=1)]))


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


def test_a_figure_shows_itself_without_pyplot() -> None:
    script = (
        "import sys, lcbkit; from lcbkit import Run, plots; import pandas as pd;"
        "r = Run.from_frame(pd.DataFrame([{'id': 'a', 'em': 1, 'difficulty': 'easy'}]));"
        "png, size = plots.plot_by_difficulty(r)._repr_png_();"
        "assert png[:4] == b'\\x89PNG' and size['width'] == 396, size;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=120)


def test_every_file_names_where_its_numbers_come_from(tmp_path: Path) -> None:
    run = made(broken=1, seed=5)
    png, svg, pdf = lcbkit.save_figure(plots.plot_by_difficulty({"mine": run}), tmp_path / "deep" / "f")
    with Image.open(png) as image:
        description = image.info["Description"]
    told = [
        description,
        ElementTree.parse(svg).findtext(".//{http://purl.org/dc/elements/1.1/}description") or "",
        pypdfium2.PdfDocument(pdf).get_metadata_dict()["Subject"],
    ]
    assert told[0] == told[1] == told[2]
    facts = json.loads(told[0])
    assert facts["lcbkit"] == lcbkit.__version__
    [panel] = facts["panels"]
    [of_run] = panel["runs"]
    assert of_run["label"] == "mine"
    assert (of_run["n"], of_run["counted"], of_run["passed"]) == (30, 29, run.summary().overall.passed)
    assert (of_run["dataset"], of_run["model"], of_run["team_size"]) == ("release_v6", "a-model", 4)
    assert re.fullmatch("[0-9a-f]{12}", of_run["dataset_digest"])
    assert re.fullmatch("[0-9a-f]{12}", of_run["verdicts"])
    assert pypdfium2.PdfDocument(pdf).get_metadata_dict()["Producer"] == "lcbkit"
    assert pypdfium2.PdfDocument(pdf).get_metadata_dict()["CreationDate"] == ""


def test_no_folder_of_the_machine_gets_into_a_file(tmp_path: Path) -> None:
    run = Run(made().records, {"dataset": {"source": "/home/someone/secret/test.jsonl"}})
    for path in plots.save_figure(plots.plot_by_difficulty(run), tmp_path / "f"):
        assert b"someone" not in path.read_bytes()
    assert b"test.jsonl" in (tmp_path / "f.svg").read_bytes()


def test_text_is_text_in_svg_and_truetype_in_pdf_and_other_programs_draw_both(tmp_path: Path) -> None:
    _, svg, pdf = plots.save_figure(plots.plot_by_difficulty(made()), tmp_path / "f")
    tree = ElementTree.parse(svg)
    texts = ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"pass@1", "easy", "0%", "100%"} <= set(texts)
    raw = pdf.read_bytes()
    assert b"/CIDFontType2" in raw
    assert b"/Type3" not in raw
    page = pypdfium2.PdfDocument(pdf)[0]
    assert page.get_width() == pytest.approx(3.3 * 72, abs=0.1)
    assert "pass@1" in page.get_textpage().get_text_range()
    ours = Image.open(io.BytesIO(plots.plot_by_difficulty(made())._repr_png_()[0])).convert("L")
    theirs = page.render(scale=ours.width / page.get_width()).to_pil().convert("L").resize(ours.size)
    apart = np.abs(np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)).mean()
    assert apart < 12, "the same picture, up to the smoothing of edges"


def test_the_same_figures_give_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Also with another hash seed and clock, and within a process after other exports of the same figure."""
    script = """
import sys
sys.path[:0] = sys.argv[2:]
from test_plots import PANELS, teams
from lcbkit import plots
for name in ("by_difficulty", "heatmap", "tokens", "differences"):
    figure = PANELS[name](teams()[:2])
    for again in "ab":
        plots.save_figure(figure, f"{sys.argv[1]}/{name}-{again}", dpi=100)
"""
    folders = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": seed}
        command = [sys.executable, "-c", script, str(tmp_path / seed), *folders]
        subprocess.run(command, check=True, env=environment, timeout=280)
    files = sorted((tmp_path / "1").iterdir())
    assert len(files) == 4 * 2 * 3
    for path in files:
        first = path.with_name(path.name.replace("-b.", "-a.")).read_bytes()
        assert path.read_bytes() == first, f"{path.name} differs from the first export"
        assert (tmp_path / "2" / path.name).read_bytes() == first, f"{path.name} differs between processes"


def test_files_go_where_they_should_or_one_sentence_says_why_not(tmp_path: Path) -> None:
    figure = plots.plot_overall(made())
    assert plots.save_figure(figure, tmp_path / "gpt-4.1", "png") == [tmp_path / "gpt-4.1.png"]
    assert plots.save_figure(figure, tmp_path / "named.pdf", ["pdf"]) == [tmp_path / "named.pdf"]
    with pytest.raises(BadValueError, match=r"png, svg, pdf, not 'gif'"):
        plots.save_figure(figure, tmp_path / "f", ["gif"])
    with pytest.raises(BadValueError, match="formats"):
        plots.save_figure(figure, tmp_path / "f", [])
    (tmp_path / "file").write_text("")
    with pytest.raises(LcbkitError, match="cannot write"):
        plots.save_figure(figure, tmp_path / "file" / "f")


def test_groups_stand_in_the_shared_order_whatever_each_run_holds() -> None:
    few, many = (
        {name: Score(n=1, scored=0, passed=0, interval=None) for name in names}
        for names in (("easy", "hard", "9", "unk"), ("easy", "medium", "10"))
    )
    assert (
        shown_groups([few, many]) == shown_groups([many, few]) == ["easy", "medium", "hard", "9", "10", "unk"]
    )


def test_figures_are_forgotten_when_nobody_holds_them() -> None:
    run = made(3)

    def alive() -> int:
        gc.collect()
        return sum(isinstance(thing, Figure) for thing in gc.get_objects())

    before = alive()
    for _ in range(3):
        plots.plot_by_difficulty(run)._repr_png_()
    assert alive() <= before + 1


def test_every_figure_that_fits_is_made_and_the_others_say_why() -> None:
    found = dict(plots.every_figure(teams()))
    assert [name for name, figure in found.items() if isinstance(figure, str)] == ["differences"]
    alone = dict(plots.every_figure(made(topology=None, size=None, prompt_tokens=0, completion_tokens=0)))
    assert {name for name, figure in alone.items() if isinstance(figure, Figure)} == {
        "by_difficulty",
        "by_platform",
        "heatmap",
        "by_month",
    }
    with pytest.raises(BadValueError, match="cutoff"):
        next(plots.every_figure(made(), cutoff="never"))


def test_the_command_draws_what_fits_and_prints_the_paths(tmp_path: Path) -> None:
    for name, run in {"a": made(9), "b": made(9, seed=1)}.items():
        rows = [json.dumps(record.to_row()) for record in run.records]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))

    def lcb(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lcbkit.cli", "plot", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200)

    done = lcb("a.jsonl", "b.jsonl", "--out-dir", "out", "--formats", "svg", "--name", "A", "--name", "B")
    assert done.returncode == 0, done.stderr
    written = [tmp_path / line for line in done.stdout.splitlines()]
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    assert {path.stem for path in written} >= {"overall", "by_difficulty", "heatmap", "differences", "tokens"}
    assert "no topologies: it needs runs of at least two topologies" in done.stderr
    assert "B only: " in (tmp_path / "out/differences.svg").read_text()
    for wrong in (
        ["none.jsonl"],
        ["a.jsonl", "--formats", "gif"],
        ["a.jsonl", "--cutoff", "soon"],
        ["a.jsonl", "--width", "x"],
    ):
        failed = lcb(*wrong)
        assert failed.returncode == 2
        assert len(failed.stderr.strip().splitlines()) == 1, failed.stderr
