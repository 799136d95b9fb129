"""Runs: what a batch left behind, its scores, and how two runs compare; no model or graph library needed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcbkit.errors import BadValueError, RunFolderError
from lcbkit.estimates import bootstrap_interval, mcnemar_p, pass_at_k, wilson_interval
from lcbkit.html import badge
from lcbkit.lcb_files import read_lcb, write_lcb
from lcbkit.problems import ProblemSet
from lcbkit.records import Record
from lcbkit.run_folder import RunFiles, in_order, read_records
from lcbkit.scores import UNKNOWN, Cost, Score, Summary, cost_of, group, mean_pass_at_k, summarize
from lcbkit.storage import read_json

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "Run", "compare", "load_run", "pass_at_k", "wilson_interval"]

MAX_INFRA_RATE = 0.1
"""Share of infrastructure errors above which a run is no score, unless its configuration says otherwise."""

_GROUPS = ("difficulty", "platform", "mode", "month", "status", "erratum", "sample")


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """A batch: its records, each (problem, sample) once, and the configuration that made them.

    Attributes:
        records: where a key occurs twice the later record stands, in the earlier one's place.
        config: what `run.json` holds; empty for records from elsewhere.
        files: where the run lies, None when it lies nowhere.
    """

    records: Sequence[Record]
    config: Mapping[str, Any] = field(default_factory=dict)
    files: RunFiles | None = None

    def __post_init__(self) -> None:
        latest = {record.key: record for record in self.records}
        object.__setattr__(self, "records", tuple(latest.values()))

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame", *, config: Mapping[str, Any] | None = None) -> "Run":
        """A run from a table with one line per instance.

        Args:
            frame: columns as in a record's row: `id` (or `question_id`) and `em` (or `passed`), if known
                `sample`, `difficulty`, `platform`, `mode`, `contest_date`, `predicted_code` and others.
            config: what to say about the run.

        Raises:
            RunFolderError: names the row and column that cannot be read.
        """
        plain = frame.astype(object).where(frame.notna(), None)
        rows: Any = plain.to_dict("records")
        return cls([Record.from_row(row) for row in rows], config or {})

    @property
    def label(self) -> str:
        """A short name for tables and legends: topology, size, message format and model."""
        first = next(iter(self.records), None)
        if first is None or first.topology is None:
            return str(
                self.config.get("label") or (self.files and self.files.predictions.parent.name) or "run"
            )
        size = f"-r{first.size}" if first.size else ""
        return f"{first.topology}{size}, {first.format}, {first.model}"

    def summary(self) -> Summary:
        """pass@1 over all instances and by group, with intervals, counts and tokens."""
        return summarize(self.records)

    def by(self, what: str) -> dict[str, Score]:
        """Scores by group.

        Args:
            what: difficulty, platform, mode, month, status, erratum or sample.

        Raises:
            BadValueError: for another word.
        """
        return group(self.records, _grouping(what))

    def by_both(self, rows: str, columns: str) -> dict[str, dict[str, Score]]:
        """Scores by two groupings at once: a line for each group of `rows`, in it one for each of `columns`.

        Args:
            rows: as in `by`.
            columns: as in `by`; each group that occurs in the run stands in every line.

        Raises:
            BadValueError: for another word.
        """
        of_row, always = _grouping(rows), list(self.by(columns))
        return {
            row: group(
                [record for record in self.records if (of_row(record) or UNKNOWN) == row],
                _grouping(columns),
                [name for name in always if name != UNKNOWN],
            )
            for row in self.by(rows)
        }

    def around(self, day: date) -> dict[str, Score]:
        """Scores of the problems whose contest was on or before a day, and after it.

        Returns:
            Under `before` and `after`, and under `unk` what has no contest date, if anything.
        """

        def side(record: Record) -> str | None:
            when = record.contest_date
            return None if when is None else "after" if when > day.isoformat() else "before"

        return group(self.records, side, ("before", "after"))

    def cost(self) -> Cost | None:
        """Tokens for a problem and for a solved one, None where no tokens were reported."""
        return cost_of(self.records)

    def pass_at_k(self, k: int) -> float | None:
        """pass@k averaged over the problems with at least k scored samples; None when there is none."""
        return mean_pass_at_k(self.records, k)[0]

    def trajectory(self, problem_id: str, sample: int = 0) -> dict[str, Any] | None:
        """The full texts of one instance as they were saved, or None."""
        path = self.files and self.files.trajectory(problem_id, sample)
        return read_json(path) if path and path.exists() else None

    def to_frame(self) -> "pd.DataFrame":
        """One line per instance, columns as in `predictions.jsonl`."""
        import pandas as pd

        columns = list(Record(problem_id="").to_row())  # also without a record
        return pd.DataFrame([record.to_row() for record in self.records], columns=columns)

    def to_lcb(self, path: str | Path, *, pad_to: ProblemSet | Sequence[str] | None = None) -> None:
        """Write the programs as LiveCodeBench's `custom_evaluator` takes them.

        Args:
            path: the file to write.
            pad_to: every problem of the release (or its id), which the evaluator insists on; those that this
                run lacks get empty programs. None writes only the run's own problems.

        Raises:
            BadValueError: if `pad_to` lacks a problem of this run.
        """
        ids = pad_to.ids if isinstance(pad_to, ProblemSet) else pad_to
        write_lcb(Path(path), self.records, ids)

    def __repr__(self) -> str:
        return "\n".join([self._title(), str(self.summary()), *self._warnings()])

    def _repr_html_(self) -> str:
        warnings = "".join(f"<div>{badge(line, 'warn')}</div>" for line in self._warnings())
        return f"<div><b>{escape(self._title())}</b></div>{self.summary()._repr_html_()}{warnings}"

    def _warnings(self) -> list[str]:
        summary = self.summary()
        if summary.infra_rate <= self.config.get("max_infra_rate", MAX_INFRA_RATE):
            return []
        return [
            f"{summary.n_infra_error} of {summary.n} instances ended in infrastructure errors, so this is "
            "no score of the team; see that the endpoint answers, then run the same again: it takes up those"
        ]

    def _title(self) -> str:
        dates = sorted(record.contest_date for record in self.records if record.contest_date)
        parts = [
            self.label,
            f"on {source}" if (source := self.config.get("dataset", {}).get("source")) else "",
            f"{len({record.problem_id for record in self.records})} problems",
            f"{dates[0]} to {dates[-1]}" if dates else "",
        ]
        return ", ".join(filter(None, parts))


def _grouping(what: str) -> Callable[[Record], str | None]:
    if what not in _GROUPS:
        raise BadValueError(f"a run groups by {', '.join(_GROUPS)}, not by {what!r}")
    return lambda record: None if (value := getattr(record, what)) is None else str(value)


def load_run(path: str | Path) -> Run:
    """Open a run.

    Args:
        path: a run folder, a predictions file (`.jsonl`), or a `*_eval_all.json` file of LiveCodeBench.

    Returns:
        The run, in the order of the dataset where its configuration is at hand. A torn last line, left by a
        crash, is passed over.

    Raises:
        RunFolderError: no run there, or one that cannot be read.
    """
    path = Path(path).expanduser()
    try:
        if path.suffix == ".json":
            return Run(read_lcb(path), {"label": path.stem})
        files = RunFiles.at(path)
        config = read_json(files.run) if files.run.exists() else {}
        return Run(in_order(read_records(files.predictions), config), config, files)
    except OSError as error:
        raise RunFolderError(
            f"no run at {path}: {error.strerror or error}; give a run folder, a predictions .jsonl file or "
            "LiveCodeBench's *_eval_all.json"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How run b did against run a on the problems that both scored.

    Attributes:
        a: label of the first run.
        b: label of the second run.
        problems: problems that both scored.
        outcomes: by problem, the share of its samples that passed in a and in b.
        left_out: problems that only one of them scored.
        a_pass_at_1: mean over these problems.
        b_pass_at_1: mean over these problems.
        difference: b minus a.
        interval: 95 % bootstrap interval of the difference, over problems.
        only_a: ids that a passed and b did not; None with several samples a problem.
        only_b: the other way round.
        p_value: exact McNemar test; None with several samples a problem.
    """

    a: str
    b: str
    problems: int
    outcomes: Mapping[str, tuple[float, float]] = field(repr=False)
    left_out: int
    a_pass_at_1: float
    b_pass_at_1: float
    difference: float
    interval: tuple[float, float]
    only_a: tuple[str, ...] | None
    only_b: tuple[str, ...] | None
    p_value: float | None

    def lines(self) -> list[str]:
        """The comparison in words."""
        low, high = self.interval
        lines = [
            f"a: {self.a}",
            f"b: {self.b}",
            f"{self.problems} problems scored by both"
            + (f", {self.left_out} left out" * bool(self.left_out)),
            f"pass@1: a {self.a_pass_at_1:.1%}, b {self.b_pass_at_1:.1%}",
            f"b - a: {100 * self.difference:+.1f} points, 95 % {100 * low:+.1f} to {100 * high:+.1f}",
        ]
        if self.only_a is not None and self.only_b is not None:
            lines.append(
                f"passed by a alone: {len(self.only_a)}, by b alone: {len(self.only_b)}; "
                f"exact McNemar p = {self.p_value:.3g}"
            )
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return "".join(f"<div>{escape(line)}</div>" for line in self.lines())


def compare(a: Run, b: Run) -> Comparison:
    """Compare two runs problem by problem.

    Only problems that both runs scored count, so that an outage in one of them does not move the difference.

    Raises:
        BadValueError: when they have no such problem in common.
    """
    left, right = _outcomes(a), _outcomes(b)
    common = [problem_id for problem_id in left if problem_id in right]
    if not common:
        raise BadValueError(f"the runs have no scored problem in common: {a.label} and {b.label}")
    pairs = [(left[problem_id], right[problem_id]) for problem_id in common]
    shares = [(sum(x) / len(x), sum(y) / len(y)) for x, y in pairs]
    means = [sum(side) / len(common) for side in zip(*shares, strict=True)]
    single = all(len(x) == len(y) == 1 for x, y in pairs)
    only_a = tuple(i for i, (x, y) in zip(common, pairs, strict=True) if x > y) if single else None
    only_b = tuple(i for i, (x, y) in zip(common, pairs, strict=True) if x < y) if single else None
    return Comparison(
        a=a.label,
        b=b.label,
        problems=len(common),
        outcomes=dict(zip(common, shares, strict=True)),
        left_out=len(left.keys() ^ right.keys()),
        a_pass_at_1=means[0],
        b_pass_at_1=means[1],
        difference=means[1] - means[0],
        interval=bootstrap_interval([(y - x, 1) for x, y in shares]),
        only_a=only_a,
        only_b=only_b,
        p_value=mcnemar_p(len(only_a), len(only_b)) if only_a is not None and only_b is not None else None,
    )


def _outcomes(run: Run) -> dict[str, list[bool]]:
    outcomes: dict[str, list[bool]] = {}
    for record in run.records:
        if record.scored:
            outcomes.setdefault(record.problem_id, []).append(record.passed)
    return outcomes
