"""Semi-structured: a report in sections, each begun by its tag alone on a line."""

import re
from collections.abc import Sequence

from lcbkit.topologies.reports import (
    CONFIDENCES,
    FENCE,
    STATUSES,
    WHERE,
    MessageFormat,
    Parsed,
    Report,
    one_of,
)

__all__ = ["FORMAT"]

_TAGS = {
    "STATUS": "status",
    "SUMMARY": "summary",
    "EVIDENCE_OR_TESTS": "evidence",
    "CONFIDENCE": "confidence",
    "NEXT": "next",
}
_EXTRA_TAGS = {
    "APPROACH": "approach",
    "COMPLEXITY": "complexity",
    "EDGE_CASES": "edge_cases",
    "CODE_STATUS": "code_status",
}
_TAG = re.compile(r"\[([A-Z_]+)\][ \t]*")

_CONTRACT = f"""## Report
{WHERE}
It consists of these five sections, each begun by its tag alone on a line:
[STATUS]
one of not_started, in_progress, completed, blocked
[SUMMARY]
what you did or found
[EVIDENCE_OR_TESTS]
what shows it: cases, observations, reasons
[CONFIDENCE]
one of low, medium, high, then a few words why
[NEXT]
what the reader should use or do
Where they help, add [APPROACH], [COMPLEXITY], [EDGE_CASES] or [CODE_STATUS] in the same way."""


def _render(report: Report) -> str:
    sections = {
        "STATUS": report.status,
        "SUMMARY": report.summary,
        "EVIDENCE_OR_TESTS": report.evidence,
        "CONFIDENCE": f"{report.confidence}\n{report.reason}".strip(),
        "NEXT": report.next,
    }
    extras = {tag: str(report.payload.get(name) or "") for tag, name in _EXTRA_TAGS.items()}
    written = sections | {tag: text for tag, text in extras.items() if text.strip()}
    return "\n".join(f"[{tag}]\n{_defused(text)}" for tag, text in written.items())


def _defused(text: str) -> str:
    """The text with a mark before each line that could be taken for a tag or a fence."""
    lines = text.strip().splitlines()
    return "\n".join(f"> {line}" if _TAG.fullmatch(line) or FENCE.match(line) else line for line in lines)


def _parse(text: str) -> Parsed:
    found = _sections(text.splitlines())
    if not found:
        return Parsed(ok=False, report=None, errors=("no report",))
    status, _, _ = found.get("STATUS", "").partition("\n")
    words = found.get("CONFIDENCE", "").split(maxsplit=1)
    report = Report(
        status=one_of(status, STATUSES),
        summary=found.get("SUMMARY", ""),
        evidence=found.get("EVIDENCE_OR_TESTS", ""),
        confidence=one_of(words[0] if words else "", CONFIDENCES),
        reason=words[1] if len(words) > 1 else "",
        next=found.get("NEXT", ""),
        payload={name: found[tag] for tag, name in _EXTRA_TAGS.items() if found.get(tag)},
    )
    errors = [
        f"[{tag}] is {'not valid' if found.get(tag) else 'empty' if tag in found else 'missing'}"
        for tag, name in _TAGS.items()
        if not getattr(report, name)
    ]
    return Parsed(ok=not errors, report=report, errors=tuple(errors))


def _sections(lines: Sequence[str]) -> dict[str, str]:
    """The text below each tag line, the first of a kind; lines inside fences are text."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line, inside in zip(lines, _inside_fences(lines), strict=True):
        tag = _TAG.fullmatch(line)
        if tag and not inside and (tag[1] in _TAGS or tag[1] in _EXTRA_TAGS):
            current = []
            found.setdefault(tag[1], current)
        else:
            current.append(line)
    return {tag: "\n".join(section).strip() for tag, section in found.items()}


def _inside_fences(lines: Sequence[str]) -> list[bool]:
    """For each line whether it lies in a fenced block; a block that is never closed is none."""
    inside, start, fence = [False] * len(lines), 0, ""
    for number, line in enumerate(lines):
        match = FENCE.match(line)
        if match and not fence:
            start, fence = number, match[1]
        elif match and match[1].startswith(fence) and not match[2].strip():
            inside[start : number + 1] = [True] * (number + 1 - start)
            fence = ""
    return inside


FORMAT = MessageFormat(contract=_CONTRACT, parse=_parse, render=_render)
