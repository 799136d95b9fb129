"""The page on faults and the harness that it speaks of know the same faults."""

from tests.docs.pages import table
from tests.faults.faults import FAULTS

# A word of the page's first column for each kind of fault that is injected.
KINDS = {
    "SIGTERM": ("told to end",),
    "SIGKILL": ("killed",),
    "power cut": ("line", "zeros", "garbage"),
    "judge worker": ("judge worker",),
    "Dask worker": ("dask worker",),
    "away": ("endpoint away",),
    "gone": ("endpoint gone",),
    "disk is full": ("disk full",),
    "log": ("log full",),
}


def test_every_fault_of_the_page_is_injected_and_every_injected_one_is_on_the_page() -> None:
    rows = [row[0] for row in table("faults.md", "What a run survives")]
    assert len(rows) == len(KINDS)
    for word, beginnings in KINDS.items():
        assert any(word in row for row in rows), word
        assert any(name.startswith(beginnings) for name in FAULTS), word
    known = tuple(beginning for beginnings in KINDS.values() for beginning in beginnings)
    assert all(name.startswith(known) for name in FAULTS)
