"""A problem's statement as Markdown that a notebook shows well, and that can do nothing but be read.

Statements of the three platforms are plain text with maths: line ends count, samples stand between prose, and
a `<` is a `<`. What could reach beyond the page is taken away: no tag survives, and an image is named by its
text instead of being fetched. Every pattern is bounded, so that no statement takes long.
"""

import re
from collections.abc import Iterator

__all__ = ["statement_markdown"]

_LIMIT = 100_000  # characters; the longest statement of LiveCodeBench has a tenth
_FENCE = re.compile(r" {0,3}(`{3,9}|~{3,9})[^`]*")
_GLUED = re.compile(r"(?<=\S)(?=Sample (?:Input|Output)(?: \d+)?:?[ \t]*$)", re.M)
_SAMPLE = re.compile(r"^(?:Sample|Example) (Input|Output)\s?\d*:?$", re.I)
_HEADING = re.compile(
    r"^(?:(?:Sample |Example )?(?:Input|Output)(?: format)?(?: \d+)?|Constraints|Notes?|Examples?(?: \d+)?|"
    r"Explanation(?: \d+)?|Interaction|Problem Statement|Scoring|Partial Scores?|Follow[- ]up|Hints?) ?:?$",
    re.I,
)
_LABEL = re.compile(r"^(Input|Output|Explanation|Note|Follow[- ]up): ?(?=\S)", re.I)
_ITEM = re.compile(r"^([-*+]|\d{1,3}[.)])\s+")
_TITLE = re.compile(r"^#{1,6}\s+(.*?)#*$")
_INLINE = re.compile(
    r"(?<!`)(?P<ticks>`{1,9})(?!`)(?P<code>[^\n]{1,500}?)(?<!`)(?P=ticks)(?!`)"
    r"|\$\$(?P<display>[^$]{1,2000})\$\$"
    r"|\\\[(?P<bracket>(?:(?!\\\[).){1,1000}?)\\\]"
    r"|\$(?P<maths>[^$\n]{1,1000})\$"
    r"|\\\((?P<paren>(?:(?!\\\()[^\n]){1,1000}?)\\\)"
    r"|!\[(?P<alt>[^][\n]{0,500})\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,500}\])?"
    r"|<img\b(?P<tag>[^<>]{0,1000})>",
    re.S | re.I,
)
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.I)
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,2})(?=[^\s*])([^*\n]{1,300})(?<=\S)\1(?![\w*])")
_RULE = re.compile(r"[-=+]{2,}")
# Between lines of these kinds; else an empty line. Two spaces make a line end that is shown.
_SEAM = {("text", "text"): "  \n", ("item", "item"): "\n", ("item", "text"): "  \n"}
_HELD = re.compile("\x02(\\d+)\x03")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def statement_markdown(text: str) -> str:
    """Turn a statement as stored into Markdown for JupyterLab's own renderer.

    Args:
        text: the statement; whatever it holds is shown, never obeyed.

    Returns:
        Markdown without tags or images of the statement's own.
    """
    cut = text[:_LIMIT]
    note = f"\n\n… {len(text) - _LIMIT:,} more characters" if len(text) > _LIMIT else ""
    clean = _CONTROL.sub("", cut.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " "))
    blocks = _fenced(clean.split("\n"))
    parts = [
        part for code, lines in blocks for part in ([_code_block(lines)] if code else _with_samples(lines))
    ]
    return "\n\n".join(part for part in parts if part.strip()) + note


def _fenced(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """The lines in turns: prose (False), then what stands between two fences (True), and so on."""
    prose: list[str] = []
    ends = {line.strip(): i for i, line in enumerate(lines)}  # the last line that could end a fence
    place = 0
    while place < len(lines):
        fence = _FENCE.fullmatch(lines[place])
        if fence and ends.get(fence[1], 0) > place:
            end = next(i for i in range(place + 1, len(lines)) if lines[i].strip() == fence[1])
            yield False, prose
            yield True, lines[place + 1 : end]
            prose, place = [], end + 1
        else:
            prose.append(lines[place])
            place += 1
    yield False, prose


def _with_samples(source: list[str]) -> Iterator[str]:
    """Prose, and each sample as a block: an input up to its output, an output up to an empty line."""
    prose: list[str] = []
    lines = _GLUED.sub("\n", "\n".join(source)).split("\n")
    place = 0
    while place < len(lines):
        kind = _SAMPLE.match(lines[place].strip())
        end = _end_of_sample(lines, place + 1, kind[1].lower()) if kind else 0
        if end:
            yield _prose([*prose, lines[place]])
            yield _code_block(lines[place + 1 : end])
            prose, place = [], end
        else:
            prose.append(lines[place])
            place += 1
    yield _prose(prose)


def _end_of_sample(lines: list[str], start: int, kind: str) -> int:
    """The line after the sample that begins at `start`; 0 if none can be told."""
    if kind == "input":
        return next((i for i in range(start, len(lines)) if _SAMPLE.match(lines[i].strip())), 0)
    begin = next((i for i in range(start, len(lines)) if lines[i].strip()), 0)
    if not begin:
        return 0
    return next((i for i in range(begin, len(lines)) if not lines[i].strip()), len(lines))


def _code_block(lines: list[str]) -> str:
    # A tag with entities: there is no text inside that could end it.
    code = _literal("\n".join(lines).strip("\n"))
    return f"<pre><code>{code.replace(chr(10), '&#10;')}</code></pre>"


def _prose(lines: list[str]) -> str:
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        shown = _inline(match)
        if shown is None:
            return match[0]
        held.append(shown)
        return f"\x02{len(held) - 1}\x03"

    text = _INLINE.sub(hold, "\n".join(lines))
    blocks = [_paragraph(block) for block in re.split(r"\n\s*\n", text)]
    joined = "\n\n".join(block for block in blocks if block)
    return _HELD.sub(lambda match: held[int(match[1])], joined)


def _inline(match: re.Match[str]) -> str | None:
    """What a piece of code, maths or an image becomes; None leaves it as it is."""
    if match["code"] is not None:
        return f"<code>{_literal(match['code'].strip())}</code>"
    if (display := match["display"] or match["bracket"]) is not None:
        return f"$${_maths(' '.join(display.split()))}$$"
    if match["paren"] is not None:
        return f"${_maths(match['paren'].strip())}$"
    if (maths := match["maths"]) is not None:
        if maths != maths.strip() and "\\" not in maths:
            return None  # two prices in a sentence
        return f"${_maths(maths.strip())}$"
    alt = match["alt"]
    if alt is None and (found := _ALT.search(match["tag"])):
        alt = next(group for group in found.groups() if group is not None)
    return f"<em>[{_literal('image' + (f': {alt.strip()}' if alt and alt.strip() else ''))}]</em>"


def _maths(source: str) -> str:
    # A space ends what could be read as a tag or an image, should a renderer not see maths here.
    return re.sub(r"<(?=[a-zA-Z/!?])", "< ", source).replace("![", "! [")


def _literal(text: str) -> str:
    """A text that means nothing in Markdown, HTML or TeX."""
    return re.sub(r"[!-/:-@\[-`{-~]", lambda sign: f"&#{ord(sign[0])};", text)


def _paragraph(block: str) -> str:
    lines = [line.strip() for line in block.split("\n") if line.strip()]
    if not lines:
        return ""
    if len(lines) > 1 and all(line.startswith("|") for line in lines):
        return "\n".join(map(_text, lines))
    written, last = "", ""
    for line in lines:
        shown, kind = _line(line)
        written += _SEAM.get((last, kind), "\n\n" if last else "") + shown
        last = kind
    return written


def _line(line: str) -> tuple[str, str]:
    if title := _TITLE.match(line):
        return f"**{_text(title[1].strip())}**", "heading"
    if _HEADING.match(line):
        return f"**{_text(line.rstrip(' :'))}**", "heading"
    if label := _LABEL.match(line):
        return f"**{label[1]}:** {_text(line[label.end() :])}", "text"
    if item := _ITEM.match(line):
        return f"{item[1]} {_text(line[item.end() :])}", "item"
    if _RULE.fullmatch(line):
        return _literal(line), "text"
    return _text(line), "text"


def _text(line: str) -> str:
    """Prose: emphasis and links stay, tags and what else could be markup by accident do not."""
    pieces, start = [], 0
    for found in _EMPHASIS.finditer(line):
        pieces += [_plain(line[start : found.start()]), found[1] + _plain(found[2]) + found[1]]
        start = found.end()
    return "".join(pieces) + _plain(line[start:])


def _plain(text: str) -> str:
    shown = text.replace("<", "&lt;").replace(">", "&gt;")
    shown = re.sub(r"[*_~`\\!]", lambda sign: f"&#{ord(sign[0])};", shown)
    return shown.replace("$", "<span>&#36;</span>")  # alone in its tag, no other dollar makes maths of it
