"""Progress of a job: nothing, lines on standard error, or the caller's own function."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TypeAlias

from lcbkit.display.bar import listening
from lcbkit.optimizers.job import JobStopped
from lcbkit.search_events import (
    EvaluationAdvanced,
    IncumbentReported,
    JobFinished,
    JobStarted,
    PhaseStarted,
    RolloutCharged,
    SearchEvent,
)

__all__ = ["Progress", "Teller", "telling"]

Progress: TypeAlias = bool | Callable[[SearchEvent], str | None]

_EVERY = 10


class Teller:
    """Passes events on and keeps track of who wants the job to stop; safe to use from several threads."""

    def __init__(self, listener: Callable[[SearchEvent], str | None]) -> None:
        self._listener = listener
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def __call__(self, event: SearchEvent) -> None:
        """Pass an event on.

        Raises:
            JobStopped: the listener says stop, or `stop` was called.
        """
        with self._lock:
            if self._listener(event) == "stop":
                self._stopping.set()
        if self._stopping.is_set() and not isinstance(event, JobFinished):
            raise JobStopped("stopped; validation and test go on from here when the job is run again")

    def stop(self) -> None:
        """End the job at the next event."""
        self._stopping.set()


@contextmanager
def telling(progress: Progress) -> Iterator[Teller]:
    """What to tell events to; a callback that is a context manager learns of an end without a last event."""
    with listening(progress, lambda: nullcontext(_line)) as listener:
        yield Teller(listener)


def _line(event: SearchEvent) -> None:
    """Some events as a line each."""
    match event:
        case JobStarted():
            text = f"{event.title}; folder {event.where}"
        case PhaseStarted():
            text = f"phase {event.phase}"
        case RolloutCharged() if event.charged % _EVERY == 0 or event.charged == event.maximum:
            text = f"{event.charged} of {event.maximum} rollouts charged"
        case IncumbentReported() if event.note:
            best = "" if event.best is None else f", best {event.best:.3f}"
            text = f"{event.charged} of {event.maximum} rollouts, step {event.iteration}{best}: {event.note}"
        case EvaluationAdvanced() if event.done % _EVERY == 0 or event.done == event.total:
            text = f"{event.split}, {event.candidate}: {event.done} of {event.total}, {event.passed} passed"
        case JobFinished():
            text = event.words
        case _:
            return
    print(f"lcb: {text}", file=sys.stderr, flush=True)  # noqa: T201 - what progress=True asks for
