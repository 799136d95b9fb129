"""The bench: one program at a time, seen while it is judged, stopped at once."""

import threading

import pytest

import lcbkit
from lcbkit.problems import Problem
from lcbkit.widgets.bench import Bench, Job, Order

DOUBLE = "a, b, x, y, c = map(int, input().split())\nprint(max(0, a * x + b * y - c))\n"


@pytest.fixture(scope="module")
def problem() -> Problem:
    return lcbkit.load_problems("sample")["lka1_a"]


def test_results_are_told_as_they_come_in_the_order_of_the_tests(problem: Problem) -> None:
    seen: list[tuple[int, bool]] = []
    bench = Bench(lambda job: seen.append((len(job.report.results), job.running)))
    job = bench.start(Order(code=DOUBLE, problem=problem, tests="all"))
    job.wait()
    bench.close()
    total = len(problem.public_tests) + problem.hidden_test_count
    assert [result.index for result in job.report.results] == list(range(total))
    counts = [count for count, _ in seen]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert len({*counts}) > 3, "several looks, not one at the end"
    assert [running for _, running in seen] == [True] * (len(seen) - 1) + [False]


def test_the_next_program_takes_the_place_of_the_one_that_runs(problem: Problem) -> None:
    bench = Bench(lambda _: None)
    first = bench.start(Order(code="while True: pass", problem=problem))
    second = bench.start(Order(code=DOUBLE, problem=problem))
    second.wait()
    bench.close()
    assert first.stopped
    assert not first.running
    assert second.report.passed


def test_what_the_judge_cannot_do_is_told_as_an_error(problem: Problem) -> None:
    bench = Bench(lambda _: None)
    job: Job = bench.start(Order(code=DOUBLE, problem=problem, time_limit=-1))
    job.wait()
    bench.close()
    assert isinstance(job.error, ValueError)
    assert not job.running


@pytest.mark.parametrize("begun", [False, True])
def test_an_interrupt_while_a_program_is_being_begun_leaves_nothing_and_the_next_one_is_judged(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    bench = Bench(lambda _: None)

    def start(thread: threading.Thread) -> None:
        monkeypatch.undo()
        if begun:
            thread.start()
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        bench.start(Order(code="while True: pass", problem=problem, time_limit=600))
    bench.stop()
    assert not bench.busy
    second = bench.start(Order(code=DOUBLE, problem=problem))
    second.wait()
    bench.close()
    assert second.report.passed
