"""What a team wrote for one problem, as HTML: agents in order, tool calls folded, hand-offs, the vote.

It reads the plain values of `TeamAnswer.to_dict()`, so that a saved trajectory shows as a fresh answer does.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from lcbkit.display.highlight import code_html, prose_html
from lcbkit.display.text import one_line
from lcbkit.html import clip

__all__ = ["VIEW_STYLE", "answer_html", "facts_html", "trajectory_html", "usage_words"]

VIEW_STYLE = (Path(__file__).parent / "answer.css").read_text(encoding="utf-8")
"""The style sheet of everything here; it applies inside an element of class `lcbv`."""

_LONGEST = 6_000  # characters of a prompt, a tool's input or output
_TONES = {"ok": "good", "end": "soft"}

Values = Mapping[str, Any]


def answer_html(answer: Values) -> str:
    """A whole answer, style sheet included, to stand alone in a notebook's output."""
    usage, code = answer.get("usage") or {}, answer.get("code")
    facts = [*usage_words(usage), f"stopped: {answer.get('stop_reason')}"]
    status = str(answer.get("status"))
    tone = _TONES.get(status, "bad" if "error" in status else "warn")
    parts = [
        f'<div class="lcbv-head"><b class="lcbv-{tone}">{escape(status.replace("_", " "))}</b>'
        f"{facts_html(facts)}</div>",
        f'<div class="lcbv-error">{escape(str(answer["error"]))}</div>' if answer.get("error") else "",
        code_html(code) if code else '<div class="lcbv-none">no program</div>',
        trajectory_html(answer),
    ]
    return f'<div class="lcbv"><style>{VIEW_STYLE}</style>{"".join(parts)}</div>'


def trajectory_html(answer: Values) -> str:
    """The agents' runs in the order of the work, each folded but the one that answers; then the vote."""
    runs: Sequence[Values] = answer.get("trajectory") or ()
    votes: Values = answer.get("votes") or {}
    handoffs = _grouped(answer.get("handoffs") or ())
    speaker = [run for run in runs if votes.get("winner") in (None, run.get("agent"))][-1:]
    parts = []
    for place, run in enumerate(runs):
        own = [handoff for handoff in handoffs if _is_from(handoff, run)]
        handoffs = [handoff for handoff in handoffs if handoff not in own]
        earlier = [other for other in runs[:place] if other.get("agent") == run.get("agent")]
        parts.append(_run_html(run, earlier, own, place=place, opened=run in speaker))
    parts += [_handoff_html(handoff, f"h{i}") for i, handoff in enumerate(handoffs)]
    if votes:
        parts.append(_votes_html(votes, runs))
    return f'<div class="lcbv-runs">{"".join(parts)}</div>'


def facts_html(words: Iterable[str | None]) -> str:
    """Short facts behind each other; the signs between them are text, so that they stay without our style."""
    known = [escape(word) for word in words if word]
    return "".join(
        f' <span class="lcbv-fact">{word}{" ·" if place < len(known) else ""}</span>'
        for place, word in enumerate(known, 1)
    )


def usage_words(usage: Values) -> list[str]:
    """How many calls and tokens work took, without what is zero."""
    words = []
    for name, one in (
        ("n_llm_calls", "model call"),
        ("n_tool_calls", "tool call"),
        ("total_tokens", "token"),
    ):
        if number := int(usage.get(name) or 0):
            words.append(f"{number:,} {one}{'s' * (number != 1)}")
    return words


def _run_html(
    run: Values, earlier: Sequence[Values], handoffs: Sequence[Values], *, place: int, opened: bool
) -> str:
    usage: Values = run.get("usage") or {}
    stop = str(run.get("stop_reason"))
    words = [
        f"agent {run.get('agent')}",
        *([f"round {run.get('round')}"] if run.get("round") else []),
        *usage_words(usage),
        f"{float(run.get('latency_s') or 0):.1f} s",
        "wrote a program" if run.get("code") else "no program",
    ]
    ending = "" if stop == "end" else f' <span class="lcbv-warn">{escape(stop.replace("_", " "))}</span>'
    summary = f"<b>{escape(str(run.get('role')))}</b>{facts_html(words)}{ending}"
    error = f'<div class="lcbv-error">{escape(str(run["error"]))}</div>' if run.get("error") else ""
    body = error + _messages_html(run, earlier, place)
    body += "".join(_handoff_html(handoff, f"{place}h{i}") for i, handoff in enumerate(handoffs))
    return _folded(summary, body, key=f"r{place}", opened=opened, kind="lcbv-run")


def _messages_html(run: Values, earlier: Sequence[Values], place: int) -> str:
    messages: Sequence[Values] = run.get("messages") or ()
    known = [_said(message) for other in earlier for message in other.get("messages") or ()]
    repeated = 0
    while earlier and repeated < len(messages) and _said(messages[repeated]) in known:
        repeated += 1
    results = {message.get("tool_call_id"): message for message in messages if message.get("role") == "tool"}
    called = {call.get("id") for message in messages for call in message.get("tool_calls") or ()}
    parts = [
        _message_html(message, results, called, f"{place}m{i}")
        for i, message in enumerate(messages)
        if i >= repeated
    ]
    if repeated:
        parts.insert(
            0, f'<div class="lcbv-none">{repeated} messages of its earlier turns are not repeated</div>'
        )
    return "".join(parts) or f'<div class="lcbv-none">{escape(str(run.get("text") or "no text"))}</div>'


def _message_html(message: Values, results: Mapping[Any, Values], called: set[Any], key: str) -> str:
    role, text = str(message.get("role")), str(message.get("content") or "")
    if role == "assistant":
        notes = []
        if message.get("reasoning_chars"):
            notes.append(f"thought before ({message['reasoning_chars']:,} characters, not kept)")
        if message.get("cut"):
            notes.append("cut off at the token limit")
        said = prose_html(text) if text else ""
        calls = message.get("tool_calls") or ()
        tools = "".join(
            _call_html(call, results.get(call.get("id")), f"{key}t{i}") for i, call in enumerate(calls)
        )
        return "".join(f'<div class="lcbv-none">{note}</div>' for note in notes) + said + tools
    if role == "tool" and message.get("tool_call_id") in called:
        return ""  # it stands with its call
    names = {"system": "system prompt", "user": "what it was sent", "tool": "a tool's answer"}
    summary = f"{escape(names.get(role, role))}{facts_html([f'{len(text):,} characters'])}"
    return _folded(summary, _pre(text), key=key)


def _call_html(call: Values, result: Values | None, key: str) -> str:
    arguments, name = call.get("args") or {}, str(call.get("name"))
    output = str(result.get("content") or "") if result else ""
    last = output.strip().rpartition("\n")[2] if output else "no result"
    tone = "bad" if not output or "ERROR" in last or not last.endswith("exit_code: 0") else "good"
    if name != "python_exec":
        tone, last = "soft", " ".join(map(str, arguments.values()))
    boxes = [
        (str(label), code_html(str(value)) if label == "code" else _pre(str(value)))
        for label, value in arguments.items()
        if str(value)
    ]
    boxes.append(("what came back", _pre(output) if output else '<div class="lcbv-none">nothing</div>'))
    summary = f'<code>{escape(name)}</code> <span class="lcbv-{tone}">{escape(one_line(last, 90))}</span>'
    return _folded(summary, _boxes(boxes), key=key, kind="lcbv-tool")


def _handoff_html(handoff: Values, key: str) -> str:
    rendered, raw = str(handoff.get("rendered_excerpt") or ""), str(handoff.get("raw_excerpt") or "")
    errors = list(map(str, handoff.get("errors") or ()))
    facts = [f"{handoff.get('chars_in', 0):,} characters, {handoff.get('chars_out', 0):,} handed over"]
    facts += ["carries a program"] if handoff.get("has_code") else []
    state = (
        ""
        if not errors
        else f' <span class="lcbv-warn">not in its format: {escape(one_line(errors[0], 80))}</span>'
    )
    summary = (
        f"{escape(str(handoff.get('role')))} → {escape(str(handoff.get('target')))}{facts_html(facts)}{state}"
    )
    boxes = [("as handed over", prose_html(rendered))]
    if raw and raw.strip() not in rendered:
        boxes.append(("as written", prose_html(raw)))
    return _folded(summary, _boxes(boxes), key=key, kind="lcbv-hand")


def _votes_html(votes: Values, runs: Sequence[Values]) -> str:
    sizes, winner = list(votes.get("sizes") or ()), votes.get("winner")
    if winner is None:
        return '<div class="lcbv-vote"><b>vote</b> nobody had a program to vote for</div>'
    buckets = sorted(_buckets(runs), key=lambda bucket: (winner not in bucket[1], -len(bucket[1])))
    if sorted(len(agents) for _, agents in buckets) != sorted(sizes):
        buckets = []  # a saved vote of another kind: its sizes alone
    rows = [
        f"<tr><td>{'★ ' if winner in agents else ''}{len(agents)} of {sum(sizes)}</td>"
        f"<td>{', '.join(map(str, agents))}</td><td>{code_html(program)}</td></tr>"
        for program, agents in buckets
    ]
    head = "<tr><th>votes</th><th>agents</th><th>program</th></tr>"
    listing = f'<table class="lcbv-buckets">{head}{"".join(rows)}</table>' if rows else ""
    words = f"groups of {', '.join(map(str, sizes))}; agent {winner} speaks for the team"
    return _folded(f"<b>vote</b>{facts_html([words])}", listing, key="vote", kind="lcbv-vote")


def _buckets(runs: Sequence[Values]) -> list[tuple[str, list[int]]]:
    """The newest program of each agent, equal ones together as the vote takes them: by text, blanks aside."""
    newest: dict[int, str] = {}
    for run in runs:
        if run.get("code") and not run.get("infra"):
            newest[int(run["agent"])] = str(run["code"])
    groups: dict[str, list[int]] = {}
    for agent, program in sorted(newest.items()):
        groups.setdefault(" ".join(program.split()), []).append(agent)
    return [(newest[agents[0]], agents) for agents in groups.values()]


def _grouped(handoffs: Iterable[Values]) -> list[dict[str, Any]]:
    """One text that went to several readers once, with all their names."""
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for handoff in handoffs:
        key = tuple(str(handoff.get(name)) for name in ("role", "round", "raw_excerpt", "rendered_excerpt"))
        if key in groups:
            groups[key]["target"] += f", {handoff.get('target')}"
        else:
            groups[key] = {**handoff, "target": str(handoff.get("target"))}
    return list(groups.values())


def _is_from(handoff: Values, run: Values) -> bool:
    names = (run.get("role"), f"peer_{run.get('agent')}")
    return handoff.get("role") in names and handoff.get("round") == run.get("round")


def _said(message: Values) -> tuple[str, str]:
    return str(message.get("role")), str(message.get("content"))


def _pre(text: str) -> str:
    return f"<pre>{escape(clip(text, _LONGEST))}</pre>" if text else '<div class="lcbv-none">empty</div>'


def _boxes(boxes: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f'<div class="lcbv-box"><div class="lcbv-label">{escape(label)}</div>{body}</div>'
        for label, body in boxes
    )


def _folded(summary: str, body: str, *, key: str, opened: bool = False, kind: str = "") -> str:
    """A part that opens and closes; by its key a widget keeps it open when another instance is shown."""
    return (
        f'<details class="{kind}" data-key="{escape(key)}"{" open" if opened else ""}>'
        f"<summary>{summary}</summary><div>{body}</div></details>"
    )
