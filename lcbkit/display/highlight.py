"""Code and model texts as HTML: Python in the editor's own colours, and the little Markdown models write."""

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby

from lcbkit.html import clip

__all__ = ["code_html", "prose_html"]

_LONGEST = 20_000  # characters that are coloured and shown

# Pygments' kinds of token, most special first, and the editor's variables; the fallbacks serve other pages.
_COLOURS = {
    "Comment": "c",
    "Keyword.Constant": "a",
    "Keyword": "k",
    "Operator.Word": "k",
    "Name.Function": "d",
    "Name.Class": "d",
    "Name.Builtin": "b",
    "Literal.String": "s",
    "Literal.Number": "n",
}
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)")
_INLINE = re.compile(r"`([^`\n]{1,300})`|\*\*([^*\n]{1,300})\*\*")
_HEADING = re.compile(r"(?m)^#{1,6} (.{1,300})$")


def code_html(code: str, *, language: str = "python", copy: bool = False) -> str:
    """A block of code, coloured if it is Python, cut when very long.

    Args:
        code: any text.
        language: as a fence names it.
        copy: put a button beside it; it works where a widget of ours shows the block.
    """
    shown = clip(code, _LONGEST)
    body = _coloured(shown) if language.lower() in ("python", "python3", "py", "py3") else escape(shown)
    button = '<button type="button" class="lcbv-copy" title="Copy the program">Copy</button>' if copy else ""
    # A cut text would be a broken program on the clipboard.
    whole = f' data-copy="{escape(code)}"' if copy and shown != code else ""
    return f'<div class="lcbv-code"{whole}>{button}<pre>{body}</pre></div>'


def prose_html(text: str) -> str:
    """A model's text: fenced blocks as code, headings, bold words and code words; the rest as it stands."""
    parts = (
        code_html(body, language=language or "python") if fenced else _prose(body)
        for fenced, language, body in _blocks(clip(text, _LONGEST))
    )
    return f'<div class="lcbv-prose">{"".join(parts)}</div>'


def _coloured(code: str) -> str:
    from pygments.lexers import PythonLexer

    lexer = PythonLexer(stripnl=False, ensurenl=False)
    pieces = ((_kind(str(token)), text) for token, text in lexer.get_tokens(code))
    found = []
    for kind, group in groupby(pieces, key=lambda piece: piece[0]):
        text = escape("".join(text for _, text in group))
        found.append(f'<span class="lcbv-{kind}">{text}</span>' if kind else text)
    return "".join(found)


def _kind(token: str) -> str:
    return next((kind for name, kind in _COLOURS.items() if token.startswith(f"Token.{name}")), "")


def _blocks(text: str) -> Iterator[tuple[bool, str, str]]:
    """(is it fenced, its language, its text) of each part, in order; an open fence runs to the end."""
    lines: list[str] = []
    mark = language = ""
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if not mark and fence:
            yield False, "", "\n".join(lines)
            mark, language, lines = fence[1], fence[2], []
        elif mark and fence and fence[1].startswith(mark) and not fence[2]:
            yield True, language, "\n".join(lines)
            mark, lines = "", []
        else:
            lines.append(line)
    yield bool(mark), language, "\n".join(lines)


def _prose(text: str) -> str:
    if not text.strip():
        return ""
    html = _INLINE.sub(_inline, escape(text.strip("\n"), quote=False))
    # `pre` keeps lines and blanks where our style sheet is taken away, as in a notebook without trust.
    return "<pre>" + _HEADING.sub(r"<b>\1</b>", html) + "</pre>"


def _inline(match: re.Match[str]) -> str:
    return f"<code>{match[1]}</code>" if match[1] is not None else f"<b>{match[2]}</b>"
