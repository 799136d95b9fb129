"""Where two outputs first differ, for showing it; what counts as equal is decided elsewhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest

__all__ = ["Difference", "first_difference"]

_WORD = re.compile(r"[\w.+-]+|[^\w\s]")

Piece = tuple[int, str]
"""A part of a text with the place where it starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first place where two texts differ, as half-open ranges of characters.

    Attributes:
        expected: the range in the expected text; empty where the actual text goes on and it does not.
        actual: the range in the actual text; empty where the expected text goes on and it does not.
    """

    expected: tuple[int, int]
    actual: tuple[int, int]


def first_difference(expected: str, actual: str) -> Difference | None:
    """Find the first word that differs, or None.

    White space around a text and around its lines does not count, and numbers differ by value, not by
    spelling, so that the place is the one that decided a verdict.
    """
    for wanted, found in zip_longest(_lines(expected), _lines(actual)):
        if wanted is None:
            return Difference(expected=_end(expected), actual=_range(found))
        if found is None:
            return Difference(expected=_range(wanted), actual=_end(actual))
        if wanted[1] != found[1] and not _same_numbers(wanted[1], found[1]):
            return _in_line(wanted, found)
    return None


def _lines(text: str) -> Iterator[Piece]:
    start = len(text) - len(text.lstrip())
    for line in text.strip().split("\n"):
        yield start + len(line) - len(line.lstrip()), line.strip()
        start += len(line) + 1


def _in_line(wanted: Piece, found: Piece) -> Difference:
    pairs = zip_longest(_words(wanted), _words(found))
    for left, right in pairs:
        if left is None:
            return Difference(expected=_end_of(wanted), actual=_range(right))
        if right is None:
            return Difference(expected=_range(left), actual=_end_of(found))
        if left[1] != right[1] and not _same_numbers(left[1], right[1]):
            return Difference(expected=_range(left), actual=_range(right))
    # The words agree in value, so their spelling or the white space between them does not.
    shorter = min(len(wanted[1]), len(found[1]))
    same = next((i for i in range(shorter) if wanted[1][i] != found[1][i]), shorter)
    return Difference(expected=_character(wanted, same), actual=_character(found, same))


def _words(line: Piece) -> Iterator[Piece]:
    return ((line[0] + match.start(), match.group()) for match in _WORD.finditer(line[1]))


def _same_numbers(left: str, right: str) -> bool:
    try:
        return [Decimal(word) for word in left.split()] == [Decimal(word) for word in right.split()]
    except (ArithmeticError, ValueError):
        return False


def _range(piece: Piece) -> tuple[int, int]:
    return piece[0], piece[0] + len(piece[1])


def _character(piece: Piece, index: int) -> tuple[int, int]:
    return piece[0] + index, min(piece[0] + index + 1, piece[0] + len(piece[1]))


def _end_of(piece: Piece) -> tuple[int, int]:
    return piece[0] + len(piece[1]), piece[0] + len(piece[1])


def _end(text: str) -> tuple[int, int]:
    return len(text.rstrip()), len(text.rstrip())
