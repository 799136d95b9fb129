"""Who judges the programs of a batch: this machine's workers, or those of a cluster."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from lcbkit.errors import BadValueError
from lcbkit.judging.pool import Pool
from lcbkit.runs.config import confinement
from lcbkit.runs.verdicts import Elsewhere

__all__ = ["Judges", "check_judges", "judges_here", "judges_of_cluster", "judges_of_engine"]


@dataclass(frozen=True, kw_only=True)
class Judges:
    """Judges, as `Batch` takes them.

    Attributes:
        pool: judges; where others do, it only says how many programs they judge at one time.
        elsewhere: who judges in place of the pool.
        confinement: tells what confines programs where they run, as plain values.
        facts: what `run.json` says of who did the work.
    """

    pool: Pool
    confinement: Callable[[], Awaitable[dict[str, Any]]]
    elsewhere: Elsewhere | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


def check_judges(engine: Any, workers: int | None, cache: object) -> None:
    """Refuse what does not go with an engine, before a folder is made or a worker is asked.

    Args:
        engine: as `evaluate` takes it, and the next two.
        workers: `judge_workers`.
        cache: `judge_cache`.

    Raises:
        BadValueError: names the argument.
        EngineError: a client that is closed, or no packages for a cluster.
    """
    if engine is None:
        return
    if workers is not None:
        raise BadValueError(
            f"judge_workers is {workers}, but on a cluster each worker judges as many programs at a "
            "time as it has threads; leave out either it or engine"
        )
    if not isinstance(cache, bool):
        raise BadValueError(
            f"judge_cache is {str(cache)!r}, a folder with verdicts of this machine's judge; with an "
            "engine say True or False (on or off)"
        )
    from lcbkit.cluster.connection import check_engine

    check_engine(engine)


@asynccontextmanager
async def judges_of_engine(engine: Any, workers: int | None) -> AsyncIterator[Judges]:
    """The judges that a caller names.

    Args:
        engine: None for this machine's workers, else as `connected` takes it.
        workers: how many of this machine; None means one per core.

    Raises:
        EngineError: the cluster cannot be used.
    """
    if engine is None:
        yield judges_here(workers)
        return
    from lcbkit.cluster.connection import connected

    async with connected(engine) as client, judges_of_cluster(client) as judges:
        yield judges


def judges_here(workers: int | None) -> Judges:
    """Workers of this machine, which start with the first program."""
    return Judges(pool=Pool(workers=workers), confinement=lambda: asyncio.to_thread(confinement))


@asynccontextmanager
async def judges_of_cluster(client: Any) -> AsyncIterator[Judges]:
    """A cluster's workers.

    Args:
        client: a `distributed.Client` of this loop.
    """
    from lcbkit.judging.remote import remote_pool

    async with remote_pool(client) as pool:
        threads = await client.nthreads()
        size = {"workers": len(threads), "threads": sum(threads.values())}
        yield Judges(
            pool=Pool(workers=size["threads"]),
            confinement=pool.confinement,
            elsewhere=pool,
            facts={"engine": {"name": "dask", **size}},
        )
