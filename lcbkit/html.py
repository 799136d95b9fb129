"""Small HTML pieces for rich displays; everything that comes from data is escaped here."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["badge", "chip", "clip", "columns", "copy_button", "details", "pre", "table"]

# JupyterLab's own variables make both themes work; the fallbacks serve exported pages.
_PRE = (
    "margin:0;max-height:{height};overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;background:none;"
    "word-break:normal;text-align:left;"
    "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px);line-height:1.4"
)
_BADGE_COLOURS = {
    "good": "var(--jp-success-color1,#388e3c)",
    "bad": "var(--jp-error-color1,#d32f2f)",
    "warn": "var(--jp-warn-color1,#b26a00)",
    "plain": "var(--jp-ui-font-color2,#757575)",
}
_CHIP = (
    "display:inline-block;min-width:1.5em;padding:0 .3em;border-radius:3px;border:1px solid;"
    "text-align:center;font-family:var(--jp-code-font-family,monospace);font-size:11px;line-height:1.6;cursor:default"
)
_BOX = (
    "border:1px solid var(--jp-border-color2,rgba(128,128,128,.35));border-radius:3px;padding:.4em .6em;"
    "background:var(--jp-layout-color1,transparent)"
)
_SHORT = 16  # characters
_MARK = (
    "background:rgba(229,57,53,.28);color:inherit;border-radius:2px;"
    "box-shadow:0 0 0 1px var(--jp-error-color1,#d32f2f)"
)


def clip(text: str, limit: int = 4_000) -> str:
    """Shorten a text to `limit` characters, head and tail kept, with a line that says how many were cut."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]}\n… {len(text) - limit:,} characters cut …\n{text[-tail:]}"


def pre(text: str, limit: int = 4_000, *, mark: tuple[int, int] | None = None, height: str = "16em") -> str:
    """A block of preformatted text that scrolls beyond its height, escaped, cut to about `limit` characters.

    With `mark`, a half-open range of characters stands out, and a long text is cut around it; an empty range,
    where something is missing, shows as two marked words.
    """
    style = _PRE.format(height=height)
    if not text and mark is None:
        return f'<div style="color:{_BADGE_COLOURS["plain"]};font-style:italic">empty</div>'
    if mark is None:
        return f'<pre style="{style}">{escape(clip(text, limit))}</pre>'
    start, end = mark
    before, after = text[:start], text[end:]
    head, tail = before[-limit // 2 :], after[: limit // 2]
    body = (
        _cut(len(before) - len(head), "{} before …\n")
        + escape(head)
        + f'<mark style="{_MARK}">{escape(clip(text[start:end], limit)) or "<i>ends here</i>"}</mark>'
        + escape(tail)
        + _cut(len(after) - len(tail), "\n… {} after")
    )
    return f'<pre style="{style}">{body}</pre>'


def _cut(count: int, words: str) -> str:
    return words.format(f"{count:,} characters") if count else ""


def badge(word: str, tone: str = "plain") -> str:
    """A coloured word; `tone` is good, bad, warn or plain. The word alone carries the meaning."""
    return f'<span style="color:{_BADGE_COLOURS[tone]};font-weight:600">{escape(word)}</span>'


def chip(word: str, tone: str = "plain", *, title: str = "") -> str:
    """A small coloured box with a short word; `title` shows while the pointer rests on it."""
    fill = "background:rgba(229,57,53,.16);font-weight:700;" if tone == "bad" else ""
    style = f"color:{_BADGE_COLOURS[tone]};{fill}{_CHIP}"
    return f'<span style="{style}" title="{escape(title)}">{escape(word)}</span>'


def copy_button(text: str, what: str) -> str:
    """A button that copies a text, whole; for pages that `widgets.Pane` shows, it does nothing on others."""
    name = f"Copy the {what}"
    return (
        f'<button type="button" class="lcbv-copy lcbv-copy-small" data-copy="{escape(text)}" '
        f'title="{escape(name)}" aria-label="{escape(name)}">Copy</button>'
    )


def columns(cells: Iterable[tuple[str, str] | tuple[str, str, str]]) -> str:
    """Boxes side by side, below each other where there is no room.

    Each is a plain title, an HTML body, and perhaps a piece of HTML that stands opposite the title.
    """
    boxes = "".join(
        f'<div style="flex:1 1 14em;min-width:0;{_BOX}"><div style="color:{_BADGE_COLOURS["plain"]};'
        f'font-size:11px;margin-bottom:.2em">{"".join(aside)}{escape(title)}</div>{body}</div>'
        for title, body, *aside in cells
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.5em;margin:.4em 0">{boxes}</div>'


def details(summary: str, body: str, *, opened: bool = False) -> str:
    """A part that opens and closes; both arguments are HTML."""
    return (
        f'<details{" open" if opened else ""} style="margin:.4em 0">'
        f'<summary style="cursor:pointer">{summary}</summary>{body}</details>'
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """A table; `header` and `caption` are plain text and get escaped, cells are HTML and are not.

    A short cell, such as a date or an interval, stays in one line.
    """
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left;vertical-align:top{_firm(cell)}">{cell}</td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    title = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _firm(cell: str) -> str:
    return ";white-space:nowrap" if len(cell) <= _SHORT and "<" not in cell else ""
