"""Questions that leave room for their answer in the window of the endpoint."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lcbkit.optimizers.texts import cut_middle

__all__ = ["ANSWER_TOKENS", "WINDOW_TOKENS", "Cut", "Fitted", "estimated_tokens", "fit_context"]

WINDOW_TOKENS = 65_536
"""Tokens that prompt and answer share; endpoints do not tell."""

ANSWER_TOKENS = 48_000
"""Tokens that a reflection answer may have."""

_LEAST_ANSWER_TOKENS = 16_384
_LEAST_PART = 2_000
_CHARACTERS_PER_TOKEN = 3.0  # cautious: English has four, programs three and a half


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
        max_tokens: the answer's ceiling where it had to be lowered, else None.
        cuts: what was shortened.
    """

    prompt: str
    max_tokens: int | None
    cuts: tuple[Cut, ...]


def estimated_tokens(text: str) -> int:
    """A cautious count of a text's tokens, without a tokenizer."""
    wide = sum(ord(sign) > 0x7F for sign in text) if not text.isascii() else 0
    return int((len(text) - wide) / _CHARACTERS_PER_TOKEN) + wide + 1


def fit_context(render: Callable[[Mapping[str, str]], str], parts: Mapping[str, str]) -> Fitted:
    """Build a prompt that leaves room for its answer.

    The answer's ceiling gives way first, from 48,000 tokens down to 16,384; then the longest parts lose their
    middle, none below 2,000 characters.

    Args:
        render: puts the parts into the prompt.
        parts: the texts that may be cut, by name.
    """
    longest = WINDOW_TOKENS - _LEAST_ANSWER_TOKENS

    def cut_at(limit: int) -> dict[str, str]:
        return {name: cut_middle(text, limit) for name, text in parts.items()}

    kept = dict(parts)
    low, high = _LEAST_PART, max(map(len, parts.values()), default=0)
    if estimated_tokens(render(kept)) > longest and high > low:
        while high - low > 1:
            middle = (low + high) // 2
            fits = estimated_tokens(render(cut_at(middle))) <= longest
            low, high = (middle, high) if fits else (low, middle)
        kept = cut_at(low)
    prompt = render(kept)
    cuts = [
        Cut(name=name, before=len(parts[name]), after=len(text))
        for name, text in kept.items()
        if text != parts[name]
    ]
    room = max(_LEAST_ANSWER_TOKENS, WINDOW_TOKENS - estimated_tokens(prompt))
    return Fitted(prompt=prompt, max_tokens=room if room < ANSWER_TOKENS else None, cuts=tuple(cuts))
