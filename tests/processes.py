"""Processes that a test looks at, each of which may end at any moment."""

from contextlib import suppress

import psutil

__all__ = ["below", "is_alive", "runs"]


def below(pid: int | None = None) -> list[psutil.Process]:
    """All living processes below one, or below this one; those that only wait to be reaped are none."""
    return [process for process in psutil.Process(pid).children(recursive=True) if is_alive(process)]


def is_alive(process: psutil.Process) -> bool:
    """Whether it has not ended."""
    with suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def runs(process: psutil.Process, what: str) -> bool:
    """Whether its command line holds some text; that of one that has ended holds none."""
    with suppress(psutil.Error):
        return what in " ".join(process.cmdline())
    return False
