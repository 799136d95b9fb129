"""What is taken of the answer of a reflection model.

Answers are never trusted to have the shape that was asked for: every reader here gives a fallback for an
empty, truncated, wordy or oversized answer, and none of them raises.
"""

import json
import re
from typing import Any

from lcbkit.extract import strip_reasoning

__all__ = ["as_prompt", "extract_block", "fenced_text", "parse_json", "parse_score"]

_SCORED_PART = 20_000  # a score that comes later than this is none
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?")
_LAST_COMMA = re.compile(r",\s*([}\]])")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`]*)")


def parse_json(text: str) -> dict[str, Any] | None:
    """The first JSON object of an answer, from its first opening brace; what follows is ignored.

    A raw line break inside a string and a comma before a closing bracket are forgiven; None when there is no
    whole object.
    """
    answer = strip_reasoning(text)
    start = answer.find("{")
    if start < 0:
        return None
    # The mended text comes second: inside a string a comma before a bracket is no mistake.
    return _decoded(answer[start:]) or _decoded(_LAST_COMMA.sub(r"\1", answer[start:]))


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_score(text: str, default: float = 0.5) -> float:
    """The first number of an answer as a score in [0, 1].

    Up to 1 it is taken as it is, up to 10 as tenths, up to 100 as per cent; what is larger is 1.

    Args:
        text: the answer.
        default: the score of an answer without a number.
    """
    found = _NUMBER.search(strip_reasoning(text), 0, _SCORED_PART)
    if found is None:
        return default
    value = float(found.group())
    if value > 1:
        value = value / 10 if value <= 10 else value / 100
    return min(1.0, max(0.0, value))


def extract_block(text: str, fallback: str, *, begin: str, end: str) -> str:
    """The part of an answer that was asked for between two delimiters.

    Without a closed pair, the last fenced block; without one, what follows an opening delimiter; else the
    fallback. Of several blocks the last that is not empty counts: models like to announce the shape first.

    Args:
        text: the answer.
        fallback: what is taken when there is no such part.
        begin: the opening delimiter.
        end: the closing one.
    """
    answer = strip_reasoning(text)
    pieces = answer.split(begin)[1:]
    closed = [piece.split(end, 1)[0].strip() for piece in pieces if end in piece]
    if whole := [block for block in closed if block]:
        return whole[-1]
    if fenced := _fenced(answer.replace(begin, "\n").replace(end, "\n")):
        return fenced[-1]
    if pieces and end not in pieces[-1]:
        return pieces[-1].strip() or fallback
    return fallback


def fenced_text(answer: str) -> str:
    """The text inside an answer's fence, else the whole answer.

    A prompt may hold fenced blocks itself, so of several fences the outermost pair counts; the question asks
    for a fence of four signs, which closes at none of three.
    """
    lines = strip_reasoning(answer).splitlines()
    marks = [(place, found[1]) for place, line in enumerate(lines) if (found := _FENCE.fullmatch(line))]
    longest = max((len(mark) for _, mark in marks), default=0)
    places = [place for place, mark in marks if len(mark) == longest]
    if longest > 3:
        places = places[-2:]
    if len(places) < 2:
        rest = [line for place, line in enumerate(lines) if place not in places]
        return "\n".join(rest).strip()
    return "\n".join(lines[places[0] + 1 : places[-1]]).strip()


def as_prompt(text: str, seed: str) -> str | None:
    """A proposed role prompt, trimmed, or None if no team could work with it.

    Args:
        text: what a reflection model proposed.
        seed: the role's prompt before the search; a proposal is too long beyond four times it (or four times
            2,000 characters): it could fill the window that the problem needs.
    """
    # JSON can spell a lone surrogate, but no request can carry it; and not every server takes a NUL.
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "").strip()
    return clean if clean and len(clean) <= 4 * max(2_000, len(seed)) else None


def _fenced(text: str) -> list[str]:
    """The closed fenced blocks that are not empty, read line by line: linear time on any answer."""
    blocks: list[str] = []
    opened = ""
    inside: list[str] = []
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if not opened:
            opened, inside = (found.group(1) if found else ""), []
        elif found and found.group(1).startswith(opened) and not found.group(2).strip():
            blocks.append("\n".join(inside).strip())
            opened = ""
        else:
            inside.append(line)
    return [block for block in blocks if block]
