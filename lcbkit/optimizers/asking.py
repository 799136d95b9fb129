"""Questions to a text model, many at once, with answers that do not depend on which comes first."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lcbkit.optimizers.interface import InfrastructureExhausted, ReflectionError, Step, TextModel

__all__ = ["Ask", "answers", "ask_all", "needed_answers"]


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

    def work(item: tuple[Ask, list[int]]) -> list[str | ReflectionError]:
        return [_asked(model, item[0]) for _ in item[1]]

    result: list[str | ReflectionError] = [""] * len(asks)
    with ThreadPoolExecutor(max(1, at_once), thread_name_prefix="ask") as threads:
        for places, given in zip(groups.values(), threads.map(work, groups.items()), strict=True):
            for place, answer in zip(places, given, strict=True):
                result[place] = answer
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
