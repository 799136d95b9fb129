"""Stopping what judges: Ctrl-C, a callback that says stop, a caller that goes away."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Protocol, TypeVar

__all__ = ["Token"]

_T = TypeVar("_T")


class Line(Protocol):
    """What can be hung up, so that whoever listens to it sees its end."""

    def hang_up(self) -> None:
        """Close the line."""


class Token:
    """Lets one thread cancel what others do in its name: the workers that they have are ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: set[Line] = set()
        self.cancelled = False

    def cancel(self) -> None:
        """End all workers that are lent under this token; no other will be."""
        with self._lock:
            self.cancelled = True
            lines = tuple(self._lines)
        for line in lines:
            line.hang_up()

    def add(self, line: Line) -> None:
        """A worker is lent under this token."""
        with self._lock:
            self._lines.add(line)
            if self.cancelled:
                line.hang_up()

    def remove(self, line: Line) -> None:
        """It was given back."""
        with self._lock:
            self._lines.discard(line)

    def run(self, work: Callable[[], _T]) -> _T:
        """Run work in a thread of its own, where Ctrl-C cannot hit it between a lock and a worker's line.

        An exception in the waiting caller, such as `KeyboardInterrupt`, cancels this token and comes out when
        the work has ended. Only the main thread is interrupted, so others do the work themselves.
        """
        if threading.current_thread() is not threading.main_thread():
            return work()
        future: Future[_T] = Future()

        def settle() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - raised again in the caller
                future.set_exception(error)

        thread = threading.Thread(target=settle, name="lcbkit-judge", daemon=True)
        try:
            try:
                thread.start()
            except RuntimeError:  # the interpreter is ending and starts no thread
                return work()
            while not wait([future], timeout=1.0).done:
                pass  # a signal that another thread received does not end a wait
        except BaseException:
            self.cancel()
            with suppress(RuntimeError):  # it is about to start, and will find this token cancelled
                thread.join()
            raise
        return future.result()
