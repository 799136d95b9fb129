"""Headings: a report in paragraphs, each under a heading of its own."""

import re

from lcbkit.topologies.reports import CONFIDENCES, STATUSES, WHERE, MessageFormat, Parsed, Report, one_of

__all__ = ["FORMAT"]

_FIELDS = ("status", "summary", "confidence", "next")
_HEADING = re.compile(r"^#### (\w+)[ \t]*$", re.MULTILINE)
_CONTRACT = f"""## Report
{WHERE}
It has four headings, with a line or two below each:
#### Status, #### Summary, #### Confidence, #### Next.
Status is one of {", ".join(STATUSES)}; confidence is one of {", ".join(CONFIDENCES)}."""


def _render(report: Report) -> str:
    return "\n".join(f"#### {name.capitalize()}\n{_plain(getattr(report, name))}" for name in _FIELDS)


def _plain(text: str) -> str:
    """The text without lines that would be read as headings or fences."""
    return "\n".join(
        f"> {line}" if line.startswith(("#", "```", "~~~")) else line for line in text.splitlines()
    )


def _parse(text: str) -> Parsed:
    _, *parts = _HEADING.split(text)
    found = {name.lower(): body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    if not found:
        return Parsed(ok=False, report=None, errors=("no report",))
    report = Report(
        status=one_of(found.get("status", ""), STATUSES),
        summary=found.get("summary", ""),
        confidence=one_of(found.get("confidence", ""), CONFIDENCES),
        next=found.get("next", ""),
    )
    errors = tuple(f"{name} is missing" for name in _FIELDS if not getattr(report, name))
    return Parsed(ok=not errors, report=report, errors=errors)


FORMAT = MessageFormat(contract=_CONTRACT, parse=_parse, render=_render)
