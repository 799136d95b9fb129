"""What happens while a batch runs, as typed events, and the bar that shows it in a terminal or a notebook."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from lcbkit.display.bar import Bar
from lcbkit.records import Record
from lcbkit.scoring.scores import Summary

__all__ = ["InstanceFinished", "Listener", "Progress", "RunEvent", "RunFinished", "RunStarted", "run_bar"]


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
def run_bar() -> Iterator[Listener]:
    """A bar over the instances of one batch, with its pass@1."""
    bars: list[Bar] = []

    def show(event: RunEvent) -> None:
        if isinstance(event, RunStarted):
            bars.append(Bar.of_instances(event.total, event.done))
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
