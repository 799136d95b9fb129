"""Reports that agents write to each other: what belongs into one, and what a message format is.

A report is never refused and never asked for again: what it lacks is filled in when it is handed on. The
program that a text holds is no part of its report.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from lcbkit.errors import BadValueError

__all__ = [
    "CONFIDENCES",
    "FENCE",
    "MESSAGE_FORMATS",
    "STATUSES",
    "WHERE",
    "MessageFormat",
    "Parsed",
    "Report",
    "fenced",
    "format_named",
    "one_of",
]

MESSAGE_FORMATS = ("freeform", "semi_structured", "structured_soft")
"""How agents may write to each other; each is `FORMAT` in the file of that name in `formats/`."""

STATUSES = ("not_started", "in_progress", "completed", "blocked")
CONFIDENCES = ("low", "medium", "high")

WHERE = "Put a report into every reply, in front of the program if the reply has one. No code in the report."
"""Begins the contract of a format that has reports."""

FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
"""A line that opens or closes a fenced block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an agent has to say to another; an empty field was not given, or not as it should be.

    Attributes:
        status: one of `STATUSES`.
        summary: what was done or found.
        evidence: what shows it: tests, cases, observations.
        confidence: one of `CONFIDENCES`.
        reason: why that confidence; semi-structured reports have it.
        next: what the reader should use or do.
        payload: more about the task: approach, complexity, edge_cases, tests, code_status.
    """

    status: str = ""
    summary: str = ""
    evidence: str = ""
    confidence: str = ""
    reason: str = ""
    next: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a text held of a report.

    Attributes:
        ok: whether it was a whole and valid one.
        report: what there was of it; None if nothing like a report was found.
        errors: what was missing or invalid.
    """

    ok: bool
    report: Report | None
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFormat:
    """How agents write to each other.

    Attributes:
        contract: what every agent's system prompt says about reports; empty if there are none.
        parse: reads the report in a text from which the program was taken out.
        render: a whole report as text, which `parse` reads as a valid one; None hands texts on as they are.
        signed: whether a report's payload says who wrote it, in which topology, about which data set.
    """

    contract: str
    parse: Callable[[str], Parsed]
    render: Callable[[Report], str] | None
    signed: bool = False


@cache
def format_named(name: str) -> MessageFormat:
    """A message format by its name.

    Raises:
        BadValueError: if there is none of that name.
    """
    if name not in MESSAGE_FORMATS:
        raise BadValueError(f"no message format {name!r}; there is: {', '.join(MESSAGE_FORMATS)}")
    found: MessageFormat = import_module(f"lcbkit.topologies.formats.{name}").FORMAT
    return found


def fenced(text: str, label: str) -> str:
    """The text as a block whose fence is longer than any row of backticks in it."""
    longest = max((len(row) for row in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"


def one_of(text: str, allowed: Sequence[str]) -> str:
    """The first word if it is an allowed one, else an empty text."""
    words = text.split()
    word = words[0].lower().strip(".,;:") if words else ""
    return word if word in allowed else ""
