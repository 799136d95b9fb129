"""Whatever happens to a batch, and however often, the same command again ends in the undisturbed run."""

import os
import sys
from collections.abc import Iterator

import pytest

from tests.faults.campaign import Campaign
from tests.faults.faults import FAULTS
from tests.faults.site import site

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes and disks are handled as on Linux"),
    pytest.mark.timeout(1200),  # a chain is five batches; on a machine full of other work each takes a minute
]

# Each line strikes one run, from left to right; what lets a batch get to its end comes last.
CHAINS = (
    ("killed as it starts", "killed while judging", "killed before a record", "log full"),
    ("killed within a record", "killed within a file", "told to end", "judge worker killed"),
    ("line cut", "line garbled", "killed", "judge worker killed"),
    ("zeros after", "garbage after", "line zeroed", "endpoint away"),
    ("disk full at the start", "disk full at texts", "disk full at a record", "disk full at the summary"),
    ("disk full", "told to end before a record", "endpoint gone"),
    ("killed with a cluster", "dask worker killed"),
)


@pytest.fixture(scope="module")
def campaign() -> Iterator[Campaign]:
    with site() as here:
        yield Campaign(here, seed=int(os.environ.get("LCB_FAULTS_SEED", "0")))


def test_every_fault_is_tried() -> None:
    assert {name for chain in CHAINS for name in chain} == set(FAULTS)


@pytest.mark.parametrize("names", CHAINS, ids=lambda names: names[0])
def test_nothing_is_lost_double_or_different_after(campaign: Campaign, names: tuple[str, ...]) -> None:
    before = campaign.injected
    campaign.strike(*names)
    notes, campaign.notes = campaign.notes, []
    assert not notes, "\n".join(notes)
    assert campaign.injected - before >= len(names) - 1, "the faults have missed the batch"
