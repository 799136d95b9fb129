"""Texts to and from reflection models: what of a rollout is shown, what of an answer is taken.

Answers are never trusted to have the shape that was asked for: every reader here gives a fallback for an
empty, truncated, wordy or oversized answer, and none of them raises.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcbkit.extract import strip_reasoning
from lcbkit.optimizers.interface import Message, Rollout, Row

__all__ = [
    "ANSWER_TOKENS",
    "WINDOW_TOKENS",
    "Cut",
    "Fitted",
    "as_prompt",
    "compact_row",
    "cut_middle",
    "estimated_tokens",
    "extract_block",
    "fit_context",
    "listing",
    "parse_json",
    "parse_score",
    "role_trace",
    "row_text",
    "spoken",
    "transcript",
]

WINDOW_TOKENS = 65_536
"""Tokens that prompt and answer share, assumed where the endpoint does not tell."""

ANSWER_TOKENS = 48_000
"""Tokens that a reflection answer may have."""

_LEAST_ANSWER_TOKENS = 16_384
_LEAST_PART = 2_000
_SCORED_PART = 20_000  # a score that comes later than this is none
_CHARACTERS_PER_TOKEN = 3.0  # cautious: English has four, programs three and a half
_SILENT = "(this role wrote nothing)"
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?")
_LAST_COMMA = re.compile(r",\s*([}\]])")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`]*)$")


def cut_middle(text: str, limit: int, *, head: float = 0.6) -> str:
    """A text of at most `limit` characters: its beginning and end, and in between how much is left out.

    Args:
        text: the text.
        limit: in characters, the marker included.
        head: the share of what is kept that is taken from the beginning.
    """
    if len(text) <= limit:
        return text
    marker = f"\n[... {len(text) - limit:,} characters left out ...]\n"
    room = limit - len(marker)
    if room < 2:
        return text[: max(0, limit)]
    first = round(room * head)
    return text[:first] + marker + text[len(text) - (room - first) :]


def spoken(rollout: Rollout, role: str) -> list[Message]:
    """The messages with text that a role wrote, those of all replicas for a shared prompt."""
    return [message for message in rollout.messages if message.role == role and message.content.strip()]


def role_trace(rollout: Rollout, role: str, k: int = 3) -> str:
    """The last `k` texts of a role (of each replica) in order; a note if it never spoke."""
    texts = spoken(rollout, role)
    kept: list[Message] = []
    for message in reversed(texts):
        if sum(other.source == message.source for other in kept) < k:
            kept.append(message)
    parts = [
        f"[{message.source}]\n{message.content.strip()}"
        if "::" in message.source
        else message.content.strip()
        for message in reversed(kept)
    ]
    return "\n---\n".join(parts) or _SILENT


def transcript(messages: Iterable[Message], *, last: int | None = None, each: int | None = None) -> str:
    """Messages as text, each under its source, calls of tools named.

    Args:
        messages: in order.
        last: how many from the end; None takes all.
        each: characters kept of each; None keeps all.
    """
    chosen = list(messages)
    parts = []
    for message in chosen if last is None else chosen[max(0, len(chosen) - last) :]:
        text = message.content.strip()
        calls = ", ".join(str(call.get("name", "?")) for call in message.tool_calls)
        note = f" (calls {calls})" if calls else ""
        parts.append(f"[{message.source}]{note}\n{cut_middle(text, each) if each else text}".rstrip())
    return "\n\n".join(parts)


def compact_row(row: Row, *, problem: int = 7_000, starter_code: int = 3_000) -> dict[str, str]:
    """A problem as a reflection model sees it: long texts cut, tests replaced by their number.

    Args:
        row: the problem.
        problem: characters kept of the statement.
        starter_code: characters kept of the starter code.
    """
    compact = {"problem": cut_middle(row.problem, problem, head=0.55)}
    if row.starter_code.strip():
        compact["starter_code"] = cut_middle(row.starter_code, starter_code, head=0.55)
    return compact | {"mode": row.mode, "tests": str(row.test_count)}


def row_text(row: Row, limit: int = 7_000) -> str:
    """A problem as one text, its statement cut to `limit` characters."""
    compact = compact_row(row, problem=limit)
    starter = f"\n\nStarter code:\n{compact['starter_code']}" if "starter_code" in compact else ""
    return compact["problem"] + starter


def listing(items: Sequence[str], *, empty: str = "(none)") -> str:
    """Items as a bulleted list."""
    return "\n".join(f"- {item}" for item in items) or empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text that was shortened to fit: its name and its lengths in characters."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A prompt that fits, with its answer, into the window.

    Attributes:
        prompt: as it is sent.
        max_tokens: the answer's ceiling.
        cuts: what was shortened.
    """

    prompt: str
    max_tokens: int
    cuts: tuple[Cut, ...]


def estimated_tokens(text: str) -> int:
    """A cautious count of a text's tokens, without a tokenizer."""
    wide = sum(ord(sign) > 0x7F for sign in text) if not text.isascii() else 0
    return int((len(text) - wide) / _CHARACTERS_PER_TOKEN) + wide + 1


def fit_context(
    render: Callable[[Mapping[str, str]], str],
    parts: Mapping[str, str],
    *,
    window: int = WINDOW_TOKENS,
    answer_tokens: int = ANSWER_TOKENS,
) -> Fitted:
    """Build a prompt that leaves room for its answer.

    The answer's ceiling gives way first, down to 16,384 tokens (or what was asked for, if less); then the
    longest parts lose their middle, none below 2,000 characters.

    Args:
        render: puts the parts into the prompt.
        parts: the texts that may be cut, by name.
        window: tokens that the endpoint serves, prompt and answer together.
        answer_tokens: tokens wished for the answer.
    """
    least = min(answer_tokens, _LEAST_ANSWER_TOKENS)

    def cut_at(limit: int) -> dict[str, str]:
        return {name: cut_middle(text, limit) for name, text in parts.items()}

    kept = dict(parts)
    low, high = _LEAST_PART, max(map(len, parts.values()), default=0)
    if estimated_tokens(render(kept)) + least > window and high > low:
        while high - low > 1:
            middle = (low + high) // 2
            fits = estimated_tokens(render(cut_at(middle))) + least <= window
            low, high = (middle, high) if fits else (low, middle)
        kept = cut_at(low)
    prompt = render(kept)
    cuts = [
        Cut(name=name, before=len(parts[name]), after=len(text))
        for name, text in kept.items()
        if text != parts[name]
    ]
    room = window - estimated_tokens(prompt)
    return Fitted(prompt=prompt, max_tokens=max(least, min(answer_tokens, room)), cuts=tuple(cuts))


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


def _fenced(text: str) -> list[str]:
    """The closed fenced blocks that are not empty, read line by line: linear time on any answer."""
    blocks: list[str] = []
    opened = ""
    inside: list[str] = []
    for line in text.splitlines():
        found = _FENCE.match(line)
        if not opened:
            opened, inside = (found.group(1) if found else ""), []
        elif found and found.group(1).startswith(opened) and not found.group(2).strip():
            blocks.append("\n".join(inside).strip())
            opened = ""
        else:
            inside.append(line)
    return [block for block in blocks if block]


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
