"""Scores by one or two facts of a record, as a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from lcbkit.display.text import columns
from lcbkit.errors import BadValueError
from lcbkit.html import table
from lcbkit.records import Record
from lcbkit.scoring.scores import NO_WIDTH, UNKNOWN, Score, group

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GROUPINGS", "ScoreTable", "grouping", "score_table", "words"]

GROUPINGS = ("difficulty", "platform", "mode", "month", "status", "erratum", "sample")
"""What records can be grouped by."""

_ALL = "all"


def words(by: str | Sequence[str]) -> tuple[str, ...]:
    """One or two groupings from a word, from `difficulty,platform`, or from a sequence of words.

    Raises:
        BadValueError: for another word, the same word twice, none, or more than two.
    """
    found = tuple(word.strip() for word in by.split(",")) if isinstance(by, str) else tuple(by)
    for word in found:
        if word not in GROUPINGS:
            raise BadValueError(f"a run groups by {', '.join(GROUPINGS)}, not by {word!r}")
    if len(set(found)) != len(found) or not 1 <= len(found) <= 2:
        raise BadValueError(f"a table has one or two different groupings, not {', '.join(found) or 'none'}")
    return found


def grouping(by: str | Sequence[str]) -> Callable[[Record], str | None]:
    """What tells the group of a record; of two groupings both names, with a comma.

    Raises:
        BadValueError: as `words`.
    """
    names = words(by)
    if len(names) == 1:
        return lambda record: _fact(record, names[0])
    return lambda record: ", ".join(_fact(record, name) or UNKNOWN for name in names)


def _fact(record: Record, name: str) -> str | None:
    return None if (value := getattr(record, name)) is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScoreTable:
    """Scores by one or two facts.

    Attributes:
        by: the groupings: of the lines and, if there are two, of the columns.
        scores: by line and column; with one grouping there is one column, `all`. The last line and column
            are `all` as well.
    """

    by: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Score]]

    def header(self) -> list[str]:
        """The columns' names."""
        if len(self.by) == 1:
            return [self.by[0], "pass@1", "95 % interval", "passed / counted (of n)"]
        return [" \\ ".join(self.by), *next(iter(self.scores.values()))]

    def rows(self) -> list[list[str]]:
        """The cells as text; a group in which nothing ran is a dash."""
        if len(self.by) == 1:
            return [[name, *_full(line[_ALL])] for name, line in self.scores.items()]
        return [[name, *map(_short, line.values())] for name, line in self.scores.items()]

    def notes(self) -> list[str]:
        """What to know of the groupings and intervals, a sentence each."""
        known: tuple[set[str], ...] = (
            set(self.scores),
            {name for line in self.scores.values() for name in line},
        )
        empty = len(self.by) == 1 and any(line[_ALL].says_nothing for line in self.scores.values())
        return [NO_WIDTH] * empty + [
            f"no record says its {name}{', since none holds its contest date' * (name == 'month')}"
            for name, groups in zip(self.by, known, strict=False)
            if groups - {_ALL} == {UNKNOWN}
        ]

    def to_frame(self) -> "pd.DataFrame":
        """A line for each group with n, scored, passed, pass_at_1 and its interval; the sums left out."""
        import pandas as pd

        two = len(self.by) == 2
        rows = [
            {
                **dict(zip(self.by, (name, column), strict=False)),
                **{"n": score.n, "scored": score.scored, "passed": score.passed},
                "pass_at_1": score.pass_at_1,
                **dict(zip(("low", "high"), score.interval or (None, None), strict=True)),
            }
            for name, line in self.scores.items()
            for column, score in line.items()
            if name != _ALL and (column != _ALL) is two and score.n
        ]
        return pd.DataFrame(rows, columns=[*self.by, "n", "scored", "passed", "pass_at_1", "low", "high"])

    def __str__(self) -> str:
        return "\n".join([columns(self.header(), self.rows()), *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [[escape(cell) for cell in row] for row in self.rows()]
        return table(self.header(), rows) + "".join(f"<div>{escape(note)}</div>" for note in self.notes())


def score_table(records: Sequence[Record], by: str | Sequence[str]) -> ScoreTable:
    """The scores of records by one or two groupings.

    Raises:
        BadValueError: as `words`.
    """
    names = words(by)
    of_line = grouping(names[0])
    lines: dict[str, list[Record]] = {
        name: [record for record in records if (of_line(record) or UNKNOWN) == name]
        for name in group(records, of_line)
    }
    lines[_ALL] = list(records)
    if len(names) == 1:
        return ScoreTable(by=names, scores={name: {_ALL: Score.of(own)} for name, own in lines.items()})
    of_column = grouping(names[1])
    order = list(group(records, of_column))
    return ScoreTable(
        by=names,
        scores={name: {**group(own, of_column, order), _ALL: Score.of(own)} for name, own in lines.items()},
    )


def _full(score: Score) -> list[str]:
    if score.pass_at_1 is None or score.interval is None:
        return ["-", "-", f"0 / 0 (of {score.n})"]
    low, high = score.interval
    counted = f"{score.passed} / {score.scored}" + (f" (of {score.n})" * (score.n != score.scored))
    return [f"{score.pass_at_1:.1%}", f"{low:.1%} to {high:.1%}", counted]


def _short(score: Score) -> str:
    return "-" if score.pass_at_1 is None else f"{score.pass_at_1:.1%} ({score.passed}/{score.scored})"
