"""The problem browser by mouse and keyboard, in a real page, with the real judge."""

import re
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import NotebookPage

BROWSER = """
import lcbkit
browser = lcbkit.browse(lcbkit.load_problems("sample"))
browser
"""
RIGHT = "a, b, x, y, c = map(int, input().split())\nprint(max(0, a * x + b * y - c))\n"
WRONG = "a, b, x, y, c = map(int, input().split())\nprint(a * x + b * y - c)\n"
PATIENCE = 60_000  # milliseconds, for what waits for the kernel on a busy machine


def rows(page: NotebookPage) -> list[str]:
    return page.panel.locator(".lcb-table tbody tr[data-key]").evaluate_all(
        "rows => rows.map(row => row.dataset.key)"
    )


def grid(page: NotebookPage) -> Locator:
    return page.panel.get_by_role("grid", name="Problems")


def field(page: NotebookPage) -> Locator:
    return page.panel.locator(".lcb-editor textarea")


def state(page: NotebookPage) -> Locator:
    return page.panel.locator(".lcb-state")


def count(page: NotebookPage, problems: int) -> None:
    expect(grid(page)).to_have_attribute("aria-rowcount", str(problems + 1), timeout=PATIENCE)


def pictures(page: NotebookPage, name: str, height: int = 1200) -> None:
    page.panel.locator(".jp-WindowedPanel-outer").evaluate("panel => panel.scrollTo(0, 0)")
    for width in (900, 1280):
        page.picture(f"problems-{name}", width, height if width > 1000 else height + 450)


@pytest.fixture
def page(notebook: Callable[..., NotebookPage]) -> NotebookPage:
    page = notebook(BROWSER)
    count(page, 18)
    return page


def test_filters_sorts_searches_and_opens(page: NotebookPage) -> None:
    page.panel.get_by_label("Difficulty").select_option("hard")
    count(page, 4)
    page.panel.get_by_label("Platform").select_option("codeforces")
    count(page, 2)
    page.panel.get_by_label("Platform").select_option("any")
    page.panel.get_by_label("Difficulty").select_option("any")
    page.panel.get_by_label("Mode").select_option("functional")
    count(page, 7)
    page.panel.get_by_label("From").fill("2024-12-01")
    count(page, 3)
    pictures(page, "filtered")
    page.panel.get_by_role("button", name="Reset").click()
    count(page, 18)

    page.panel.get_by_title("Sort by title").click()
    titles = page.panel.locator(".lcb-table tbody td:nth-child(2)").all_inner_texts()
    assert titles == sorted(titles, key=str.lower)
    page.panel.get_by_title("Sort by difficulty").click()
    page.panel.get_by_title("Sort by difficulty").click()
    assert rows(page)[:4] == ["lkc2_D", "lk106", "lka4_f", "lkc4_E"]

    grid(page).press("/")
    search = page.panel.get_by_placeholder("words of title")
    expect(search).to_be_focused()
    search.press_sequentially("ribbon")
    count(page, 1)
    grid(page).press("ArrowDown")
    expect(page.panel.locator(".lcb-head h3")).to_have_text("cut-the-ribbon", timeout=PATIENCE)
    expect(page.panel.locator(".lcb-page .jp-RenderedMarkdown strong").first).to_be_visible()
    grid(page).press("Enter")
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_value(re.compile("class Solution"))
    search.fill("nothing of that kind")
    count(page, 0)
    expect(page.panel.get_by_text("No problem matches")).to_be_visible()
    pictures(page, "nothing")


def test_shows_maths_samples_prompt_and_starter_and_copies(page: NotebookPage) -> None:
    expect(page.panel.locator(".lcb-page mjx-container").first).to_be_visible(timeout=PATIENCE)
    pictures(page, "statement")
    page.panel.get_by_role("button", name="Samples", exact=True).click()
    page.panel.get_by_role("button", name="Copy Input 1").click()
    expect(page.panel.get_by_role("button", name="Copy Input 1")).to_have_text("Copied")
    assert page.page.evaluate("() => navigator.clipboard.readText()").strip() == "1200 600 2 3 500"
    pictures(page, "samples")
    page.panel.get_by_role("button", name="Prompt", exact=True).click()
    expect(page.panel.locator(".lcb-passages:visible pre")).to_contain_text("# YOUR CODE HERE")
    page.panel.locator(".lcb-table tr[data-key=lk103]").click()
    expect(page.panel.locator(".lcb-passages:visible pre")).to_contain_text(
        "class Solution", timeout=PATIENCE
    )
    page.theme("Dark")
    pictures(page, "prompt")
    page.panel.get_by_role("button", name="Starter code", exact=True).click()
    expect(page.panel.locator(".lcb-passages:visible pre")).to_contain_text("def nowPlaying")


def test_edits_like_an_editor(page: NotebookPage) -> None:
    editor = field(page)
    editor.click()
    editor.press_sequentially("for i in range(3):\nif i:  # odd\nprint(i)")
    expect(editor).to_have_value("for i in range(3):\n    if i:  # odd\n        print(i)")
    expect(page.panel.locator(".lcb-editor-numbers > div")).to_have_count(3)
    expect(page.panel.locator(".lcb-editor .lcb-code-keyword").first).to_have_text("for")
    editor.press("Backspace")
    editor.press("Backspace")
    editor.press("Control+a")
    editor.press("Tab")
    expect(editor).to_have_value("    for i in range(3):\n        if i:  # odd\n            print(")
    editor.press("Shift+Tab")
    editor.press("Control+/")
    expect(editor).to_have_value("# for i in range(3):\n    # if i:  # odd\n        # print(")
    editor.press("Control+z")
    expect(editor).to_have_value("for i in range(3):\n    if i:  # odd\n        print(")
    editor.press("Escape")
    editor.press("Tab")
    expect(editor).not_to_be_focused()


def test_judges_a_wrong_and_a_right_program_and_survives_a_reload(page: NotebookPage) -> None:
    field(page).fill(WRONG)
    page.panel.get_by_role("button", name="Judge").click()
    expect(state(page)).to_contain_text("wrong answer 9 of 12 tests passed", timeout=PATIENCE)
    results = page.panel.locator(".lcb-results")
    expect(results.locator("mark").first).to_be_visible()
    expect(results).to_contain_text("expected")
    expect(page.panel.locator(".lcb-table tr[data-key=lka1_a]")).to_contain_text("9/12", timeout=PATIENCE)
    pictures(page, "wrong", 1300)
    page.theme("Dark")
    pictures(page, "wrong-dark", 1300)
    page.theme("Light")

    # The last key and the order to judge, with no time between: the program must arrive first.
    field(page).fill("")
    field(page).press_sequentially(RIGHT.replace("\n", "\n").strip())
    field(page).press("Control+Enter")
    expect(state(page)).to_contain_text("passed all 12 tests", timeout=PATIENCE)
    pictures(page, "right")

    page.reload()
    count(page, 18)
    expect(state(page)).to_contain_text("passed all 12 tests", timeout=PATIENCE)
    expect(field(page)).to_have_value(RIGHT.strip())
    expect(page.panel.locator(".lcb-page mjx-container").first).to_be_visible(timeout=PATIENCE)
    page.panel.get_by_label("Difficulty").select_option("hard")
    count(page, 4)


@pytest.mark.parametrize("way", ["button", "interrupt"])
def test_a_stop_and_an_interrupt_leave_no_process(page: NotebookPage, way: str) -> None:
    kernel = psutil.Process(page.kernel_pid())
    field(page).fill("print(int(input().split()[0]) // 1)\nwhile True: pass\n")
    page.panel.get_by_role("button", name="Judge").click()
    expect(state(page)).to_contain_text("judging", timeout=PATIENCE)
    expect(page.panel.get_by_role("button", name="Stop")).to_be_enabled()
    if way == "interrupt":
        pictures(page, "judging")
        page.command("notebook:interrupt-kernel")
    else:
        page.panel.get_by_role("button", name="Stop").click()
    expect(state(page)).to_contain_text("stopped after", timeout=PATIENCE)
    expect(page.panel.get_by_role("button", name="Judge")).to_be_enabled()
    assert not [child for child in kernel.children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


def test_a_saved_notebook_holds_the_table_and_no_state(page: NotebookPage) -> None:
    file = page.save()
    text = Path(file).read_text()
    assert "Coupon Day" in text
    assert '"widgets"' not in text
