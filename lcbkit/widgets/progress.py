"""A live view of a batch or a search in a notebook: counts, score so far, time left, and a stop button."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Any

import anywidget
import traitlets
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import HTML, DisplayHandle, display

from lcbkit.judging.many import JudgeEvent
from lcbkit.results import wilson_interval
from lcbkit.runs.progress import InstanceFinished, RunFinished, RunStarted
from lcbkit.search_events import (
    EvaluationAdvanced,
    IncumbentReported,
    JobFinished,
    JobStarted,
    PhaseStarted,
    RolloutCharged,
)
from lcbkit.widgets.outcomes import LETTERS, legend, outcome, strip
from lcbkit.widgets.reachable import unattached
from lcbkit.widgets.searching import SearchShown, curve_svg, plain
from lcbkit.widgets.style import STYLE, with_page

__all__ = ["LiveProgress", "live_progress"]

_FOLDER = Path(__file__).parent
_EVERY_SECONDS = 0.2
_STATIC_LETTERS = 400


def live_progress() -> "LiveProgress":
    """A `progress=` callback that shows a batch while it runs, with a stop button that saves.

    `evaluate(..., progress=live_progress())`; `judge_many` and `optimize` take it as well. Use it where you
    watch: in JupyterLab. The default, `progress=True`, is a bar of tqdm, for scripts, terminals, and front
    ends that do not answer while a cell runs (there, interrupt the kernel to stop: that saves, too). Outside
    of IPython it shows nothing by itself; its `state` and its text tell how far the batch is.
    """
    return LiveProgress()


class LiveView(anywidget.AnyWidget):
    """What the reader sees; the numbers come from `LiveProgress`.

    Attributes:
        state: see `LiveProgress.state`.
        drawing: the learning curve of a search, as HTML.
        letters: a letter per instance, blank while it is open.
        names: what each letter is about.
        stop_asked: set by the button.
    """

    _esm = _FOLDER / "progress.js"
    _css = STYLE + (_FOLDER / "progress.css").read_text(encoding="utf-8")

    state = traitlets.Dict().tag(sync=True)
    drawing = traitlets.Unicode("").tag(sync=True)
    letters = traitlets.Unicode("").tag(sync=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    stop_asked = traitlets.Bool(False).tag(sync=True)


class LiveProgress:
    """Takes the events of a batch and shows them; made by `live_progress`, good for one batch at a time.

    Attributes:
        view: the widget.
    """

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None
        self._open = False
        self._phase: str
        self._stopping: threading.Event
        self._end: Callable[[], object]
        self._reset(None)
        with unattached():
            self.view = LiveView()
        self.view.observe(lambda change: self._asked(bool(change["new"])), "stop_asked")

    def __enter__(self) -> "LiveProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """The batch is over; without a last event it was interrupted or failed."""
        if self._phase == "running":
            # A notebook's interrupt reaches a batch as a cancel.
            failed = kind is not None and issubclass(kind, Exception)
            self._phase = "failed" if failed else "interrupted"
            self._note = f"{type(error).__name__}: {error}" if failed else ""
        self._leave()

    def __call__(self, event: Any) -> str | None:
        """Take an event; gives "stop" after `stop()` or a press of the button."""
        match event:
            case RunStarted():
                self._begin(event)
            case InstanceFinished():
                self._take(event.record.key, outcome(event.record), event.done, event.total)
                self._passed, self._scored = event.passed, event.scored
            case JudgeEvent():
                self._judged(event)
            case JobStarted() | PhaseStarted() | RolloutCharged() | IncumbentReported():
                self._search(event)
            case EvaluationAdvanced() | JobFinished():
                self._search(event)
            case RunFinished():
                self._phase = "stopped" if event.stopped else "finished"
            case _:
                self._other(event)
        if self._phase == "running":
            self._show()
        else:
            self._leave()
        return "stop" if self._stopping.is_set() and self._phase == "running" else None

    def stop(self) -> None:
        """End the batch as the button does: start nothing more, save what is finished."""
        self._stopping.set()
        with suppress(RuntimeError):  # the batch's loop is closed: it is over
            self._end()
        self._show(at_once=True)

    def _asked(self, pressed: bool) -> None:
        if pressed:
            self.stop()

    @property
    def state(self) -> dict[str, Any]:
        """What is shown, as plain values: counts, pass@1 with its interval, seconds, rate and time left."""
        seconds = time.monotonic() - self._started
        new = self._done - self._at_first
        rate = new / seconds if new and seconds > 0 else None
        left = (self._total - self._done) / rate if rate and self._total else None
        low, high = wilson_interval(self._passed, self._scored) if self._scored else (None, None)
        return {
            "phase": "stopping" if self._stopping.is_set() and self._phase == "running" else self._phase,
            "what": self._what,
            "where": self._where,
            "done": self._done,
            "total": self._total,
            "passed": self._passed,
            "scored": self._scored,
            "low": low,
            "high": high,
            "seconds": seconds,
            "left": left,
            "rate": rate,
            "counts": self._counts(),
            "note": self._note,
            **plain(self._shown_search),
        }

    def __repr__(self) -> str:
        state = self.state
        total = f" of {state['total']:,}" if state["total"] else ""
        parts = [f"{state['done']:,}{total} {state['what']}", state["phase"]]
        if state["scored"]:
            parts.append(_score_words(state))
        if self._shown_search is not None:
            parts.append(self._shown_search.words)
        parts.append(f"{_time_words(state['seconds'])} elapsed")
        if state["left"] is not None and self._phase == "running":
            parts.append(f"about {_time_words(state['left'])} left")
        return f"<LiveProgress {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        return self._static_html()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_page(self.view, self._static_html(), repr(self), **options)

    def _reset(self, total: int | None, what: str = "instances") -> None:
        self._what, self._total, self._done, self._at_first = what, total, 0, 0
        self._passed = self._scored = 0
        self._where = self._note = ""
        self._shown_search: SearchShown | None = None
        self._phase = "running"
        self._started, self._shown = time.monotonic(), 0.0
        self._letters: list[str] = []
        self._place: dict[Any, int] = {}
        self._stopping = threading.Event()
        self._late: threading.Timer | None = None
        self._end = lambda: None

    def _begin(self, event: RunStarted) -> None:
        self._reset(event.total)
        self._end, self._where = event.stop, event.where
        self._done = self._at_first = event.done
        self._passed, self._scored = event.passed, event.scored
        self._place = {key: place for place, key in enumerate(event.keys)}
        self._letters = [" "] * len(event.keys)
        for record in event.records:
            self._letters[self._place[record.key]] = outcome(record)
        self._put_up([f"{name} #{sample}" if sample else name for name, sample in event.keys])

    def _judged(self, event: JudgeEvent) -> None:
        if not self._open or event.done == 1:
            self._reset(event.total, "programs")
            self._letters = [" "] * (event.total or 0)
            self._put_up([])
        failure = event.report.first_failure
        self._take(
            event.index,
            "P" if event.report.passed else failure.verdict.letter if failure else "F",
            event.done,
            event.total,
        )
        self._passed += event.report.passed
        self._scored += 1
        if event.done == event.total:
            self._phase = "finished"

    def _search(self, event: Any) -> None:
        """An event of a search for better prompts."""
        if isinstance(event, JobStarted):
            self._reset(event.budget, "rollouts charged")
            self._end, self._where, self._shown_search = event.stop, event.where, SearchShown(event.budget)
            self._put_up([])
        if self._shown_search is None:
            return
        self._shown_search.take(event)
        match event:
            case RolloutCharged():
                letter = "P" if event.score >= 1 else "W"
                self._take(event.charged - 1, letter, event.charged, event.maximum)
            case IncumbentReported() if event.note:
                self._note = f"step {event.iteration}: {event.note}"[:200]
            case JobFinished():
                self._note, self._phase = event.words, "stopped" if event.stopped else "finished"

    def _other(self, event: Any) -> None:
        """An event of another kind of work: its counts if it has some, and its words."""
        if not self._open:
            self._reset(None, "steps")
            self._put_up([])
        self._done = int(getattr(event, "done", self._done + 1))
        self._total = getattr(event, "total", self._total)
        self._note = str(event)[:200]
        if getattr(event, "finished", False):
            self._phase = "finished"

    def _take(self, key: Any, letter: str, done: int, total: int | None) -> None:
        place = self._place.get(key, key if isinstance(key, int) else len(self._letters))
        self._letters += [" "] * (place + 1 - len(self._letters))
        self._letters[place] = letter
        self._done, self._total = done, total

    def _counts(self) -> list[list[Any]]:
        found = [(letter, self._letters.count(letter)) for letter in LETTERS]
        return [[*LETTERS[letter], letter, number] for letter, number in found if number]

    def _put_up(self, names: list[str]) -> None:
        with unattached():
            self.view.names, self.view.stop_asked = names, False
        self._open = True
        self._show(at_once=True)
        if InteractiveShell.initialized():
            self._handle = display(self, display_id=True)  # type: ignore[no-untyped-call]  # IPython's

    def _show(self, *, at_once: bool = False) -> None:
        wait = 0.0 if at_once else self._shown + _EVERY_SECONDS - time.monotonic()
        if wait > 0:  # the last of several quick events must not be the one that nobody sees
            if self._late is None:
                self._late = threading.Timer(wait, self._show_late)
                self._late.daemon = True
                self._late.start()
            return
        self._shown = time.monotonic()
        with unattached(), self.view.hold_sync():
            self.view.drawing = self._drawing()  # before the state, whose change draws
            self.view.state, self.view.letters = self.state, "".join(self._letters)

    def _show_late(self) -> None:
        self._late = None
        if self._open:
            self._show(at_once=True)

    def _leave(self) -> None:
        """Put a page in the widget's place that stays in the file: widgets do not."""
        if not self._open:
            return
        self._open = False
        self._show(at_once=True)
        if self._handle is not None:
            self._handle.update(HTML(self._static_html()))  # type: ignore[no-untyped-call]  # IPython's
            self._handle = None

    def _drawing(self) -> str:
        found = self._shown_search
        return "" if found is None else curve_svg(found.curve, found.budget)

    def _static_html(self) -> str:
        state = self.state
        total = f" of {state['total']:,}" if state["total"] else ""
        words = [f"{state['done']:,}{total} {state['what']}", f"{_time_words(state['seconds'])}"]
        score = f"<b>{escape(_score_words(state))}</b>" if state["scored"] else ""
        if self._shown_search is not None:
            score += f"{escape(self._shown_search.words)}<div>{self._drawing()}</div>"
        letters = "".join(self._letters)
        shown = letters[:_STATIC_LETTERS].replace(" ", "-")
        rest = f" … and {len(letters) - len(shown):,} more" if len(letters) > len(shown) else ""
        note = f'<div class="lcb-tone-soft">{escape(state["note"])}</div>' if state["note"] else ""
        where = f'<div class="lcb-tone-soft">{escape(self._where)}</div>' if self._where else ""
        return (
            f'<div class="lcb"><style>{STYLE}</style><div><b>{escape(state["phase"])}</b>: '
            f"{escape(', '.join(words))}</div><div>{score}</div><div>{strip(shown)}{rest}</div>"
            f"<div>{legend(letters.replace(' ', '-'), counted=True)}</div>{where}{note}</div>"
        )


def _score_words(state: dict[str, Any]) -> str:
    share = state["passed"] / state["scored"]
    counted, interval = f"{state['passed']}/{state['scored']}", f"{state['low']:.1%} to {state['high']:.1%}"
    return f"pass@1 {share:.1%} ({counted}, 95 % {interval})"


def _time_words(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
