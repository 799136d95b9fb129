"""Time limits of agents and rollouts that do not count the wait for a place at the endpoint."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Deadline", "Pace"]


class Deadline:
    """The seconds that one rollout may work; its clock stands still while all of its agents wait."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._working = 0
        self._since = 0.0

    def left(self) -> float:
        """Seconds that remain; negative when they are used up."""
        return self._left - (time.monotonic() - self._since if self._working else 0.0)

    def start(self) -> None:
        """One more agent works."""
        if not self._working:
            self._since = time.monotonic()
        self._working += 1

    def stop(self) -> None:
        """One agent waits or is done."""
        if self._working == 1:
            self._left = self.left()
        self._working -= 1


class Pace:
    """The time of one agent run: bounded by its own limit and by its rollout's deadline.

    Args:
        seconds: the agent's own limit, waits for the gate not counted.
        deadline: of the rollout, shared by its agents.
        gate: held around each model call; None lets every call through.
    """

    def __init__(self, seconds: float, deadline: Deadline, gate: asyncio.Semaphore | None) -> None:
        self._seconds = seconds
        self._own = Deadline(seconds)
        self._deadline = deadline
        self._gate = gate
        self._timeout = asyncio.timeout(None)

    @property
    def expired(self) -> bool:
        """Whether the time is used up."""
        return self._timeout.expired()

    @property
    def worked(self) -> float:
        """Seconds of work so far."""
        return self._seconds - self._own.left()

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """Bound the block in time.

        Raises:
            TimeoutError: when the time is used up.
        """
        async with self._timeout:
            self._resume()
            try:
                yield
            finally:
                self._pause()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place at the endpoint during the block; the clocks stand still until it is free."""
        if self._gate is None:
            yield
            return
        self._pause()
        try:
            await self._gate.acquire()
        finally:
            self._resume()
        try:
            yield
        finally:
            self._gate.release()

    def _pause(self) -> None:
        self._own.stop()
        self._deadline.stop()
        if not self._timeout.expired():
            self._timeout.reschedule(None)

    def _resume(self) -> None:
        self._own.start()
        self._deadline.start()
        if not self._timeout.expired():
            left = min(self._own.left(), self._deadline.left())
            self._timeout.reschedule(asyncio.get_running_loop().time() + left)
