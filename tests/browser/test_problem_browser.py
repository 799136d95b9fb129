"""The problem browser by mouse and keyboard, in a real page, with the real judge."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import NotebookPage
from tests.conftest import ROOT
from tests.processes import below

BROWSER = """
import lcbkit
browser = lcbkit.browse(lcbkit.load_problems("sample"))
browser
"""
RIGHT = "a, b, x, y, c = map(int, input().split())\nprint(max(0, a * x + b * y - c))\n"
WRONG = "a, b, x, y, c = map(int, input().split())\nprint(a * x + b * y - c)\n"


def rows(shown: NotebookPage) -> list[str]:
    return shown.panel.locator(".lcb-table tbody tr[data-key]").evaluate_all(
        "rows => rows.map(row => row.dataset.key)"
    )


def grid(shown: NotebookPage) -> Locator:
    return shown.panel.get_by_role("grid", name="Problems")


def field(shown: NotebookPage) -> Locator:
    return shown.panel.locator(".lcb-editor textarea")


def state(shown: NotebookPage) -> Locator:
    return shown.panel.locator(".lcb-state")


def count(shown: NotebookPage, problems: int) -> None:
    expect(grid(shown)).to_have_attribute("aria-rowcount", str(problems + 1))


def passage(shown: NotebookPage, text: str) -> Locator:
    """The visible passage that holds a text, once it is there."""
    return shown.panel.locator(".lcb-passages:visible pre").filter(has_text=text)


def pictures(shown: NotebookPage, name: str, height: int = 1200) -> None:
    shown.panel.locator(".jp-WindowedPanel-outer").evaluate("panel => panel.scrollTo(0, 0)")
    for width in (900, 1280):
        shown.picture(f"problems-{name}", width, height if width > 1000 else height + 450)


@pytest.fixture
def shown(notebook: Callable[..., NotebookPage]) -> NotebookPage:
    shown = notebook(BROWSER)
    count(shown, 18)
    return shown


def test_filters_sorts_searches_and_opens(shown: NotebookPage) -> None:
    shown.panel.get_by_label("Difficulty").select_option("hard")
    count(shown, 4)
    shown.panel.get_by_label("Platform").select_option("codeforces")
    count(shown, 2)
    shown.panel.get_by_label("Platform").select_option("any")
    shown.panel.get_by_label("Difficulty").select_option("any")
    shown.panel.get_by_label("Mode").select_option("functional")
    count(shown, 7)
    shown.panel.get_by_label("From", exact=True).fill("2024-12-01")
    count(shown, 3)
    pictures(shown, "filtered")
    shown.panel.get_by_role("button", name="Reset").click()
    count(shown, 18)

    shown.panel.get_by_title("Sort by title").click()
    titles = shown.panel.locator(".lcb-table tbody td:nth-child(2)").all_inner_texts()
    assert titles == sorted(titles, key=str.lower)
    shown.panel.get_by_title("Sort by difficulty").click()
    shown.panel.get_by_title("Sort by difficulty").click()
    assert rows(shown)[:4] == ["lkc2_D", "lk106", "lka4_f", "lkc4_E"]

    grid(shown).press("/")
    search = shown.panel.get_by_placeholder("words of title")
    expect(search).to_be_focused()
    search.press_sequentially("ribbon")
    count(shown, 1)
    grid(shown).press("ArrowDown")
    expect(shown.panel.locator(".lcb-head h3")).to_have_text("cut-the-ribbon")
    expect(shown.panel.locator(".lcb-page .jp-RenderedMarkdown strong").first).to_be_visible()
    grid(shown).press("Enter")
    expect(field(shown)).to_be_focused()
    expect(field(shown)).to_have_value(re.compile("class Solution"))
    search.fill("nothing of that kind")
    count(shown, 0)
    expect(shown.panel.get_by_text("No problem matches")).to_be_visible()
    pictures(shown, "nothing")


def test_shows_maths_samples_prompt_and_starter_and_copies(shown: NotebookPage) -> None:
    expect(shown.panel.locator(".lcb-page mjx-container").first).to_be_visible()
    pictures(shown, "statement")
    shown.panel.get_by_role("button", name="Samples", exact=True).click()
    shown.panel.get_by_role("button", name="Copy Input 1").click()
    expect(shown.panel.get_by_role("button", name="Copy Input 1")).to_have_text("Copied")
    assert shown.page.evaluate("() => navigator.clipboard.readText()").strip() == "1200 600 2 3 500"
    pictures(shown, "samples")
    shown.panel.get_by_role("button", name="Prompt", exact=True).click()
    expect(passage(shown, "# YOUR CODE HERE")).to_be_visible()
    shown.panel.locator(".lcb-table tr[data-key=lk103]").click()
    expect(passage(shown, "class Solution")).to_be_visible()
    shown.theme("Dark")
    pictures(shown, "prompt")
    shown.panel.get_by_role("button", name="Starter code", exact=True).click()
    expect(passage(shown, "def nowPlaying")).to_be_visible()


def test_edits_like_an_editor(shown: NotebookPage) -> None:
    editor = field(shown)
    editor.click()
    editor.press_sequentially("for i in range(3):\nif i:  # odd\nprint(i)")
    expect(editor).to_have_value("for i in range(3):\n    if i:  # odd\n        print(i)")
    expect(shown.panel.locator(".lcb-editor-numbers > div")).to_have_count(3)
    expect(shown.panel.locator(".lcb-editor .lcb-code-keyword").first).to_have_text("for")
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


def test_judges_a_wrong_and_a_right_program_and_survives_a_reload(shown: NotebookPage) -> None:
    field(shown).fill(WRONG)
    shown.panel.get_by_role("button", name="Judge").click()
    expect(state(shown)).to_contain_text("wrong answer 9 of 12 tests passed")
    results = shown.panel.locator(".lcb-results")
    expect(results.locator("mark").first).to_be_visible()
    expect(results).to_contain_text("expected")
    copy = results.locator("details[open]").get_by_role("button", name="Copy the input")
    copy.click()
    expect(copy).to_have_text("Copied")
    assert shown.page.evaluate("() => navigator.clipboard.readText()") == "300 200 1 1 1000\n"
    expect(shown.panel.locator(".lcb-table tr[data-key=lka1_a]")).to_contain_text("9/12")
    pictures(shown, "wrong", 1300)
    shown.theme("Dark")
    pictures(shown, "wrong-dark", 1300)
    shown.theme("Light")

    # The last key and the order to judge, with no time between: the program must arrive first.
    field(shown).fill("")
    field(shown).press_sequentially(RIGHT.replace("\n", "\n").strip())
    field(shown).press("Control+Enter")
    expect(state(shown)).to_contain_text("passed all 12 tests")
    pictures(shown, "right")

    shown.reload()
    count(shown, 18)
    expect(state(shown)).to_contain_text("passed all 12 tests")
    expect(field(shown)).to_have_value(RIGHT.strip())
    expect(shown.panel.locator(".lcb-page mjx-container").first).to_be_visible()
    shown.panel.get_by_label("Difficulty").select_option("hard")
    count(shown, 4)


@pytest.mark.parametrize("way", ["button", "interrupt"])
def test_a_stop_and_an_interrupt_leave_no_process(shown: NotebookPage, way: str) -> None:
    kernel = shown.kernel_pid()
    field(shown).fill("print(int(input().split()[0]) // 1)\nwhile True: pass\n")
    shown.panel.get_by_role("button", name="Judge").click()
    expect(state(shown)).to_contain_text("judging")
    expect(shown.panel.get_by_role("button", name="Stop")).to_be_enabled()
    if way == "interrupt":
        pictures(shown, "judging")
        shown.command("notebook:interrupt-kernel")
    else:
        shown.panel.get_by_role("button", name="Stop").click()
    expect(state(shown)).to_contain_text("stopped after")
    expect(shown.panel.get_by_role("button", name="Judge")).to_be_enabled()
    assert not below(kernel)


HOSTILE = """
import sys
sys.path.insert(0, {tests!r})
from row_factory import make_row
import lcbkit
text = "<img src=https://example.org/a.png onerror=document.title='owned'>"
words = "![words](https://example.org/b.png) <script>document.title='owned'</script>"
parts = (text, words, f"`{{text}}` ${{text}}$ $${{words}}$$", f"```\\n{{text}}")
row = make_row("p", question_title=text, question_content="\\n\\n".join(parts))
browser = lcbkit.browse([lcbkit.Problem.from_row(row)])
browser.judge(f"import sys\\nprint({{text!r}})\\nprint({{text!r}}, file=sys.stderr)\\n")
browser
"""


def test_hostile_statements_titles_and_outputs_are_shown_and_do_nothing(
    notebook: Callable[..., NotebookPage],
) -> None:
    """That no request leaves and that nothing complains is asked at the end of every test."""
    shown = notebook(HOSTILE.format(tests=str(ROOT / "tests")))
    expect(shown.panel.locator(".lcb-head h3")).to_contain_text("<img src=https://example.org/a.png")
    expect(shown.panel.locator(".lcb-page").first).to_contain_text("[image: words]")
    expect(shown.panel.locator(".lcb-page").first).to_contain_text("<script>")
    expect(shown.panel.locator(".lcb-results pre").nth(2)).to_contain_text("onerror")
    assert shown.panel.locator(".lcb img, .lcb script").count() == 0
    assert shown.page.title() != "owned"
    pictures(shown, "hostile")


def test_a_saved_notebook_holds_the_table_and_no_state(shown: NotebookPage) -> None:
    file = shown.save()
    text = Path(file).read_text()
    assert "Coupon Day" in text
    assert '"widgets"' not in text
