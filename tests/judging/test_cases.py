"""Programs that broke judges in the field get their stated verdict, and every side condition holds."""

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import psutil
import pytest

from lcbkit import Report, judge, judge_many
from lcbkit.judging.pool import Pool
from tests.conftest import shared_folder
from tests.judging.trials import CONFINED, make_problem, wait_until_gone

Case = dict[str, Any]
REASONS = {"compile_error": "runtime_error", "no_function": "runtime_error", "no_code": "wrong_answer"}
MIB = 1 << 20


def cases() -> list[Case]:
    if (folder := shared_folder()) is None:
        return []
    lines = (folder / "data/cases/cases.jsonl").read_text().splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] in ("stdin", "functional")]


CASES = cases()
ALONE = [case for case in CASES if case["expected"].get("must") or case.get("env")]
TOGETHER = [case for case in CASES if case not in ALONE]


def problem_of(case: Case) -> Any:
    return make_problem([(test["input"], test["output"]) for test in case["tests"]], case.get("fn_name"))


def limits_of(case: Case) -> dict[str, Any]:
    limits = case["limits"]
    assert limits["output_mb"] == 64
    return {"time_limit": limits["timeout_s"], "memory_limit": limits["memory_mb"] * MIB}


def assert_stated(case: Case, report: Report) -> None:
    expected = case["expected"]
    verdict = "pass" if report.passed else "fail"
    assert verdict in {expected["verdict"], *expected.get("verdict_alt", [])}, f"{case['why']}\n{report}"
    if (failure := report.first_failure) is not None:
        stated = {expected["reason"], *expected.get("reason_alt", [])} - {"ok"}
        # An acceptable failure without a reason of its own may be any that is the submission's.
        right = {REASONS.get(reason, reason) for reason in stated} or {"wrong_answer", "runtime_error"}
        assert failure.verdict.value in right, f"{case['why']}\n{report}"


@pytest.fixture(scope="module")
def together() -> dict[str, Report]:
    reports: dict[str, Report] = {}
    for limits in {tuple(limits_of(case).items()) for case in TOGETHER}:
        group = [case for case in TOGETHER if tuple(limits_of(case).items()) == limits]
        pairs = [(case["program"], problem_of(case)) for case in group]
        judged = judge_many(pairs, workers=4, progress=False, **dict(limits))
        reports |= {case["id"]: report for case, report in zip(group, judged, strict=True)}
    return reports


def test_the_cases_are_all_here(shared: Path) -> None:
    assert len(CASES) == 110, f"the cases of {shared} changed"


@pytest.mark.parametrize("case", TOGETHER, ids=lambda case: case["id"])
def test_a_case_gets_its_verdict(case: Case, together: dict[str, Report]) -> None:
    for package in case.get("requires", []):
        pytest.importorskip(package)
    assert_stated(case, together[case["id"]])


@dataclass
class Watched:
    """What was seen while a block ran.

    Attributes:
        growth: bytes by which this process grew.
        crowd: how many runnable processes shared a core, which stretches every wall time by as much.
    """

    growth: int = 0
    crowd: float = 1.0


@contextmanager
def watching() -> Iterator[Watched]:
    """Watch this process and the machine while the block runs; what was seen is filled in at its end."""
    me = psutil.Process()
    start = peak = me.memory_info().rss
    done, running = threading.Event(), [os.getloadavg()[0]]
    watched = Watched()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.01):
            peak = max(peak, me.memory_info().rss)
            running.append(float(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield watched
    finally:
        done.set()
        thread.join()
        watched.growth = peak - start
        watched.crowd = max(1.0, fmean(running) / (os.cpu_count() or 1))


SPACE = "import os; there = os.statvfs('.'); print((there.f_blocks - there.f_bfree) * there.f_frsize)"


def space_taken(pool: Pool) -> int:
    """Bytes in use where the pool's one worker has its scratch folder."""
    if CONFINED:
        return int(pool.run_python(SPACE).stdout)
    return sum(path.lstat().st_size for path in Path(tempfile.gettempdir()).glob("lcbkit-judge-*/**/*"))


@pytest.mark.parametrize("case", ALONE, ids=lambda case: case["id"])
def test_a_case_keeps_its_side_conditions(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in case.get("env", {}).items():
        monkeypatch.setenv(name, value)
    with Pool(workers=1) as pool, watching() as watched:
        before = space_taken(pool)
        pool.judge("print(6)", make_problem([("", "6")]))  # the start of the worker is not the case's time
        start = time.monotonic()
        report = pool.judge(case["program"], problem_of(case), **limits_of(case))
        seconds = time.monotonic() - start
        assert pool.judge("print(6)", make_problem([("", "6")])).passed, "the judge did not survive"
        taken = space_taken(pool)
    assert_stated(case, report)
    for condition in case["expected"].get("must", []):
        name, _, bound = condition.partition("<=")
        match name:
            case "wall_s":
                assert seconds <= float(bound) * watched.crowd
            case "judge_rss_growth_mb":
                assert watched.growth <= float(bound) * 1e6
            case "no_survivor":
                assert not wait_until_gone(case.get("marker", "no marker of its own"))
            case "temp_space_returned":
                assert taken < before + 150 * MIB
            case "judge_survives":
                assert judge("print(6)", make_problem([("", "6")])).passed
            case _:
                pytest.fail(f"nobody checks {condition!r}")
