"""Equal programs are judged once, but only where judging again could give nothing else."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import islice, repeat
from typing import Any

import pytest
from finished_tests import PASSED

from lcbkit import Problem, judge_many
from lcbkit.errors import BadValueError
from lcbkit.judging.report import Report, Verdict
from lcbkit.judging.reuse import is_steady, iter_once, may_repeat
from tests.judging.trials import make_problem

ECHO = "print(input())"


def numbers(count: int) -> Problem:
    return make_problem([(f"{i}\n", f"{i}\n") for i in range(count)])


def report(**changes: Any) -> Report:
    return Report(problem_id="trial", total=1, results=(replace(PASSED, **changes),))


class Judge:
    """Judges without running anything, one after the other, and notes what."""

    def __init__(self, **changes: Any) -> None:
        self.seen: list[str] = []
        self.changes = changes

    def __call__(self, pairs: Iterator[tuple[str, Problem]]) -> Generator[tuple[int, Report], None, None]:
        for place, (code, problem) in enumerate(pairs):
            self.seen.append(code)
            yield place, replace(report(**self.changes), problem_id=f"{code} on {id(problem)}")


class SlowJudge(Judge):
    """Takes all that it can get before it judges the first."""

    def __call__(self, pairs: Iterator[tuple[str, Problem]]) -> Generator[tuple[int, Report], None, None]:
        yield from super().__call__(iter(list(pairs)))


@pytest.mark.parametrize("kind", [Judge, SlowJudge])
def test_each_pair_gets_the_report_of_its_program_on_its_problem(kind: type[Judge]) -> None:
    a, b, judge = numbers(1), numbers(1), kind()
    pairs = [("x", a), ("x", b), ("y", a), ("x", a), ("y", a), ("x", b), ("x", a)]
    found = dict(iter_once(pairs, judge, time_limit=6.0))
    assert [found[i].problem_id for i in range(7)] == [f"{code} on {id(problem)}" for code, problem in pairs]
    assert sorted(judge.seen) == ["x", "x", "y"]


@pytest.mark.parametrize("kind", [Judge, SlowJudge])
def test_what_could_come_out_differently_is_judged_every_time(kind: type[Judge]) -> None:
    problem = numbers(1)
    judge = kind(verdict=Verdict.TIME_LIMIT)
    assert sorted(dict(iter_once([("x", problem)] * 5, judge, time_limit=6.0))) == [0, 1, 2, 3, 4]
    assert judge.seen == ["x"] * 5


def test_a_stream_is_read_no_further_than_needed() -> None:
    problem, drawn = numbers(1), []

    def pairs() -> Iterator[tuple[str, Problem]]:
        for pair in repeat(("x", problem)):
            drawn.append(1)
            yield pair

    assert len(list(islice(iter_once(pairs(), Judge(), time_limit=6.0), 1_000))) == 1_000
    assert len(drawn) < 2_000


@pytest.mark.parametrize(
    "code",
    [
        "print(randint(1, 6))",
        "import random\nprint(random.choice([1]))",
        "from numpy.random import rand",
        "import numpy as np\nnp.random.seed()",
        "print(choices('ab'))",
        "import os\nos.urandom(1)",
        "import time\nprint(time.time())",
        "from time import perf_counter",
        "print(datetime.datetime.now())",
        "print(id([]))",
        "import os\nprint(os.getpid())",
        "from time import time as t\nprint(t())",
        "import sys, time as clock",
        "import os\nprint(os.times())",
        "import resource",
        "print(open('/proc/uptime').read())",
        "print(*map(id, [1, 2]))",
        "print(object())",
        "import tempfile",
    ],
)
def test_a_program_that_names_chance_or_a_clock_is_not_trusted_to_repeat_itself(code: str) -> None:
    assert not may_repeat(code)


def test_what_is_no_program_is_refused_as_by_one_judgement() -> None:
    with pytest.raises(BadValueError, match="extract_code gives None where it finds none"):
        judge_many([(None, numbers(1))], progress=False)  # type: ignore[list-item]


def test_ordinary_names_are_no_chance() -> None:
    assert may_repeat("time = int(input())\nsample = choice = [time]\nbrand = grid = sample\nprint(brand[0])")


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": Verdict.TIME_LIMIT},
        {"verdict": Verdict.MEMORY_LIMIT},
        {"verdict": Verdict.BAD_TEST},
        {"verdict": Verdict.INTERNAL_ERROR},
        {"verdict": Verdict.RUNTIME_ERROR, "exit_code": None, "signal": 9},
        {"verdict": Verdict.RUNTIME_ERROR, "memory_bytes": 0},
        {"cpu_seconds": 3.1},
        {"wall_seconds": 3.1},
    ],
)
def test_verdicts_of_a_clock_a_machine_or_a_test_are_not_steady(changes: dict[str, Any]) -> None:
    assert not is_steady(report(**changes), 6.0)
    assert not is_steady(Report(problem_id="p", total=2, results=(PASSED, *report(**changes).results)), 6.0)


@pytest.mark.parametrize(
    "verdict", [Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.OUTPUT_LIMIT]
)
def test_verdicts_of_program_and_tests_alone_are_steady(verdict: Verdict) -> None:
    assert is_steady(report(verdict=verdict), 6.0)
    assert not is_steady(Report(problem_id="p", total=1, results=()), 6.0)


@pytest.mark.parametrize("fn_name", [None, "solve"], ids=["stdin", "functional"])
def test_judge_many_runs_equal_programs_once_unless_told_otherwise(fn_name: str | None) -> None:
    problem = make_problem([("1", "1")] * 3, fn_name)
    code = "def solve(n): return n" if fn_name else ECHO
    pairs = [(code, problem)] * 3
    once = judge_many(pairs, progress=False, time_limit=60.0)
    assert once[0] is once[1] is once[2]
    each = judge_many(pairs, progress=False, time_limit=60.0, judge_cache=False)
    assert len({id(found) for found in each}) == 3
    assert {found.letters for found in (*once, *each)} == {"PPP"}
