"""How several workers judge one program: a supply of its tests, and idle workers that come to help."""

import threading
from collections import deque
from collections.abc import Iterable, Sequence

from lcbkit.judging.outcomes import Job
from lcbkit.judging.report import TestResult
from lcbkit.judging.shelf import Shelf
from lcbkit.problems import TestCase

__all__ = ["Batch", "Supply", "Work"]

_WORTH_HELP = 8  # tests left that are worth a worker of their own


class Supply:
    """The numbers of tests that no worker has begun; safe to take from in many threads."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = deque(numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def take(self) -> int | None:
        """The next one, None if there is none."""
        try:
            return self._numbers.popleft()
        except IndexError:
            return None

    def take_all(self) -> list[int]:
        """All that are left."""
        return list(iter(self.take, None))


class Work:
    """A program and those of its tests that are called in one way, while they are judged.

    Attributes:
        job: the program.
        cases: all tests of the problem.
        supply: which of them are to be begun.
    """

    def __init__(self, job: Job, cases: Sequence[TestCase], numbers: Iterable[int]) -> None:
        self.job, self.cases, self.supply = job, cases, Supply(numbers)
        self.helpers = 0
        self.results: list[TestResult] = []
        self.error: BaseException | None = None


class Batch:
    """The works of a batch whose own workers are at them, for those that have nothing left to do.

    Attributes:
        shelf: the tests of the problems that are judged.
    """

    def __init__(self) -> None:
        self.shelf = Shelf()
        self._changed = threading.Condition()
        self._works: list[Work] = []
        self._over = False

    def open(self, work: Work) -> None:
        """Say that a worker has begun with this."""
        with self._changed:
            self._works.append(work)
            self._changed.notify_all()

    def close(self, work: Work) -> list[TestResult]:
        """After its supply has run out: wait for the helpers' last tests; returns what they found.

        Raises:
            BaseException: what a helper met.
        """
        with self._changed:
            self._works.remove(work)
            self._changed.wait_for(lambda: not work.helpers)
        if work.error is not None:
            raise work.error
        return work.results

    def join(self) -> Work | None:
        """Wait for a work that is worth another worker, which is the caller's now; None when all is done."""
        with self._changed:
            while not self._over:
                if self._works:
                    work = max(self._works, key=lambda work: len(work.supply))
                    if len(work.supply) >= _WORTH_HELP and not work.job.stop_on_failure:
                        work.helpers += 1
                        return work
                self._changed.wait()
        return None

    def leave(self, work: Work, results: Iterable[TestResult], error: BaseException | None = None) -> None:
        """Hand in what a helper found, or what kept it from that."""
        with self._changed:
            work.results += results
            work.error = work.error or error
            work.helpers -= 1
            self._changed.notify_all()

    def end(self) -> None:
        """Send the helpers home."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
