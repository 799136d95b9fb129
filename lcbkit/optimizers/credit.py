"""Credit along a trajectory: transcripts in pieces, a judge's words on them as records, and those pooled."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcbkit.optimizers.interface import Message

__all__ = [
    "EDITS",
    "KINDS",
    "Knowledge",
    "PieceCredit",
    "RoleCredit",
    "distinct",
    "parse_items",
    "parse_piece_credit",
    "parse_role_credit",
    "pieces",
    "repeated",
]

EDITS = ("add", "remove", "restructure")
"""What can be proposed to be done to a prompt."""

KINDS = ("result", "effectiveness", "quality", "collaboration")
"""What suggestions are about."""

_BYSTANDERS = {"user", "tool", "system"}
_MOST_ITEMS = 8
_LONGEST_ITEM = 300
_RATINGS = ("progress", "coordination", "stage_fit")


def pieces(messages: Sequence[Message], hub: str | None = None) -> list[tuple[Message, ...]]:
    """Cut a transcript into steps of the team's work.

    With a hub, a piece is one turn of the hub and all that follows up to its next turn. Without, it is one
    participant's turn and the tool replies to it. Texts of one participant with nothing but tool replies in
    between are one turn. What comes before the first participant belongs to the first piece.

    Args:
        messages: in order.
        hub: the role that others report to; None for teams without one.
    """
    cuts = [0]
    speaker: str | None = None
    for place, message in enumerate(messages):
        if message.source in _BYSTANDERS:
            continue
        starts = message.source != speaker and (hub is None or message.role == hub)
        if starts and speaker is not None:
            cuts.append(place)
        speaker = message.source
    ends = [*cuts[1:], len(messages)]
    return [tuple(messages[a:b]) for a, b in zip(cuts, ends, strict=True) if b > a]


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceCredit:
    """What a judge says of one piece of a trajectory.

    Attributes:
        ratings: progress, coordination and stage fit, from 1 to 10.
        analysis: why.
    """

    ratings: Mapping[str, float]
    analysis: str

    def line(self) -> str:
        """The credit on one line."""
        rated = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in self.ratings.items())
        return f"{rated}: {self.analysis}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleCredit:
    """What a judge makes of one role's part in one rollout.

    It is asked for ratings, strengths, weaknesses and their causes first, so that what it proposes rests on
    them; only that is kept.

    Attributes:
        role: whose part it is.
        suggestions: by kind, see `KINDS`.
        edits: changes to its prompt, by what they do, see `EDITS`.
    """

    role: str
    suggestions: Mapping[str, tuple[str, ...]]
    edits: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What the credits of a batch amount to: the edits that count most, and distinct suggestions by kind."""

    edits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suggestions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        return not any([*self.edits.values(), *self.suggestions.values()])


def parse_piece_credit(value: Mapping[str, Any] | None) -> PieceCredit | None:
    """The credit in a judge's JSON object; None if a rating is missing or no number."""
    if value is None:
        return None
    ratings = {name: rating for name in _RATINGS if (rating := _rating(value.get(name))) is not None}
    if len(ratings) < len(_RATINGS):
        return None
    return PieceCredit(ratings=ratings, analysis=" ".join(parse_items(value.get("analysis"))))


def parse_role_credit(role: str, value: Mapping[str, Any] | None) -> RoleCredit | None:
    """The credit in a judge's JSON object; None without any edit, suggestion or weakness."""
    if value is None:
        return None
    given, wanted = _mapping(value.get("suggestions")), _mapping(value.get("edits"))
    credit = RoleCredit(
        role=role,
        suggestions={kind: parse_items(given.get(kind)) for kind in KINDS},
        edits={edit: parse_items(wanted.get(edit)) for edit in EDITS},
    )
    said = [parse_items(value.get("weaknesses")), *credit.suggestions.values(), *credit.edits.values()]
    return credit if any(said) else None


def parse_items(value: Any) -> tuple[str, ...]:
    """The texts in a JSON value that should be a list of texts: blanks joined, cut, at most eight."""
    listed = value if isinstance(value, list) else [value]
    # Cut twice: a huge item is not to be read whole.
    texts = [
        " ".join(item[: 4 * _LONGEST_ITEM].split())[:_LONGEST_ITEM]
        for item in listed
        if isinstance(item, str)
    ]
    return tuple(text for text in texts if text)[:_MOST_ITEMS]


def distinct(items: Iterable[str], most: int) -> tuple[str, ...]:
    """The first items that differ in more than case, blanks and punctuation."""
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(_core(item), item)
    return tuple(first.values())[:most]


def repeated(items: Sequence[str], most: int) -> tuple[str, ...]:
    """The items that occur at least twice and say something, the most frequent first."""
    counts = Counter(map(_core, items))
    known = [item for item in distinct(items, len(items)) if counts[_core(item)] > 1 and len(item) > 10]
    return tuple(sorted(known, key=lambda item: -counts[_core(item)])[:most])


def _core(item: str) -> str:
    return " ".join(re.findall(r"\w+", item.casefold()))


def _rating(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return min(10.0, max(1.0, number)) if number == number else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
