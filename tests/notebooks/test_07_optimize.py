"""Better prompts: a job that finds some, its curve and diff, and a table in which no search gains nothing."""

import re

import pytest
from nbformat import NotebookNode

from lcbkit.optimizers.toy import REMEDIES
from tests.notebooks.kernel import data, executed, tagged, text


@pytest.fixture
def notebook() -> NotebookNode:
    return executed("07_optimize")


def test_a_job_in_the_toy_world_is_shown_live_and_finds_better_prompts(notebook: NotebookNode) -> None:
    shown = data(tagged(notebook, "job"), "text/html")
    for words in ("rollouts charged", "best so far", "<polyline", "does not conform", "validation", "test"):
        assert words in shown, words
    job = data(tagged(notebook, "job"), "text/plain")
    before, after = map(float, re.findall(r"([\d.]+)% (?:before|after)", job))
    assert "deployed what it found" in job
    assert after > before
    charged = int(re.search(r"searched with (\d+) of 30", job)[1])  # type: ignore[index]
    assert text(tagged(notebook, "files")).strip().endswith(f"{charged} charged")


def test_the_diff_shows_a_remedy_and_the_curves_are_drawn(notebook: NotebookNode) -> None:
    shown = data(tagged(notebook, "diff"), "text/html")
    assert any(remedy in shown for remedy in REMEDIES.values())
    for figure in ("curve", "compare"):
        assert data(tagged(notebook, figure), "image/png").startswith("iVBORw0KGgo"), figure


def test_the_table_holds_three_seeds_of_each_method_and_identity_gains_nothing(
    notebook: NotebookNode,
) -> None:
    jobs = text(tagged(notebook, "jobs")).splitlines()
    assert [line.split(",")[0] for line in jobs] == ["gepa"] * 3 + ["tavo"] * 3 + ["identity"] * 3
    table = data(tagged(notebook, "aggregate"), "text/html")
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    found = {row[0]: row for row in rows if row}
    assert set(found) == {"gepa", "tavo", "identity"}
    assert all("0,1,2" in row for row in found.values())
    assert {"+0.0", "+0.0 to +0.0", "3 of 3"} <= set(found["identity"])
    assert float(found["gepa"][9]) > 0
