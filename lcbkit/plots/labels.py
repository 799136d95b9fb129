"""What a figure writes: names that tell runs apart, in characters and a width that it can print."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from lcbkit.results import Run

__all__ = [
    "distinctions",
    "fitted",
    "in_two_lines",
    "name_runs",
    "percent",
    "printable",
    "shared_facts",
    "width_of",
    "wrapped",
]

_FAMILY = "DejaVu Sans"


def _of_first(field: str) -> Callable[[Run], str | None]:
    def read(run: Run) -> str | None:
        value = getattr(run.records[0], field) if run.records else None
        return None if value is None else str(value)

    return read


def _size(run: Run) -> str | None:
    size = _of_first("size")(run)
    return f"{size} agents" if size else None


def _seed(run: Run) -> str | None:
    seed = _of_first("seed")(run)
    return f"seed {seed}" if seed else None


FACETS: Mapping[str, Callable[[Run], str | None]] = {
    "topology": _of_first("topology"),
    "size": _size,
    "format": _of_first("format"),
    "model": _of_first("model"),
    "seed": _seed,
    "dataset": lambda run: run.config.get("dataset", {}).get("source"),
    "folder": lambda run: run.files.predictions.parent.name if run.files else None,
}
"""What may tell two runs apart, the most telling first."""

_LAST_RESORTS = ("seed", "dataset", "folder")


def name_runs(runs: Sequence[Run]) -> list[str]:
    """Short names: of one run its label; of several only what they differ in; never the same one twice."""
    teams = [run for run in runs if run.records and run.records[0].topology is not None]
    told = iter(distinctions(teams, [""] * len(teams), without=()))
    names = [next(told) or run.label if run in teams else run.label for run in runs]
    return [name for _, name in _numbered([("", name) for name in names])]


def distinctions(runs: Sequence[Run], places: Sequence[str], *, without: Sequence[str]) -> list[str]:
    """What runs differ in, in a few words; "" for runs that differ in nothing else than their places.

    Args:
        runs: the runs.
        places: where each run is drawn; only runs at one place must be told apart.
        without: facets that the places show already.
    """
    names = [""] * len(runs)
    for facet, read in FACETS.items():
        column = [read(run) for run in runs]
        alike = len(set(zip(places, names, strict=True))) < len(runs)
        # Seeds, datasets and folders matter only between runs that are the same otherwise.
        if facet not in without and len(set(column)) > 1 and (alike or facet not in _LAST_RESORTS):
            names = [", ".join(filter(None, pair)) for pair in zip(names, column, strict=True)]
    return [name for _, name in _numbered(list(zip(places, names, strict=True)))]


def shared_facts(runs: Sequence[Run]) -> str:
    """What all runs have in common, in a few words."""
    columns = [{read(run) for run in runs} for facet, read in FACETS.items() if facet not in _LAST_RESORTS]
    return ", ".join(value for column in columns if len(column) == 1 for value in column if value)


def _numbered(names: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    seen: Counter[tuple[str, str]] = Counter()
    numbered = []
    for place, name in names:
        seen[place, name] += 1
        again = f" ({seen[place, name]})" if seen[place, name] > 1 else ""
        numbered.append((place, f"{name}{again}".strip()))
    return numbered


@cache
def _has_glyph(sign: str) -> bool:
    return sign.isprintable() and bool(get_font(findfont(_FAMILY)).get_char_index(ord(sign)))


def printable(text: str) -> str:
    """The text in characters that the font has; others become a box, since a missing one would warn."""
    return "".join(sign if _has_glyph(sign) else "□" for sign in text)


def width_of(text: str, size: float) -> float:
    """Width of a line in points."""
    font = FontProperties(family=_FAMILY, size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def fitted(text: str, points: float, size: float) -> str:
    """The text, without its middle where it is wider than so many points."""
    text = printable(text)
    if width_of(text, size) <= points:
        return text
    for kept in range(len(text) - 1, 3, -1):
        short = f"{text[: (kept + 1) // 2]}…{text[-(kept // 2) :]}"
        if width_of(short, size) <= points:
            return short
    return f"{text[:2]}…"


def wrapped(text: str, points: float, size: float) -> str:
    """The text in lines of at most so many points, broken at spaces, but not before a percent sign."""
    lines = [""]
    for word in re.findall(r"\S+(?: %)?", printable(text)):
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size) <= points or not lines[-1]:
            lines[-1] = fitted(longer, points, size)
        else:
            lines.append(fitted(word, points, size))
    return "\n".join(lines)


def in_two_lines(text: str, points: float, size: float) -> str:
    """The text in one line, or in two where it is wider than so many points; the middle of a rest is cut."""
    first, _, rest = wrapped(text, points, size).partition("\n")
    return f"{first}\n{fitted(rest.replace(chr(10), ' '), points, size)}" if rest else first


def percent(share: float) -> str:
    """A share for a small label; only a true 0 or 1 reads 0% or 100%."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"
