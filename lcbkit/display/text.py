"""Pieces of text for the terminal: marked excerpts, sizes, how a process ended, its last error."""

import re
from collections.abc import Iterable, Sequence
from signal import Signals
from textwrap import indent

__all__ = ["block", "columns", "ending", "last_error", "last_line", "one_line", "size"]

_LIBRARY_FRAME = re.compile(r"/lib(64)?/python\d|/site-packages/|^<(?!string>)")
_FRAME = re.compile(r'^\s*File "(.+)", line (\d+).*$', re.MULTILINE)


def block(title: str, text: str, place: tuple[int, int] | None = None, *, tail: bool = False) -> str:
    """A titled, indented, short part of a text: around the place, or its end (`tail`), or its beginning."""
    if not text:
        return f"  {title}: empty"
    return f"  {title}:\n{indent(_excerpt(text, place, tail=tail), '    ', lambda _: True)}"


def _excerpt(
    text: str, place: tuple[int, int] | None, *, tail: bool, lines: int = 12, width: int = 100
) -> str:
    rows = text.rstrip().split("\n")
    at = text.count("\n", 0, place[0]) if place else 0
    first = max(0, len(rows) - lines if tail else min(at - lines // 2, len(rows) - lines))
    column = place[0] - (text.rfind("\n", 0, place[0]) + 1) if place else 0
    shown = [f"… {first:,} lines before"] if first else []
    for number, row in enumerate(rows[first : first + lines], start=first):
        left = max(0, column - width // 2) if place and number == at else 0
        cut = ("…" if left else "") + row[left : left + width] + ("…" if len(row) > left + width else "")
        shown.append(_printable(cut))
        if place and number == at:
            length = max(1, min(place[1] - place[0], left + width - column))
            shown.append(" " * (column - left + bool(left)) + "^" * length)
    if (rest := len(rows) - first - lines) > 0:
        shown.append(f"… {rest:,} lines after")
    return "\n".join(shown)


def columns(header: Sequence[str], rows: Iterable[Sequence[str]], *, longest: int = 60) -> str:
    """A table in columns of equal width, longer cells cut."""
    lines = [
        list(header),
        *([one_line(cell, longest) for cell in row] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ((cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def one_line(text: str, width: int) -> str:
    """The first line of a text, cut at `width` characters."""
    line = _printable(text.partition("\n")[0])
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _printable(row: str) -> str:
    """The row without control characters, which could move a terminal's cursor or forge a line."""
    return "".join(sign if sign.isprintable() else "·" for sign in row.rstrip("\r").replace("\t", " "))


def size(memory_bytes: int) -> str:
    """Bytes as a reader sees them."""
    return f"{memory_bytes / 2**20:.0f} MiB"


def ending(exit_code: int | None, signal: int | None) -> str:
    """How a process ended; a signal's number wins over the exit code."""
    if signal is None:
        return f"exit code {exit_code}"
    known = {number.value: number.name for number in Signals}
    return f"ended by {known.get(signal, f'signal {signal}')}"


def last_line(text: str) -> str:
    """The last line that is not empty, without white space around it."""
    return text.strip().rpartition("\n")[2].strip()


def last_error(stderr: str) -> str:
    """The last traceback in a line: the submission's own line number and the exception."""
    frames = list(_FRAME.finditer(stderr))
    if not frames:
        return last_line(stderr)
    own = [frame[2] for frame in frames if not _LIBRARY_FRAME.search(frame[1])]
    after = stderr[frames[-1].end() :].splitlines()
    # A line in brackets is the judge's note that it cut the text there.
    exception = next(
        (line for line in after if line.strip() and not line[0].isspace() and line[0] != "["), ""
    )
    return f"line {own[-1]}: {exception}" if own else exception
