"""The run browser, the live progress and the magic, in a real page."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lcbkit.dataset import load_problems
from lcbkit.evaluation import evaluate
from lcbkit.topologies.team import build_team
from tests.browser.lab import Lab, NotebookPage
from tests.scripted_teams import scripted_run

IDS = ("lka1_a", "lka2_d", "lkc4_E", "lkc3_B", "lk107")
Open = Callable[..., NotebookPage]
expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A team's run with tool calls, a vote and every ending, and a recorded one of the same problems."""
    folder = tmp_path_factory.mktemp("runs")
    scripted_run(folder / "team", "independent", only=IDS)
    problems = load_problems("sample", only=IDS)
    evaluate(build_team("single"), problems, out_dir=folder / "single", progress=False)
    return folder / "team", folder / "single"


def run_cell(page: NotebookPage, index: int) -> None:
    """Run one cell; does not wait for its end."""
    page.page.evaluate(
        """index => {
          window.jupyterapp.shell.currentWidget.content.activeCellIndex = index;
          window.jupyterapp.commands.execute('notebook:run-cell');
        }""",
        index,
    )


def to_top(page: NotebookPage) -> None:
    page.page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 0)")


def test_a_run_is_looked_through(notebook: Open, runs: tuple[Path, Path]) -> None:
    page = notebook(
        f"from lcbkit import browse, load_run\nbrowser = browse(load_run({str(runs[0])!r}))\nbrowser",
        "print(browser.selected, browser.filter())",
    )
    panel, rows = page.panel, page.panel.locator(".lcb-table tbody tr[data-key]")
    expect(rows).to_have_count(5)
    expect(panel.locator(".lcbv-title")).to_contain_text("Coupon Day")
    page.picture("run-passed")

    panel.get_by_label("Show").select_option(label="not passed (3)")
    expect(rows).to_have_count(3)
    panel.locator(".lcb-table tr[data-key=lka2_d]").click()
    expect(panel.locator(".lcbv-title b")).to_have_text("wrong answer")
    expect(panel.locator(".lcbv-report mark").first).to_be_visible()
    expect(panel.locator(".lcb-table tr[data-key=lka2_d] .lcb-v-W").first).to_be_visible()
    panel.locator(".lcbv-part[data-key=program] .lcbv-copy").click()
    expect(panel.locator(".lcbv-part[data-key=program] .lcbv-copy")).to_have_text("Copied")
    code = page.page.evaluate("() => navigator.clipboard.readText()")
    assert code == panel.locator(".lcbv-part[data-key=program] pre").text_content()
    failed = panel.locator(".lcbv-report details[open]")
    failed.get_by_role("button", name="Copy the input").click()
    expect(failed.get_by_role("button", name="Copy the input")).to_have_text("Copied")
    given = page.page.evaluate("() => navigator.clipboard.readText()")
    assert given.strip() == str(failed.locator("pre").first.text_content()).strip() != ""

    panel.locator(".lcbv-run[open] .lcbv-tool summary").click()
    expect(panel.locator(".lcbv-run[open] .lcbv-tool")).to_contain_text("stdout:")
    panel.locator(".lcbv-vote summary").click()
    expect(panel.locator(".lcbv-buckets")).to_contain_text("★ 3 of 4")
    to_top(page)
    page.picture("run-wrong", height=1500)
    page.theme("Dark")
    page.picture("run-wrong-dark", height=1500)
    page.picture("run-wrong-dark", width=900, height=1500)
    page.theme("Light")

    # What was opened stays open for the next instance, and the arrow keys move.
    panel.locator(".lcb-table-scroll").focus()
    page.page.keyboard.press("ArrowDown")
    expect(panel.locator(".lcbv-title b")).to_have_text("no program")
    expect(panel.locator(".lcbv-vote")).to_contain_text("nobody had a program")
    expect(panel.locator(".lcbv-run[open] .lcbv-prose").last).to_contain_text("<b>all</b>")
    panel.get_by_label("Show").select_option(label="infrastructure (1)")
    expect(rows).to_have_count(1)
    panel.get_by_placeholder("id, title").fill("nothing like this")
    expect(panel.locator(".lcb-table-empty")).to_have_text("Nothing matches.")
    page.picture("run-nothing", width=900)

    run_cell(page, 1)
    expect(page.output(1)).to_have_text("lkc3_B []")


def test_two_runs_stand_side_by_side_where_they_differ_first(notebook: Open, runs: tuple[Path, Path]) -> None:
    page = notebook(
        f"from lcbkit import browse, load_run\nbrowse(load_run({str(runs[0])!r}), load_run({str(runs[1])!r}))"
    )
    expect(page.panel.locator(".lcb-table tbody tr[data-key]")).to_have_count(5)
    expect(page.panel.locator(".lcbv-title")).to_have_count(2)
    expect(page.panel.get_by_text("problems scored by both")).to_be_visible()
    page.picture("run-two", height=1300)
    page.picture("run-two", width=900, height=1300)


def test_a_reload_keeps_a_table_to_read(notebook: Open, lab: Lab, runs: tuple[Path, Path]) -> None:
    page = notebook(f"from lcbkit import browse, load_run\nbrowse(load_run({str(runs[0])!r}))")
    page.reload()
    expect(page.output(0)).to_contain_text("Coupon Day")
    saved = json.loads(max(lab.root.glob("*.ipynb"), key=lambda file: file.stat().st_mtime).read_text())
    assert "widgets" not in saved["metadata"]
