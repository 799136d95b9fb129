"""Hidden tests are decoded once for all who judge a problem, and kept no longer than that is of use."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from threading import Barrier
from typing import Any

import pytest

from lcbkit.errors import UnusableTestsError
from lcbkit.judging.shelf import Shelf
from lcbkit.problems import Problem, TestCase
from tests.judging.trials import make_problem


@dataclass
class CountedRow:
    """A place that rows are read from, which counts how often."""

    row: Mapping[str, Any]
    reads: list[int] = field(default_factory=list)

    def read(self) -> Mapping[str, Any]:
        self.reads.append(1)
        return self.row


def counted(size: int = 10) -> tuple[Problem, list[int]]:
    """A problem whose hidden tests hold so many characters, and its reads."""
    problem = make_problem([("x" * (size - 1), "y")])
    stored = CountedRow(problem.to_row())
    return replace(problem, stored=stored), stored.reads


def look(shelf: Shelf, problem: Problem) -> None:
    with shelf.tests(problem, "hidden") as cases:
        assert len(cases) == 1


def test_all_who_judge_at_one_time_share_one_decoding() -> None:
    shelf, (problem, reads), barrier = Shelf(spare=0), counted(), Barrier(8)

    def judge(_: int) -> int:
        barrier.wait()
        with shelf.tests(problem, "hidden") as cases:
            barrier.wait()
            return id(cases)

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(judge, range(8)))) == 1
    assert len(reads) == 1


def test_what_nobody_uses_is_dropped_unless_there_is_room() -> None:
    for spare, decoded in ((0, 3), (1_000, 1)):
        shelf, (problem, reads) = Shelf(spare), counted()
        for _ in range(3):
            look(shelf, problem)
        assert len(reads) == decoded


def test_room_is_for_the_last_used_ones() -> None:
    shelf, found = Shelf(spare=25), [counted() for _ in range(3)]
    for problem, _ in found:
        look(shelf, problem)
    for problem, _ in reversed(found):
        look(shelf, problem)
    assert [len(reads) for _, reads in found] == [2, 1, 1]


def test_tests_that_are_too_large_do_not_push_out_the_others() -> None:
    shelf, (small, reads), (large, _) = Shelf(spare=25), counted(), counted(100)
    for problem in (small, large, small):
        look(shelf, problem)
    assert len(reads) == 1


def test_a_forgotten_problem_goes_as_soon_as_nobody_judges_it() -> None:
    shelf, (problem, reads) = Shelf(), counted()
    with ExitStack() as judging:
        judging.enter_context(shelf.tests(problem, "hidden"))
        shelf.forget(problem)
        look(shelf, problem)
        assert len(reads) == 1
    look(shelf, problem)
    assert len(reads) == 2
    shelf.forget(problem)
    look(shelf, problem)
    assert len(reads) == 3


def test_tests_that_cannot_be_read_are_tried_again() -> None:
    shelf, problem = Shelf(), make_problem([("1", "1")])
    broken = CountedRow({**problem.to_row(), "private_test_cases": "?"})
    damaged = replace(problem, stored=broken)
    for _ in range(2):
        with pytest.raises(UnusableTestsError), shelf.tests(damaged, "hidden"):
            pytest.fail("they were read")
    broken.row = problem.to_row()
    look(shelf, damaged)


def test_given_tests_are_used_as_they_are() -> None:
    problem, reads = counted()
    case = TestCase(input="1", output="1", mode="stdin")
    with Shelf().tests(problem, [case]) as cases:
        assert list(cases) == [case]
    assert not reads
