"""How fast the judge is beside one interpreter a test and LiveCodeBench's checker, and whether all agree.

    python benchmarks/judge_throughput.py [--shared FOLDER] [--lcb CHECKOUT [--lcb-python PYTHON]]
    python benchmarks/judge_throughput.py --under-load

The first judges right programs in each way at equal parallelism, in turns, then compares verdicts on all
programs, then takes apart what a test costs. Rates are those of this machine as it was; processor time hardly
depends on what else ran, and the idle share is what waits, hand-overs and an uneven end left of the cores,
or what others took of them. The second judges 200 submissions alone
and beside a full processor load, and lists each verdict that moved.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rivals import Judged, judge_by_interpreters, judge_by_lcb, timed
from small import make_problem
from submissions import Submission, add_shared_option, lcb50_submissions, sample_submissions

from lcbkit import Report, judge_many
from lcbkit.judging.pool import Pool

TIME_LIMIT = 6.0
ROUNDS = 3

Side = Callable[[Sequence[Submission]], Judged]


def main() -> None:
    """Run the comparison that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_shared_option(parser)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="parallelism of every side")
    parser.add_argument("--lcb", type=Path, help="a checkout of the LiveCodeBench repository")
    parser.add_argument("--lcb-python", type=Path, default=Path(sys.executable), help="its interpreter")
    parser.add_argument(
        "--under-load", action="store_true", help="compare verdicts under a full load instead"
    )
    options = parser.parse_args()
    submissions = sample_submissions() + lcb50_submissions(options.shared)
    if options.under_load:
        compare_under_load(submissions, options.workers)
        return
    with Pool(workers=options.workers) as pool:
        compare_rates(submissions, options, pool)
    take_apart(options.workers)


def compare_rates(submissions: Sequence[Submission], options: argparse.Namespace, pool: Pool) -> None:
    """Print the rate of each side on the right programs, then every verdict on which they differ."""
    right = [submission for submission in submissions if submission.passes]
    tests = sum(submission.problem.hidden_test_count for submission in right)
    print(f"{len(right)} right programs, {tests} tests, {options.workers} workers at a time")
    sides: dict[str, Side] = {
        "lcbkit": lambda chosen: timed(lambda: judge_by_lcbkit(chosen, pool)),
        "python -c": lambda chosen: timed(lambda: judge_by_interpreters(chosen, options.workers, TIME_LIMIT)),
    }
    if options.lcb:
        sides["LCB"] = lambda chosen: judge_by_lcb(
            chosen, options.workers, TIME_LIMIT, checkout=options.lcb.resolve(), python=options.lcb_python
        )
    sides["lcbkit"](right)  # the workers start once, before any clock
    rounds: dict[str, list[Judged]] = {name: [] for name in sides}
    slow: list[Judged] = []
    for number in range(ROUNDS):
        for name, side in sides.items():
            # An interpreter a test takes so long that once through all programs is enough: a part in each
            # round, so that it meets the same machine as the others.
            if name == "python -c":
                slow.append(side(right[number::ROUNDS]))
            else:
                rounds[name].append(side(right))
    rounds["python -c"] = [
        Judged([], sum(part.seconds for part in slow), sum(part.processor for part in slow))
    ]
    rates = {name: tests / statistics.median(each.seconds for each in rounds[name]) for name in sides}
    for name, rate in rates.items():
        spread = ", ".join(f"{tests / each.seconds:.0f}" for each in rounds[name])
        own = statistics.median(each.processor for each in rounds[name])
        idle = statistics.median(1 - each.processor / each.seconds / options.workers for each in rounds[name])
        print(
            f"  {name:<10} {rate:7.1f} tests/s (rounds: {spread}), "
            f"{own / tests * 1e3:.2f} ms of processor time a test, {max(idle, 0.0):.0%} idle"
        )
    for name in list(sides)[1:]:
        less = statistics.median(each.processor for each in rounds[name]) / statistics.median(
            each.processor for each in rounds["lcbkit"]
        )
        print(
            f"  lcbkit is {rates['lcbkit'] / rates[name]:.2f} times as fast as {name}; "
            f"{name} takes {less:.2f} times its processor time"
        )
    compare_verdicts(submissions, {name: side for name, side in sides.items() if name != "python -c"})


def judge_by_lcbkit(submissions: Sequence[Submission], pool: Pool) -> list[bool]:
    """This library's judge; every test is run, also after a failure."""
    pairs = [(submission.code, submission.problem) for submission in submissions]
    reports = dict(pool.iter_judge(pairs, time_limit=TIME_LIMIT))
    return [reports[index].passed for index in range(len(pairs))]


def reports_of(submissions: Sequence[Submission], workers: int, *, stop: bool = False) -> list[Report]:
    """One report a submission."""
    pairs = [(submission.code, submission.problem) for submission in submissions]
    options = {"time_limit": TIME_LIMIT, "stop_on_failure": stop, "judge_cache": False}
    return judge_many(pairs, workers=workers, progress=False, **options)


def compare_verdicts(
    submissions: Sequence[Submission],
    sides: dict[str, Side],
) -> None:
    """Print how often each side gives the known verdict, and every submission where one does not."""
    verdicts = {name: side(submissions).passed for name, side in sides.items()}
    for name, passed in verdicts.items():
        pairs = list(zip(submissions, passed, strict=True))
        agreed = sum(got == submission.passes for submission, got in pairs)
        print(f"  {name} gives the known verdict on {agreed} of {len(pairs)} programs")
        for submission, got in pairs:
            if got != submission.passes:
                print(f"    {submission.name}: known {submission.passes}, {name} says {got}")


def take_apart(workers: int) -> None:
    """Print what one test costs beyond the program's own processor time, numpy's price and the cold start."""
    bare = fork_and_wait()
    print(f"bare fork and wait: {bare * 1e3:.2f} ms")
    for name, code in (
        ("prints a number", "print(6)"),
        ("imports numpy", "import numpy\nprint(6)"),
        ("imports numpy in a function", "def f():\n    import numpy\nf()\nprint(6)"),
    ):
        tests = 300 if "function" not in name else 30
        with Pool(workers=1) as pool:
            problem = make_problem([("", "6\n")] * tests)
            pool.judge(code, make_problem([("", "6\n")]))
            start = time.perf_counter()
            report = pool.judge(code, problem)
            each = (time.perf_counter() - start) / tests
        assert report.passed, report
        own = statistics.fmean(result.cpu_seconds for result in report.results)
        over = each - own
        print(
            f"  {name}: {each * 1e3:.2f} ms a test on one worker, {own * 1e3:.2f} ms of them its own "
            f"processor time; overhead {over * 1e3:.2f} ms = {over / bare:.2f} bare forks"
        )
    print(f"cold start to the first verdict: {cold_start() * 1e3:.0f} ms, with {workers} workers in the pool")


# The same modules as a worker holds, so that the same number of pages is copied.
FORKS = """
import os, time, string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools
import functools, operator, io, sys, json, builtins, typing
for rounds in (50, 1000):
    start = time.perf_counter()
    for _ in range(rounds):
        pid = os.fork()
        if pid == 0: os._exit(0)
        os.waitpid(pid, 0)
print((time.perf_counter() - start) / rounds)
"""


def fork_and_wait() -> float:
    """Seconds that a fork takes that does nothing, from an interpreter with the prelude's modules."""
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True)
    return float(done.stdout)


FIRST = """
import sys, time
sys.path.insert(0, {folder!r})
start = time.perf_counter()
from small import make_problem
import lcbkit
assert lcbkit.judge("print(6)", make_problem([("", "6")])).passed
print(time.perf_counter() - start)
"""


def cold_start() -> float:
    """Median seconds from the import to the first verdict in a new interpreter."""
    code = FIRST.format(folder=str(Path(__file__).parent))
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    return statistics.median(float(run.stdout) for run in runs)


SPIN = "import time\nend = {share} * {limit}\nwhile time.process_time() < end: pass\nprint(6)"


def compare_under_load(submissions: Sequence[Submission], workers: int) -> None:
    """Judge 200 submissions alone, then beside a full load, and list the verdicts that moved."""
    problem = make_problem([("", "6\n")])
    shares = [0.1, 0.3, 0.5, 0.7, 1.3, 1.6]
    spins = [
        Submission(
            name=f"spins for {share} of the limit, {i}",
            code=SPIN.format(share=share, limit=TIME_LIMIT),
            problem=problem,
            passes=share < 1,
        )
        for i in range(3)
        for share in shares
    ]
    sleeper = Submission(name="sleeps", code="import time\ntime.sleep(60)", problem=problem, passes=False)
    chosen = [*spins, sleeper]
    while len(chosen) < 200:
        chosen += submissions[: 200 - len(chosen)]
    start = time.perf_counter()
    alone = reports_of(chosen, workers, stop=True)
    print(f"{len(chosen)} submissions alone: {time.perf_counter() - start:.0f} s")
    load = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        start = time.perf_counter()
        loaded = reports_of(chosen, workers, stop=True)
        print(f"beside {len(load)} spinning processes: {time.perf_counter() - start:.0f} s")
    finally:
        for process in load:
            process.kill()
            process.wait()
    moved = 0
    for submission, before, after in zip(chosen, alone, loaded, strict=True):
        words = [[result.verdict.value for result in report.results] for report in (before, after)]
        if words[0] != words[1]:
            moved += 1
            print(f"  moved: {submission.name}\n    alone  {before!r}\n    loaded {after!r}")
        if before.passed != submission.passes:
            print(f"  not the known verdict, alone: {submission.name} {before!r}")
    print(f"{moved} of {len(chosen)} submissions with another verdict on any test")


if __name__ == "__main__":
    main()
