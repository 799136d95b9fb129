"""Live progress, its stop button, an interrupt, and the `%%judge` magic, in a real page."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
from playwright.sync_api import expect
from scripted_endpoint import Reply, Request, ScriptedEndpoint

from lcbkit.results import load_run
from tests.browser.lab import NotebookPage
from tests.browser.test_run_browser import run_cell
from tests.live_kernel import wait_until
from tests.scripted_teams import statements

Open = Callable[..., NotebookPage]
BATCH = """
import lcbkit
from lcbkit.widgets import live_progress
model = lcbkit.get_model("scripted", base_url="{url}")
team = lcbkit.build_team("single", model=model, python_exec=False)
problems = lcbkit.load_problems("sample", limit=8)
"""
RIGHT = "a, b, x, y, c = map(int, input().split())\nprint(max(0, a * x + b * y - c))"


def some_wait(gate: threading.Event) -> Callable[[Request], Reply | str]:
    """One right program, wrong ones and none at once; the other problems wait for the gate."""

    def answer(request: Request) -> Reply | str:
        names = list(statements())
        place = next(i for i, name in enumerate(names) if statements()[name] in request.text)
        if place >= 4:
            gate.wait(120)
        return (f"```python\n{RIGHT}\n```", "```python\nprint(0)\n```", "I cannot.")[min(place, 2)]

    return answer


def test_a_batch_is_watched_and_stopped_by_its_button_and_a_page_stays(
    notebook: Open, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    gate = threading.Event()
    endpoint.script = some_wait(gate)
    page = notebook(
        BATCH.format(url=endpoint.url),
        f"run = lcbkit.evaluate(team, problems, out_dir={str(tmp_path / 'run')!r}, progress=live_progress())",
        "print(len(run.records), 'kept')",
        run=False,
    )
    for cell in range(3):
        run_cell(page, cell)
    view = page.panel.locator(".lcb-live")
    expect(view.get_by_text("4 of 8")).to_be_visible(timeout=120_000)
    expect(view.locator(".lcb-live-cells .lcb-v-none")).to_have_count(4)
    expect(view.locator(".lcb-live-cells .lcb-v-P")).to_have_count(1)
    expect(view.get_by_text("pass@1 so far")).to_be_visible()
    page.picture("live")
    page.theme("Dark")
    page.picture("live-dark", width=900)
    page.theme("Light")
    view.get_by_role("button", name="Stop and save").click()
    expect(page.output(2)).to_have_text("4 kept", timeout=120_000)
    gate.set()
    expect(page.panel.locator(".lcb-live")).to_have_count(0)
    expect(page.output(1)).to_contain_text("stopped: 4 of 8 instances")
    assert len(load_run(tmp_path / "run").records) == 4
    page.picture("live-after")
    page.reload()
    expect(page.output(1)).to_contain_text("stopped: 4 of 8 instances")


def test_an_interrupt_ends_a_batch_its_view_and_all_its_processes(
    notebook: Open, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    gate = threading.Event()
    endpoint.script = some_wait(gate)
    page = notebook(
        BATCH.format(url=endpoint.url),
        f"run = lcbkit.evaluate(team, problems, out_dir={str(tmp_path / 'run')!r}, progress=live_progress())",
        run=False,
    )
    for cell in range(2):
        run_cell(page, cell)
    expect(page.panel.locator(".lcb-live").get_by_text("4 of 8")).to_be_visible(timeout=120_000)
    page.command("notebook:interrupt-kernel")
    expect(page.output(1).last).to_contain_text("KeyboardInterrupt", timeout=120_000)
    gate.set()
    expect(page.output(1).first).to_contain_text("interrupted: 4 of 8 instances")
    assert wait_until(lambda: not psutil.Process(page.kernel_pid()).children(recursive=True))
    assert len(load_run(tmp_path / "run").records) == 4


def test_a_cell_is_judged_by_magic_with_its_id_completed(notebook: Open) -> None:
    page = notebook("%load_ext lcbkit", f"%%judge \n{RIGHT}", "%%judge lka9_z\nprint(1)", run=False)
    run_cell(page, 0)
    expect(page.panel.locator(".jp-InputPrompt").first).to_have_text("[1]:", timeout=60_000)
    editor = page.panel.locator(".jp-Notebook-cell").nth(1).locator(".cm-content")
    editor.click()
    page.page.keyboard.press("Control+Home")
    page.page.keyboard.press("End")
    page.page.keyboard.type("lka1")
    line = editor.locator(".cm-line").first

    def completed() -> bool:
        # JupyterLab gives a kernel one second to answer, and the first answer reads the problems.
        if line.inner_text() == "%%judge lka1":
            page.page.keyboard.press("Tab")
            page.page.wait_for_timeout(500)
        return line.inner_text() == "%%judge lka1_a"

    assert wait_until(completed)
    for cell in (1, 2):
        run_cell(page, cell)
    expect(page.output(1)).to_contain_text("12 of 12 tests passed", timeout=60_000)
    expect(page.output(2)).to_contain_text("no problem 'lka9_z' (near: ")
    page.picture("magic")
    assert json.dumps(page.errors()) == "[]", "a sentence instead of a traceback"
