"""A block of rules that is put behind every role prompt, and taken off again without a trace.

The block carries a version and the beginning of its content's hash, so that a transcript or a stored bundle
says which rules were in force.
"""

import hashlib
import re

__all__ = ["apply_overlay", "content_id", "overlay_block", "rules_of", "strip_overlay"]

_VERSION = 1
_BLOCK = re.compile(r"\s*<!-- team rules v\d+ [0-9a-f]{10} -->.*?<!-- end of team rules -->\s*", re.DOTALL)
_INSIDE = re.compile(r"<!-- (?:team rules|end of team rules)[^>]*-->")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,2}[.)])\s+(\S.*)")


def content_id(rules: str) -> str:
    """The first ten hexadecimal digits of the SHA-256 of the rules, trimmed."""
    return hashlib.sha256(rules.strip().encode("utf-8", "replace")).hexdigest()[:10]


def overlay_block(rules: str) -> str:
    """Rules between their markers; text that looks like a marker is taken out of them."""
    clean = _INSIDE.sub("", rules).strip()
    return f"<!-- team rules v{_VERSION} {content_id(clean)} -->\n{clean}\n<!-- end of team rules -->"


def strip_overlay(prompt: str) -> str:
    """A prompt without any block of rules, trimmed."""
    return _BLOCK.sub("\n\n", prompt).strip() if "<!-- team rules" in prompt else prompt.strip()


def apply_overlay(prompt: str, rules: str) -> str:
    """A prompt with these rules behind it, in place of those it had; without rules the bare prompt."""
    bare = strip_overlay(prompt)
    return f"{bare}\n\n{overlay_block(rules)}" if rules.strip() else bare


def rules_of(text: str, *, most: int, longest: int = 400, bare: bool = False) -> str:
    """The rules in a model's answer as a bulleted list, one line each; empty if it holds none.

    Args:
        text: the answer, or the part of it between delimiters.
        most: how many rules are kept.
        longest: characters kept of each.
        bare: whether lines without a bullet are rules too, where there is no bullet at all.
    """
    lines = text.splitlines()
    items: list[str] = []
    for line in lines:
        if found := _ITEM.fullmatch(line.rstrip()):
            items.append(found.group(1).strip())
        elif items and line.startswith((" ", "\t")) and line.strip():
            items[-1] += " " + line.strip()
    if bare and not items:
        items = [line.strip() for line in lines if re.search(r"\w", line)]
    return "\n".join(f"- {item[:longest].rstrip()}" for item in dict.fromkeys(items[:most]))
