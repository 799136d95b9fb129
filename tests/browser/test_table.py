"""The table of the browsers, in a real page."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.lab import NotebookPage

TABLE = """
import ipywidgets
from lcbkit.widgets.style import style_sheet
from lcbkit.widgets.table import DataTable
table = DataTable(
    columns=[
        {"key": "id", "label": "id"},
        {"key": "name", "label": "name", "grow": True},
        {"key": "level", "label": "level", "order": ["easy", "hard"], "tones": {"hard": "bad"}},
        {"key": "seconds", "label": "time", "align": "right", "digits": 1, "unit": " s"},
    ],
    rows=[[f"p{i}", "<img src=x onerror=alert(1)>" if i == 3 else f"row {i}", ["hard", "easy"][i % 2],
           None if i == 5 else i / 8] for i in range(5000)],
)
box = ipywidgets.VBox([style_sheet(), table]); box.add_class("lcb"); box
"""


def keys(notebook: NotebookPage) -> list[str]:
    """The rows that are drawn, by name."""
    return notebook.panel.locator(".lcb-table tbody tr[data-key]").evaluate_all(
        "rows => rows.map(row => row.dataset.key)"
    )


def test_draws_only_what_is_in_view_sorts_like_python_and_obeys_the_keyboard(
    notebook: Callable[..., NotebookPage],
) -> None:
    page = notebook(TABLE)
    grid = page.panel.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "5001")
    assert len(keys(page)) < 60
    expect(grid.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()

    page.panel.get_by_title("Sort by time").click()
    page.panel.get_by_title("Sort by time").click()
    expect(page.panel.get_by_role("columnheader", name="time")).to_have_attribute("aria-sort", "descending")
    assert keys(page)[:3] == ["p4999", "p4998", "p4997"]
    grid.focus()
    page.page.keyboard.press("End")
    selected = page.panel.locator(".lcb-table tr[aria-selected=true]")
    expect(selected).to_have_attribute("data-key", "p5")  # without a value: last
    expect(selected).to_be_in_viewport()
    page.page.keyboard.press("ArrowUp")
    expect(selected).to_have_attribute("data-key", "p0")

    page.panel.get_by_title("Sort by id").click()
    assert keys(page)[:12] == [f"p{i}" for i in range(12)]
    page.panel.get_by_title("Sort by level").click()
    assert keys(page)[0] == "p1"
