"""Every notebook runs top to bottom in a real kernel, offline, and leaves what it promises."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

import lcbkit
from tests.conftest import ROOT
from tests.notebooks.kernel import (
    KEPT_EXECUTED,
    LIVE_MODEL,
    NOTEBOOKS,
    data,
    execute,
    executed,
    executed_live,
    streams,
    strip,
    tagged,
)

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))


def shape(notebook: NotebookNode) -> list[Any]:
    """What a cell shows, without the values: kinds of output and their formats."""
    return [
        [(output.output_type, *sorted(output.get("data", {}))) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_runs_top_to_bottom(path: Path) -> None:
    notebook = executed(path.stem)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not streams(notebook, "stderr")
    nbformat.validate(notebook)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_runs_on_real_problems_with_a_live_model_by_its_parameters_alone(path: Path, shared: Path) -> None:
    """The environment stands in for the parameter cell, which leaves both to it."""
    live = executed_live(path.stem, shared)
    assert not streams(live.notebook, "stderr")
    if any("model=model" in cell.source for cell in live.notebook.cells):
        assert LIVE_MODEL in str(live.notebook.cells)
        assert live.n_requests


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_starts_with_one_parameter_cell_that_names_no_source_and_no_model(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert "parameters" in first.metadata.tags
    assert re.search(r"^SOURCE = None", first.source, re.M)
    assert re.search(r"^MODEL = None", first.source, re.M)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_is_committed_stripped_or_executed_as_it_should_be(path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    assert "widgets" not in committed.metadata
    assert str(ROOT) not in path.read_text(), "a path of this machine"
    if path.stem in KEPT_EXECUTED:
        assert shape(committed) == shape(executed(path.stem)), "run tools/execute_notebooks.py"
    else:
        assert committed == strip(nbformat.read(path, as_version=4)), "run tools/execute_notebooks.py --strip"


def test_quickstart_ends_with_a_table_of_pass_at_1() -> None:
    notebook = executed("00_quickstart")
    problems = data(tagged(notebook, "problems"), "text/html")
    assert "<table" in problems
    assert "18" in problems
    assert data(tagged(notebook, "team"), "text/vnd.mermaid").strip()
    assert "passed" in data(tagged(notebook, "report"), "text/html")
    table = data(tagged(notebook, "table"), "text/html")
    for word in ("pass@1", "easy", "medium", "hard", "atcoder", "leetcode", "95"):
        assert word in table, word
    assert 'class="dataframe"' in data(tagged(notebook, "records"), "text/html")


def test_quickstart_runs_on_problems_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parameter cell is all that has to change: here the environment stands in for it."""
    monkeypatch.setenv("LCB_DATASET", str(ROOT / "data_cache/sample/demo.jsonl"))
    problems = data(tagged(execute(NOTEBOOKS / "00_quickstart.ipynb"), "problems"), "text/html")
    assert "lkdemo1" in problems


def test_the_problem_browser_shows_itself_and_a_table_where_widgets_do_not_run() -> None:
    notebook = execute(NOTEBOOKS / "01_browse_problems.ipynb", store_widget_state=True)
    cell = tagged(notebook, "browser")
    [output] = cell.outputs
    model = output["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert model in notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert "Coupon Day" in data(cell, "text/html")
    assert re.findall(r"<td>(\d+)</td>", data(tagged(notebook, "counts"), "text/html")) == list("323123121")
    assert "there-and-back" in data(tagged(notebook, "filtered"), "text/html")
    assert "wrong answer" in data(tagged(notebook, "report"), "text/html")


def test_the_problem_browsers_example_passes_and_its_slip_escapes_the_public_tests() -> None:
    notebook = nbformat.read(NOTEBOOKS / "01_browse_problems.ipynb", as_version=4)
    told = notebook.cells[-1].source
    code = lcbkit.extract_code(told)
    problem = lcbkit.load_problems("sample", only=["lka2_a"])[0]
    assert code is not None
    assert problem.title in told
    assert lcbkit.judge(code, problem).passed
    slip = code.replace("max(readings)", "max(0, *readings)")
    assert lcbkit.judge(slip, problem, tests=problem.public_tests).letters == "PP"
    found = lcbkit.judge(slip, problem).letters
    assert (found.count("W"), len(found)) == (3, 13), "as the notebook says"
