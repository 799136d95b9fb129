"""Judging on a Dask cluster: a pool in each worker, with as many workers of its own as that one has threads.

Hidden tests go to a worker packed, and only once; expected outputs stay in the worker's process, outside of
the sandbox, as they do here.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, replace
from typing import Any

from lcbkit.cluster.connection import connected
from lcbkit.cluster.packages import Client, Worker
from lcbkit.cluster.work import ParcelLostError, Parcels, Station, WorkLostError, done, station, stationed
from lcbkit.errors import EngineError
from lcbkit.judging.outcomes import memory_bytes
from lcbkit.judging.pool import Pool
from lcbkit.judging.report import Report
from lcbkit.judging.sandbox import sandbox_status
from lcbkit.judging.shelf import Tests
from lcbkit.problems import Problem
from lcbkit.rows.stored import MemoryRow
from lcbkit.waiting import LoopThread

__all__ = ["ClusterPool", "JudgeStation", "RemotePool", "remote_pool"]

_TRIES = 5
_LEAST_AHEAD = 32

Trim = Callable[[Report], Report]


class JudgeStation(Station):
    """A judge's pool in a worker.

    Args:
        sandbox: as in `Pool`; None leaves it to the worker's own `LCB_SANDBOX`.
    """

    def __init__(self, sandbox: str | None) -> None:
        super().__init__()
        self.sandbox = sandbox
        self._pool: Pool | None = None

    def setup(self, worker: Worker) -> None:
        """Make the pool; its processes start with the first program."""
        super().setup(worker)
        self._pool = Pool(worker.state.nthreads, sandbox=self.sandbox)

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002 - Dask's signature
        """End the pool's processes."""
        if self._pool is not None:
            await asyncio.to_thread(self._pool.close)

    @property
    def pool(self) -> Pool:
        """The pool of the worker that this is in."""
        assert self._pool is not None
        return self._pool


class RemotePool:
    """What `Pool` is here, on the workers of a cluster.

    Args:
        client: of this loop.
        place: the name of the workers' `JudgeStation`.
    """

    def __init__(self, client: Client, place: str) -> None:
        self._client, self._place = client, place
        self._parcels = Parcels(client)

    async def judge(
        self, code: str, problem: Problem, options: dict[str, Any], *, trim: Trim | None = None
    ) -> tuple[Report, float]:
        """Judge one program; on another worker if one dies with it.

        Args:
            code: the program.
            problem: the problem.
            options: as `Pool.judge` takes them, `memory_limit` in bytes.
            trim: a module's function that cuts the report before it travels.

        Returns:
            The report, and the seconds that it took.

        Raises:
            EngineError: worker after worker died, or the scheduler is gone.
            LcbkitError, ValueError: as `Pool.judge`.
        """
        tests = options.get("tests", "hidden")
        options = {name: value for name, value in options.items() if name != "tests"}
        kind, bare = tests if isinstance(tests, str) else None, replace(problem, stored=MemoryRow({}))
        for attempt in range(_TRIES):
            parcel = await self._parcel(problem, tests)
            try:
                return await done(self._client, _judge, self._place, code, bare, parcel, kind, options, trim)
            except WorkLostError as error:
                if not isinstance(error, ParcelLostError) or attempt == _TRIES - 1:
                    raise EngineError(
                        f"no worker of the cluster judged a program of problem {problem.id!r} to its end "
                        f"({error}); see the workers' logs"
                    ) from error
        raise AssertionError("the last attempt returns or raises")

    async def _parcel(self, problem: Problem, tests: Tests) -> Any:
        """The tests as they lie on a worker: packed, unless they were given one by one."""
        if isinstance(tests, str):
            return await self._parcels.sent(problem, lambda: _packed(problem))
        return await self._parcels.sent(tests, lambda: tuple(tests))

    def forget(self, problem: Problem) -> None:
        """Say that no more programs of a problem come, so that workers drop its tests."""
        self._parcels.drop(problem)

    async def confinement(self) -> dict[str, Any]:
        """What confines programs on the workers, as plain values; if they differ, where that is least."""
        addresses = await self._client.nthreads()
        found = await asyncio.gather(
            *(
                done(self._client, _confinement, self._place, workers=[address], allow_other_workers=True)
                for address in addresses
            )
        )
        return min(found, key=lambda status: (len(status["holds"]), status["tier"]))


@asynccontextmanager
async def remote_pool(client: Client) -> AsyncIterator[RemotePool]:
    """The workers' pools during the block; what confines programs is as `LCB_SANDBOX` says here."""
    async with stationed(client, JudgeStation(os.environ.get("LCB_SANDBOX"))) as place:
        yield RemotePool(client, place)


class ClusterPool:
    """What `Pool` is here, for callers that have no event loop: a context manager over a cluster.

    Args:
        engine: as `connected` takes it.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._stack = AsyncExitStack()
        self._ahead = _LEAST_AHEAD

    def __enter__(self) -> "ClusterPool":
        self._loop = LoopThread("lcbkit-cluster")
        try:
            self._pool = _outcome(self._loop.submit(self._open()))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            _outcome(self._loop.submit(self._stack.aclose()))
        finally:
            self._loop.close()

    def iter_judge(
        self, pairs: Iterable[tuple[str, Problem]], **options: Any
    ) -> Generator[tuple[int, Report], None, None]:
        """As `Pool.iter_judge`; pairs are taken as the cluster gets on."""
        options["memory_limit"] = memory_bytes(options.get("memory_limit"))
        feed, running = enumerate(pairs), dict[Future[tuple[Report, float]], int]()
        try:
            while True:
                while len(running) < self._ahead and (item := next(feed, None)) is not None:
                    index, (code, problem) = item
                    running[self._loop.submit(self._pool.judge(code, problem, options))] = index
                if not running:
                    return
                for future in wait(running, timeout=1.0, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()[0]
        finally:
            for future in running:
                future.cancel()

    async def _open(self) -> RemotePool:
        client = await self._stack.enter_async_context(connected(self._engine))
        self._ahead = max(_LEAST_AHEAD, 4 * sum((await client.nthreads()).values()))
        return await self._stack.enter_async_context(remote_pool(client))


def _outcome(future: "Future[Any]") -> Any:
    """What a future gives; open to Ctrl-C, which a signal that another thread receives does not show in."""
    while not wait([future], timeout=1.0).done:
        pass
    return future.result()


def _packed(problem: Problem) -> str:
    text = problem.stored.read()["private_test_cases"]
    assert isinstance(text, str)
    return text


def _judge(
    place: str,
    code: str,
    problem: Problem,
    parcel: Any,
    kind: str | None,
    options: dict[str, Any],
    trim: Trim | None,
) -> tuple[Report, float]:
    """On a worker: judge a program with the worker's pool."""
    started = time.perf_counter()
    if kind is not None:
        problem = replace(problem, stored=MemoryRow({"private_test_cases": parcel}))
    tests: Any = parcel if kind is None else kind
    report = station(JudgeStation, place).pool.judge(code, problem, tests=tests, **options)
    return (trim(report) if trim else report), time.perf_counter() - started


def _confinement(place: str) -> dict[str, Any]:
    """On a worker: what confines programs there."""
    return asdict(sandbox_status(station(JudgeStation, place).sandbox or os.environ.get("LCB_SANDBOX")))
