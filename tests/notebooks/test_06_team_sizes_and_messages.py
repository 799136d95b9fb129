"""Team sizes and message formats: tables that add up, figures, and hand-offs as they are."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tests.notebooks.kernel import NOTEBOOKS, data, execute, executed, executed_live, tagged, text

STEM = "06_team_sizes_and_messages"
FORMATS = ["freeform", "semi_structured", "structured_soft"]


@pytest.fixture(params=["the sample", "real problems"])
def notebook(request: pytest.FixtureRequest) -> NotebookNode:
    if request.param == "the sample":
        return executed(STEM)
    return executed_live(STEM, request.getfixturevalue("shared")).notebook


def lines(cell: NotebookNode) -> dict[str, list[str]]:
    """By run the numbers of its line: pass@1, low, high, passed, counted, tokens, calls."""
    table = data(cell, "text/plain").splitlines()[1:]
    return {line.split()[0]: re.findall(r"[\d.,]+", line.split(maxsplit=1)[1]) for line in table}


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


def test_calls_and_tokens_grow_with_the_independent_team(notebook: NotebookNode) -> None:
    table = lines(tagged(notebook, "sizes"))
    sizes = [int(name.split("-")[1][1:]) for name in table if name.startswith("independent")]
    rows = [table[f"independent-r{size}-freeform"] for size in sizes]
    assert len(sizes) > 1
    for size, row in zip(sizes, rows, strict=True):
        assert number(row[-1]) >= size * int(row[4]), "every agent is asked at least once a problem"
    tokens = [number(row[-2]) for row in rows]
    assert tokens == sorted(tokens)
    counted = {row[4] for row in table.values()}
    assert len(counted) == 1, "all teams have the same problems"


def test_draws_scores_with_intervals_against_size_tokens_and_format(notebook: NotebookNode) -> None:
    for figure in ("size-figure", "token-figure", "format-figure"):
        assert data(tagged(notebook, figure), "image/png").startswith("iVBORw0KGgo"), figure
    assert "McNemar" in data(tagged(notebook, "compare"), "text/html")


def test_shows_one_handoff_in_all_formats_side_by_side(notebook: NotebookNode) -> None:
    contracts = data(tagged(notebook, "contracts"), "text/plain")
    assert contracts.startswith("freeform\n    (nothing)")
    assert "[STATUS]" in contracts
    assert "END_JSON_REPORT" in contracts
    handed = data(tagged(notebook, "handed"), "text/plain")
    free, tags, report = re.split(r"\w+: as handed over\n", handed)[1:]
    assert "```text" in free
    assert "[CONFIDENCE]" in tags
    assert '"confidence"' in report
    written = data(tagged(notebook, "written"), "text/plain")
    assert written.count(": as written") == len(FORMATS)


def test_freeform_is_always_in_its_format(notebook: NotebookNode) -> None:
    for tag in ("handoff-table", "kept"):
        shown = data(tagged(notebook, tag), "text/html")
        rows = dict(re.findall(r"<th>(\w+)</th>\s*<td>(?:\d+</td>\s*<td>)?([\d.]+)</td>", shown))
        assert list(rows) == FORMATS
        assert float(rows["freeform"]) == 1
        assert all(0 <= float(share) <= 1 for share in rows.values())
    handed = data(tagged(notebook, "handoff-table"), "text/plain").splitlines()
    assert len(re.findall(r"\d\.\d", "".join(handed))) == len(FORMATS), "characters are whole numbers"
    assert list(lines(tagged(notebook, "formats"))) == [f"sequential-r4-{form}" for form in FORMATS]


def test_a_team_in_which_nobody_reads_anybody_is_no_error(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOKS / f"{STEM}.ipynb", as_version=4)
    parameters = tagged(notebook, "parameters")
    parameters.source += '\nSIZES, FORMATS, FORMAT_TEAM = {"independent": [2]}, ["freeform"], "independent"'
    wanted = {"parameters", "problems", "written", "handed", "handoff-table"}
    notebook.cells = [
        cell
        for cell in notebook.cells
        if wanted & {*cell.metadata.get("tags", [])} or cell.source.startswith("import pandas")
    ]
    nbformat.write(notebook, tmp_path / "shorter.ipynb")
    done = execute(tmp_path / "shorter.ipynb")
    assert text(tagged(done, "written")) == "Nobody handed anything over in: freeform\n"
    assert "Empty DataFrame" in data(tagged(done, "handoff-table"), "text/plain")


def test_more_problems_make_a_narrower_interval(notebook: NotebookNode) -> None:
    shown = re.findall(r"<td>(\d+)%</td>\s*<td>(\d+)%</td>", data(tagged(notebook, "enough"), "text/html"))
    widths = [int(high) - int(low) for low, high in shown]
    assert len(widths) == 5
    assert widths == sorted(widths, reverse=True)


def test_the_exercise_lists_what_each_team_paid_for_a_solved_problem(notebook: NotebookNode) -> None:
    table = lines(tagged(notebook, "sizes"))
    printed = {line.split()[0]: line for line in text(tagged(notebook, "exercise")).splitlines()}
    assert list(printed) == list(table)
    for name, row in table.items():
        assert f"{row[-2]} a problem" in printed[name], name
