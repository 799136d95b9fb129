"""Problems and sets of problems: the values that everything else works on."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from lcbkit import html
from lcbkit.display.text import columns
from lcbkit.errors import BadValueError, UnknownProblemError
from lcbkit.known_ids import errata
from lcbkit.rows.decoding import count_tests, decode_tests
from lcbkit.rows.fields import contest_moment, function_name, id_field, text_field, word_field
from lcbkit.rows.schema import COLUMNS, DIFFICULTIES, PLATFORMS
from lcbkit.rows.stored import MemoryRow, StoredRow
from lcbkit.selection import DateLike, Selection

if TYPE_CHECKING:
    import datasets
    import pandas

__all__ = ["Mode", "Problem", "ProblemSet", "TestCase", "check_problem", "digest_of"]

Mode = Literal["stdin", "functional"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One input and its expected output.

    Attributes:
        input: standard input; for a functional test one JSON value per line, one line per argument.
        output: expected standard output; for a functional test one JSON value.
        mode: `stdin` or `functional`.
    """

    __test__ = False  # keeps pytest from collecting the class in a user's test module

    input: str
    output: str
    mode: Mode


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem:
    """One programming problem with its public tests; the hidden tests are decoded when asked for.

    Attributes:
        id: the dataset's `question_id`.
        title: its title.
        statement: the text as stored, samples included.
        platform: `leetcode`, `codeforces` or `atcoder`.
        difficulty: `easy`, `medium` or `hard`.
        contest_id: the contest it comes from.
        contest_date: when that contest began.
        starter_code: code that a functional program starts from; empty in stdin mode.
        fn_name: the function or method that functional tests call; None in stdin mode.
        mode: whether programs read standard input or define a function.
        public_tests: the samples.
        hidden_test_count: how many tests score a program.
        erratum: what LiveCodeBench lists as wrong with the problem, None if nothing.
        stored: where the row lies.
    """

    id: str
    title: str
    statement: str
    platform: str
    difficulty: str
    contest_id: str
    contest_date: datetime
    starter_code: str
    fn_name: str | None
    mode: Mode
    public_tests: tuple[TestCase, ...]
    hidden_test_count: int
    erratum: str | None = None
    stored: StoredRow = field(compare=False)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Problem":
        """Make a problem of one row in the dataset's schema; decodes its hidden tests once, to count them.

        Raises:
            UnusableTestsError: when its tests are missing or cannot be decoded.
            DatasetError: for a wrong schema, an unknown platform or difficulty, functional tests without a
                function name, or tests that are unsafe to decode.
        """
        where = f"problem {row.get('question_id')!r}"
        hidden, public = (text_field(row, f"{kind}_test_cases", where) for kind in ("private", "public"))
        count, mode = count_tests(hidden, public, where=where)
        return cls.from_stored(row, stored=MemoryRow(row), count=count, mode=mode, where=where)

    @classmethod
    def from_stored(
        cls, row: Mapping[str, Any], *, stored: StoredRow, count: int, mode: str, where: str
    ) -> "Problem":
        """Make a problem whose hidden tests were counted before.

        Args:
            row: the row; `private_test_cases` is not looked at and may be missing.
            stored: where the whole row lies.
            count: how many hidden tests it has.
            mode: their mode.
            where: how messages name the row.

        Raises:
            DatasetError: as `from_row`.
        """
        starter = text_field(row, "starter_code", where)
        problem_id = id_field(row, where)
        return cls(
            id=problem_id,
            title=text_field(row, "question_title", where),
            statement=text_field(row, "question_content", where),
            platform=word_field(row, "platform", PLATFORMS, where),
            difficulty=word_field(row, "difficulty", DIFFICULTIES, where),
            contest_id=text_field(row, "contest_id", where),
            contest_date=contest_moment(row, where),
            starter_code=starter,
            fn_name=function_name(row, starter, where) if mode == "functional" else None,
            mode=cast("Mode", mode),
            public_tests=_test_cases(text_field(row, "public_test_cases", where), where),
            hidden_test_count=count,
            erratum=errata().get(problem_id),
            stored=stored,
        )

    @property
    def hidden_tests(self) -> tuple[TestCase, ...]:
        """The tests that score a program, decoded anew at each call; they may take hundreds of megabytes.

        Raises:
            DatasetError: when the file that holds them was changed or removed since.
        """
        return _test_cases(self.stored.read()["private_test_cases"], f"problem {self.id!r}")

    def to_row(self) -> dict[str, str]:
        """The problem as one row in the dataset's schema, its hidden tests packed as they are stored."""
        public = [{"input": t.input, "output": t.output, "testtype": t.mode} for t in self.public_tests]
        return {
            "question_title": self.title,
            "question_content": self.statement,
            "platform": self.platform,
            "question_id": self.id,
            "contest_id": self.contest_id,
            "contest_date": self.contest_date.isoformat(),
            "starter_code": self.starter_code,
            "difficulty": self.difficulty,
            "public_test_cases": json.dumps(public, ensure_ascii=False),
            "private_test_cases": self.stored.read()["private_test_cases"],
            "metadata": json.dumps({"func_name": self.fn_name} if self.fn_name else {}),
        }

    def __repr__(self) -> str:
        return (
            f"Problem({self.id!r}, {self.title!r}, {self.platform}, {self.difficulty}, {self.mode}, "
            f"{self.contest_date.date()}, {self.hidden_test_count} hidden tests)"
        )

    def _repr_html_(self) -> str:
        facts = (
            self.platform,
            self.difficulty,
            self.mode,
            str(self.contest_date.date()),
            f"{len(self.public_tests)} public and {self.hidden_test_count} hidden tests",
        )
        parts = [f"<h4>{escape(self.id)} · {escape(self.title)}</h4><p>{escape(' · '.join(facts))}</p>"]
        if self.erratum:
            words = self.erratum.replace("_", " ")
            parts.append(f"<p>{html.badge(f'listed as defective: {words}', 'warn')}</p>")
        parts.append(html.columns([("Statement", html.pre(self.statement, 20_000))]))
        if self.starter_code:
            parts.append(html.columns([("Starter code", html.pre(self.starter_code))]))
        if self.public_tests:
            rows = [(html.pre(test.input), html.pre(test.output)) for test in self.public_tests]
            parts.append(html.table(("input", "expected output"), rows, caption="Public tests"))
        return "".join(parts)


class ProblemSet(Sequence[Problem]):
    """Problems in the dataset's order; indexes by place, slice or id.

    Attributes:
        source: where they come from, for people.
        revision: the commit on the hub that they come from, None for other sources.
        skipped: for each row that could not be used its id and the reason.
    """

    def __init__(
        self,
        problems: Iterable[Problem],
        *,
        source: str,
        revision: str | None = None,
        skipped: Mapping[str, str] | None = None,
    ) -> None:
        self._problems = tuple(problems)
        self._by_id = {problem.id: problem for problem in self._problems}
        self.source = source
        self.revision = revision
        self.skipped: Mapping[str, str] = MappingProxyType(dict(skipped or {}))

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in order."""
        return tuple(problem.id for problem in self._problems)

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that name these ids in this order."""
        return digest_of(self.ids)

    @property
    def first_date(self) -> date | None:
        """The first contest date, None without problems."""
        return min((problem.contest_date.date() for problem in self._problems), default=None)

    @property
    def last_date(self) -> date | None:
        """The last contest date, None without problems."""
        return max((problem.contest_date.date() for problem in self._problems), default=None)

    @property
    def provenance(self) -> dict[str, str | int | None]:
        """What names this set in a paper or a record: source, revision, contest dates, count and digest."""
        return {
            "source": self.source,
            "revision": self.revision,
            "first_date": str(self.first_date) if self else None,
            "last_date": str(self.last_date) if self else None,
            "count": len(self),
            "digest": self.digest,
        }

    def filter(
        self,
        *,
        limit: int | None = None,
        offset: int = 0,
        only: str | Iterable[str] | None = None,
        difficulty: str | Iterable[str] | None = None,
        platform: str | Iterable[str] | None = None,
        start_date: DateLike | None = None,
        end_date: DateLike | None = None,
        errata: Literal["keep", "drop"] = "keep",
    ) -> "ProblemSet":
        """The problems that `load_problems` would have kept with the same arguments.

        Raises:
            BadValueError: for a value outside of what is allowed.
            UnknownProblemError: for an id of `only` that is not here.
        """
        selection = Selection.parse(
            limit=limit,
            offset=offset,
            only=only,
            difficulty=difficulty,
            platform=platform,
            start_date=start_date,
            end_date=end_date,
            errata=errata,
        )
        return self._with(selection.take(self._problems, skipped=self.skipped))

    def to_frame(self) -> "pandas.DataFrame":
        """One line per problem, without statements and tests; `.attrs` holds the provenance."""
        import pandas

        lines = [_listing(problem) for problem in self._problems]
        frame = pandas.DataFrame(lines, columns=[*_COLUMNS_OF_A_LISTING])
        frame.attrs.update(self.provenance)
        return frame

    def to_dataset(self) -> "datasets.Dataset":
        """The rows in the dataset's schema, in memory, hidden tests packed; `load_problems` takes it back.

        Raises:
            DatasetError: when a file that holds hidden tests was changed or removed since.
        """
        import datasets
        import pyarrow

        # 64-bit offsets and one row a batch: the packed tests of a release exceed what 32 bits can count.
        schema = pyarrow.schema([(name, pyarrow.large_string()) for name in COLUMNS])
        rows = (problem.to_row() for problem in self._problems)
        batches = [pyarrow.RecordBatch.from_pylist([row], schema=schema) for row in rows]
        return datasets.Dataset(pyarrow.Table.from_batches(batches, schema=schema))

    def __len__(self) -> int:
        return len(self._problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems)

    def __contains__(self, item: object) -> bool:
        return item in self._by_id if isinstance(item, str) else item in self._problems

    @overload
    def __getitem__(self, key: int | str) -> Problem: ...
    @overload
    def __getitem__(self, key: slice) -> "ProblemSet": ...
    def __getitem__(self, key: int | str | slice) -> "Problem | ProblemSet":
        if isinstance(key, slice):
            return self._with(self._problems[key])
        if not isinstance(key, str):
            return self._problems[key]
        if key not in self._by_id:
            raise UnknownProblemError(key, self.ids)
        return self._by_id[key]

    def __repr__(self) -> str:
        return f"ProblemSet({self._summary()})"

    def __str__(self) -> str:
        listing = columns(_HEADER, map(_cells, self._problems))
        return f"{listing}\n\n{self._summary()}"

    def _repr_html_(self) -> str:
        shown = self._problems[:_SHOWN]
        rows = [[escape(cell) for cell in _cells(problem)] for problem in shown]
        more = f"<p>… and {len(self) - len(shown)} more</p>" if len(self) > len(shown) else ""
        listing = html.table(_HEADER, rows, caption=self._summary())
        return f'<div style="max-height:30em;overflow:auto">{listing}{more}</div>'

    def _summary(self) -> str:
        dates = f"contests from {self.first_date} to {self.last_date}, " if self else ""
        skipped = f", {len(self.skipped)} skipped ({', '.join(self.skipped)})" if self.skipped else ""
        commit = f" at {self.revision[:12]}" if self.revision else ""
        return f"{len(self)} problems of {self.source}{commit}, {dates}ids {self.digest}{skipped}"

    def _with(self, problems: Iterable[Problem]) -> "ProblemSet":
        return ProblemSet(problems, source=self.source, revision=self.revision, skipped=self.skipped)


_SHOWN = 200
_COLUMNS_OF_A_LISTING = (
    "id",
    "title",
    "difficulty",
    "platform",
    "mode",
    "contest_date",
    "public_tests",
    "hidden_tests",
    "erratum",
)
_HEADER = tuple(name.replace("_", " ") for name in _COLUMNS_OF_A_LISTING)


def check_problem(value: object, use: str) -> None:
    """Raise BadValueError for an id, a row or whatever else stands in place of the problem for some use."""
    if not isinstance(value, Problem):
        raise BadValueError(
            f"{use} a Problem, not {value!r:.80}; take one out of load_problems(...), by its place or id"
        )


def digest_of(ids: Sequence[str]) -> str:
    """Twelve hexadecimal digits that name these ids in this order."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:12]


def _listing(problem: Problem) -> dict[str, Any]:
    values = (
        problem.id,
        problem.title,
        problem.difficulty,
        problem.platform,
        problem.mode,
        problem.contest_date,
        len(problem.public_tests),
        problem.hidden_test_count,
        problem.erratum,
    )
    return dict(zip(_COLUMNS_OF_A_LISTING, values, strict=True))


def _cells(problem: Problem) -> list[str]:
    shown = _listing(problem) | {"contest_date": problem.contest_date.date()}
    return ["" if value is None else str(value) for value in shown.values()]


def _test_cases(text: str, where: str) -> tuple[TestCase, ...]:
    return tuple(
        TestCase(input=test["input"], output=test["output"], mode=cast("Mode", test["testtype"]))
        for test in decode_tests(text, where=where)
    )
