"""Small HTML pieces for rich displays; everything that comes from data is escaped here."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["badge", "clip", "pre", "table"]

# JupyterLab's own variables make both themes work; the fallbacks serve exported pages.
_PRE = (
    "margin:0;max-height:16em;overflow:auto;white-space:pre-wrap;text-align:left;"
    "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px)"
)
_BADGE_COLOURS = {
    "good": "var(--jp-success-color1,#388e3c)",
    "bad": "var(--jp-error-color1,#d32f2f)",
    "warn": "var(--jp-warn-color1,#b26a00)",
    "plain": "var(--jp-ui-font-color2,#616161)",
}


def clip(text: str, limit: int = 4_000) -> str:
    """Shorten a text to `limit` characters, head and tail kept, with a line that says how many were cut."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]}\n… {len(text) - limit:,} characters cut …\n{text[-tail:]}"


def pre(text: str, limit: int = 4_000) -> str:
    """A scrolling block of preformatted text, escaped and cut at `limit` characters."""
    return f'<pre style="{_PRE}">{escape(clip(text, limit))}</pre>'


def badge(word: str, tone: str = "plain") -> str:
    """A coloured word; `tone` is good, bad, warn or plain. The word alone carries the meaning."""
    return f'<span style="color:{_BADGE_COLOURS[tone]};font-weight:600">{escape(word)}</span>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table; `header` and `caption` are plain text and get escaped, cells are HTML and are not."""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left;vertical-align:top">{cell}</td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    title = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
