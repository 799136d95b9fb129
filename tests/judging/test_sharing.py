"""What is shared among workers is judged once, and whoever leads gets what helpers found or met."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from finished_tests import PASSED

from lcbkit.judging.outcomes import Job, Limits
from lcbkit.judging.pool import Pool
from lcbkit.judging.report import Verdict
from lcbkit.judging.sharing import Batch, Supply, Work
from lcbkit.problems import TestCase
from tests.judging.trials import make_problem

CASES = tuple(TestCase(input=str(number), output=str(number), mode="stdin") for number in range(40))


def work(tests: int = 40, *, stop_on_failure: bool = False) -> Work:
    limits = Limits(time_limit=1.0, memory_limit=0)
    job = Job(code="", function="", limits=limits, stop_on_failure=stop_on_failure)
    return Work(job, CASES, range(tests))


def test_each_number_is_taken_once_by_however_many() -> None:
    supply = Supply(range(10_000))
    with ThreadPoolExecutor(8) as threads:
        taken = [threads.submit(lambda: list(iter(supply.take, None))) for _ in range(8)]
    assert sorted(number for each in taken for number in each.result()) == list(range(10_000))
    assert (len(supply), supply.take(), supply.take_all()) == (0, None, [])


def test_a_helper_joins_the_work_with_the_most_tests_left() -> None:
    batch, short, long = Batch(), work(9), work(40)
    for each in (short, long):
        batch.open(each)
    assert batch.join() is long


@pytest.mark.parametrize("closed", [work(7), work(40, stop_on_failure=True)], ids=["short", "in order"])
def test_nobody_helps_where_it_is_of_no_use(closed: Work) -> None:
    batch = Batch()
    batch.open(closed)
    with ThreadPoolExecutor(1) as threads:
        helper = threads.submit(batch.join)
        batch.end()
        assert helper.result(10) is None


def test_a_helper_that_comes_first_waits_for_work() -> None:
    batch, late = Batch(), work()
    with ThreadPoolExecutor(1) as threads:
        helper = threads.submit(batch.join)
        batch.open(late)
        assert helper.result(10) is late


def test_who_leads_waits_for_what_helpers_found() -> None:
    batch, shared = Batch(), work()
    batch.open(shared)
    joined = batch.join()
    assert joined is shared
    threading.Timer(0.05, lambda: batch.leave(shared, [replace(PASSED, index=3)])).start()
    assert [each.index for each in batch.close(shared)] == [3]


def test_who_leads_raises_what_a_helper_met() -> None:
    batch, shared = Batch(), work()
    batch.open(shared)
    batch.join()
    batch.leave(shared, [], ValueError("out of luck"))
    with pytest.raises(ValueError, match="out of luck"):
        batch.close(shared)


def test_idle_workers_help_with_the_last_program_of_a_batch(tier: str) -> None:
    code = "import time\ntime.sleep(0.02)\nprint(input())"
    problem = make_problem([(str(number), str(number)) for number in range(60)])
    with Pool(2, sandbox=tier) as own:
        ((_, report),) = own.iter_judge([(code, problem)])
        assert own._crew.free() == len(own._crew._idle) == 2  # both have been at it, and are well
    assert report.passed
    assert [each.index for each in report.results] == list(range(60))


def test_a_program_that_ends_its_judge_is_no_other_programs_trouble(pool: Pool) -> None:
    lost = "import os, signal\nif input() == '7': os.kill(os.getppid(), signal.SIGKILL)\nprint(6)"
    problem = make_problem([(str(number), "6") for number in range(30)])
    reports = dict(pool.iter_judge([("print(6)", problem), (lost, problem), ("print(6)", problem)]))
    assert reports[0].passed
    assert reports[2].passed
    assert all(each.verdict is Verdict.PASSED for each in reports[1].results if each.index != 7)
