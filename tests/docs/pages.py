"""The pages of `docs/` as tests read them."""

import re

from tests.conftest import ROOT

__all__ = ["DOCS", "section", "table"]

DOCS = ROOT / "docs"


def section(page: str, heading: str) -> str:
    """The text below a heading, up to the next one."""
    text = (DOCS / page).read_text()
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, flags=re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no heading {heading!r}"
    return found[1]


def table(page: str, heading: str) -> list[tuple[str, ...]]:
    """The rows of the one table below a heading, without its head."""
    lines = [line for line in section(page, heading).splitlines() if line.startswith("|")]
    rows = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines]
    assert all(len(row) == len(rows[0]) for row in rows), f"{page}: rows of different lengths"
    return rows[2:]
