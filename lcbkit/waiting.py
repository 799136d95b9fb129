"""Drive a coroutine from plain code, also where an event loop already runs (a notebook cell)."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from typing import Any, Generic, TypeVar

__all__ = ["LoopThread", "run_sync", "waking"]

T = TypeVar("T")

_POLL_SECONDS = 0.1


def run_sync(make_coroutine: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end and return its result.

    Without a running loop this is `asyncio.run`. Inside one, the coroutine gets a loop of its own in a thread
    of its own, with the caller's context variables. An interrupt cancels the coroutine, waits for its
    clean-up and then shows as KeyboardInterrupt; a second one stops waiting.

    Args:
        make_coroutine: called once, in the thread whose loop will run it; what is bound to a loop must be
            made inside the coroutine.

    Returns:
        What the coroutine returned; what it raised is raised here.

    Raises:
        KeyboardInterrupt: if the wait was interrupted and the coroutine ended as cancelled.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make_coroutine())
    job = _ThreadedJob(make_coroutine)
    try:
        job.wait()
    except KeyboardInterrupt:
        job.cancel()
        job.wait()
        if isinstance(job.error, asyncio.CancelledError):
            raise
    return job.outcome()


@asynccontextmanager
async def waking(every: float = 0.2) -> AsyncIterator[None]:
    """Keep the running loop from sleeping longer than `every` seconds while the block runs.

    An interrupted `await` cell is cancelled only when its loop wakes up for another reason, so a long wait on
    a silent server would swallow the interrupt until the server answers.
    """

    async def tick() -> None:
        while True:
            await asyncio.sleep(every)

    ticker = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticker.cancel()
        with suppress(asyncio.CancelledError):
            await ticker


class _ThreadedJob(Generic[T]):
    """One coroutine in a thread with its own event loop."""

    def __init__(self, make_coroutine: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.error: BaseException | None = None
        self._result: list[T] = []
        self._make_coroutine = make_coroutine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[T] | None = None
        self._cancelled = threading.Event()
        self._done = threading.Event()
        context = contextvars.copy_context()
        # A daemon: after a second interrupt nobody waits for it, the interpreter's exit included.
        threading.Thread(target=context.run, args=(self._work,), name="lcbkit-loop", daemon=True).start()

    def wait(self) -> None:
        """Block until the coroutine has ended; open to KeyboardInterrupt.

        `Thread.join` would not do: an interrupt marks the thread as stopped while it still runs.
        """
        while not self._done.wait(_POLL_SECONDS):
            pass

    def cancel(self) -> None:
        """Cancel the coroutine from another thread, however early."""
        self._cancelled.set()
        if self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # the loop has closed: the coroutine is done
                self._loop.call_soon_threadsafe(self._task.cancel)

    def outcome(self) -> T:
        """What the coroutine returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self._result[0]

    def _work(self) -> None:
        try:
            self._result.append(asyncio.run(self._main()))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that waits
            self.error = error
        finally:
            self._done.set()

    async def _main(self) -> T:
        self._loop = asyncio.get_running_loop()
        task = asyncio.create_task(self._make_coroutine())
        self._task = task
        if self._cancelled.is_set():
            task.cancel()
        return await task


class LoopThread:
    """An event loop in a thread of its own, for coroutines whose outcome other threads wait for.

    Args:
        name: the thread's.
    """

    def __init__(self, name: str) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name=name, daemon=True)
        self._thread.start()
        self._ready.wait()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine; the future gives its outcome, and a cancel reaches it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """Cancel what still runs, and return when the loop has ended."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _main(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._over.wait()
