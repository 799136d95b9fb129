"""Reports that agents write to each other: what belongs into one, how it is read, how it is written.

A report is never refused and never asked for again: what it lacks is filled in when it is handed on. The
program that a text holds is no part of its report.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["MESSAGE_FORMATS", "Parsed", "Report", "fenced", "parse_report", "render_report"]

MESSAGE_FORMATS = ("freeform", "semi_structured", "structured_soft")

STATUSES = ("not_started", "in_progress", "completed", "blocked")
CONFIDENCES = ("low", "medium", "high")
TAGS = {
    "STATUS": "status",
    "SUMMARY": "summary",
    "EVIDENCE_OR_TESTS": "evidence",
    "CONFIDENCE": "confidence",
    "NEXT": "next",
}
EXTRA_TAGS = {
    "APPROACH": "approach",
    "COMPLEXITY": "complexity",
    "EDGE_CASES": "edge_cases",
    "CODE_STATUS": "code_status",
}
OPEN_MARK, END_MARK = "JSON_REPORT:", "END_JSON_REPORT"

_TAG = re.compile(r"\[([A-Z_]+)\][ \t]*")
_MARK = re.compile(r"^[ \t]*JSON_REPORT:", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
_KEYS = ("status", "summary", "confidence", "next", "payload")
_WORDS = ("status", "summary", "confidence", "next")


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


def parse_report(text: str, message_format: str) -> Parsed:
    """Read the report in a text from which the program was taken out.

    Args:
        text: what an agent wrote, or what `render_report` gave.
        message_format: one of `MESSAGE_FORMATS`; freeform texts are always right and hold no report.
    """
    if message_format == "freeform":
        return Parsed(ok=True, report=None)
    return _parse_tags(text) if message_format == "semi_structured" else _parse_json(text)


def render_report(report: Report, message_format: str) -> str:
    """A whole report as text; reading it back gives a valid report.

    Args:
        report: with status, summary, confidence and next, in semi-structured form evidence as well.
        message_format: `semi_structured` or `structured_soft`.
    """
    if message_format == "structured_soft":
        fields = {
            "status": report.status,
            "summary": report.summary,
            "confidence": report.confidence,
            "next": report.next,
            "payload": dict(report.payload),
        }
        body = json.dumps(fields, ensure_ascii=False, sort_keys=True, indent=1)
        return f"{OPEN_MARK}\n{body}\n{END_MARK}"
    sections = {
        "STATUS": report.status,
        "SUMMARY": report.summary,
        "EVIDENCE_OR_TESTS": report.evidence,
        "CONFIDENCE": f"{report.confidence}\n{report.reason}".strip(),
        "NEXT": report.next,
    }
    extras = {tag: str(report.payload.get(name) or "") for tag, name in EXTRA_TAGS.items()}
    written = sections | {tag: text for tag, text in extras.items() if text.strip()}
    return "\n".join(f"[{tag}]\n{_defused(text)}" for tag, text in written.items())


def fenced(text: str, label: str) -> str:
    """The text as a block whose fence is longer than any row of backticks in it."""
    longest = max((len(row) for row in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"


def _defused(text: str) -> str:
    """The text with a mark before each line that could be taken for a tag or a fence."""
    lines = text.strip().splitlines()
    return "\n".join(f"> {line}" if _TAG.fullmatch(line) or _FENCE.match(line) else line for line in lines)


def _parse_tags(text: str) -> Parsed:
    found = _sections(text.splitlines())
    if not found:
        return Parsed(ok=False, report=None, errors=("no report",))
    status, _, _ = found.get("STATUS", "").partition("\n")
    words = found.get("CONFIDENCE", "").split(maxsplit=1)
    report = Report(
        status=_word(status, STATUSES),
        summary=found.get("SUMMARY", ""),
        evidence=found.get("EVIDENCE_OR_TESTS", ""),
        confidence=_word(words[0] if words else "", CONFIDENCES),
        reason=words[1] if len(words) > 1 else "",
        next=found.get("NEXT", ""),
        payload={name: found[tag] for tag, name in EXTRA_TAGS.items() if found.get(tag)},
    )
    errors = [
        f"[{tag}] is {'not valid' if found.get(tag) else 'empty' if tag in found else 'missing'}"
        for tag, name in TAGS.items()
        if not getattr(report, name)
    ]
    return Parsed(ok=not errors, report=report, errors=tuple(errors))


def _sections(lines: Sequence[str]) -> dict[str, str]:
    """The text below each tag line, the first of a kind; lines inside fences are text."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line, inside in zip(lines, _inside_fences(lines), strict=True):
        tag = _TAG.fullmatch(line)
        if tag and not inside and (tag[1] in TAGS or tag[1] in EXTRA_TAGS):
            current = []
            found.setdefault(tag[1], current)
        else:
            current.append(line)
    return {tag: "\n".join(section).strip() for tag, section in found.items()}


def _inside_fences(lines: Sequence[str]) -> list[bool]:
    """For each line whether it lies in a fenced block; a block that is never closed is none."""
    inside, start, fence = [False] * len(lines), 0, ""
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match and not fence:
            start, fence = number, match[1]
        elif match and match[1].startswith(fence) and not match[2].strip():
            inside[start : number + 1] = [True] * (number + 1 - start)
            fence = ""
    return inside


def _word(text: str, allowed: Sequence[str]) -> str:
    """The first word if it is an allowed one, else an empty text."""
    words = text.split()
    word = words[0].lower().strip(".,;:") if words else ""
    return word if word in allowed else ""


def _parse_json(text: str) -> Parsed:
    start = _json_start(text)
    if start is None:
        return Parsed(ok=False, report=None, errors=("no report",))
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):  # the second: nested too deeply
        return Parsed(ok=False, report=None, errors=("the report is not valid JSON",))
    return _report_of(value)


def _json_start(text: str) -> int | None:
    """Where the report's object should begin."""
    if mark := _MARK.search(text):
        start = text.find("{", mark.end())
        return None if start < 0 else start
    for start in _json_fences(text):
        return start
    return text.index("{") if text.lstrip().startswith("{") else None


def _json_fences(text: str) -> Iterator[int]:
    """Where the objects begin that stand in fenced blocks labelled json or not at all."""
    for block in re.finditer(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(json)?[ \t]*\n\s*(?=\{)", text, re.I | re.M):
        yield block.end()


def _report_of(value: Any) -> Parsed:
    if not isinstance(value, dict):
        return Parsed(ok=False, report=None, errors=("the report is not an object",))
    payload = value.get("payload")
    texts = {name: value[name].strip() for name in _WORDS if isinstance(value.get(name), str)}
    report = Report(
        status=_word(texts.get("status", ""), STATUSES),
        summary=texts.get("summary", ""),
        confidence=_word(texts.get("confidence", ""), CONFIDENCES),
        next=texts.get("next", ""),
        payload=payload if isinstance(payload, dict) else {},
    )
    errors = [
        f"{name} is {'not valid' if value.get(name) else 'empty' if name in value else 'missing'}"
        for name in _KEYS
        if not (isinstance(payload, dict) if name == "payload" else getattr(report, name))
    ]
    return Parsed(ok=not errors, report=report, errors=tuple(errors))
