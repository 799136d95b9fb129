"""Other ways to judge the same submissions: one interpreter a test, and LiveCodeBench's own checker."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psutil
from submissions import Submission

from lcbkit import TestCase

__all__ = ["Judged", "judge_by_interpreters", "judge_by_lcb", "timed"]

# The names that a starter relies on; an interpreter a test has to import them each time.
MODULES = "string re datetime collections heapq bisect copy math random statistics itertools functools typing"
IMPORTS = "".join(f"from {module} import *\n" for module in MODULES.split())
CALL = """
import json as _json, sys as _sys
_arguments = [_json.loads(line) for line in _sys.stdin.read().split("\\n")]
_value = (Solution() if "Solution" in globals() else _sys.modules["__main__"]).{name}(*_arguments)
print("\\n" + _json.dumps(_value))
"""


class Judged(NamedTuple):
    """Which submissions passed, and what finding that out took: seconds elapsed, and of processor time."""

    passed: list[bool]
    seconds: float
    processor: float


def timed(judge: Callable[[], list[bool]]) -> Judged:
    """Judge, and take the time of this process and of all below it."""
    processor, start = _processor_seconds(), time.perf_counter()
    passed = judge()
    seconds = time.perf_counter() - start
    return Judged(passed, seconds, _processor_seconds() - processor)


def _processor_seconds() -> float:
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


def judge_by_interpreters(submissions: Sequence[Submission], workers: int, time_limit: float) -> list[bool]:
    """One `python -c` for each test, `workers` at a time.

    Outputs are compared as simply as can be, which favours this side.
    """
    jobs = [(index, test) for index, s in enumerate(submissions) for test in s.problem.hidden_tests]
    passed = [True] * len(submissions)
    with ThreadPoolExecutor(workers) as threads:
        outcomes = threads.map(lambda job: _run(submissions[job[0]], job[1], time_limit), jobs)
        for (index, _), right in zip(jobs, outcomes, strict=True):
            passed[index] &= right
    return passed


def _run(submission: Submission, test: TestCase, time_limit: float) -> bool:
    name = submission.problem.fn_name
    code = f"{IMPORTS}{submission.code}\n{CALL.format(name=name) if name else ''}"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=test.input,
            capture_output=True,
            text=True,
            timeout=time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode:
        return False
    if name:
        return bool(json.loads(done.stdout.rstrip().rpartition("\n")[2]) == json.loads(test.output))
    return done.stdout.split() == test.output.split()


# Runs inside the checkout's interpreter. Its progress bar and prints go to stderr and nowhere.
LCB_DRIVER = """
import contextlib, io, json, os, sys, time
samples, generations, workers, time_limit = json.load(open(sys.argv[1]))
from lcb_runner.evaluation.compute_code_generation_metrics import evaluate_generations
start, before = time.perf_counter(), sum(os.times()[:4])
with contextlib.redirect_stdout(sys.stderr):
    results, _ = evaluate_generations(samples, generations, False, workers, time_limit)
seconds, processor = time.perf_counter() - start, sum(os.times()[:4]) - before
passed = [bool(r[0]) and all(x is True or x == 1 for x in r[0]) for _, r in sorted(results.items())]
json.dump([passed, seconds, processor], open(sys.argv[2], "w"))
"""


def judge_by_lcb(
    submissions: Sequence[Submission], workers: int, time_limit: float, *, checkout: Path, python: Path
) -> Judged:
    """LiveCodeBench's checker from a checkout of its repository; its imports are not counted.

    It stops at a submission's first failing test.
    """
    samples = []
    for submission in submissions:
        tests = submission.problem.hidden_tests
        parts = {
            "inputs": [test.input for test in tests],
            "outputs": [test.output for test in tests],
            "fn_name": submission.problem.fn_name,
        }
        samples.append({"input_output": json.dumps(parts)})
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "asked.json"), Path(folder, "answered.json")
        asked.write_text(json.dumps([samples, [[s.code] for s in submissions], workers, round(time_limit)]))
        subprocess.run(
            [python, "-c", LCB_DRIVER, asked, answered],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return Judged(*json.loads(answered.read_text()))
