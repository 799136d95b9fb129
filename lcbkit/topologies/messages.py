"""How agents write to each other: the contract they are given, and what becomes of a text on its way.

Whatever the format, a program crosses a hand-off byte for byte; only the prose around it is cut.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lcbkit.extract import extract_code, has_statement, split_answer
from lcbkit.topologies.answer import AgentRun, HandoffRecord
from lcbkit.topologies.reports import Parsed, Report, fenced, format_named
from lcbkit.topologies.transcript import encodable

__all__ = ["Desk", "own_words"]

SUMMARY_CHARS = 500
EVIDENCE_CHARS = 1_000
_RAW_CHARS = 1_000
_RENDERED_CHARS = 2_000
_NAME_CHARS = 100
_MAX_ITEMS = 30
_MAX_DEPTH = 5

_THINK = re.compile(r"<(/?)think>", re.IGNORECASE)

_FAILURES = {
    "timeout": "ran out of time",
    "recursion_limit": "ran out of tool rounds",
    "truncated": "was cut off before it had said anything",
    "empty": "wrote nothing",
}


def own_words(run: AgentRun) -> str:
    """What an agent hands on: its text, with its program even if that stood in an earlier message.

    A failed run hands on a sentence that says so, never a draft.
    """
    if run.error or not run.text:
        return f"(no report: the {run.role} {_FAILURES.get(run.stop_reason, 'failed')})"
    if run.code is not None and extract_code(run.text) is None:
        return f"{run.text}\n\n{fenced(run.code, 'python')}"
    return run.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Writes the messages of one team.

    Attributes:
        topology: of the team.
        message_format: of the team.
    """

    topology: str
    message_format: str

    def hand_over(
        self, text: str, *, sender: str, target: str, round: int, advice: str, starter_code: str = ""
    ) -> tuple[str, HandoffRecord]:
        """A text as its reader gets it.

        Args:
            text: what the sender wrote, without reasoning.
            sender: heads the text.
            target: who reads it.
            round: in which it was written.
            advice: what the reader should do with it, if the sender does not say so.
            starter_code: of the problem; repeating it is no program.

        Returns:
            The text, and the record of the hand-off.
        """
        parsed, prose, code = _read(text, self.message_format, starter_code)
        report = _completed(parsed, prose, advice)
        body = fenced(text, "text") if self._freeform else self._written(report, code, sender)
        given = encodable(f"### {sender}\n{body}")
        record = HandoffRecord(
            role=sender,
            target=target,
            round=round,
            format=self.message_format,
            ok=parsed.ok,
            errors=parsed.errors,
            rendered_ok=_read(given, self.message_format, "")[0].ok,
            chars_in=len(text),
            chars_out=len(given),
            has_code=code is not None,
            raw_excerpt=encodable(text[:_RAW_CHARS]),
            rendered_excerpt=given[:_RENDERED_CHARS],
        )
        return given, record

    def measured(
        self, runs: Sequence[AgentRun], handoffs: Sequence[HandoffRecord] = (), *, expected: int
    ) -> dict[str, Any]:
        """How well the team kept to its format, judged by what its agents wrote, not by what was rendered.

        Args:
            runs: the agent runs; the text of each is a report.
            handoffs: what agents read of each other.
            expected: how many reports there should be.

        Returns:
            Plain JSON values. Rates are shares in [0, 1]; a structured team without a report has rate 0.
            `missing_roles` are those that worked and never wrote a text.
        """
        written = [run for run in runs if run.text]
        parsed = [(run, _read(run.text, self.message_format, "")[0]) for run in written]
        good = sum(result.ok for _, result in parsed)
        freeform = self._freeform
        infra = next((run.error for run in runs if run.infra), None)
        silent = dict.fromkeys(run.role for run in runs)
        return {
            "format": self.message_format,
            "parse_rate": good / len(parsed) if parsed else float(freeform),
            "parse_ok": freeform or good > 0,
            "all_parse_ok": (freeform or 0 < good == len(parsed)) and infra is None,
            "render_parse_rate": _share([record.rendered_ok for record in handoffs]),
            "report_total": len(parsed),
            "report_ok_count": good,
            "required_report_count": expected,
            "missing_roles": [role for role in silent if not any(run.role == role for run in written)],
            "parse_errors": [f"{run.role}: {error}" for run, result in parsed for error in result.errors],
            "infra_error": infra,
            "inflight_handoff_count": len(handoffs),
            "inflight_all_parse_ok": all(record.ok for record in handoffs) if handoffs else None,
        }

    @property
    def _freeform(self) -> bool:
        return format_named(self.message_format).render is None

    def _written(self, report: Report, code: str | None, sender: str) -> str:
        form = format_named(self.message_format)
        if form.signed:
            about = {"role": sender, "topology": self.topology, "dataset": "livecodebench"}
            report = replace(report, payload={**report.payload, **about})
        body = form.render(report) if form.render else ""
        return body if code is None else f"{body}\n\n{fenced(code, 'python')}"


def _share(claims: Sequence[bool]) -> float:
    return sum(claims) / len(claims) if claims else 1.0


def _read(text: str, message_format: str, starter_code: str) -> tuple[Parsed, str, str | None]:
    """The report in a text, the prose and the program; a report ends where the program begins."""
    parts = split_answer(text, starter_code=starter_code)
    parse = format_named(message_format).parse
    parsed = parse(parts.before)
    if parsed.report is None and parts.after.strip():
        late = parse(parts.after)
        parsed = late if late.report is not None else parsed
    return parsed, f"{parts.before.strip()}\n{parts.after.strip()}".strip(), parts.code


def _completed(parsed: Parsed, prose: str, advice: str) -> Report:
    """The report with what it lacks filled in, every field short enough; what the agent said wins."""
    given = parsed.report or Report()
    summary = given.summary or " ".join(prose.split())
    # What fits into the summary need not be said twice.
    repeated = bool(given.payload.get("tests")) or (not given.summary and len(summary) <= SUMMARY_CHARS)
    evidence = given.evidence or ("" if repeated else prose)
    payload = _short(given.payload)
    if evidence and "tests" not in payload:
        payload["evidence"] = _cut(evidence, EVIDENCE_CHARS)
    return Report(
        status=given.status or "completed",
        summary=_cut(summary, SUMMARY_CHARS) or "See the program.",
        evidence=_cut(evidence, EVIDENCE_CHARS) or "None given.",
        confidence=given.confidence or "medium",
        reason=_cut(given.reason, SUMMARY_CHARS),
        next=_cut(given.next, SUMMARY_CHARS) or advice,
        payload=payload,
    )


def _cut(text: str, chars: int) -> str:
    """The beginning of a text; a tag of reasoning in it would hide what follows from the reader."""
    return _THINK.sub(r"<\1thinking>", text)[:chars].strip()


def _short(value: Any, depth: int = 0) -> Any:
    """A JSON value of bounded size; a program among its texts stays whole."""
    if isinstance(value, str):
        return value if has_statement(value) else _cut(value, EVIDENCE_CHARS)
    if isinstance(value, Mapping | list) and depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        items = list(value.items())[:_MAX_ITEMS]
        return {_cut(str(name), _NAME_CHARS): _short(item, depth + 1) for name, item in items}
    if isinstance(value, list):
        return [_short(item, depth + 1) for item in value[:_MAX_ITEMS]]
    return value
