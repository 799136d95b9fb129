"""Lets an interrupt of an idle kernel reach work that goes on in the background."""

import signal
import threading
from collections.abc import Callable
from types import FrameType

__all__ = ["on_idle_interrupt"]


def on_idle_interrupt(call: Callable[[], object]) -> Callable[[], None]:
    """Call when the kernel is interrupted while it executes no cell, which by itself ignores that.

    Args:
        call: called in a thread of its own.

    Returns:
        What ends this. Outside a kernel neither does anything.
    """
    from IPython import get_ipython

    loop = getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)
    if loop is None:
        return lambda: None
    previous: list[signal._HANDLER] = []

    def handle(_: int, __: FrameType | None) -> None:
        threading.Thread(target=call, name="lcbkit-interrupt", daemon=True).start()

    def begin() -> None:
        previous.append(signal.getsignal(signal.SIGINT))
        signal.signal(signal.SIGINT, handle)

    def end() -> None:
        if previous and signal.getsignal(signal.SIGINT) is handle:
            signal.signal(signal.SIGINT, previous.pop())

    # A widget's message may come in on another thread; only the main one may set a handler.
    loop.add_callback(begin)
    return lambda: loop.add_callback(end)
