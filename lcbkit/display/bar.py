"""Progress of long work: who hears of it, and a bar that never ends the work which it tells of."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Self, TypeAlias, TypeVar

__all__ = ["Bar", "listening"]

Event = TypeVar("Event")
Listener: TypeAlias = Callable[[Event], str | None]


@contextmanager
def listening(
    progress: bool | Listener[Event], shown: Callable[[], AbstractContextManager[Listener[Event]]]
) -> Iterator[Listener[Event]]:
    """What to call with each event: nothing for False, what is shown for True, or the callback itself.

    A callback that is a context manager learns of an end without a last event: an interrupt, an error.
    """
    if callable(progress):
        with progress if isinstance(progress, AbstractContextManager) else nullcontext():
            yield progress
    elif progress:
        with shown() as listener:
            yield listener
    else:
        yield lambda _event: None


class Bar:
    """A bar of tqdm's; where it cannot be written (a full disk under a log, a closed terminal), no bar.

    Args:
        **options: as tqdm takes them.
    """

    def __init__(self, **options: Any) -> None:
        from tqdm.auto import tqdm

        self._bar: Any = None
        with suppress(OSError):
            self._bar = tqdm(**options)

    @classmethod
    def of_instances(cls, total: int, done: int = 0) -> Self:
        """A bar over the instances of a batch; in a log file each update is a line, so there are few."""
        seconds = 0.2 if sys.stderr.isatty() else 10.0
        return cls(total=total, initial=done, unit=" instance", mininterval=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def advance(self, count: int = 1, *, known: bool = False) -> None:
        """Move on; `known`: by what was done before, which says nothing about the pace."""
        if self._bar is not None:
            self._bar.initial += count * known
            self._do("update", count)

    def describe(self, text: str) -> None:
        """Say before the bar what is being done."""
        self._do("set_description_str", text)

    def note(self, text: str) -> None:
        """Say behind the bar how it goes, at its next move."""
        self._do("set_postfix_str", text, refresh=False)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._do("close")

    def _do(self, name: str, *args: object, **options: object) -> None:
        if self._bar is None:
            return
        try:
            getattr(self._bar, name)(*args, **options)
        except OSError:
            self._bar.disable, self._bar = True, None
