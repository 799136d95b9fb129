"""Problems in a form that is quick to search, and as the rows of a table."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lcbkit.errors import BadValueError
from lcbkit.judging.report import Report
from lcbkit.problems import Problem, ProblemSet
from lcbkit.rows.schema import DIFFICULTIES
from lcbkit.selection import DateLike, Selection

__all__ = ["COLUMNS", "LEVELS", "MODES", "RESULT_COLUMN", "Catalogue", "Query"]

Cell = str | int | float | None

MODES = ("stdin", "functional")
LEVELS = dict(zip(DIFFICULTIES, ("good", "warn", "bad"), strict=True))
"""The tone of each difficulty."""

COLUMNS: tuple[dict[str, Any], ...] = (
    {"key": "id", "label": "id", "mono": True},
    {"key": "title", "label": "title", "grow": True},
    {"key": "platform", "label": "platform", "minor": True},
    {"key": "difficulty", "label": "difficulty", "order": [*DIFFICULTIES], "tones": LEVELS},
    {"key": "mode", "label": "mode", "minor": True},
    {"key": "contest_date", "label": "contest"},
    {"key": "hidden_tests", "label": "tests", "align": "right", "minor": True},
)
RESULT_COLUMN = {"key": "result", "label": "yours", "tones": {"passed": "good"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a problem must be like; what is left out admits all.

    Attributes:
        text: words that must all occur in id, title, contest or statement; capitals do not count.
        mode: `stdin` or `functional`; "" for both.
        selection: platform, difficulty and contest dates.
    """

    text: str = ""
    mode: str = ""
    selection: Selection = field(default_factory=Selection)

    @classmethod
    def parse(
        cls,
        *,
        text: str = "",
        platform: str | None = None,
        difficulty: str | None = None,
        mode: str | None = None,
        start_date: DateLike | None = None,
        end_date: DateLike | None = None,
    ) -> "Query":
        """The query that a caller's arguments describe.

        Raises:
            BadValueError: for a value outside of what is allowed, with the list of what is.
        """
        if mode not in (None, *MODES):
            raise BadValueError(f"mode is {mode!r}; allowed: {', '.join(MODES)}")
        selection = Selection.parse(
            platform=platform, difficulty=difficulty, start_date=start_date, end_date=end_date
        )
        return cls(text=text, mode=mode or "", selection=selection)


class Catalogue:
    """Problems with what a search looks at prepared."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = (
            problems if isinstance(problems, ProblemSet) else ProblemSet(problems, source="a list")
        )
        self._texts = [
            f"{problem.id}\n{problem.title}\n{problem.contest_id}\n{problem.statement}".lower()
            for problem in self.problems
        ]
        self._rows = {problem.id: _cells(problem) for problem in self.problems}

    def row(self, problem: Problem, report: Report | None = None) -> list[Cell]:
        """A problem's cells in the order of `COLUMNS` and `RESULT_COLUMN`."""
        result = None
        if report is not None:
            result = "passed" if report.passed else f"{report.pass_count}/{report.total}"
        return [*self._rows[problem.id], result]

    def find(self, query: Query) -> list[Problem]:
        """The problems that a query admits, in the dataset's order."""
        words = query.text.lower().split()
        return [
            problem
            for problem, text in zip(self.problems, self._texts, strict=True)
            if query.mode in ("", problem.mode)
            and query.selection.admits(problem)
            and all(word in text for word in words)
        ]


def _cells(problem: Problem) -> list[Cell]:
    return [
        problem.id,
        problem.title,
        problem.platform,
        problem.difficulty,
        problem.mode,
        str(problem.contest_date.date()),
        problem.hidden_test_count,
    ]
