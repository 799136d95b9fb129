"""Judges one program in the background, a few tests at a time, so that a view can follow and stop it."""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

from lcbkit.errors import SandboxError
from lcbkit.judging.pool import Pool
from lcbkit.judging.report import Report, TestResult, Verdict
from lcbkit.judging.shelf import Tests
from lcbkit.problems import Problem, TestCase

__all__ = ["Bench", "Job", "Order"]

_PACE_SECONDS = 0.3  # of judging between two looks at the result
_LARGEST_SHARE = 64  # tests


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to judge, and how; see `lcbkit.judge`."""

    code: str
    problem: Problem
    tests: Tests = "hidden"
    time_limit: float = 6.0
    stop_on_failure: bool = False


class Job:
    """One program at the bench.

    Attributes:
        order: what is judged.
        report: what is known so far; `results` are those of the first tests, in order.
        error: what ended the job before its time, None if nothing did.
        stopped: whether somebody stopped it.
        running: whether it has not ended yet.
    """

    def __init__(self, order: Order) -> None:
        self.order = order
        self.report = Report(problem_id=order.problem.id, total=0, results=())
        self.error: Exception | None = None
        self.stopped = False
        self.running = True
        self._done = threading.Event()

    def end(self, tell: "Callable[[Job], object]") -> None:
        """It has ended; those that wait go on when everybody has been told."""
        self.running = False
        try:
            tell(self)
        finally:
            self._done.set()

    def wait(self) -> None:
        """Wait for its end; an interrupt of the main thread comes out at once."""
        # Joining a thread would not do: interrupted once, it would look finished.
        while not self._done.wait(0.2):
            pass


class Bench:
    """Judges one program at a time, with workers of its own that a stop ends at once.

    Args:
        tell: called with the job after each few tests and at its end, from the job's own thread.
    """

    def __init__(self, tell: Callable[[Job], object]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self.job: Job | None = None

    @property
    def busy(self) -> bool:
        """Whether a program is being judged."""
        return self.job is not None and self.job.running

    def start(self, order: Order) -> Job:
        """Begin, after stopping what still runs."""
        self.stop()
        job = Job(order)
        thread = threading.Thread(target=self._work, args=(job,), name="lcbkit-bench", daemon=True)
        with self._lock:
            self.job = job
            try:
                thread.start()
            except BaseException:  # an interrupt, before or after it began
                job.stopped = True
                if thread.ident is None:
                    job.end(self._tell)
                raise
        return job

    def stop(self) -> None:
        """Stop what runs; its workers are gone when this returns."""
        with self._lock:
            job = self.job
            if job is not None and job.running:
                job.stopped = True
                self._end_pool()
        if job is not None:
            job.wait()  # a worker that was just being started is only gone when the job has ended

    def close(self) -> None:
        """Stop, and let the idle workers go too."""
        self.stop()
        with self._lock:
            self._end_pool()

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _work(self, job: Job) -> None:
        try:
            with self._lock:  # the pool is made here, where no interrupt can leave it half made
                pool = None if job.stopped else self._pool or Pool()
                self._pool = pool or self._pool
            if pool is not None:
                self._judge(job, pool)
        except SandboxError as error:
            if not job.stopped:
                job.error = error
        except Exception as error:  # noqa: BLE001 - a thread's traceback is easily lost: the view shows it
            job.error = error
        finally:
            job.end(self._tell)

    def _judge(self, job: Job, pool: Pool) -> None:
        order = job.order
        cases = _cases(order)
        job.report = replace(job.report, total=len(cases))
        self._tell(job)
        with closing(_results(order, cases, pool)) as shares:
            for share in shares:
                for result in share:
                    job.report = replace(job.report, results=(*job.report.results, result))
                    if order.stop_on_failure and result.verdict not in (Verdict.PASSED, Verdict.BAD_TEST):
                        with self._lock:
                            self._end_pool()  # nobody waits for what the others would find
                        return
                self._tell(job)


def _cases(order: Order) -> Sequence[TestCase]:
    if order.tests == "all":
        return (*order.problem.public_tests, *order.problem.hidden_tests)
    return order.problem.hidden_tests if isinstance(order.tests, str) else tuple(order.tests)


def _results(order: Order, cases: Sequence[TestCase], pool: Pool) -> Generator[list[TestResult], None, None]:
    """Judge shares of the tests, as many at once as there are workers; yield them in order.

    A share grows until it takes long enough to be worth a look: quick tests cost no more than in one go, and
    slow ones are seen one by one.
    """
    running: deque[Future[list[TestResult]]] = deque()
    place, size = 0, 1
    with ThreadPoolExecutor(pool.workers, "lcbkit-bench") as threads:
        try:
            while place < len(cases) or running:
                while place < len(cases) and len(running) < pool.workers:
                    running.append(threads.submit(_share, order, pool, cases[place : place + size], place))
                    place += size
                begun = time.monotonic()
                yield running.popleft().result()
                quick = time.monotonic() - begun < _PACE_SECONDS
                size = min(2 * size, _LARGEST_SHARE) if quick else max(1, size // 2)
        finally:
            for share in running:
                share.cancel()


def _share(order: Order, pool: Pool, cases: Sequence[TestCase], start: int) -> list[TestResult]:
    report = pool.judge(order.code, order.problem, time_limit=order.time_limit, tests=cases)
    return [replace(result, index=start + result.index) for result in report.results]
