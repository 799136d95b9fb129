"""What of a problem and of a rollout a reflection model is shown, as texts."""

from collections.abc import Iterable, Sequence

from lcbkit.optimizers.interface import Message, Rollout, Row

__all__ = ["compact_row", "cut_middle", "listing", "role_trace", "row_text", "spoken", "transcript"]

_SILENT = "(this role wrote nothing)"


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
