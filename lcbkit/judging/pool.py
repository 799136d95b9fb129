"""Judging a program: a pool of workers, and the functions that share one (`many.py` judges many programs).

A judging call takes a worker, sends it the program and then the tests' inputs, and compares what comes back;
expected outputs stay in this process. A worker that finds no more programs helps with the tests of others.
`verdicts.py` lists where verdicts differ from those of LiveCodeBench's own checker.
"""

import os
import threading
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace

from lcbkit.errors import BadValueError, SandboxError
from lcbkit.judging.crew import Crew, run_tests
from lcbkit.judging.interruption import Token
from lcbkit.judging.outcomes import Job, Limits, memory_bytes
from lcbkit.judging.report import Execution, Report, TestResult, Verdict
from lcbkit.judging.sharing import Batch, Supply, Work
from lcbkit.judging.shelf import Shelf, Tests
from lcbkit.judging.verdicts import execution, judge_outcome
from lcbkit.problems import Problem, TestCase

__all__ = [
    "TIME_LIMIT",
    "Pool",
    "default_pool",
    "judge",
    "memory_bytes",
    "run_python",
]

_SHARE = 8  # tests that are worth a worker of their own
TIME_LIMIT = 6.0
"""CPU seconds of a test, where nobody says another limit."""


class Pool:
    """Workers that judge; safe to use from many threads at once.

    Args:
        workers: how many programs run at the same time; None means one per core.
        sandbox: `auto`, `bwrap` or `limits`; None reads `LCB_SANDBOX`.
    """

    def __init__(self, workers: int | None = None, *, sandbox: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise BadValueError(f"workers={workers}; a pool needs at least one")
        self.workers = workers or _cores()
        self._crew = Crew(self.workers, sandbox)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def judge(
        self,
        code: str,
        problem: Problem,
        *,
        time_limit: float = TIME_LIMIT,
        memory_limit: int | None = None,
        tests: Tests = "hidden",
        stop_on_failure: bool = False,
        prelude: bool = True,
    ) -> Report:
        """Judge one program; see `lcbkit.judge`."""
        limits = Limits(time_limit=time_limit, memory_limit=memory_bytes(memory_limit), prelude=prelude)
        job = Job(code=code, function="", limits=limits, stop_on_failure=stop_on_failure)
        token = Token()
        return token.run(lambda: self._judge(job, problem, tests, token))

    def iter_judge(
        self,
        pairs: Iterable[tuple[str, Problem]],
        *,
        time_limit: float = TIME_LIMIT,
        memory_limit: int | None = None,
        tests: Tests = "hidden",
        stop_on_failure: bool = False,
        prelude: bool = True,
    ) -> Generator[tuple[int, Report], None, None]:
        """Judge many programs, yield `(index, report)` as they finish; closing it ends what still runs."""
        limits = Limits(time_limit=time_limit, memory_limit=memory_bytes(memory_limit), prelude=prelude)
        blank = Job(code="", function="", limits=limits, stop_on_failure=stop_on_failure)
        feed, token, batch = enumerate(pairs), Token(), Batch()
        running: dict[Future[Report], int] = {}
        helpers = 0
        with ThreadPoolExecutor(self.workers, "lcbkit-judge") as threads:
            try:
                while True:
                    while len(running) < 2 * self.workers and (item := next(feed, None)) is not None:
                        index, (code, problem) = item
                        job = replace(blank, code=code)
                        running[threads.submit(self._judge, job, problem, tests, token, batch)] = index
                    if not running:
                        return
                    while len(running) + helpers < self.workers:  # no more programs come
                        threads.submit(self._help, batch, token)
                        helpers += 1
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(future), future.result()
            finally:
                batch.end()
                token.cancel()
                threads.shutdown(wait=False, cancel_futures=True)

    def run_python(
        self,
        code: str,
        stdin: str = "",
        *,
        time_limit: float = 10.0,
        memory_limit: int | None = None,
        prelude: bool = True,
    ) -> Execution:
        """Run one program; see `lcbkit.run_python`."""
        limits = Limits(time_limit=time_limit, memory_limit=memory_bytes(memory_limit), prelude=prelude)
        job = Job(code=code, function="", limits=limits, stop_on_failure=False)
        case = TestCase(input=stdin, output="", mode="stdin")
        token = Token()
        (outcome,) = token.run(
            lambda: [outcome for _, outcome in run_tests(self._crew, job, [case], Supply([0]), token)]
        )
        if outcome.internal:
            raise SandboxError(f"the program could not be run: {outcome.internal}; see `lcb doctor`")
        return execution(outcome, limits)

    def close(self) -> None:
        """End all workers; judging calls that are running fail."""
        self._crew.close()

    def _judge(
        self, job: Job, problem: Problem, tests: Tests, token: Token, batch: Batch | None = None
    ) -> Report:
        """Judge one program, of a batch or, with all workers that are free, by itself."""
        with (Shelf(spare=0) if batch is None else batch.shelf).tests(problem, tests) as cases:
            return self._judge_on(cases, job, problem, token, batch)

    def _judge_on(
        self, cases: Sequence[TestCase], job: Job, problem: Problem, token: Token, batch: Batch | None
    ) -> Report:
        results: list[TestResult] = []
        for mode in ("stdin", "functional"):
            numbers = [number for number, case in enumerate(cases) if case.mode == mode]
            if not numbers:
                continue
            if mode == "functional":
                if not problem.fn_name:
                    raise ValueError(
                        f"problem {problem.id!r} has functional tests but no function name (fn_name)"
                    )
                job = replace(job, function=problem.fn_name)
            work = Work(job, cases, numbers)
            results += self._judge_alone(work, token) if batch is None else self._lead(work, batch, token)
            if job.stop_on_failure and results and _failed(results[-1]):
                break
        results.sort(key=lambda result: result.index)
        return Report(problem_id=problem.id, total=len(cases), results=tuple(results))

    def _judge_alone(self, work: Work, token: Token) -> list[TestResult]:
        shares = 1 if work.job.stop_on_failure else min(self._crew.free(), len(work.supply) // _SHARE)
        if shares <= 1:
            return self._judge_tests(work, token)
        with ThreadPoolExecutor(shares - 1) as threads:
            others = [threads.submit(self._judge_tests, work, token) for _ in range(1, shares)]
            results = self._judge_tests(work, token)
            for other in others:
                results += other.result()
        return results

    def _lead(self, work: Work, batch: Batch, token: Token) -> list[TestResult]:
        """Judge tests while others may help, and wait for them."""
        batch.open(work)
        try:
            results = self._judge_tests(work, token)
        except BaseException:
            work.supply.take_all()  # no use in going on
            raise
        finally:
            helped = batch.close(work)
        return results + helped

    def _help(self, batch: Batch, token: Token) -> None:
        """Take part in what others judge, until all is done."""
        while (work := batch.join()) is not None:
            results: list[TestResult] = []
            error: BaseException | None = None
            try:
                results = self._judge_tests(work, token)
            except BaseException as caught:  # noqa: BLE001 - raised again in the thread that leads
                error = caught
            batch.leave(work, results, error)

    def _judge_tests(self, work: Work, token: Token) -> list[TestResult]:
        job, cases = work.job, work.cases
        results = []
        outcomes = run_tests(self._crew, job, cases, work.supply, token)
        for number, outcome in outcomes:
            results.append(judge_outcome(number, cases[number], outcome, job.limits))
            if job.stop_on_failure and _failed(results[-1]):
                outcomes.close()
                break
        return results


def _failed(result: TestResult) -> bool:
    return result.verdict not in (Verdict.PASSED, Verdict.BAD_TEST)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_default: list[Pool] = []
_default_lock = threading.Lock()


def default_pool() -> Pool:
    """The pool that the module's functions share: started when first used, ended with the process."""
    with _default_lock:
        if not _default or _default[0]._crew.closed:
            _default[:] = [Pool()]
        return _default[0]


def judge(
    code: str,
    problem: Problem,
    *,
    time_limit: float = TIME_LIMIT,
    memory_limit: int | None = None,
    tests: Tests = "hidden",
    stop_on_failure: bool = False,
    prelude: bool = True,
) -> Report:
    """Judge a program against a problem's tests.

    Args:
        code: the program's text.
        problem: the problem; its `fn_name` is what functional tests call.
        time_limit: CPU seconds for each test's whole process tree; idle time may be one second more.
        memory_limit: bytes for each process, 0 for no limit; None: `LCB_FUNCTIONAL_MEMORY_BYTES`, else 4 GiB.
        tests: `hidden`, `all` (public too), or the test cases themselves.
        stop_on_failure: leave out the tests after the first that does not pass.
        prelude: put LiveCodeBench's imports in scope, as its checker does.

    Returns:
        A report; a wrong, crashing or endless program is a verdict, never an exception.

    Raises:
        SandboxError: no worker could be started.
        BadValueError: a limit that makes no sense, or no text where the program should be.
        ValueError: a functional test without a function name.
    """
    return default_pool().judge(
        code,
        problem,
        time_limit=time_limit,
        memory_limit=memory_limit,
        tests=tests,
        stop_on_failure=stop_on_failure,
        prelude=prelude,
    )


def run_python(
    code: str,
    stdin: str = "",
    *,
    time_limit: float = 10.0,
    memory_limit: int | None = None,
    prelude: bool = True,
) -> Execution:
    """Run a program in the judge's sandbox, with the same prelude and limits, and tell what it printed.

    Args:
        code: the program's text.
        stdin: its standard input.
        time_limit: CPU seconds.
        memory_limit: as in `judge`.
        prelude: as in `judge`, so that a self-test predicts the verdict.

    Raises:
        SandboxError: no worker could be started.
    """
    return default_pool().run_python(
        code, stdin, time_limit=time_limit, memory_limit=memory_limit, prelude=prelude
    )
