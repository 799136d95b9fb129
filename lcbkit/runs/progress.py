"""What happens while a batch runs, as typed events, and the bar that shows it in a terminal or a notebook."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from lcbkit.display.bar import Bar
from lcbkit.records import Record
from lcbkit.scoring.scores import Summary

__all__ = ["InstanceFinished", "Listener", "Progress", "RunEvent", "RunFinished", "RunStarted", "listening"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The batch begins.

    Attributes:
        total: instances (a sample of a problem each) that were asked for.
        done: those of them that an earlier batch has finished.
        passed: those of the finished ones that passed.
        scored: those of the finished ones that count in pass@1.
        where: the run's folder, or its predictions file.
        keys: the (problem id, sample) of each instance, in the run's order.
        records: of the finished ones.
        stop: ends the batch as a returned "stop" does, at once and from any thread.
    """

    total: int
    done: int
    passed: int
    scored: int
    where: str
    keys: tuple[tuple[str, int], ...] = ()
    records: tuple[Record, ...] = ()
    stop: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFinished:
    """An instance is judged and on disk.

    Attributes:
        record: how it went.
        total: instances that were asked for.
        done: finished ones, this one and earlier batches included.
        passed: those of the finished ones that passed.
        scored: those of the finished ones that count in pass@1.
    """

    record: Record
    total: int
    done: int
    passed: int
    scored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The batch ends; the last event.

    Attributes:
        summary: of what is finished.
        stopped: whether a callback stopped it before the end.
    """

    summary: Summary
    stopped: bool


RunEvent: TypeAlias = RunStarted | InstanceFinished | RunFinished
"""What a listener is told."""

Listener: TypeAlias = Callable[[RunEvent], str | None]
"""Gets each event, and may return "stop"."""

Progress: TypeAlias = bool | Listener
"""False for silence, True for a bar, or who listens."""


@contextmanager
def listening(progress: Progress) -> Iterator[Listener]:
    """What to call with each event: nothing, a bar on standard error, or the callback itself."""
    if callable(progress):
        # A callback that is a context manager learns of an end without a last event: an interrupt, an error.
        with progress if isinstance(progress, AbstractContextManager) else nullcontext():
            yield progress
    elif progress:
        with _bar() as listener:
            yield listener
    else:
        yield lambda _event: None


@contextmanager
def _bar() -> Iterator[Listener]:
    bars: list[Bar] = []

    def show(event: RunEvent) -> None:
        if isinstance(event, RunStarted):
            # In a log file a bar is a line per update, so few of them.
            seconds = 0.2 if sys.stderr.isatty() else 10.0
            bars.append(Bar(total=event.total, initial=event.done, unit=" instance", mininterval=seconds))
        if isinstance(event, RunFinished):
            return
        if isinstance(event, InstanceFinished):
            bars[0].advance()
        if event.scored:
            share = f"{event.passed / event.scored:.1%} ({event.passed}/{event.scored})"
            bars[0].note(f"pass@1 {share}")

    try:
        yield show
    finally:
        for bar in bars:
            bar.close()
