"""Structured, softly: a report is one JSON object between two marker lines; what lacks is filled in."""

import json
import re
from collections.abc import Iterator
from typing import Any

from lcbkit.topologies.reports import CONFIDENCES, STATUSES, WHERE, MessageFormat, Parsed, Report, one_of

__all__ = ["FORMAT"]

_OPEN_MARK, _END_MARK = "JSON_REPORT:", "END_JSON_REPORT"
_MARK = re.compile(r"^[ \t]*JSON_REPORT:", re.IGNORECASE | re.MULTILINE)
_KEYS = ("status", "summary", "confidence", "next", "payload")
_WORDS = ("status", "summary", "confidence", "next")

_CONTRACT = f"""## Report
{WHERE}
It is one JSON object without a fence around it, between two marker lines:
{_OPEN_MARK}
{{"status": "completed", "summary": "what you did or found", "confidence": "medium",
 "next": "what the reader should use or do", "payload": {{}}}}
{_END_MARK}
status is one of not_started, in_progress, completed, blocked; confidence is one of low, medium, high.
payload may hold approach, complexity, edge_cases, code_status and tests, a list of objects with input,
expected, observed and passed."""


def _render(report: Report) -> str:
    fields = {
        "status": report.status,
        "summary": report.summary,
        "confidence": report.confidence,
        "next": report.next,
        "payload": dict(report.payload),
    }
    body = json.dumps(fields, ensure_ascii=False, sort_keys=True, indent=1)
    return f"{_OPEN_MARK}\n{body}\n{_END_MARK}"


def _parse(text: str) -> Parsed:
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
        status=one_of(texts.get("status", ""), STATUSES),
        summary=texts.get("summary", ""),
        confidence=one_of(texts.get("confidence", ""), CONFIDENCES),
        next=texts.get("next", ""),
        payload=payload if isinstance(payload, dict) else {},
    )
    errors = [
        f"{name} is {'not valid' if value.get(name) else 'empty' if name in value else 'missing'}"
        for name in _KEYS
        if not (isinstance(payload, dict) if name == "payload" else getattr(report, name))
    ]
    return Parsed(ok=not errors, report=report, errors=tuple(errors))


FORMAT = MessageFormat(contract=_CONTRACT, parse=_parse, render=_render, signed=True)
