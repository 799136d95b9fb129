"""A sortable table for the browsers: quick with thousands of rows, usable by keyboard, all data as text."""

import re
from collections.abc import Sequence
from functools import cmp_to_key
from pathlib import Path
from typing import Any

import anywidget
import traitlets

__all__ = ["Cell", "DataTable", "natural_key"]

_FOLDER = Path(__file__).parent
_DIGITS = re.compile(r"([0-9]+)")

Cell = str | int | float | None


class DataTable(anywidget.AnyWidget):
    """Rows that a click or the arrow keys select and that a column's head sorts.

    It belongs into a box of class `lcb` (see `style_sheet`). The front end sorts and draws by itself, so
    neither waits for the kernel; only rows in view are drawn. Home, End and the page keys move too, Enter or
    a double click moves on to what the selected row is about, `/` to the search field.

    Attributes:
        columns: a dict for each, with `key` and `label`, and what else applies: `align` is "right"; `grow`
            takes the width that is left and cuts long texts; `order` lists values as sorting ranks them;
            `digits` and `unit` write a number; `tones` maps shown texts to "good", "bad", "warn" or "soft";
            `mono` asks for the code font; `strip` draws each letter of a text as a test's verdict; `minor`
            leaves the column out where the table is narrow.
        rows: one list of cells each, in the columns' order; the first cell is a text that names the row.
        selected: the first cell of the selected row; "" for none.
        sort_key: the column that sorts; "" keeps the rows' own order.
        sort_desc: whether it sorts downwards; rows without a value stay last.
        height: pixels, the head included.
        label: what a screen reader says.
        empty: what stands there without rows.
        search_focus: CSS selector, inside the box, of what `/` moves to.
        open_focus: CSS selector of what Enter and a double click move to.
    """

    _esm = _FOLDER / "table.js"
    _css = _FOLDER / "table.css"

    columns = traitlets.List(traitlets.Dict()).tag(sync=True)
    rows: traitlets.List[list[Cell]] = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    sort_key = traitlets.Unicode("").tag(sync=True)
    sort_desc = traitlets.Bool(False).tag(sync=True)
    height = traitlets.Int(260).tag(sync=True)
    label = traitlets.Unicode("Rows").tag(sync=True)
    empty = traitlets.Unicode("Nothing matches.").tag(sync=True)
    search_focus = traitlets.Unicode("").tag(sync=True)
    open_focus = traitlets.Unicode("").tag(sync=True)

    def in_order(self) -> list[list[Cell]]:
        """The rows as they are shown."""
        at = next((i for i, column in enumerate(self.columns) if column["key"] == self.sort_key), None)
        if at is None:
            return list(self.rows)
        rank = self.columns[at].get("order")
        known = [row for row in self.rows if row[at] is not None]
        unknown = [row for row in self.rows if row[at] is None]
        sign = -1 if self.sort_desc else 1

        def compare(left: Sequence[Cell], right: Sequence[Cell]) -> int:
            return sign * _compare(*((_rank(rank, row[at]) if rank else row[at]) for row in (left, right)))

        return sorted(known, key=cmp_to_key(compare)) + unknown


def _rank(order: Sequence[str], cell: Cell) -> int:
    return order.index(cell) if isinstance(cell, str) and cell in order else -1


def _compare(left: Cell, right: Cell) -> int:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return (left > right) - (left < right)
    a, b = natural_key(str(left)), natural_key(str(right))
    return (a > b) - (a < b)


def natural_key(text: str) -> tuple[Any, ...]:
    """What a text sorts by: numbers inside it by value, and capitals like small letters."""
    parts = _DIGITS.split(text.lower())
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts))
