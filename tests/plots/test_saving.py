"""What figures write opens elsewhere, tells where it comes from, and is the same every time."""

import gc
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pytest
from matplotlib.figure import Figure
from PIL import Image

import lcbkit
from lcbkit import plots
from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.results import Run
from tests.conftest import ROOT
from tests.plots.drawn import export, made, teams


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
    script = "import sys, pathlib, tests.plots.drawn as d; d.export(pathlib.Path(sys.argv[1]))"
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": "1"}
    command = [sys.executable, "-c", script, str(tmp_path / "other")]
    export(tmp_path / "here", again=True)
    subprocess.run(command, check=True, cwd=ROOT, env=environment, timeout=280)
    others = sorted((tmp_path / "other/first").iterdir())
    assert len(others) == 4 * 3
    for other in others:
        first, again = (tmp_path / "here" / part / other.name for part in ("first", "again"))
        assert again.read_bytes() == first.read_bytes(), f"{other.name} differs from the first export"
        assert other.read_bytes() == first.read_bytes(), f"{other.name} differs between processes"


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
