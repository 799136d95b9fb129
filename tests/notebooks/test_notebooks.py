"""Every notebook runs top to bottom in a real kernel, offline, and leaves what it promises."""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from execute_notebooks import KEPT_EXECUTED, NOTEBOOKS, execute, strip

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))


@cache
def executed(path: Path) -> NotebookNode:
    return execute(path)


def tagged(notebook: NotebookNode, tag: str) -> NotebookNode:
    [cell] = [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]
    return cell


def data(cell: NotebookNode, mime: str) -> str:
    return "".join(output["data"].get(mime, "") for output in cell.outputs if "data" in output)


def shape(notebook: NotebookNode) -> list[Any]:
    """What a cell shows, without the values: kinds of output and their formats."""
    return [
        [(output.output_type, *sorted(output.get("data", {}))) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_runs_top_to_bottom(path: Path) -> None:
    notebook = executed(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    streams = [output for cell in code for output in cell.outputs if output.output_type == "stream"]
    assert not [stream.text for stream in streams if stream.name == "stderr"]
    nbformat.validate(notebook)


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
        assert shape(committed) == shape(executed(path)), "run tools/execute_notebooks.py"
    else:
        assert committed == strip(nbformat.read(path, as_version=4)), "run tools/execute_notebooks.py --strip"


def test_quickstart_ends_with_a_table_of_pass_at_1() -> None:
    notebook = executed(NOTEBOOKS / "00_quickstart.ipynb")
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
