"""The tests of problems that are judged right now: decoded once for all programs, dropped when they rest."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from lcbkit.errors import BadValueError
from lcbkit.problems import Problem, TestCase, check_problem

__all__ = ["SPARE_CHARACTERS", "Shelf", "Tests", "select_tests"]

SPARE_CHARACTERS = 64 << 20
"""So much of the tests that nobody uses at the moment stays in reach for the next program."""

Tests = Literal["hidden", "all"] | Sequence[TestCase]


def select_tests(problem: Problem, tests: Tests) -> Sequence[TestCase]:
    """The test cases that are meant; decodes the hidden ones.

    Raises:
        BadValueError: for another word, or for what is no problem.
        DatasetError: when the hidden tests cannot be read any more.
    """
    check_problem(problem, "a program is judged on")
    if not isinstance(tests, str):
        return tuple(tests)
    if tests == "hidden":
        return problem.hidden_tests
    if tests == "all":
        return (*problem.public_tests, *problem.hidden_tests)
    raise BadValueError(f"tests={tests!r}; say 'hidden', 'all', or give a sequence of TestCase")


class Shelf:
    """Decoded tests, shared by all who judge a problem at one time; safe to use from many threads.

    Decoding takes up to seconds and the tests hundreds of megabytes, so they are neither decoded for each
    program nor kept for the whole batch: memory depends on what is judged at one time, not on how much.

    Args:
        spare: characters of tests that are kept although nobody uses them, the last used ones; 0 keeps none.
    """

    def __init__(self, spare: int = SPARE_CHARACTERS) -> None:
        self._spare = spare
        self._lock = threading.Lock()
        self._held: dict[int, _Held] = {}  # by the problem's identity; the last used one last

    @contextmanager
    def tests(self, problem: Problem, tests: Tests) -> Iterator[Sequence[TestCase]]:
        """The tests while they are judged, as `select_tests`; a shelf serves one kind of tests.

        Raises:
            BadValueError, DatasetError: as `select_tests`.
        """
        if not isinstance(tests, str):
            yield select_tests(problem, tests)
            return
        with self._lock:
            held = self._held.pop(id(problem), None) or _Held(problem)
            self._held[id(problem)] = held
            held.users += 1
        try:
            yield held.cases(tests)
        finally:
            with self._lock:
                held.users -= 1
                self._clear()

    def forget(self, problem: Problem) -> None:
        """Say that no more programs of a problem come."""
        with self._lock:
            held = self._held.get(id(problem))
            if held is not None:
                held.over = True
                self._clear()

    def _clear(self) -> None:
        room = self._spare
        for key, held in reversed(tuple(self._held.items())):
            if held.users:
                continue
            if held.over or not 0 < held.size <= room:
                del self._held[key]
            else:
                room -= held.size


class _Held:
    """A problem's tests, as soon as somebody has asked for them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem  # also so that its identity stays its own
        self.users, self.size, self.over = 0, 0, False
        self._decoding = threading.Lock()
        self._cases: Sequence[TestCase] | None = None

    def cases(self, tests: Tests) -> Sequence[TestCase]:
        with self._decoding:  # whoever comes meanwhile waits for the first
            if self._cases is None:
                self._cases = select_tests(self.problem, tests)
                self.size = 1 + sum(len(case.input) + len(case.output) for case in self._cases)
            return self._cases
