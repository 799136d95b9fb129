"""One instance of a run as HTML: verdict, failures, program, and what the team wrote (pure functions)."""

from collections.abc import Mapping
from html import escape
from typing import Any

from lcbkit.display.answer import facts_html, trajectory_html, usage_words
from lcbkit.display.highlight import code_html, prose_html
from lcbkit.judging.report import Report
from lcbkit.problems import Problem
from lcbkit.records import Record

__all__ = ["instance_html"]


def instance_html(
    record: Record,
    texts: Mapping[str, Any] | None,
    *,
    word: str,
    tone: str,
    label: str = "",
    report: Report | None = None,
    problem: Problem | None = None,
) -> str:
    """Everything that is known of an instance, the most telling first; it belongs into an element `lcbv`.

    Args:
        record: the instance's line.
        texts: what was saved of the team's work and the judge's report, if anything.
        word: how the instance ended.
        tone: good, bad, warn or soft.
        label: of the run, where two stand side by side.
        report: a fresh report, in place of the saved one.
        problem: shows its statement, if given.
    """
    texts = texts or {}
    parts = [_head(record, word, tone, label)]
    if problem is not None:
        parts.append(_part("statement", prose_html(problem.statement), "statement"))
    parts.append(_failures(record, texts, report))
    if record.code is not None:
        lines = record.code.count("\n") + 1
        parts.append(
            _part("program", code_html(record.code, copy=True), "program", f"{lines} lines", opened=True)
        )
    if texts.get("trajectory"):
        runs = len(texts["trajectory"])
        parts.append(
            _part(
                "what the team wrote",
                trajectory_html(texts),
                "team",
                f"{runs} agent run{'s' * (runs != 1)}",
                opened=True,
            )
        )
    elif record.agents:
        parts.append('<div class="lcbv-none">the texts of this instance are not beside the run</div>')
    return "".join(parts)


def _head(record: Record, word: str, tone: str, label: str) -> str:
    title = escape(record.title or record.problem_id)
    sample = f"sample {record.sample}" if record.sample else ""
    who = [record.problem_id, record.platform, record.difficulty, record.mode, record.contest_date, sample]
    cost = [
        f"{record.pass_count} of {record.total} tests passed" if record.total else "",
        *usage_words(
            {
                "n_llm_calls": record.n_llm_calls,
                "n_tool_calls": record.n_tool_calls,
                "total_tokens": record.total_tokens,
            }
        ),
        f"solved in {record.solve_s:.1f} s" if record.solve_s is not None else "",
        f"judged in {record.judge_s:.1f} s" if record.judge_s is not None else "",
    ]
    run = f'<div class="lcbv-label">{escape(label)}</div>' if label else ""
    error = f'<div class="lcbv-error">{escape(record.error)}</div>' if record.error else ""
    erratum = (
        f'<div class="lcbv-warn">known to be defective: {escape(record.erratum)}</div>'
        if record.erratum
        else ""
    )
    return (
        f'{run}<div class="lcbv-title">{title} <b class="lcbv-{tone}">{escape(word)}</b></div>'
        f'<div class="lcbv-facts">{facts_html(who)}</div><div class="lcbv-facts">{facts_html(cost)}</div>'
        f"{erratum}{error}"
    )


def _failures(record: Record, texts: Mapping[str, Any], report: Report | None) -> str:
    if report is None and texts.get("report"):
        report = Report.from_dict(texts["report"])
    if report is not None:
        return f'<div class="lcbv-report">{report.to_html(copy=True)}</div>'
    if (failure := record.first_failure) is not None:
        kind = str(failure.get("kind")).replace("_", " ")
        return (
            f'<div><b class="lcbv-bad">test {escape(str(failure.get("test")))}: {escape(kind)}</b> '
            f"{escape(str(failure.get('message') or ''))}</div>"
        )
    return ""


def _part(title: str, body: str, key: str, fact: str = "", *, opened: bool = False) -> str:
    note = f' <span class="lcbv-fact">{escape(fact)}</span>' if fact else ""
    return (
        f'<details class="lcbv-part" data-key="{escape(key)}"{" open" if opened else ""}>'
        f"<summary><b>{escape(title)}</b>{note}</summary><div>{body}</div></details>"
    )
