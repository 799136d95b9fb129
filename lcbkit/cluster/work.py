"""Work that is done on a cluster: its place in each worker, its parcels, and waiting for its end."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, cast
from uuid import uuid4

from lcbkit import __version__
from lcbkit.cluster.packages import (
    Client,
    Future,
    FutureCancelledError,
    KilledWorker,
    Worker,
    WorkerPlugin,
    get_worker,
)
from lcbkit.errors import EngineError

__all__ = ["ParcelLostError", "Parcels", "Station", "WorkLostError", "done", "station", "stationed"]

_T = TypeVar("_T")
_S = TypeVar("_S", bound="Station")
_log = logging.getLogger(__name__)

_LEAVE_SECONDS = 30.0
_PAUSE_SECONDS = 1.0
_ENDED = ("closed", "closing")


class WorkLostError(ConnectionError):
    """Worker after worker died with this piece of work."""


class ParcelLostError(WorkLostError):
    """A value that the work takes is gone with the worker that had it; it can be sent again."""


class Station(WorkerPlugin):
    """What a call has in each worker as long as it runs; workers that join later get it too.

    It travels as plain data: what lives in a worker is made by `setup`.
    """

    def __init__(self) -> None:
        self._version = __version__

    def setup(self, worker: Worker) -> None:
        """Take up work in a worker.

        Raises:
            EngineError: the worker's lcbkit is of another version, so its results could differ.
        """
        if self._version != __version__:
            raise EngineError(
                f"the worker {worker.address} has lcbkit {__version__} and this process {self._version}; "
                "install the same on both"
            )


@asynccontextmanager
async def stationed(client: Client, plugin: Station) -> AsyncIterator[str]:
    """Have a station in every worker during the block.

    Returns:
        Its name, for `station`.

    Raises:
        EngineError: a worker cannot have it.
    """
    name = f"lcbkit-{type(plugin).__name__.lower()}-{uuid4().hex[:12]}"
    try:
        await client.register_plugin(plugin, name=name)
    except ImportError as error:
        raise EngineError(
            f"a worker cannot import what the work needs ({error}); install lcbkit {__version__} there"
        ) from error
    try:
        yield name
    finally:
        # A worker or scheduler that is gone has no station any more.
        with suppress(OSError, TimeoutError, KeyError, RuntimeError):
            if client.status not in _ENDED:
                async with asyncio.timeout(_LEAVE_SECONDS):
                    await client.unregister_worker_plugin(name)


def station(kind: type[_S], name: str) -> _S:
    """The station of a kind in the worker that runs this task."""
    found = get_worker().plugins[name]
    assert isinstance(found, kind)
    return found


async def done(client: Client, function: Callable[..., _T], *args: Any, **placing: Any) -> _T:
    """Have a function called on a worker, on another one if that dies, and wait for what it returns.

    When the wait is cancelled, the scheduler drops the work, and the worker's station is told.

    Args:
        client: of this loop.
        function: of a module, so that its name travels and not its code.
        *args: what it takes; a `Future` stands for its value.
        **placing: how `Client.submit` places it.

    Raises:
        WorkLostError: worker after worker died with it.
        ParcelLostError: a value that it takes was lost.
        EngineError: the scheduler is gone.
        Exception: what the function raised.
    """
    key = f"{function.__name__.strip('_')}-{uuid4().hex}"
    future = client.submit(function, *args, key=key, pure=False, **placing)
    try:
        return cast("_T", await future)
    except KilledWorker as error:
        raise WorkLostError(str(error)) from error
    except FutureCancelledError as error:
        if client.status != "running" or "scheduler" in error.reason:
            raise _scheduler_lost(error) from error
        raise ParcelLostError(str(error)) from error
    finally:
        future.release()


def _scheduler_lost(error: Exception) -> EngineError:
    return EngineError(f"the Dask scheduler is gone ({error}); start it again, and the same call goes on")


class Parcels:
    """Large values on their way to workers: each leaves this process once, and again if it was lost there.

    A worker that needs one gets it from another one that has it. Workers keep them, on disk when memory runs
    short, until they are dropped.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sent: dict[int, tuple[object, asyncio.Task[Future]]] = {}

    async def sent(self, of: object, read: Callable[[], object]) -> Future:
        """The value as it lies on some worker.

        Args:
            of: what the value belongs to, by its identity.
            read: gives the value; called in a thread, and only when it has to be sent.
        """
        _, task = self._sent.get(id(of), (None, None))
        if task is None or _is_lost(task):
            task = asyncio.create_task(self._send(read))
            self._sent[id(of)] = of, task  # the object too, so that its identity stays its own
        return await asyncio.shield(task)

    def drop(self, of: object) -> None:
        """Let workers forget a value."""
        self._sent.pop(id(of), None)

    async def _send(self, read: Callable[[], object]) -> Future:
        value = await asyncio.to_thread(read)
        while True:
            try:
                return cast("list[Future]", await self._client.scatter([value], hash=False))[0]
            except (TimeoutError, OSError) as error:  # no worker, or one that died just now
                if self._client.status in _ENDED:
                    raise _scheduler_lost(error) from error
                _log.warning("no worker takes the tests at the moment (%s); trying again", error)
                await asyncio.sleep(_PAUSE_SECONDS)


def _is_lost(task: "asyncio.Task[Future]") -> bool:
    if not task.done():
        return False
    return task.cancelled() or task.exception() is not None or task.result().status != "finished"
