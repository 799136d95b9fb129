"""A team on many problems: generation and judging side by side, a record for each finished instance."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from lcbkit.errors import BadValueError, LcbkitError, NothingToDoError
from lcbkit.judging.pool import Pool, memory_bytes
from lcbkit.problems import Problem
from lcbkit.records import Record, Status
from lcbkit.results import Run
from lcbkit.run_config import describe_run, now, run_files
from lcbkit.run_folder import RunFolder
from lcbkit.run_progress import InstanceFinished, Listener, Progress, RunFinished, RunStarted, listening
from lcbkit.run_records import (
    failed_record,
    judged_record,
    new_record,
    solved_record,
    stored_report,
    unjudged_record,
)
from lcbkit.topologies.team import Team
from lcbkit.waiting import run_sync, waking

__all__ = ["aevaluate", "evaluate"]

Key = tuple[str, int]


def evaluate(
    team: Team,
    problems: Sequence[Problem],
    *,
    out_dir: str | Path | None = None,
    out: str | Path | None = None,
    samples: int = 1,
    seed: int = 0,
    concurrency: int = 4,
    judge_workers: int | None = None,
    time_limit: float = 6.0,
    memory_limit: int | None = None,
    tests: Literal["hidden", "all"] = "hidden",
    stop_on_failure: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    retry_errors: bool = False,
    progress: Progress = True,
    max_infra_rate: float = 0.1,
) -> Run:
    """Run a team on problems, judge its programs, and keep a record of each; the same call again resumes.

    Works in a script and in a notebook cell; `await aevaluate(...)` is the same for code that has a loop.

    Args:
        team: from `build_team`.
        problems: from `load_problems`.
        out_dir: the run's folder; None makes one below `runs/`, named by dataset, team and model.
        out: a file for the predictions instead; the other files go beside it.
        samples: submissions per problem.
        seed: of the first agent in the first sample.
        concurrency: model calls in flight at one time, over all problems.
        judge_workers: programs judged at one time; None means one per core.
        time_limit: CPU seconds per test.
        memory_limit: bytes per test, 0 for no limit; None takes `LCB_FUNCTIONAL_MEMORY_BYTES`, else 4 GiB.
        tests: `hidden`, or `all` for the public ones too.
        stop_on_failure: leave out the tests of a program after its first failed one.
        resume: take up what the folder holds; False refuses a folder with records.
        overwrite: throw away what the folder holds.
        retry_errors: when resuming, run agent_error instances again, as infra_error ones always are.
        progress: True for a bar on standard error; a function gets each event and may return "stop".
        max_infra_rate: share of infra_error instances above which the run's table says that it is no score.

    Returns:
        The run of these problems and samples; a part of them if a callback said "stop". The folder keeps what
        it holds of others.

    Raises:
        NothingToDoError: no problems.
        BadValueError: an argument outside of its range.
        RunFolderError: a folder of another configuration, in use, or not writable.
        KeyboardInterrupt: on Ctrl-C; finished instances and the summary are saved.
    """
    return run_sync(
        lambda: aevaluate(
            team,
            problems,
            out_dir=out_dir,
            out=out,
            samples=samples,
            seed=seed,
            concurrency=concurrency,
            judge_workers=judge_workers,
            time_limit=time_limit,
            memory_limit=memory_limit,
            tests=tests,
            stop_on_failure=stop_on_failure,
            resume=resume,
            overwrite=overwrite,
            retry_errors=retry_errors,
            progress=progress,
            max_infra_rate=max_infra_rate,
        )
    )


async def aevaluate(
    team: Team,
    problems: Sequence[Problem],
    *,
    out_dir: str | Path | None = None,
    out: str | Path | None = None,
    samples: int = 1,
    seed: int = 0,
    concurrency: int = 4,
    judge_workers: int | None = None,
    time_limit: float = 6.0,
    memory_limit: int | None = None,
    tests: Literal["hidden", "all"] = "hidden",
    stop_on_failure: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    retry_errors: bool = False,
    progress: Progress = True,
    max_infra_rate: float = 0.1,
) -> Run:
    """`evaluate` for code that runs in an event loop; a cancel saves what is finished."""
    _check(
        problems,
        tests=tests,
        time_limit=time_limit,
        samples=samples,
        concurrency=concurrency,
        judge_workers=judge_workers,
    )
    limits = {
        "time_limit": time_limit,
        "memory_limit": memory_bytes(memory_limit),
        "tests": tests,
        "stop_on_failure": stop_on_failure,
    }
    # In a thread: to say what confines programs here, a worker is started.
    config = await asyncio.to_thread(describe_run, team.describe(), problems, seed=seed, judging=limits)
    config |= {"samples": samples, "max_infra_rate": max_infra_rate}
    wanted = {(problem.id, sample): problem for sample in range(samples) for problem in problems}
    files = run_files(config["settings"], out_dir, out)
    with (
        RunFolder.open(files, config, resume=resume, overwrite=overwrite) as folder,
        listening(progress) as tell,
    ):
        batch = _Batch(
            team=team,
            settings=config["settings"],
            wanted=wanted,
            folder=folder,
            tell=tell,
            concurrency=concurrency,
            pool=Pool(workers=judge_workers),
            redo=_REDO | {Status.AGENT_ERROR} if retry_errors else _REDO,
        )
        try:
            async with waking():
                await batch.run()
        finally:
            config["ended"] = now()
            folder.close_run(config)
        run = Run(batch.finished(), config, files)
        tell(RunFinished(summary=run.summary(), stopped=batch.stopped))
        return run


_REDO = frozenset({Status.INFRA_ERROR, Status.JUDGE_ERROR})


def _check(problems: Sequence[Problem], *, tests: str, time_limit: float, **counts: int | None) -> None:
    if not problems:
        raise NothingToDoError("there is no problem to run; loosen the filters")
    if tests not in ("hidden", "all"):
        raise BadValueError(f"tests is {tests!r}; a batch judges with 'hidden' or 'all'")
    if not time_limit > 0:
        raise BadValueError(f"time_limit is {time_limit}; it must be a number of seconds above 0")
    for name, count in counts.items():
        if count is not None and count < 1:
            raise BadValueError(f"{name} is {count}; it must be at least 1")


@dataclass(kw_only=True)
class _Batch:
    """One call of `evaluate` at work, in one event loop."""

    team: Team
    settings: dict[str, Any]
    wanted: dict[Key, Problem]
    folder: RunFolder
    tell: Listener
    concurrency: int
    pool: Pool
    redo: frozenset[Status]
    stopped: bool = False

    def __post_init__(self) -> None:
        self._gate = asyncio.Semaphore(self.concurrency)
        # A few more rollouts than model calls: some are always busy with a tool or a hand-off.
        self._slots = asyncio.Semaphore(self.concurrency + max(2, self.concurrency // 2))
        self._backlog = asyncio.Semaphore(8 * self.pool.workers)
        self._solving: set[asyncio.Task[None]] = set()
        self._failure: Exception | None = None
        done = self.finished()
        self._done = sum(record.status not in self.redo for record in done)
        self._passed = sum(record.passed for record in done)
        self._scored = sum(record.scored for record in done if record.status not in self.redo)

    def finished(self) -> list[Record]:
        """The records of the wanted instances, in order, as far as they exist."""
        return [self.folder.latest[key] for key in self.wanted if key in self.folder.latest]

    async def run(self) -> None:
        """Solve and judge what is not finished, until all is or a listener says stop."""
        todo = [key for key in self.wanted if self._is_open(key)]
        self._emit(
            RunStarted(
                where=str(self.folder.files),
                keys=tuple(self.wanted),
                records=tuple(record for record in self.finished() if record.status not in self.redo),
                **self._counts(),
            )
        )
        if not todo or self.stopped:
            return
        # The pool closes first, so that no thread still waits for a verdict when the threads are awaited.
        with ThreadPoolExecutor(self.pool.workers, "lcbkit-judge") as threads, self.pool as pool:
            async with asyncio.TaskGroup() as group:
                await self._start_all(
                    todo, group, _Judge(pool, threads, self.settings["judging"], self.folder)
                )
        if self._failure is not None:
            raise self._failure

    def _is_open(self, key: Key) -> bool:
        return key not in self.folder.latest or self.folder.latest[key].status in self.redo

    async def _start_all(self, todo: list[Key], group: asyncio.TaskGroup, judge: "_Judge") -> None:
        for key in todo:
            await self._slots.acquire()
            if self.stopped:
                return
            task = group.create_task(self._guarded(key, judge))
            self._solving.add(task)
            task.add_done_callback(self._solving.discard)

    async def _guarded(self, key: Key, judge: "_Judge") -> None:
        try:
            await self._finish_instance(key, judge)
        except Exception as error:  # noqa: BLE001 - raised again when the programs in the judge have their verdicts
            self._failure = self._failure or error
            self._halt()

    async def _finish_instance(self, key: Key, judge: "_Judge") -> None:
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
        """The instance's record without a verdict: the stored program of a judge error, else a rollout."""
        old = self.folder.latest.get(key)
        if old and old.status is Status.JUDGE_ERROR and old.code is not None:
            return replace(old, status=Status.OK, error=None)
        problem, sample = self.wanted[key], key[1]
        record = new_record(problem, sample, self.settings)
        started = time.perf_counter()
        try:
            answer = await self.team.asolve(
                problem, seed=self.settings["seed"], sample=sample, gate=self._gate
            )
        except LcbkitError:
            raise  # wrong use or a missing thing: the next instance would meet it as well
        except Exception as error:  # noqa: BLE001 - it goes into this instance's record
            return failed_record(record, error, time.perf_counter() - started)
        record = solved_record(record, answer, time.perf_counter() - started)
        texts = {"id": problem.id, "sample": sample, **answer.to_dict()}
        await asyncio.to_thread(self.folder.write_trajectory, key, texts)
        return record

    def _keep(self, record: Record) -> None:
        self.folder.append(record)
        self._done += 1
        self._passed += record.passed
        self._scored += record.scored
        self._emit(InstanceFinished(record=record, **self._counts()))

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


@dataclass(frozen=True)
class _Judge:
    """Judges off the event loop, as many programs at a time as the pool has workers."""

    pool: Pool
    threads: ThreadPoolExecutor
    limits: Mapping[str, Any]
    folder: RunFolder

    async def __call__(self, record: Record, problem: Problem) -> Record:
        work = partial(self._judge, record, problem)
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    def _judge(self, record: Record, problem: Problem) -> Record:
        started = time.perf_counter()
        try:
            report = self.pool.judge(record.code or "", problem, **self.limits)
        except Exception as error:  # noqa: BLE001 - the judge's failure is not the program's and not the batch's
            return unjudged_record(record, error, time.perf_counter() - started)
        judged = judged_record(record, report, time.perf_counter() - started)
        self.folder.write_report(record.key, stored_report(report))
        return judged


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task
