"""Whether the judge grows: memory, descriptors, processes and scratch files over 20,000 tests.

    python benchmarks/judge_soak.py [--tests 20000] [--workers N]

A round mixes programs that are right, wrong, crash, flood, leave children, leave files and run out of time.
The first tenth warms up; the last lines say what has grown since and what is left in the end.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path

import psutil
from small import make_problem

from lcbkit import Problem
from lcbkit.judging.pool import Pool

PROGRAMS = (
    ("print(sum(map(int, input().split())))", None),
    ("print(7)", None),
    ("raise ValueError", None),
    ("import os\nprint(6, flush=True)\nos._exit(0)", None),
    ("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nprint(6)", None),
    ("for i in range(20): open(f'{i}', 'w').write('x' * 10_000)\nprint(6)", None),
    ("print('y' * 3_000_000)", None),
    ("import sys\nsys.stderr.write('x' * 300_000)\nprint(6)", None),
    ("a = [bytearray(1 << 20) for _ in range(50)]\nprint(6)", None),
    ("import numpy\nprint(int(numpy.arange(4).sum()))", None),
    ("def f(a): return sum(a)", "f"),
    ("def f(a): return [a] * 1000", "f"),
    (
        "import threading\nthreading.Timer(60, print).start()\nimport os\nprint(6, flush=True)\nos._exit(0)",
        None,
    ),
)
TIMED_OUT = "while True: pass"
TESTS_A_PROGRAM = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """What the judge holds at one moment."""

    memory_mib: float
    descriptors: int
    processes: int
    zombies: int
    scratch_entries: int

    def __sub__(self, other: "Footprint") -> "Footprint":
        return Footprint(
            **{f.name: getattr(self, f.name) - getattr(other, f.name) for f in fields(Footprint)}
        )

    def __str__(self) -> str:
        return (
            f"{self.memory_mib:8.1f} MiB {self.descriptors:5} descriptors {self.processes:4} processes "
            f"{self.zombies:3} zombies {self.scratch_entries:5} scratch entries"
        )


def main() -> int:
    """Run the soak; exit status 1 when something grew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch:
        tempfile.tempdir = os.environ["TMPDIR"] = scratch
        return soak(options.tests, options.workers, Path(scratch))


def soak(tests: int, workers: int, scratch: Path) -> int:
    """Judge that many tests and print what is held now and then; 1 when something grew, else 0."""
    start, done, programs = time.perf_counter(), 0, submissions()
    first: Footprint | None = None
    with Pool(workers=workers) as pool, ThreadPoolExecutor(workers) as threads:

        def judge(submission: tuple[str, Problem]) -> int:
            code, problem = submission
            report = pool.judge(code, problem, time_limit=0.2 if code == TIMED_OUT else 6.0)
            return len(report.results)

        while done < tests or first is None:
            done += sum(threads.map(judge, islice(programs, 98)))
            seen = footprint(scratch)
            print(f"{done:7} tests {time.perf_counter() - start:6.0f} s {seen}", flush=True)
            if first is None and done >= tests / 10:
                first = seen
    grown = seen - first
    print(f"grown since the first tenth: {grown}")
    print(f"after the pool was closed:   {footprint(scratch)}")
    bad = grown.memory_mib > 20 or grown.descriptors > 5 or grown.processes > 2 or grown.zombies > 2
    return int(bad or grown.scratch_entries > 20)


def submissions() -> Iterator[tuple[str, Problem]]:
    """The programs in turn, without end; tests are new each time, so that nothing is kept from before."""
    number = 0
    while True:
        for code, fn_name in PROGRAMS:
            number += 1
            given = f"[1, 2, 3, {number}]" if fn_name else f"1 2 3 {number}"
            yield code, make_problem([(given, str(6 + number))] * TESTS_A_PROGRAM, fn_name)
        yield TIMED_OUT, make_problem([("", "6")])


def footprint(scratch: Path) -> Footprint:
    """This process and all below it; shared pages count once."""
    me = psutil.Process()
    family = [me, *me.children(recursive=True)]
    memory, descriptors, zombies, entries = 0.0, 0, 0, count_entries(str(scratch))
    for process in family:
        try:
            memory += process.memory_full_info().pss / 2**20
            descriptors += process.num_fds()
            zombies += process.status() == psutil.STATUS_ZOMBIE
            # Inside a sandbox the temporary folders are private; outside they are everybody's.
            if Path(f"/proc/{process.pid}/ns/mnt").readlink() != Path("/proc/self/ns/mnt").readlink():
                entries += count_entries(f"/proc/{process.pid}/root/scratch")
        except (psutil.Error, OSError):
            continue
    return Footprint(
        memory_mib=memory,
        descriptors=descriptors,
        processes=len(family),
        zombies=zombies,
        scratch_entries=entries,
    )


def count_entries(place: str) -> int:
    """Files and folders below a place."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(place))


if __name__ == "__main__":
    sys.exit(main())
