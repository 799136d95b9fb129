"""Every value that a cell can end with shows itself well, in both themes and without a request."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.lab import NotebookPage
from tests.browser.test_run_browser import to_top

SET_UP = """
import lcbkit
problems = lcbkit.load_problems("sample", only=["lka1_a", "lk101", "lka2_d"])
team = lcbkit.build_team("single")
answer = team.solve(problems[0])
"""
RUNS = """
run = lcbkit.evaluate(team, problems, out_dir={folder!r}, stop_on_failure=True, progress=False)
"""
VALUES = {
    "problem": "problems[0]",
    "problems": "problems",
    "report": "lcbkit.judge('print(0)', problems[0])",
    "execution": "lcbkit.run_python('print(6 * 7)')",
    "team": "team",
    "answer": "answer",
    "run": "run",
    "comparison": "lcbkit.compare(run, run)",
    "sandbox": "lcbkit.sandbox_status()",
}


def test_every_value_shows_itself(notebook: Callable[..., NotebookPage], tmp_path: Path) -> None:
    sources = [SET_UP, RUNS.format(folder=str(tmp_path / "run")), *VALUES.values()]
    page = notebook(*sources)
    for place, name in enumerate(VALUES, start=2):
        output = page.output(place)
        expect(output.first).to_be_visible(timeout=60_000)
        assert "object at 0x" not in output.first.inner_text(), name
    expect(page.output(2 + list(VALUES).index("team")).locator("svg, img").first).to_be_visible()
    to_top(page)
    page.picture("values", height=5200)
    page.theme("Dark")
    page.picture("values-dark", height=5200)
    page.picture("values-dark", width=900, height=5600)
