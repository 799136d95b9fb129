"""Rollouts on a Dask cluster: each worker builds the team from names, and the records come back as values.

A rollout waits for a model nearly all of its time, so it holds none of its worker's threads: those are for
judging. All rollouts of a worker share one event loop, and all workers share one count of model calls.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lcbkit.cluster.connection import connected
from lcbkit.cluster.packages import Client, Semaphore, Worker, get_worker, secede
from lcbkit.cluster.work import Station, WorkLostError, done, station, stationed
from lcbkit.problems import Problem
from lcbkit.records import Record
from lcbkit.rows.stored import MemoryRow
from lcbkit.runs.batch import Key
from lcbkit.runs.hands import Hands, Task
from lcbkit.runs.instances import failed_record, new_record
from lcbkit.runs.judges import judges_of_cluster
from lcbkit.runs.rollouts import roll_out
from lcbkit.topologies.specification import TeamSpecification
from lcbkit.topologies.team import Team
from lcbkit.waiting import LoopThread

__all__ = ["RolloutStation", "TeamSpecification", "hands_on_cluster"]

Rolled = tuple[Record, dict[str, Any] | None]


@asynccontextmanager
async def hands_on_cluster(task: Task, engine: Any) -> AsyncIterator[Hands]:
    """The workers of a cluster; when the block ends, what they still do is dropped.

    Args:
        task: what is to be done.
        engine: as `connected` takes it.

    Raises:
        EngineError: the cluster cannot be used.
        ModelError: workers cannot make the team's model.
    """
    specification = TeamSpecification.of(task.team)
    async with connected(engine) as client, _gate(client, task.concurrency) as gate:
        station_of_team = RolloutStation(specification, task.settings, gate)
        async with judges_of_cluster(client) as judges, stationed(client, station_of_team) as place:
            yield Hands(programs=_RemoteRollouts(task, client, place), judges=judges)


@asynccontextmanager
async def _gate(client: Client, places: int) -> AsyncIterator[Semaphore]:
    """A count of model calls, kept by the scheduler; places of a worker that died come free after a while."""
    gate = await Semaphore(places, scheduler_rpc=client.scheduler, loop=client.loop)
    try:
        yield gate
    finally:
        with suppress(OSError, RuntimeError):  # the second: the scheduler is gone, which the work tells
            # A worker that died just now still holds places; the scheduler would warn of those.
            if not await gate.get_value():
                await gate.close()
            gate.refresh_callback.stop()


class RolloutStation(Station):
    """A team in a worker, and the loop that it works in.

    Args:
        specification: of the team.
        settings: of the run.
        gate: counts model calls in flight, over all workers.
    """

    def __init__(
        self, specification: TeamSpecification, settings: Mapping[str, Any], gate: Semaphore
    ) -> None:
        super().__init__()
        self._specification, self._settings = specification, settings
        self._places, self._gate_name = gate.max_leases, gate.name
        self._desk: _Desk | None = None

    def setup(self, worker: Worker) -> None:
        """Open the loop; the team is built for the first rollout."""
        super().setup(worker)
        gate = Semaphore(self._places, name=self._gate_name, scheduler_rpc=worker.scheduler, loop=worker.loop)
        self._desk = _Desk(self._specification, self._settings, gate, worker.loop.asyncio_loop)

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002 - Dask's signature
        """Cancel what still runs."""
        if self._desk is not None:
            await asyncio.to_thread(self._desk.close)

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:  # noqa: ARG002 - Dask's
        """Dask's word of what becomes of a task; one that nobody waits for any more is cancelled."""
        if self._desk is not None and finish in ("cancelled", "released", "forgotten"):
            self._desk.cancel(key)

    @property
    def desk(self) -> "_Desk":
        """Where rollouts are done in the worker that this is in."""
        assert self._desk is not None
        return self._desk


class _Desk:
    """Rollouts at work in one worker; called from its threads, a thread for each rollout."""

    def __init__(
        self,
        specification: TeamSpecification,
        settings: Mapping[str, Any],
        gate: Semaphore,
        gate_loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._specification, self._settings = specification, settings
        self._gate = _SharedGate(gate, gate_loop)
        self._loop = LoopThread("lcbkit-rollouts")
        self._building = threading.Lock()
        self._running: dict[Any, Future[Rolled]] = {}

    @cached_property
    def _team(self) -> Team:
        return self._specification.build()

    def roll_out(self, key: Any, problem: Problem, sample: int) -> Rolled:
        """One rollout, until it is done or cancelled."""
        with self._building:
            team = self._team
        work = roll_out(team, problem, sample, settings=self._settings, gate=self._gate)
        future = self._running[key] = self._loop.submit(work)
        if _is_unwanted(key):  # since before it was noted here
            future.cancel()
        try:
            return future.result()
        finally:
            self._running.pop(key, None)

    def cancel(self, key: Any) -> None:
        if (future := self._running.get(key)) is not None:
            future.cancel()

    def close(self) -> None:
        self._loop.close()
        self._gate.close()


class _SharedGate(asyncio.Semaphore):
    """A gate over all workers, for coroutines of another loop than the one that Dask lives in."""

    def __init__(self, semaphore: Semaphore, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._semaphore, self._loop_of_dask = semaphore, loop

    async def acquire(self) -> bool:  # type: ignore[override]
        """Wait for a place."""
        asked = asyncio.run_coroutine_threadsafe(self._acquire(), self._loop_of_dask)
        return bool(await asyncio.wrap_future(asked))

    def release(self) -> None:
        """Give the place back; does not wait until the scheduler knows."""
        asyncio.run_coroutine_threadsafe(self._release(), self._loop_of_dask)

    def close(self) -> None:
        """Stop to tell the scheduler that places are in use."""
        self._loop_of_dask.call_soon_threadsafe(self._semaphore.refresh_callback.stop)

    async def _acquire(self) -> Any:
        return await self._semaphore.acquire()

    async def _release(self) -> None:
        await self._semaphore.release()


@dataclass(frozen=True)
class _RemoteRollouts:
    """Programs as the team writes them on workers."""

    task: Task
    client: Client
    place: str

    async def __call__(self, key: Key) -> Record:
        """The instance's record without a verdict."""
        problem, sample = self.task.wanted[key], key[1]
        started = time.perf_counter()
        try:
            bare = replace(problem, stored=MemoryRow({}))  # agents see no hidden tests
            record, texts = await done(self.client, _roll_out, self.place, bare, sample)
        except WorkLostError as error:  # counted as an outage, so that the same call takes it up again
            empty = new_record(problem, sample, self.task.settings)
            return failed_record(empty, error, time.perf_counter() - started)
        if texts is not None:
            await asyncio.to_thread(self.task.folder.write_trajectory, key, texts)
        return record


def _roll_out(place: str, problem: Problem, sample: int) -> Rolled:
    """On a worker: one rollout, beside what its threads judge."""
    desk, key = station(RolloutStation, place).desk, get_worker().get_current_task()
    secede()
    return desk.roll_out(key, problem, sample)


def _is_unwanted(key: Any) -> bool:
    task = get_worker().state.tasks.get(key)
    return task is None or task.state in ("cancelled", "released", "forgotten")
