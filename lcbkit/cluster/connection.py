"""From what a caller names as `engine` to a client of a Dask scheduler that is this call's own."""

import logging
import multiprocessing
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

from lcbkit.cluster.packages import Client, LocalCluster, Worker, WorkerPlugin, config, default_client
from lcbkit.errors import BadValueError, EngineError

__all__ = ["check_engine", "connected", "one_engine"]

_log = logging.getLogger(__name__)


@asynccontextmanager
async def connected(engine: Any) -> AsyncIterator[Client]:
    """A client in the running loop, with at least one worker; what it asked for is dropped when it closes.

    It is never the caller's own client: that one may live in another thread's loop, and closing ours is what
    makes the scheduler forget all that a call left unfinished.

    Args:
        engine: `dask` for the current client's cluster, else the one that Dask's configuration names, else
            one on this machine that lives as long as the call; or a client, a cluster, or the address of a
            scheduler.

    Raises:
        BadValueError: it is none of these.
        EngineError: the scheduler cannot be reached.
    """
    async with AsyncExitStack() as stack:
        address, security, own = await _scheduler(engine, stack)
        try:
            client = await stack.enter_async_context(
                Client(address, security=security, asynchronous=True, set_as_default=False, name="lcbkit")
            )
        except (OSError, TimeoutError, TypeError, ValueError) as error:  # no TLS context is a TypeError
            raise EngineError(
                f"no Dask scheduler answers at {address} ({error or type(error).__name__}); start one there, "
                "or name another"
            ) from error
        if own:
            await client.register_plugin(_Deaf(), name=_DEAF)
        if not await client.nthreads():
            _log.warning("the cluster at %s has no worker yet; waiting for the first one", address)
            await client.wait_for_workers(1)
        yield client


@contextmanager
def one_engine(engine: Any) -> Iterator[Any]:
    """An engine for several calls, so that a cluster on this machine is started once for all of them.

    Args:
        engine: as in `connected`.

    Raises:
        BadValueError: it names no cluster.
        EngineError: none could be started.
    """
    check_engine(engine)
    if engine != "dask" or _running_cluster() is not None:
        yield engine
        return
    with _telling_of_the_guard():
        cluster = LocalCluster(dashboard_address=":0")
    with cluster:
        with Client(cluster, set_as_default=False, name="lcbkit") as client:
            client.register_plugin(_Deaf(), name=_DEAF)
        yield cluster


class _Deaf(WorkerPlugin):
    """Leaves Ctrl-C, which reaches all processes of a terminal, to the one that ends the others."""

    def setup(self, worker: Worker) -> None:  # noqa: ARG002 - Dask's signature
        signal.signal(signal.SIGINT, signal.SIG_IGN)


_DEAF = "lcbkit-deaf"


def check_engine(engine: Any) -> None:
    """Refuse what names no cluster.

    Args:
        engine: as in `connected`.

    Raises:
        BadValueError: it is of no kind that names one.
        EngineError: a client that is not connected.
    """
    if isinstance(engine, str):
        if engine != "dask" and ":" not in engine:
            raise BadValueError(f"engine is {engine!r}; {_CHOICES}")
    elif isinstance(engine, Client):
        if engine.status != "running":
            raise EngineError(f"the Dask client is {engine.status}; connect it, or give a new one")
    elif not isinstance(getattr(engine, "scheduler_address", None), str):
        raise BadValueError(f"engine is {type(engine).__name__} {engine!r}; {_CHOICES}")


async def _scheduler(engine: Any, stack: AsyncExitStack) -> tuple[str, Any, bool]:
    """The address of a scheduler, what secures the way to it, and whether it was started here."""
    check_engine(engine)
    if isinstance(engine, str) and engine != "dask":
        return engine, None, False
    if engine == "dask":
        found = _running_cluster()
        if found is None:
            found = await stack.enter_async_context(_local_cluster())
        return (*found, True) if isinstance(found, tuple) else await _scheduler(found, stack)
    if isinstance(engine, Client):
        return engine.scheduler.address, engine.security, False
    return engine.scheduler_address, getattr(engine, "security", None), False


_CHOICES = (
    "it is None for this process, 'dask', a distributed.Client, a Dask cluster, or the address of a "
    "scheduler, such as 'tcp://10.0.0.1:8786'"
)


def _running_cluster() -> Client | str | None:
    """What `dask` means where there is a client, or an address in Dask's configuration."""
    try:
        return default_client()
    except ValueError:
        return config.get("scheduler-address", None)


@asynccontextmanager
async def _local_cluster() -> AsyncIterator[tuple[str, Any]]:
    """A cluster of processes on this machine, one thread for each core."""
    with _telling_of_the_guard():
        cluster = await LocalCluster(asynchronous=True, dashboard_address=":0")
    async with cluster:
        yield cluster.scheduler_address, cluster.security


@contextmanager
def _telling_of_the_guard() -> Iterator[None]:
    """Say in one sentence why no workers start from a script without a main guard."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise EngineError(f"a worker is just importing this script; {_GUARD}")
    try:
        yield
    except RuntimeError as error:
        raise EngineError(f"no cluster could be started on this machine ({error}); {_GUARD}") from error


_GUARD = "in a script, what starts one must stand below `if __name__ == '__main__':`"
