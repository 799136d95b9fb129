"""Who does the work of a batch: where its rollouts happen, and who judges them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from lcbkit.problems import Problem
from lcbkit.records import Record
from lcbkit.runs.batch import Key, Programs
from lcbkit.runs.folder import RunFolder
from lcbkit.runs.judges import Judges, judges_here
from lcbkit.runs.rollouts import roll_out
from lcbkit.topologies.team import Team

__all__ = ["Hands", "Task", "hands_here"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be done.

    Attributes:
        team: who solves.
        wanted: the instances.
        settings: of the run.
        folder: where the texts of the team's work go.
        concurrency: model calls in flight at one time.
    """

    team: Team
    wanted: Mapping[Key, Problem]
    settings: Mapping[str, Any]
    folder: RunFolder
    concurrency: int


@dataclass(frozen=True, kw_only=True)
class Hands:
    """Who does it, as `Batch` takes it.

    Attributes:
        programs: gives an instance's record without a verdict.
        judges: give the verdicts.
    """

    programs: Programs
    judges: Judges


@asynccontextmanager
async def hands_here(task: Task, judge_workers: int | None) -> AsyncIterator[Hands]:
    """This process and its judge workers."""
    programs = _Rollouts(task, asyncio.Semaphore(task.concurrency))
    yield Hands(programs=programs, judges=judges_here(judge_workers))


@dataclass(frozen=True)
class _Rollouts:
    """Programs as the team writes them in this process."""

    task: Task
    gate: asyncio.Semaphore

    async def __call__(self, key: Key) -> Record:
        """The instance's record without a verdict."""
        task = self.task
        record, texts = await roll_out(
            task.team, task.wanted[key], key[1], settings=task.settings, gate=self.gate
        )
        if texts is not None:
            await asyncio.to_thread(task.folder.write_trajectory, key, texts)
        return record
