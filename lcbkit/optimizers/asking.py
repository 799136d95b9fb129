"""Questions to a text model, many at once, with answers that do not depend on which comes first.

The threads that wait for answers are daemons: an interrupt ends the wait at once, whatever is still on its
way, where the standard library's executor would sit out every request.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from typing import TypeVar

from lcbkit.optimizers.interface import InfrastructureExhausted, ReflectionError, Step, TextModel

__all__ = ["Ask", "answers", "ask_all", "in_background", "needed_answers"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question; the fields are the arguments of a `TextModel`."""

    prompt: str
    step: Step
    role: str = ""
    system: str | None = None
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int | None = None


def ask_all(model: TextModel, asks: Sequence[Ask], *, at_once: int = 4) -> list[str | ReflectionError]:
    """Ask everything and give what came back, in the order of the questions.

    A model tells equal questions apart by how often they were asked, so those go one after the other; all
    others may overlap.

    Args:
        model: what is asked.
        asks: the questions.
        at_once: how many may be on their way at one time.
    """
    groups: dict[Ask, list[int]] = {}
    for place, ask in enumerate(asks):
        groups.setdefault(ask, []).append(place)

    waiting = deque(groups.items())
    stopping = Event()
    done: SimpleQueue[tuple[list[int], list[str | ReflectionError] | BaseException]] = SimpleQueue()

    def work() -> None:
        while not stopping.is_set():
            try:
                ask, places = waiting.popleft()
            except IndexError:
                return
            try:
                done.put((places, [_asked(model, ask) for _ in places]))
            except BaseException as error:  # noqa: BLE001 - raised again by the thread that asked
                done.put((places, error))

    result: list[str | ReflectionError] = [""] * len(asks)
    for _ in range(min(max(1, at_once), len(groups))):
        Thread(target=work, name="ask", daemon=True).start()
    try:
        for _ in groups:
            places, given = done.get()
            if isinstance(given, BaseException):
                raise given
            for place, answer in zip(places, given, strict=True):
                result[place] = answer
    finally:
        stopping.set()
    return result


def in_background(work: Callable[[], T]) -> Callable[[], T]:
    """Begin some work in a thread of its own; calling what comes back waits for its result."""
    done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            done.put((None, error))

    def result() -> T:
        value, error = done.get()
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # without an error it is the work's own

    Thread(target=run, name="background", daemon=True).start()
    return result


def _asked(model: TextModel, ask: Ask) -> str | ReflectionError:
    try:
        return model(
            ask.prompt,
            step=ask.step,
            role=ask.role,
            system=ask.system,
            temperature=ask.temperature,
            top_p=ask.top_p,
            max_tokens=ask.max_tokens,
        )
    except ReflectionError as error:
        return error


def answers(model: TextModel, asks: Sequence[Ask], *, at_once: int = 4) -> list[str]:
    """As `ask_all`; a question without an answer gets an empty one."""
    found = ask_all(model, asks, at_once=at_once)
    return ["" if isinstance(answer, ReflectionError) else answer for answer in found]


def needed_answers(model: TextModel, asks: Sequence[Ask], *, at_once: int = 4) -> list[str]:
    """As `ask_all`, for questions whose answers a method cannot do without.

    Raises:
        InfrastructureExhausted: if one of them stayed without an answer.
    """
    found: list[str] = []
    for answer in ask_all(model, asks, at_once=at_once):
        if isinstance(answer, ReflectionError):
            raise InfrastructureExhausted(f"a question that the search needs: {answer}") from answer
        found.append(answer)
    return found
