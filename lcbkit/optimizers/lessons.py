"""Lessons for a role: read from a reflection answer, and written under the role's own prompt; pure."""

import re
from collections.abc import Sequence

from lcbkit.extract import strip_reasoning

__all__ = ["BEGIN", "END", "read_lessons", "with_lessons"]

BEGIN, END = "<lessons>", "</lessons>"

_HEADING = "## Lessons from earlier work"
_MOST_LINES = 5
_LINE_CHARS = 400
_BULLET = re.compile(r"\s*(?:[-*+\u2022\u2013]|\(?\d{1,2}[.)])\s+(\S.*)")
_PLACEHOLDER = re.compile(
    r"[<\[{(]+\s*(?:a |an |one |first |second |third |the )?lessons?\b[^>\]})]*[>\]})]+|\.{3}|\u2026"
)


def read_lessons(answer: str) -> str:
    """The lessons of an answer as a bulleted list; empty if it holds none.

    The last block between the delimiters that is not empty counts; without one, only lines that look like
    bullets or numbered items. What merely repeats a placeholder of the question is no lesson.
    """
    text = strip_reasoning(answer)
    for piece in reversed(text.split(BEGIN)[1:]):
        if lessons := _items(piece.split(END, 1)[0].splitlines(), strict=False):
            return lessons
    outside = text.replace(BEGIN, "\n").replace(END, "\n").splitlines()
    return _items(outside, strict=True)


def _items(lines: Sequence[str], *, strict: bool) -> str:
    """Lines as bullets; one that begins none goes on with the one before, if it is open."""
    items: list[str] = []
    open_item = False
    for line in lines:
        found = _BULLET.match(line)
        words = " ".join((found[1] if found else line).split())
        if not words or line.lstrip().startswith(("```", "~~~", "#")):
            open_item = False
        elif found or (not strict and not items):
            items.append(words)
            open_item = True
        elif open_item and (not strict or line.startswith((" ", "\t"))):
            items[-1] += f" {words}"
        elif not strict:
            items.append(words)
            open_item = True
    unique = dict.fromkeys(item[:_LINE_CHARS] for item in items if not _PLACEHOLDER.fullmatch(item))
    return "\n".join(f"- {item}" for item in list(unique)[:_MOST_LINES])


def with_lessons(seed: str, blocks: Sequence[str], *, most: int = 6) -> str:
    """A role's first prompt with the newest blocks of lessons under it; older ones fall off.

    Args:
        seed: the role's prompt before any lesson.
        blocks: as `read_lessons` gives them, the oldest first.
        most: how many blocks are kept.
    """
    kept = [block for block in blocks if block][-most:]
    return "\n\n".join([seed.strip(), _HEADING, "\n".join(kept)]) if kept else seed
