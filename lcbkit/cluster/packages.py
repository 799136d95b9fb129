"""The packages that a cluster needs: taken from here, so that their lack is told in one clear sentence."""

from lcbkit.errors import EngineError

try:
    from dask import config
    from distributed import (
        Client,
        Future,
        LocalCluster,
        Semaphore,
        Worker,
        WorkerPlugin,
        default_client,
        get_worker,
        secede,
    )
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker
except ImportError as error:
    raise EngineError(
        f"engine='dask' needs the packages dask and distributed, which cannot be imported ({error}); install "
        "them with pip install 'lcbkit[dask]', or leave engine out"
    ) from error

__all__ = [
    "Client",
    "Future",
    "FutureCancelledError",
    "KilledWorker",
    "LocalCluster",
    "Semaphore",
    "Worker",
    "WorkerPlugin",
    "config",
    "default_client",
    "get_worker",
    "secede",
]
