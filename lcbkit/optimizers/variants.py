"""Variants of a role's prompt: how they are asked for, and which may take its place; no model here."""

import re
from collections.abc import Sequence

from lcbkit.extract import strip_reasoning
from lcbkit.optimizers.interface import TeamSpec
from lcbkit.optimizers.reading import as_prompt

__all__ = ["acceptable", "manifest", "read_variant", "variant_prompt"]

_LEAST_CHARS = 40
_MOST_CHARS = 200_000  # of an answer, thoughts included; no prompt comes near it
_PATTERNS = {
    "backticks": re.compile(r"(?<!`)`([^`\n]+)`(?!`)"),
    "placeholder": re.compile(r"\{\{?[A-Za-z_]\w*\}?\}|\$\{?[A-Z_]{2,}\}?"),
    "tag": re.compile(r"</?[A-Za-z][\w-]*>|^\[[A-Z_]{2,}\]$", re.MULTILINE),
    "tool": re.compile(r"\b(?:delegate_to_\w+|DELEGATE|TERMINATE|python_exec)\b"),
    "fence": re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\w*)", re.MULTILINE),
}
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LEAD_IN = re.compile(
    r"(?:sure|certainly|of course|okay|here|below|the (?:new|rewritten|revised)|(?:new|rewritten|revised))\b"
    r"[^\n]{0,120}:",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"(?:\(?note\b|let me know|i hope|i have|i've|this (?:version|variant|prompt|rewrite)|explanation)[^\n]*",
    re.IGNORECASE,
)


def manifest(text: str, roles: Sequence[str]) -> frozenset[str]:
    """What a prompt has in common with the rest of the team, and a variant must leave as it is.

    Args:
        text: the prompt.
        roles: names of the team's roles.

    Returns:
        Placeholders, names of tools and roles, identifiers in backticks, tags and languages of fences, each
        under its kind.
    """
    found = {f"{kind}:{match}" for kind, pattern in _PATTERNS.items() for match in pattern.findall(text)}
    words = set(re.findall(r"\w+", text.lower()))
    return frozenset(found | {f"role:{role}" for role in roles if role.lower() in words})


def variant_prompt(role: str, seed: str, team: TeamSpec, style: str) -> str:
    """Asks for a role's prompt in another style."""
    kept = sorted(manifest(seed, team.roles))
    names = "\n".join(f"- {item.partition(':')[2]} ({item.partition(':')[0]})" for item in kept)
    others = ", ".join(name for name in team.roles if name != role) or "none"
    return f"""Rewrite the prompt of one role in a team of language models that solves programming contests.

Role: {role}. {team.descriptions.get(role, "").strip()}
Team: wired as {team.topology}; other roles: {others}.

The prompt now:
<prompt>
{seed.strip()}
</prompt>

Write a prompt for the same duty, the same inputs and the same form of output, in this style:
{style}

Names that it shares with the rest of the team. Each must occur in yours, spelled as here, and no other role,
tool, tag, placeholder, name in backticks or fenced block may be added:
{names or "(none: write plain sentences without backticks, tags and fences)"}

Reply with the text of the new prompt alone, no introduction and no remark after it."""


def read_variant(answer: str) -> str:
    """The prompt in an answer: without one outer fence, tags around it, a lead-in and a closing remark."""
    if len(answer) > _MOST_CHARS:
        return ""
    text = strip_reasoning(answer).strip()
    inside = re.search(r"<prompt>(.*?)(?:</prompt>|\Z)", text, re.DOTALL)
    text = (inside[1] if inside else text).strip()
    lines = text.splitlines()
    if len(lines) > 1 and _LEAD_IN.fullmatch(lines[0].strip()):
        lines = "\n".join(lines[1:]).strip().splitlines()
    if len(lines) > 1 and not _FENCE.match(lines[-1]) and _NOTE.fullmatch(lines[-1].strip()):
        lines = "\n".join(lines[:-1]).strip().splitlines()
    opening = _FENCE.match(lines[0]) if len(lines) > 1 else None
    if opening and lines[-1].strip() == opening[1]:
        lines = lines[1:-1]
    return "\n".join(lines).strip()


def acceptable(text: str, seed: str, pool: Sequence[str], roles: Sequence[str]) -> str | None:
    """A variant that may join a pool, trimmed, else None.

    Args:
        text: the variant.
        seed: the role's prompt.
        pool: what is in the pool already, the seed included.
        roles: names of the team's roles.
    """
    clean = as_prompt(text, seed)
    if clean is None or len(clean) < _LEAST_CHARS or manifest(clean, roles) != manifest(seed, roles):
        return None
    known = {_bare(other) for other in (seed, *pool)}
    return None if _bare(clean) in known else clean


def _bare(text: str) -> str:
    return " ".join(text.casefold().split())
