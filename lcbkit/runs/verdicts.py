"""The judge of a batch: records go in with their programs and come back with verdicts, equal ones once."""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

from lcbkit.judging.pool import Pool
from lcbkit.judging.report import Report
from lcbkit.judging.reuse import is_steady, may_repeat
from lcbkit.judging.shelf import Shelf
from lcbkit.problems import Problem
from lcbkit.records import Record
from lcbkit.runs.folder import RunFolder
from lcbkit.runs.instances import judged_record, kept_report, unjudged_record
from lcbkit.runs.judge_cache import Finding, JudgeCache

__all__ = ["BatchJudge", "Elsewhere"]

T = TypeVar("T")


class Elsewhere(Protocol):
    """Judges that are not in this process."""

    async def judge(
        self,
        code: str,
        problem: Problem,
        options: dict[str, Any],
        *,
        trim: Callable[[Report], Report] | None = None,
    ) -> tuple[Report, float]:
        """The report, cut by a module's function where it was made, and the seconds that it took."""

    def forget(self, problem: Problem) -> None:
        """No more programs of a problem come."""


class BatchJudge:
    """Judges off the event loop; an equal program of the same problem takes over the finding of the first.

    A finding is taken over only where it hangs on nothing but program and tests (`judging/reuse.py`), so that
    records are the same as if each program had been judged.

    Args:
        pool: the workers.
        threads: as many as the pool has workers.
        limits: how programs are judged, as `Pool.judge` takes it.
        folder: where reports go.
        cache: True for findings of this batch, a cache for those on disk as well, False for none.
        elsewhere: judges of a cluster, in place of the pool.

    Attributes:
        judged: programs that were judged.
        taken_over: programs that had an equal one's finding.
    """

    def __init__(
        self,
        pool: Pool,
        threads: ThreadPoolExecutor,
        limits: Mapping[str, Any],
        folder: RunFolder,
        *,
        cache: bool | JudgeCache = True,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._pool, self._threads, self._limits, self._folder = pool, threads, limits, folder
        self._reuses = cache is not False
        self._cache = cache if isinstance(cache, JudgeCache) else None
        self._elsewhere = elsewhere
        self._shelf = Shelf()
        self._firsts: dict[str, dict[str, asyncio.Future[Finding | None]]] = {}  # by problem and program
        self.judged = self.taken_over = 0

    async def __call__(self, record: Record, problem: Problem) -> Record:
        """The record with its verdict; the report is on disk then."""
        code = record.code or ""
        if not self._reuses or not may_repeat(code):
            return (await self._judge(record, problem, reuses=False))[0]
        firsts = self._firsts.setdefault(problem.id, {})
        if code in firsts:
            finding = await asyncio.shield(firsts[code])
            if finding is not None:
                self.taken_over += 1
                return await self._off_loop(partial(self._take_over, record, finding))
            return (await self._judge(record, problem, reuses=False))[0]
        first = firsts[code] = asyncio.get_running_loop().create_future()
        finding = None
        try:
            record, finding = await self._judge(record, problem, reuses=True)
        finally:
            first.set_result(finding)
        return record

    def forget(self, problem: Problem) -> None:
        """Drop what is held of a problem: no more programs of it come."""
        self._firsts.pop(problem.id, None)
        self._shelf.forget(problem)
        if self._elsewhere is not None:
            self._elsewhere.forget(problem)

    async def _off_loop(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _judge(
        self, record: Record, problem: Problem, *, reuses: bool
    ) -> tuple[Record, Finding | None]:
        if self._elsewhere is not None:
            record, finding, fresh = await self._ask(self._elsewhere, record, problem, reuses)
        else:
            record, finding, fresh = await self._off_loop(partial(self._find, record, problem, reuses))
        self.judged += fresh
        self.taken_over += not fresh
        return record, finding

    def _find(self, record: Record, problem: Problem, reuses: bool) -> tuple[Record, Finding | None, bool]:
        """The judged record, the finding if it holds for equal programs, and whether the program was run."""
        started, code, key = time.perf_counter(), record.code or "", None
        try:
            with self._shelf.tests(problem, self._limits["tests"]) as cases:
                if reuses and self._cache is not None:
                    key = self._cache.key(code, problem.id, problem.fn_name, cases, self._limits)
                    if (known := self._cache.get(key)) is not None:
                        return self._take_over(record, known), known, False
                report = self._pool.judge(code, problem, **{**self._limits, "tests": cases})
        except Exception as error:  # noqa: BLE001 - the judge's failure is not the program's and not the batch's
            return unjudged_record(record, error, time.perf_counter() - started), None, True
        finding = Finding(report=kept_report(report), seconds=time.perf_counter() - started)
        self._folder.write_report(record.key, finding.report.to_dict())
        judged = judged_record(record, report, finding.seconds)
        if not reuses or not is_steady(report, self._limits["time_limit"]):
            return judged, None, True
        if self._cache is not None and key is not None:
            self._cache.put(key, finding)
        return judged, finding, True

    async def _ask(
        self, elsewhere: Elsewhere, record: Record, problem: Problem, reuses: bool
    ) -> tuple[Record, Finding | None, bool]:
        """What `_find` gives, from judges elsewhere: the report comes cut, as it is kept."""
        started = time.perf_counter()
        try:
            found = await elsewhere.judge(record.code or "", problem, dict(self._limits), trim=kept_report)
        except Exception as error:  # noqa: BLE001 - as in `_find`
            return unjudged_record(record, error, time.perf_counter() - started), None, True
        finding = Finding(report=found[0], seconds=found[1])
        judged = await self._off_loop(lambda: self._take_over(record, finding))
        steady = reuses and is_steady(finding.report, self._limits["time_limit"])
        return judged, finding if steady else None, True

    def _take_over(self, record: Record, finding: Finding) -> Record:
        self._folder.write_report(record.key, finding.report.to_dict())
        return judged_record(record, finding.report, finding.seconds)
