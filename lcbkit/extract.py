"""From a model's text to a program: fenced blocks read line by line, the last one that is Python wins.

Fences follow CommonMark (three or more backticks or tildes; the closing one as long as the opening one),
with three allowances for how models write:

- any indentation, since answers sit in lists; the fence's own indentation is taken off the block;
- a fence line inside a triple-quoted string is part of the program, when that gives a program;
- a labelled fence line inside a block means that the block before it was never closed.

LiveCodeBench's own rule is cruder: whatever lies between the last two lines that contain three backticks. The
two differ when a block of sample output or of another language follows the program, when the program contains
backticks, and on answers cut off while thinking.
"""

import ast
import re
import textwrap
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Parts", "extract_code", "has_statement", "split_answer", "strip_reasoning"]

_THINK = re.compile(r"<(/?)think>", re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r"([ \t]*)((?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?:(`{3,})([^`]*)|(~{3,})(.*))")
_PYTHON = re.compile(r"\{?\s*\.?(?:python|py)(?:\s*3(?:\.\d+)?)?(?![\w+#.-])", re.IGNORECASE | re.ASCII)
_STRING_START = re.compile(r"#[^\n]*|'''|\"\"\"|'(?:\\.|[^'\\\n])*|\"(?:\\.|[^\"\\\n])*", re.DOTALL)
_STRING_END = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ("'''", '"""')}
_TAB = 4  # columns, as CommonMark counts
# Several times an answer of 32,768 tokens. Python's parser takes a kilobyte of memory for a short line, and
# its time is not linear on every text.
_MAX_CHARACTERS = 524_288
_MAX_RETREATS = 8  # each may read the rest of the text once more: bounded, so that time stays linear

# catch_warnings swaps a global list: one thread at a time, or a filter of ours could outlive its block.
_warnings_lock = threading.Lock()


def extract_code(text: str, *, starter_code: str = "") -> str | None:
    """Take the program out of a model's answer, or None when there is none.

    The last closed block that is a program wins; blocks labelled as Python before bare ones, other languages
    never. A block that was not closed counts only when no closed one qualifies. No program: text that does
    not parse (or is longer than half a megabyte), that has no statement, that starts with `{` or `[`, or that
    is the starter code untouched.

    Args:
        text: the answer's text; reasoning in `<think>` is dropped first.
        starter_code: what a functional problem gave; repeating it is no answer.
    """
    return split_answer(text, starter_code=starter_code).code


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """An answer taken apart.

    Attributes:
        before: the text before the program, reasoning dropped; the whole text when there is no program.
        code: the program, as `extract_code` gives it.
        after: the text after the program.
    """

    before: str
    code: str | None
    after: str


def split_answer(text: str, *, starter_code: str = "") -> Parts:
    """Take a model's answer apart into its program and the words around it.

    Args:
        text: the answer's text; reasoning in `<think>` is dropped first.
        starter_code: what a functional problem gave; repeating it is no answer.
    """
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = strip_reasoning(normal).split("\n")
    blocks = _blocks(lines)
    for closed in (True, False):
        for labelled in (True, False):
            for block in reversed(blocks):
                if (block.closed, block.labelled) == (closed, labelled):
                    code = _program(block.lines, starter_code)
                    if code is not None:
                        before, after = lines[: block.first], lines[block.end :]
                        return Parts(before="\n".join(before), code=code, after="\n".join(after))
    return Parts(before="\n".join(lines), code=None, after="")


def strip_reasoning(text: str) -> str:
    """Drop what comes before the last `</think>`; a `<think>` that is never closed leaves no answer."""
    tags = list(_THINK.finditer(text))
    closing = [tag.end() for tag in tags if tag[1]]
    start = closing[-1] if closing else 0
    if any(tag.start() >= start for tag in tags):
        return ""
    return text[start:].lstrip("\r\n") if closing else text


def has_statement(code: str) -> bool:
    """Whether the code parses and does anything: comments, texts, `pass` and plain values do nothing."""
    tree = _parse(code)
    return tree is not None and any(_acts(statement) for statement in tree.body)


def _parse(code: str) -> ast.Module | None:
    if len(code) > _MAX_CHARACTERS:
        return None
    try:
        with _warnings_lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a program is the program's business
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return None


def _acts(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):  # `6` and `Yes` parse as Python, but they are sample output
        return any(isinstance(node, ast.Call | ast.NamedExpr | ast.Await) for node in ast.walk(statement))
    return not isinstance(statement, ast.Pass)


def _program(lines: Sequence[str], starter_code: str) -> str | None:
    code = "\n".join(lines).strip("\n")
    if not code:
        return None
    if code.lstrip().startswith(("{", "[")) or _is_starter(code, starter_code):
        return None
    if code[:1].isspace():
        code = textwrap.dedent(code)
    return code if has_statement(code) else None


def _is_starter(code: str, starter_code: str) -> bool:
    starter = " ".join(starter_code.split())
    return bool(starter) and " ".join(code.split()) in {starter, f"{starter} pass", f"{starter} ..."}


@dataclass(frozen=True, slots=True)
class _Fence:
    """A line that may open or close a block."""

    line: int
    width: int  # columns before the fence
    in_list: bool  # behind a list marker, where a block can only begin
    mark: str
    info: str

    def bounds(self, opening: "_Fence") -> bool:
        """Whether this line can end a block opened by the other; if not it is content."""
        enough = self.mark[0] == opening.mark[0] and len(self.mark) >= len(opening.mark)
        return enough and not (self.in_list and not self.info)

    @property
    def reopens(self) -> bool:
        """A label, rather than words written behind a closing fence."""
        return len(self.info.split()) == 1 or bool(_PYTHON.match(self.info))


@dataclass(frozen=True, slots=True)
class _Block:
    lines: Sequence[str]
    labelled: bool
    closed: bool
    first: int  # line of the opening fence
    end: int  # line after the closing fence


def _fences(lines: Sequence[str]) -> Iterator[_Fence]:
    for number, line in enumerate(lines):
        if ("```" in line or "~~~" in line) and (match := _FENCE.fullmatch(line)):
            indent, marker, ticks, info, tildes, tilde_info = match.groups()
            width = len((indent + marker).expandtabs(_TAB))
            yield _Fence(number, width, bool(marker), ticks or tildes, (info or tilde_info or "").strip())


def _blocks(lines: Sequence[str]) -> list[_Block]:
    """The blocks that may hold Python: labelled so, or without a label."""
    fences = list(_fences(lines))
    found, position, retreats = [], 0, 0
    while position < len(fences):
        opening = fences[position]
        labelled = bool(_PYTHON.match(opening.info))
        maybe_python = labelled or not opening.info
        end, in_string = _end(lines, fences, position, follow=maybe_python and retreats < _MAX_RETREATS)
        body = _body(lines, fences, position, end)
        if in_string is not None and (end == len(fences) or _program(body, "") is None):
            end, retreats = in_string, retreats + 1
            body = _body(lines, fences, position, end)
        closed = end < len(fences) and not fences[end].reopens
        if maybe_python:
            last = fences[end].line + closed if end < len(fences) else len(lines)
            found.append(_Block(body, labelled, closed, opening.line, last))
        position = end + closed
    return found


def _end(
    lines: Sequence[str], fences: Sequence[_Fence], position: int, *, follow: bool
) -> tuple[int, int | None]:
    """Find the fence that ends a block, and the first one passed over because it lies in a string.

    Args:
        lines: the text.
        fences: its fence lines.
        position: the opening fence, an index into them.
        follow: whether to follow Python's strings; else the first fence that can end the block does.
    """
    opening, quote, passed = fences[position], "", None
    start = opening.line + 1
    for index in range(position + 1, len(fences)):
        fence = fences[index]
        if not fence.bounds(opening):
            continue
        if follow:
            quote = _open_quote("\n".join(lines[start : fence.line]) + "\n", quote)
            start = fence.line
            if quote:
                passed = index if passed is None else passed
                continue
        return index, passed
    return len(fences), passed


def _open_quote(code: str, quote: str) -> str:
    """The triple quote that is open behind a piece of code, given the one open before it; "" for none."""
    at = 0
    while True:
        match = (_STRING_END[quote] if quote else _STRING_START).search(code, at)
        if match is None:
            return quote
        at = match.end()
        if match[0] in _STRING_END:
            quote = "" if quote else match[0]
        elif not quote and match[0][0] in "'\"" and code[at : at + 1] == match[0][0]:
            at += 1  # the string's own closing quote


def _body(lines: Sequence[str], fences: Sequence[_Fence], position: int, end: int) -> list[str]:
    last = fences[end].line if end < len(fences) else len(lines)
    body = lines[fences[position].line + 1 : last]
    first = next((line for line in body if line.strip()), "")
    own = len(first.expandtabs(_TAB)) - len(first.expandtabs(_TAB).lstrip())
    width = min(fences[position].width, own)  # a program left of its fence keeps its indents
    return [_cut(line, width) for line in body] if width else list(body)


def _cut(line: str, width: int) -> str:
    """Take off up to that many columns of white space."""
    column = 0
    for index, char in enumerate(line):
        if column >= width or char not in " \t":
            return line[index:]
        column += 1 if char == " " else _TAB - column % _TAB
    return ""
