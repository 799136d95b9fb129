"""Judging: workers, dispatch, limits, verdicts.

`judge`, `judge_many`, `iter_judge` and `run_python` share one pool per process, started when first used. A judging
call takes a worker, sends the program and then the tests' inputs, and compares what comes back in the caller's own
thread; expected outputs stay here. When a worker dies, another one takes over at the same test.
"""

import atexit
import contextlib
import os
import queue
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal

from lcbkit.errors import SandboxError
from lcbkit.judging.comparison import same_output, same_value
from lcbkit.judging.encoding import decode_value, parse_json
from lcbkit.judging.report import Execution, Report, TestResult, Verdict
from lcbkit.judging.sandbox import Confined, await_ready, choose, spawn, unused_uid
from lcbkit.judging.worker import receive, send
from lcbkit.problems import Problem, TestCase

__all__ = [
    "JudgeEvent",
    "Pool",
    "default_pool",
    "iter_judge",
    "judge",
    "judge_many",
    "memory_bytes",
    "run_python",
]

DEFAULT_MEMORY_BYTES = 4 * 1024**3
OUTPUT_BYTES = 64 * 1024**2
FILE_BYTES = 256 * 1024**2
PROCESSES = 128
KEPT_CHARACTERS = 16_000
_GRACE_SECONDS = 60.0  # for a worker that should have answered: compiling, imports, a crowded machine

TestsWanted = Literal["hidden", "all", "public"] | Sequence[TestCase]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEvent:
    """What a `progress` callback is told: one more report.

    Attributes:
        index: the pair's place in the input.
        report: its report.
        done: how many reports there are now.
        total: how many there will be, None if the input has no length.
    """

    index: int
    report: Report
    done: int
    total: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use, and how it is run."""

    time_limit: float
    memory_limit: int
    prelude: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.time_limit < 1e6:
            raise ValueError(f"time_limit must be a positive number of seconds, not {self.time_limit!r}")
        if self.memory_limit < 0:
            raise ValueError(f"memory_limit must be a number of bytes, 0 for none, not {self.memory_limit!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a worker says that one test ended; `main` is standard output or a function's value."""

    status: int = 0
    killed: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    main: bytes = b""
    stderr: bytes = b""
    bad_test: str = ""
    internal: str = ""


class _WorkerDiedError(Exception):
    """The worker is gone, or says what it should not."""


class Pool:
    """Workers that judge; safe to use from many threads at once.

    Args:
        workers: how many programs run at the same time; None means one per core.
        sandbox: `auto`, `bwrap` or `limits`; None reads `LCB_SANDBOX`.
    """

    def __init__(self, workers: int | None = None, *, sandbox: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"a pool needs at least one worker, not {workers}")
        self.workers = workers or _cores()
        self.sandbox = sandbox
        self._free = threading.Condition()
        self._idle: list[Confined] = []
        self._busy: set[Confined] = set()
        self._started = 0
        self._closed = False
        self._keeper = _Keeper()
        _pools.add(self)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def judge(
        self,
        code: str,
        problem: Problem,
        *,
        time_limit: float = 6.0,
        memory_limit: int | None = None,
        tests: TestsWanted = "hidden",
        stop_on_failure: bool = False,
        prelude: bool = True,
    ) -> Report:
        """Judge one program; see `lcbkit.judge`."""
        limits = Limits(time_limit=time_limit, memory_limit=memory_bytes(memory_limit), prelude=prelude)
        cases = _select(problem, tests)
        results: list[TestResult] = []
        todo = cases
        while todo:  # a functional and a stdin test in one list are two jobs
            mode = todo[0].mode
            count = next((i for i, case in enumerate(todo) if case.mode != mode), len(todo))
            function = problem.fn_name if mode == "functional" else ""
            if function is None:
                raise ValueError(f"problem {problem.id!r} has functional tests but no function name")
            for index, outcome in self._outcomes(code, function, todo[:count], limits, stop_on_failure):
                result = _result(len(cases) - len(todo) + index, todo[index], outcome, limits)
                results.append(result)
                if stop_on_failure and result.verdict not in (Verdict.PASSED, Verdict.BAD_TEST):
                    return Report(problem_id=problem.id, total=len(cases), results=tuple(results))
            todo = todo[count:]
        return Report(problem_id=problem.id, total=len(cases), results=tuple(results))

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
        case = TestCase(input=stdin, output="", mode="stdin")
        outcome = next(o for _, o in self._outcomes(code, "", [case], limits, True))
        if outcome.internal:
            raise SandboxError(f"the program could not be run: {outcome.internal}")
        return Execution(
            stdout=outcome.main.decode("utf-8", "replace"),
            stderr=outcome.stderr.decode("utf-8", "replace"),
            exit_code=outcome.status if outcome.status >= 0 else None,
            signal=-outcome.status if outcome.status < 0 else None,
            timed_out=outcome.killed == "time" or outcome.cpu > time_limit,
            wall_seconds=outcome.wall,
            cpu_seconds=outcome.cpu,
            memory_bytes=outcome.memory,
        )

    def close(self) -> None:
        """End all workers; judging calls that are running fail."""
        with self._free:
            self._closed = True
            workers = [*self._idle, *self._busy]
            self._idle.clear()
            self._free.notify_all()
        for worker in workers:
            worker.stop()
        self._keeper.close()

    def _outcomes(
        self, code: str, function: str, cases: Sequence[TestCase], limits: Limits, one_by_one: bool
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield how each test ended, in order; the second worker that dies on a test is the program's fault."""
        source = code.encode("utf-8", "surrogatepass")
        index = died = 0
        while index < len(cases):
            worker = self._take()
            healthy = False
            try:
                for outcome in _converse(worker, source, function, cases[index:], limits, one_by_one):
                    if outcome.internal and died < 1:
                        raise _WorkerDiedError(outcome.internal)
                    yield index, outcome
                    index, died = index + 1, 0
                healthy = True
            except (_WorkerDiedError, OSError, EOFError, ValueError) as error:
                if self._closed:
                    raise SandboxError("the pool was closed while it judged") from error
                died += 1
                if died == 2:
                    yield index, Outcome(status=1, stderr=b"the program ended the process that judged it")
                    index, died = index + 1, 0
            finally:
                self._give_back(worker, healthy)

    def _take(self) -> Confined:
        with self._free:
            while not self._closed and not self._idle and self._started >= self.workers:
                self._free.wait()
            if self._closed:
                raise SandboxError("the pool is closed; make another one")
            if self._idle:
                idle = self._idle.pop()
                self._busy.add(idle)
                return idle
            self._started += 1
        try:
            confinement, _ = self._keeper.call(lambda: choose(self.sandbox))
            worker: Confined = self._keeper.call(lambda: spawn(confinement, uid=unused_uid(next(_numbers))))
            await_ready(worker)
        except BaseException:
            with self._free:
                self._started -= 1
                self._free.notify()
            raise
        with self._free:
            self._busy.add(worker)
        return worker

    def _give_back(self, worker: Confined, healthy: bool) -> None:
        with self._free:
            self._busy.discard(worker)
            keep = healthy and not self._closed
            if keep:
                self._idle.append(worker)
            else:
                self._started -= 1
            self._free.notify()
        if not keep:
            worker.stop()


class _Keeper:
    """A thread that starts workers: they end with the thread that started them, so it must outlive them."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def call(self, function: Callable[[], Any]) -> Any:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lcbkit-judge", daemon=True)
                self._thread.start()
        future: Future[Any] = Future()
        self._calls.put((function, future))
        return future.result()

    def close(self) -> None:
        self._calls.put(None)

    def _run(self) -> None:
        while (item := self._calls.get()) is not None:
            function, future = item
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001  handed to the caller
                future.set_exception(error)


def _converse(
    worker: Confined,
    source: bytes,
    function: str,
    cases: Sequence[TestCase],
    limits: Limits,
    one_by_one: bool,
) -> Iterator[Outcome]:
    """Run a program's tests on a worker; the next test is on its way while the caller looks at the last."""
    sock = worker.sock
    sock.settimeout(_GRACE_SECONDS + limits.time_limit * 10)
    job = {
        "function": function,
        "time_limit": limits.time_limit,
        "memory_limit": limits.memory_limit,
        "prelude": limits.prelude,
        "output_limit": OUTPUT_BYTES,
        "file_limit": FILE_BYTES,
        "process_limit": PROCESSES,
    }
    send(sock, job, source)
    if "prepared" not in receive(sock)[0]:
        raise _WorkerDiedError("an unexpected message")
    sent = 0
    for index in range(len(cases)):
        while sent < len(cases) and sent - index < (1 if one_by_one else 3):
            fd = _input_file(cases[sent].input)
            try:
                send(sock, {"test": sent}, fds=(fd,))
            finally:
                os.close(fd)
            sent += 1
        header, blob, _ = receive(sock)
        main = header.pop("main", 0)
        outcome = Outcome(**header, main=blob[:main], stderr=blob[main:])
        if index == len(cases) - 1:
            send(sock, {"end": True})
        yield outcome


def _input_file(text: str) -> int:
    """An open file, at its start, that holds a text; it has no name."""
    fd = os.memfd_create("input")
    try:
        view = memoryview(text.encode("utf-8", "surrogatepass"))
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _result(index: int, case: TestCase, outcome: Outcome, limits: Limits) -> TestResult:
    verdict, actual, note = _verdict(case, outcome, limits)
    stderr = outcome.stderr.decode("utf-8", "replace")
    return TestResult(
        index=index,
        mode=case.mode,
        verdict=verdict,
        input=_cut(case.input),
        expected=_cut(case.output),
        actual=_cut(actual),
        stderr=_cut(stderr or note),
        exit_code=outcome.status if outcome.status >= 0 else None,
        signal=-outcome.status if outcome.status < 0 else None,
        wall_seconds=outcome.wall,
        cpu_seconds=outcome.cpu,
        memory_bytes=outcome.memory,
    )


def _verdict(case: TestCase, outcome: Outcome, limits: Limits) -> tuple[Verdict, str, str]:
    """Verdict, actual output, and a note for people where standard error is empty."""
    functional = case.mode == "functional"
    actual = "" if functional else outcome.main.decode("utf-8", "replace")
    if outcome.internal:
        return Verdict.INTERNAL_ERROR, actual, outcome.internal
    if outcome.bad_test:
        return Verdict.BAD_TEST, actual, outcome.bad_test
    if outcome.killed == "time" or outcome.cpu > limits.time_limit:
        return (
            Verdict.TIME_LIMIT,
            actual,
            f"stopped after {outcome.cpu:.2f} s of CPU time, {outcome.wall:.2f} s elapsed",
        )
    if outcome.killed == "output":
        return Verdict.OUTPUT_LIMIT, actual, f"more than {OUTPUT_BYTES >> 20} MiB of output"
    if outcome.killed == "memory":
        return Verdict.MEMORY_LIMIT, actual, f"more than {limits.memory_limit >> 20} MiB of memory"
    if outcome.status:
        if limits.memory_limit and _OUT_OF_MEMORY.search(outcome.stderr.rstrip().rpartition(b"\n")[2]):
            return Verdict.MEMORY_LIMIT, actual, ""
        return Verdict.RUNTIME_ERROR, actual, f"ended by exit status {outcome.status}"
    if functional:
        return _judge_value(case, outcome)
    return (Verdict.PASSED if same_output(actual, case.output) else Verdict.WRONG_ANSWER), actual, ""


_OUT_OF_MEMORY = re.compile(rb"^(?:[\w.]*\.)?\w*MemoryError\b")


def _judge_value(case: TestCase, outcome: Outcome) -> tuple[Verdict, str, str]:
    if not outcome.main.endswith(b"\n"):
        return Verdict.RUNTIME_ERROR, "", "the program ended before its function returned"
    try:
        expected = parse_json(case.output)
    except ValueError as error:
        return Verdict.BAD_TEST, "", f"the expected output is not JSON: {error}"
    if (
        len(outcome.main) > 64 * len(case.output) + 65_536
    ):  # cannot be equal; decoding it could take gigabytes
        return Verdict.WRONG_ANSWER, outcome.main[1:KEPT_CHARACTERS].decode("ascii", "replace"), ""
    value = decode_value(outcome.main[:-1])
    verdict = Verdict.PASSED if same_value(value, expected) else Verdict.WRONG_ANSWER
    try:
        actual = repr(value)
    except (ValueError, RecursionError):
        actual = outcome.main[1:-1].decode("ascii", "replace")
    return verdict, actual, ""


def _cut(text: str) -> str:
    if len(text) <= KEPT_CHARACTERS:
        return text
    half = KEPT_CHARACTERS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters are missing here ...]\n{text[-half:]}"


def _select(problem: Problem, tests: TestsWanted) -> Sequence[TestCase]:
    if not isinstance(tests, str):
        return tuple(tests)
    if tests == "hidden":
        return problem.hidden_tests
    if tests == "all":
        return (*problem.public_tests, *problem.hidden_tests)
    raise ValueError(f"tests={tests!r}; say 'hidden', 'all', or give a sequence of TestCase")


def memory_bytes(limit: int | None) -> int:
    """The memory limit that a program gets; None takes `LCB_FUNCTIONAL_MEMORY_BYTES`, else 4 GiB.

    Raises:
        ValueError: the variable holds no number.
    """
    if limit is not None:
        return limit
    text = os.environ.get("LCB_FUNCTIONAL_MEMORY_BYTES", "")
    try:
        return int(text) if text else DEFAULT_MEMORY_BYTES
    except ValueError:
        raise ValueError(f"LCB_FUNCTIONAL_MEMORY_BYTES={text!r} is not a number of bytes") from None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_numbers = iter(range(1, 1 << 62))
_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()
_default: Pool | None = None
_default_lock = threading.Lock()


def default_pool() -> Pool:
    """The pool that the module's functions share; it is started when first used and ends with the process."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Pool()
            atexit.register(_default.close)
        return _default


def judge(
    code: str,
    problem: Problem,
    *,
    time_limit: float = 6.0,
    memory_limit: int | None = None,
    tests: TestsWanted = "hidden",
    stop_on_failure: bool = False,
    prelude: bool = True,
) -> Report:
    """Judge a program against a problem's tests.

    Args:
        code: the program's text.
        problem: the problem; its `fn_name` is what functional tests call.
        time_limit: CPU seconds for each test's whole process tree; idle time may be one second more.
        memory_limit: bytes for each process, 0 for none; None: `LCB_FUNCTIONAL_MEMORY_BYTES`, else 4 GiB.
        tests: `hidden`, `all` (public too), or the test cases themselves.
        stop_on_failure: leave out the tests after the first that does not pass.
        prelude: put LiveCodeBench's imports in scope, as its checker does.

    Returns:
        A report; a wrong, crashing or endless program is a verdict, never an exception.

    Raises:
        SandboxError: no worker could be started.
        ValueError: a limit that makes no sense, or a functional test without a function name.
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


def judge_many(
    pairs: Iterable[tuple[str, Problem]],
    *,
    workers: int | None = None,
    progress: bool | Callable[[JudgeEvent], object] = True,
    **options: Any,
) -> list[Report]:
    """Judge many programs in parallel.

    Args:
        pairs: program and problem.
        workers: programs at the same time; None shares the process's pool, one per core.
        progress: a bar on standard error, or a callback on `JudgeEvent` that may return `"stop"`.
        **options: as in `judge`.

    Returns:
        Reports in input order; after a `"stop"` those that are finished.
    """
    reports = dict(iter_judge(pairs, workers=workers, progress=progress, **options))
    return [reports[index] for index in sorted(reports)]


def iter_judge(
    pairs: Iterable[tuple[str, Problem]],
    *,
    workers: int | None = None,
    progress: bool | Callable[[JudgeEvent], object] = False,
    **options: Any,
) -> Iterator[tuple[int, Report]]:
    """Judge many programs in parallel, yield `(index, report)` as they finish; arguments as in `judge_many`."""
    total = len(pairs) if isinstance(pairs, Sized) else None
    pool = default_pool() if workers is None else Pool(workers)
    feed = enumerate(pairs)
    running: dict[Future[Report], int] = {}
    done = 0
    with contextlib.ExitStack() as stack:
        if workers is not None:
            stack.callback(pool.close)
        threads = stack.enter_context(ThreadPoolExecutor(pool.workers))
        report_progress = _progress(progress, total, stack)
        while True:
            while len(running) < 2 * pool.workers and (item := next(feed, None)) is not None:
                index, (code, problem) = item
                running[threads.submit(pool.judge, code, problem, **options)] = index
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                index = running.pop(future)
                report = future.result()
                done += 1
                yield index, report
                if report_progress(JudgeEvent(index=index, report=report, done=done, total=total)) == "stop":
                    return


def _progress(
    progress: bool | Callable[[JudgeEvent], object], total: int | None, stack: contextlib.ExitStack
) -> Callable[[JudgeEvent], object]:
    if callable(progress):
        return progress
    if not progress:
        return lambda _: None
    from tqdm.auto import tqdm

    bar = stack.enter_context(tqdm(total=total, desc="judging", unit="program"))
    return lambda _: bar.update()


def run_python(
    code: str,
    stdin: str = "",
    *,
    time_limit: float = 10.0,
    memory_limit: int | None = None,
    prelude: bool = True,
) -> Execution:
    """Run a program in the judge's sandbox, with the same prelude and limits, and tell what it printed."""
    return default_pool().run_python(
        code, stdin, time_limit=time_limit, memory_limit=memory_limit, prelude=prelude
    )
