"""Judging many programs: in parallel, equal ones once, with progress, here or on a cluster."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lcbkit.display.bar import Bar
from lcbkit.errors import BadValueError
from lcbkit.judging.pool import TIME_LIMIT, Pool, default_pool
from lcbkit.judging.report import Report
from lcbkit.judging.reuse import iter_once
from lcbkit.judging.shelf import Tests
from lcbkit.problems import Problem

if TYPE_CHECKING:
    from lcbkit.judging.remote import ClusterPool

__all__ = ["JudgeEvent", "iter_judge", "judge_many"]


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


Progress: TypeAlias = bool | Callable[[JudgeEvent], object]


def judge_many(
    pairs: Iterable[tuple[str, Problem]],
    *,
    workers: int | None = None,
    progress: Progress = True,
    time_limit: float = TIME_LIMIT,
    memory_limit: int | None = None,
    tests: Tests = "hidden",
    stop_on_failure: bool = False,
    prelude: bool = True,
    judge_cache: bool = True,
    engine: Any = None,
) -> list[Report]:
    """Judge many programs in parallel.

    Args:
        pairs: program and problem.
        workers: programs at the same time; None shares the process's pool, one per core.
        progress: a bar on standard error, or a callback on `JudgeEvent` that may return `"stop"`.
        time_limit: as in `judge`, and the next four.
        memory_limit: bytes for each process.
        tests: `hidden`, `all`, or the test cases themselves, the same for every pair.
        stop_on_failure: leave out a program's tests after the first that does not pass.
        prelude: put LiveCodeBench's imports in scope.
        judge_cache: judge programs of a problem that are equal to the letter once and give each that report,
            unless its verdicts hang on time, memory or chance; False judges every one.
        engine: `dask`, a `distributed.Client` or a scheduler's address: judge on that cluster, on each worker
            as many programs at a time as it has threads.

    Returns:
        Reports in input order; after a `"stop"` those that are finished.

    Raises:
        EngineError: a cluster that cannot be used.
        SandboxError, BadValueError, ValueError: as in `judge`.
    """
    reports = dict(
        iter_judge(
            pairs,
            workers=workers,
            progress=progress,
            time_limit=time_limit,
            memory_limit=memory_limit,
            tests=tests,
            stop_on_failure=stop_on_failure,
            prelude=prelude,
            judge_cache=judge_cache,
            engine=engine,
        )
    )
    return [reports[index] for index in sorted(reports)]


def iter_judge(
    pairs: Iterable[tuple[str, Problem]],
    *,
    workers: int | None = None,
    progress: Progress = False,
    time_limit: float = TIME_LIMIT,
    memory_limit: int | None = None,
    tests: Tests = "hidden",
    stop_on_failure: bool = False,
    prelude: bool = True,
    judge_cache: bool = True,
    engine: Any = None,
) -> Iterator[tuple[int, Report]]:
    """Judge many programs in parallel, yield `(index, report)` as they finish; arguments: `judge_many`."""
    total = len(pairs) if isinstance(pairs, Sized) else None
    with ExitStack() as stack:
        pool = _pool(workers, engine, stack)
        tell = _listener(progress, total, stack)

        def judge_all(each: Iterable[tuple[str, Problem]]) -> Generator[tuple[int, Report], None, None]:
            return pool.iter_judge(
                each,
                time_limit=time_limit,
                memory_limit=memory_limit,
                tests=tests,
                stop_on_failure=stop_on_failure,
                prelude=prelude,
            )

        reports = iter_once(pairs, judge_all, time_limit=time_limit) if judge_cache else judge_all(pairs)
        found = stack.enter_context(closing(reports))
        for done, (index, report) in enumerate(found, 1):
            yield index, report
            if tell(JudgeEvent(index=index, report=report, done=done, total=total)) == "stop":
                return


def _pool(workers: int | None, engine: Any, stack: ExitStack) -> "Pool | ClusterPool":
    if engine is None:
        return default_pool() if workers is None else stack.enter_context(Pool(workers))
    if workers is not None:
        raise BadValueError(f"workers is {workers}, but a cluster has its own; leave out either it or engine")
    from lcbkit.judging.remote import ClusterPool

    return stack.enter_context(ClusterPool(engine))


def _listener(progress: Progress, total: int | None, stack: ExitStack) -> Callable[[JudgeEvent], object]:
    if callable(progress):
        return progress  # never entered as a context: a live view would call an unknown total cut short
    if not progress:
        return lambda _: None
    bar = stack.enter_context(Bar(total=total, desc="judging", unit="program"))
    return lambda _: bar.advance()
