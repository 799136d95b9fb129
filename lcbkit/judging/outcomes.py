"""What a worker is told and what it answers: the limits of a program, and how one test ended."""

import os
from dataclasses import dataclass
from typing import Any

from lcbkit.errors import BadValueError

__all__ = ["Job", "Limits", "Outcome", "memory_bytes", "parse_outcome"]

_DEFAULT_MEMORY_BYTES = 4 * 1024**3
_SIGXCPU = 24  # the kernel's own clock, a coarser one than ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use, and how it is run.

    Attributes:
        time_limit: CPU seconds for each test.
        memory_limit: bytes for each process, 0 for no limit.
        prelude: whether LiveCodeBench's imports are in scope.
    """

    time_limit: float
    memory_limit: int
    prelude: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.time_limit <= 100_000:
            raise BadValueError(f"time_limit={self.time_limit!r}; give a number of seconds above 0")
        if self.memory_limit < 0:
            raise BadValueError(f"memory_limit={self.memory_limit!r}; give a number of bytes, 0 for no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A program, the function that its tests call (empty: none), and how to run it."""

    code: str
    function: str
    limits: Limits
    stop_on_failure: bool

    def __post_init__(self) -> None:
        if not isinstance(self.code, str):
            raise BadValueError(
                f"the program is {self.code!r:.80}, no text; extract_code gives None where it finds none"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one test ended, before anything is compared.

    Attributes:
        status: exit status; minus the signal's number if one ended it.
        killed: `time`, `output` or `memory` where the judge ended it, else empty.
        wall: elapsed seconds.
        cpu: CPU seconds of the whole process tree.
        memory: peak resident bytes of its largest process.
        main: standard output, or the encoded value of a function and a line feed.
        stderr: standard error, its middle cut out where it is long.
        bad_test: what is wrong with the test, else empty.
        internal: what went wrong in the judge, else empty.
    """

    status: int = 0
    killed: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    main: bytes = b""
    stderr: bytes = b""
    bad_test: str = ""
    internal: str = ""

    @property
    def exit_code(self) -> int | None:
        """Exit status, None if a signal ended the process."""
        return self.status if self.status >= 0 else None

    @property
    def signal(self) -> int | None:
        """The signal that ended the process, else None."""
        return -self.status if self.status < 0 else None

    def over_time(self, limits: Limits) -> bool:
        """Whether it took too long, stopped or not."""
        return self.killed == "time" or self.cpu > limits.time_limit or self.signal == _SIGXCPU


def parse_outcome(header: dict[str, Any], blob: bytes) -> Outcome:
    """Read a worker's answer.

    Raises:
        ValueError: it is none.
    """
    main = header.pop("main", 0)
    try:
        return Outcome(**header, main=blob[:main], stderr=blob[main:])
    except TypeError as error:
        raise ValueError(f"not the answer of a worker: {error}") from error


def memory_bytes(limit: int | None) -> int:
    """The memory limit that a program gets; None takes `LCB_FUNCTIONAL_MEMORY_BYTES`, else 4 GiB.

    Raises:
        BadValueError: that is no number of bytes.
    """
    name, given = "memory_limit", str(limit)
    if limit is None:
        name = "LCB_FUNCTIONAL_MEMORY_BYTES"
        given = os.environ.get(name) or str(_DEFAULT_MEMORY_BYTES)
    try:
        number = int(given)
    except ValueError:
        number = -1
    if number < 0:
        raise BadValueError(f"{name}={given}; give a number of bytes, 0 for no limit")
    return number
