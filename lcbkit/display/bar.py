"""A progress bar on standard error, or in a notebook, that never ends the work which it tells of."""

from contextlib import suppress
from typing import Any, Self

__all__ = ["Bar"]


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
