"""Worked examples, written under a role's prompt in few words; pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lcbkit.optimizers.texts import cut_middle

__all__ = ["shortened", "with_demonstrations"]

_HEADING = "## Worked examples"
_INTRODUCTION = "From problems that the team has solved: what was given, and what this role wrote."
_STRING_CHARS = 1_400
_KEYS = 12
_ITEMS = 6


def shortened(value: Any) -> Any:
    """A plain JSON value with its long parts cut, each with a note of what is left out.

    Strings keep 1,400 characters, from both ends; mappings 12 keys, sequences 6 items.
    """
    if isinstance(value, str):
        return cut_middle(value, _STRING_CHARS)
    if isinstance(value, Mapping):
        kept = {str(key): shortened(inner) for key, inner in list(value.items())[:_KEYS]}
        left = len(value) - len(kept)
        return kept | ({"...": f"{left} more keys left out"} if left else {})
    if isinstance(value, Sequence):
        items = [shortened(inner) for inner in value[:_ITEMS]]
        left = len(value) - len(items)
        return [*items, *([f"... {left} more items left out"] if left else [])]
    return value


def with_demonstrations(text: str, demonstrations: Sequence[Mapping[str, Any]]) -> str:
    """A role's prompt with worked examples under it, one JSON block each; unchanged without any."""
    if not demonstrations:
        return text
    blocks = [
        f"```json\n{json.dumps(shortened(one), ensure_ascii=False, indent=1)}\n```" for one in demonstrations
    ]
    return "\n\n".join([text.strip(), f"{_HEADING}\n{_INTRODUCTION}", *blocks])
