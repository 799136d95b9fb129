"""How runs come through faults: kills, a full disk, a lost endpoint, damaged files, one after the other.

    python benchmarks/fault_study.py [--faults 200] [--seed 0] [--only NAME[,NAME]] [--longest 3]
                                     [--sandbox TIER]

Runs of 16 instances (`lcb run`, each batch a process of its own, at an endpoint on loopback) are struck by up
to `--longest` faults, in an order that is drawn; after each the same command takes the run up again, and the
last time it is left alone (tests/faults). What then differs from a run that nothing disturbed is listed under
the table, which counts for each fault:

    injected    times that it met a batch at work
    missed      times that the batch had ended before
    resumes     batches that took up the run after it
    lost        records that were on disk before and not after
    double      instances made again though they were on disk, or that a run holds twice
    differing   records, texts or scores that are not the undisturbed run's, but for times
    left        processes, locks, partial and scratch files that stayed behind

Ctrl-C ends it early, with the table so far. It exits with 1 if one of the last four is not 0. With root's
rights disks are really full (a small file system of its own); else files may not grow, which is much the same
from inside.
"""

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def main() -> int:
    """Strike until so many faults have hit, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--faults", type=int, default=200, help="stop after so many that have hit")
    parser.add_argument("--seed", type=int, default=0, help="of faults, their order and their moments")
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of faults, as in the table")
    parser.add_argument("--longest", type=int, default=3, help="faults that one run meets at most")
    parser.add_argument("--sandbox", choices=("auto", "bwrap", "limits"), help="how the judge is confined")
    options = parser.parse_args()
    if options.sandbox:
        os.environ["LCB_SANDBOX"] = options.sandbox
    return study(options)


def study(options: argparse.Namespace) -> int:
    """Draw chains of faults; returns the exit code."""
    from tests.faults.campaign import Campaign
    from tests.faults.faults import FAULTS
    from tests.faults.site import site

    rng, began = random.Random(options.seed), time.monotonic()
    names = drawn(options.only or list(FAULTS), rng)
    with site() as here:
        campaign = Campaign(here, seed=options.seed)
        with suppress(KeyboardInterrupt):
            while (left := options.faults - campaign.injected) > 0:
                campaign.strike(*islice(names, min(rng.randint(1, options.longest), left)))
                print(f"\r{campaign.injected} of {options.faults}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        print(campaign.table())
    print("\n".join(campaign.notes))
    print(f"{here.count} batches in {time.monotonic() - began:.0f} s, seed {options.seed}")
    return 1 if campaign.notes else 0


def drawn(names: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Names in an order of chance, each as often as the others."""
    while True:
        yield from rng.sample(names, len(names))


if __name__ == "__main__":
    sys.exit(main())
