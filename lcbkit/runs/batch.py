"""A batch at work: instances get their programs, their verdicts and their place on disk, side by side."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from lcbkit.judging.pool import Pool
from lcbkit.problems import Problem
from lcbkit.records import Record, Status
from lcbkit.runs.folder import RunFolder
from lcbkit.runs.judge_cache import JudgeCache
from lcbkit.runs.progress import InstanceFinished, Listener, RunStarted
from lcbkit.runs.verdicts import BatchJudge, Elsewhere

__all__ = ["GIVE_UP_AFTER", "REDO", "Batch", "Key", "Programs"]

GIVE_UP_AFTER = 10
"""So many infrastructure errors at the start of a batch, and nothing else, mean a dead endpoint."""

REDO = frozenset({Status.INFRA_ERROR, Status.JUDGE_ERROR})
"""What a resumed run does again."""

Key: TypeAlias = tuple[str, int]
Programs: TypeAlias = Callable[[Key], Awaitable[Record]]


@dataclass(kw_only=True)
class Batch:
    """Instances at work in one event loop: their programs are got, then judged, then kept.

    Attributes:
        programs: gives an instance's record without a verdict, its program in it.
        judging: how programs are judged, as `Pool.judge` takes it.
        wanted: the instances, in the order of the run; those of one problem are worked off together, so that
            its tests and its equal programs are at hand.
        folder: where finished ones are kept, those of earlier batches included.
        tell: what each event goes to; its "stop" ends the batch.
        slots: instances at work at one time before they are judged.
        pool: the judge's workers; closed with the batch.
        redo: statuses that do not count as finished.
        gives_up: whether infrastructure errors alone end the batch early.
        judge_cache: as `BatchJudge` takes it.
        elsewhere: judges of a cluster; the pool then starts no worker, and only says how many they are.
        stopped: whether the batch ended before all was finished.
        gave_up: why it ended by itself, if it did.
        verdicts: programs that were `judged`, and those that had the verdict `taken_over` of an equal one.
    """

    programs: Programs
    judging: Mapping[str, Any]
    wanted: Mapping[Key, Problem]
    folder: RunFolder
    tell: Listener
    slots: int
    pool: Pool
    redo: frozenset[Status] = REDO
    gives_up: bool = True
    judge_cache: bool | JudgeCache = True
    elsewhere: Elsewhere | None = None
    stopped: bool = False
    gave_up: str | None = None
    verdicts: dict[str, int] = field(default_factory=lambda: {"judged": 0, "taken_over": 0})

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.slots)
        self._backlog = asyncio.Semaphore(8 * self.pool.workers)
        self._solving: set[asyncio.Task[None]] = set()
        self._failure: Exception | None = None
        self._outages = (
            0 if self.gives_up else None
        )  # from the start of the batch; None once anything else has come
        done = self.finished()
        self._done = sum(record.status not in self.redo for record in done)
        self._passed = sum(record.passed for record in done)
        self._scored = sum(record.scored for record in done if record.status not in self.redo)

    def finished(self) -> list[Record]:
        """The records of the wanted instances, in order, as far as they exist."""
        return [self.folder.latest[key] for key in self.wanted if key in self.folder.latest]

    async def run(self) -> None:
        """Solve and judge what is not finished, until all is or a listener says stop."""
        todo = self._todo()
        self._emit(
            RunStarted(
                where=str(self.folder.files),
                keys=tuple(self.wanted),
                records=tuple(record for record in self.finished() if record.status not in self.redo),
                stop=partial(asyncio.get_running_loop().call_soon_threadsafe, self._halt),
                **self._counts(),
            )
        )
        if not todo or self.stopped:
            return
        # The pool closes first, so that no thread still waits for a verdict when the threads are awaited.
        with ThreadPoolExecutor(self.pool.workers, "lcbkit-judge") as threads, self.pool as pool:
            judge = BatchJudge(
                pool, threads, self.judging, self.folder, cache=self.judge_cache, elsewhere=self.elsewhere
            )
            try:
                async with asyncio.TaskGroup() as group:
                    await self._start_all(todo, group, judge)
            finally:
                self.verdicts = {"judged": judge.judged, "taken_over": judge.taken_over}
        if self._failure is not None:
            raise self._failure

    def _todo(self) -> list[Key]:
        """What is not finished, all samples of a problem in a row."""
        place = {problem_id: i for i, problem_id in enumerate(dict.fromkeys(name for name, _ in self.wanted))}
        todo = sorted(filter(self._is_open, self.wanted), key=lambda key: place[key[0]])
        self._open = Counter(problem_id for problem_id, _ in todo)
        return todo

    def _is_open(self, key: Key) -> bool:
        return key not in self.folder.latest or self.folder.latest[key].status in self.redo

    async def _start_all(self, todo: list[Key], group: asyncio.TaskGroup, judge: BatchJudge) -> None:
        for key in todo:
            await self._slots.acquire()
            if self.stopped:
                return
            task = group.create_task(self._guarded(key, judge))
            self._solving.add(task)
            task.add_done_callback(self._solving.discard)

    async def _guarded(self, key: Key, judge: BatchJudge) -> None:
        try:
            await self._finish_instance(key, judge)
            self._open[key[0]] -= 1
            if not self._open[key[0]]:
                judge.forget(self.wanted[key])
        except Exception as error:  # noqa: BLE001 - raised again when the programs in the judge have their verdicts
            self._failure = self._failure or error
            self._halt()

    async def _finish_instance(self, key: Key, judge: BatchJudge) -> None:
        try:
            record = await self._program(key)
            self._solving.discard(_this_task())  # from here on a stop waits for the verdict
            if record.status is Status.OK:
                await self._backlog.acquire()
        finally:
            self._slots.release()
        if record.status is Status.OK:
            try:
                record = await judge(record, self.wanted[key])
            finally:
                self._backlog.release()
        self._keep(record)

    async def _program(self, key: Key) -> Record:
        """The instance's record without a verdict; a judge error keeps its program, so that one is taken."""
        old = self.folder.latest.get(key)
        if old and old.status is Status.JUDGE_ERROR and old.code is not None:
            return replace(old, status=Status.OK, error=None)
        return await self.programs(key)

    def _keep(self, record: Record) -> None:
        self.folder.append(record)
        self._done += 1
        self._passed += record.passed
        self._scored += record.scored
        self._emit(InstanceFinished(record=record, **self._counts()))
        if self._outages is not None:
            self._outages = self._outages + 1 if record.status is Status.INFRA_ERROR else None
        if self._outages == GIVE_UP_AFTER and self._done < len(self.wanted):
            self.gave_up = (
                f"the first {GIVE_UP_AFTER} instances all ended in infrastructure errors ({record.error}), "
                "so the others were not tried"
            )
            self._halt()

    def _counts(self) -> dict[str, int]:
        return {
            "total": len(self.wanted),
            "done": self._done,
            "passed": self._passed,
            "scored": self._scored,
        }

    def _emit(self, event: RunStarted | InstanceFinished) -> None:
        if self.tell(event) == "stop":
            self._halt()

    def _halt(self) -> None:
        """Start nothing more, give up what has no program yet, and let the judge finish."""
        if self.stopped:
            return
        self.stopped = True
        for task in tuple(self._solving):
            task.cancel()
        self._slots.release()  # a task cancelled before its first step gives no place back


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task
