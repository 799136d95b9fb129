"""Runs as rows of a table: which instances match, and what each line says (pure functions)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcbkit.records import Record
from lcbkit.results import Run
from lcbkit.rows.schema import DIFFICULTIES
from lcbkit.widgets.outcomes import LETTERS, is_shown, outcome

__all__ = ["DIFFERENCES", "Filter", "PairView", "ProblemView", "RunView"]

Cells = list[Any]
_LEVELS = [*DIFFICULTIES]
_TONES = dict(LETTERS.values()) | {"only b": "good", "only a": "bad"}
_TONES |= {"missing": "soft", "not compared": "soft"}

DIFFERENCES = {
    "different": "different",
    "only_a": "only a passed",
    "only_b": "only b passed",
}
"""What two runs side by side can be narrowed to besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which instances are shown.

    Attributes:
        show: one of `SHOWN`, for two runs also of `DIFFERENCES`.
        platform: empty for all.
        difficulty: empty for all.
        text: words that all occur in the id, title, program or error.
    """

    show: str = "all"
    platform: str = ""
    difficulty: str = ""
    text: str = ""

    def takes(self, record: Record) -> bool:
        """Whether an instance matches, its outcome aside."""
        if self.platform not in ("", record.platform) or self.difficulty not in ("", record.difficulty):
            return False
        if not self.text.strip():
            return True
        said = "\n".join(
            filter(None, (record.problem_id, record.title, record.code, record.error, record.stop_reason))
        ).lower()
        return all(word in said for word in self.text.lower().split())


def _key(record: Record) -> str:
    return f"{record.problem_id} #{record.sample}" if record.sample else record.problem_id


def _word(record: Record | None) -> str:
    return LETTERS[outcome(record)][0] if record else "missing"


class RunView:
    """One run, a line per instance."""

    def __init__(self, run: Run) -> None:
        self.members = {_key(record): (record,) for record in run.records}
        self.columns: list[dict[str, Any]] = [
            {"key": "id", "label": "id", "mono": True},
            {"key": "title", "label": "title", "grow": True},
            {"key": "verdict", "label": "verdict", "tones": _TONES},
            {"key": "tests", "label": "tests", "grow": True, "strip": True},
            {"key": "rate", "label": "passed", "align": "right", "unit": " %", "digits": 0, "minor": True},
            {"key": "difficulty", "label": "difficulty", "order": _LEVELS},
            {"key": "platform", "label": "platform", "minor": True},
            {"key": "tokens", "label": "tokens", "align": "right", "minor": True},
            {"key": "time", "label": "time", "align": "right", "digits": 1, "unit": " s", "minor": True},
        ]

    def rows(self, wanted: Filter) -> list[Cells]:
        """The lines that match, in the run's order."""
        return [
            self._row(key, record)
            for key, (record,) in self.members.items()
            if is_shown(record, wanted.show) and wanted.takes(record)
        ]

    @staticmethod
    def _row(key: str, record: Record) -> Cells:
        judged = record.code is not None and record.total > 0
        return [
            key,
            record.title or "",
            _word(record),
            record.test_verdicts or "",
            100 * record.pass_rate if judged else None,
            record.difficulty or "",
            record.platform or "",
            record.total_tokens or None,
            record.latency_s,
        ]


class ProblemView:
    """One run with several samples, a line per problem: the samples' outcomes side by side."""

    def __init__(self, run: Run) -> None:
        groups: dict[str, list[Record]] = {}
        for record in run.records:
            groups.setdefault(record.problem_id, []).append(record)
        self.members = {
            key: tuple(sorted(records, key=lambda record: record.sample)) for key, records in groups.items()
        }
        self.columns: list[dict[str, Any]] = [
            {"key": "id", "label": "id", "mono": True},
            {"key": "title", "label": "title", "grow": True},
            {"key": "samples", "label": "samples", "grow": True, "strip": True},
            {"key": "passed", "label": "passed", "align": "right"},
            {"key": "difficulty", "label": "difficulty", "order": _LEVELS},
            {"key": "platform", "label": "platform", "minor": True},
            {"key": "tokens", "label": "tokens", "align": "right", "minor": True},
        ]

    def rows(self, wanted: Filter) -> list[Cells]:
        """The problems with a sample that matches."""
        return [
            [
                key,
                records[0].title or "",
                "".join(map(outcome, records)),
                sum(record.passed for record in records),
                records[0].difficulty or "",
                records[0].platform or "",
                sum(record.total_tokens for record in records) or None,
            ]
            for key, records in self.members.items()
            if any(is_shown(record, wanted.show) and wanted.takes(record) for record in records)
        ]


class PairView:
    """Two runs, a line per instance of either; those that ended differently come first."""

    def __init__(self, a: Run, b: Run) -> None:
        left, right = ({_key(record): record for record in run.records} for run in (a, b))
        pairs = {key: (left.get(key), right.get(key)) for key in left | right}
        self.members: Mapping[str, tuple[Record | None, Record | None]] = dict(
            sorted(pairs.items(), key=lambda pair: _distance(*pair[1]))
        )
        self.columns: list[dict[str, Any]] = [
            {"key": "id", "label": "id", "mono": True},
            {"key": "title", "label": "title", "grow": True},
            {"key": "better", "label": "passed by", "tones": _TONES},
            {"key": "a", "label": "a", "tones": _TONES},
            {"key": "a_tests", "label": "a's tests", "grow": True, "strip": True, "minor": True},
            {"key": "b", "label": "b", "tones": _TONES},
            {"key": "b_tests", "label": "b's tests", "grow": True, "strip": True, "minor": True},
            {"key": "difficulty", "label": "difficulty", "order": _LEVELS, "minor": True},
        ]

    def rows(self, wanted: Filter) -> list[Cells]:
        """The lines of which either run matches, the most different first."""
        return [
            self._row(key, a, b)
            for key, (a, b) in self.members.items()
            if _pair_shown(a, b, wanted.show) and any(wanted.takes(record) for record in (a, b) if record)
        ]

    @staticmethod
    def _row(key: str, a: Record | None, b: Record | None) -> Cells:
        some = a or b
        assert some is not None
        return [
            key,
            some.title or "",
            _better(a, b),
            _word(a),
            (a.test_verdicts if a else "") or "",
            _word(b),
            (b.test_verdicts if b else "") or "",
            some.difficulty or "",
        ]


def _better(a: Record | None, b: Record | None) -> str:
    if a is None or b is None or not (a.scored and b.scored):
        return "not compared"
    if a.passed == b.passed:
        return "both" if a.passed else "neither"
    return "only a" if a.passed else "only b"


def _distance(a: Record | None, b: Record | None) -> int:
    """0 where one alone passed, 1 where one is missing or not counted, 2 where both failed differently, 3."""
    if a is None or b is None or a.scored != b.scored:
        return 1
    if a.passed != b.passed:
        return 0
    return 3 if (outcome(a), a.test_verdicts) == (outcome(b), b.test_verdicts) else 2


def _pair_shown(a: Record | None, b: Record | None, show: str) -> bool:
    match show:
        case "different":
            return _distance(a, b) < 3
        case "only_a" | "only_b":
            return _better(a, b) == show.replace("_", " ")
        case _:
            records: Sequence[Record | None] = (a, b)
            return any(is_shown(record, show) for record in records if record)
