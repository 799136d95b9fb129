"""What is dear to make and the same for every test is made by one test process, and read by the others."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

__all__ = ["made_once"]


def made_once(name: str, make: Callable[[], str]) -> str:
    """A text that the first process to ask makes while the others wait; if that fails, the next one tries.

    Args:
        name: tells it from others of this test run; a file's name.
        make: makes it.
    """
    path = Path(os.environ["LCBKIT_TESTS_MADE_ONCE"], name)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_text(make(), encoding="utf-8")
            part.rename(path)
    return path.read_text(encoding="utf-8")
