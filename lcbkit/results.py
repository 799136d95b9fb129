"""Runs: what a batch left behind, its scores, and how two runs compare; no model or graph library needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcbkit.errors import BadValueError, RunFolderError
from lcbkit.html import badge
from lcbkit.problems import ProblemSet
from lcbkit.records import Record
from lcbkit.runs.folder import RunFiles, in_order, read_config, read_records
from lcbkit.runs.lcb_files import read_lcb, write_lcb
from lcbkit.scoring.comparison import Comparison, paired
from lcbkit.scoring.costs import Cost, Prices, PriceSource, cost_of
from lcbkit.scoring.estimates import pass_at_k, wilson_interval
from lcbkit.scoring.overview import Overview, overview
from lcbkit.scoring.scores import UNKNOWN, Score, Summary, group, mean_pass_at_k, summarize
from lcbkit.scoring.tables import ScoreTable, grouping, score_table
from lcbkit.storage import read_json

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "Run", "compare", "load_run", "pass_at_k", "side_by_side", "wilson_interval"]

MAX_INFRA_RATE = 0.1
"""Share of infrastructure errors above which a run is no score, unless its configuration says otherwise."""

_AGAIN = "see that the endpoint answers, then run the same again: it takes up those"


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
    _summary: list[Summary] = field(default_factory=list, init=False, compare=False)

    def __post_init__(self) -> None:
        latest = {record.key: record for record in self.records}
        object.__setattr__(self, "records", tuple(latest.values()))

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame", *, config: Mapping[str, Any] | None = None) -> "Run":
        """A run from a table with one line per instance.

        Args:
            frame: columns as in a record's row: `id` (or `question_id`) and `em` (or `passed`, or `pass` and
                `total`), if known `sample`, `difficulty`, `platform`, `mode`, `contest_date`,
                `predicted_code` and others.
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
        """pass@1 over all instances and by group, with intervals, counts and tokens; worked out once."""
        if not self._summary:
            self._summary.append(summarize(self.records))
        return self._summary[0]

    def by(self, what: str) -> dict[str, Score]:
        """Scores by group.

        Args:
            what: one of `lcbkit.scoring.tables.GROUPINGS`, such as difficulty or month; the error for another
                word lists them.

        Raises:
            BadValueError: for another word.
        """
        return group(self.records, grouping(what))

    def by_both(self, rows: str, columns: str) -> dict[str, dict[str, Score]]:
        """Scores by two groupings at once: a line for each group of `rows`, in it one for each of `columns`.

        Args:
            rows: as in `by`.
            columns: as in `by`; each group that occurs in the run stands in every line.

        Raises:
            BadValueError: for another word.
        """
        of_row, always = grouping(rows), list(self.by(columns))
        return {
            row: group(
                [record for record in self.records if (of_row(record) or UNKNOWN) == row],
                grouping(columns),
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

    def table(self, by: str | Sequence[str]) -> ScoreTable:
        """Scores by one or two groupings as a table, which prints, displays and makes a data frame.

        Args:
            by: one or two groupings, as in `by`; two as a sequence or with a comma between them, the second
                across.

        Raises:
            BadValueError: for other words.
        """
        return score_table(self.records, by)

    def cost(self, prices: PriceSource | None = None) -> Cost | None:
        """What the run cost: a problem, a solved one and in all; None where no tokens were reported.

        Args:
            prices: a TOML or JSON file, or what it holds: by model a table with `input`, `output` and, if it
                differs, `cached`, per million tokens; beside the models there may be a `currency`. None
                counts in tokens.

        Raises:
            BadValueError: for prices that cannot be read, or that lack a model of the run.
        """
        return cost_of(self.records, None if prices is None else Prices.of(prices))

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

        It grades an empty program as failed, also one that stands for an answer without any or for an
        infrastructure error: finish the run before, or the two scores differ.

        Args:
            path: the file to write.
            pad_to: every problem of the release (or its id), which the evaluator insists on; those that this
                run lacks get empty programs. None writes only the run's own problems. Every problem gets as
                many programs as the one with most samples.

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
        if gave_up := self.config.get("gave_up"):
            return [f"{gave_up}: this is no score of the team; {_AGAIN}"]
        if summary.infra_rate <= self.config.get("max_infra_rate", MAX_INFRA_RATE):
            return []
        return [
            f"{summary.n_infra_error} of {summary.n} instances ended in infrastructure errors, so this is "
            f"no score of the team; {_AGAIN}"
        ]

    def _title(self) -> str:
        problems = len({record.problem_id for record in self.records})
        dates = sorted(record.contest_date for record in self.records if record.contest_date)
        parts = [
            self.label,
            f"on {source}" if (source := self.config.get("dataset", {}).get("source")) else "",
            "1 problem" if problems == 1 else f"{problems} problems",
            f"{dates[0]} to {dates[-1]}" if dates else "",
        ]
        return ", ".join(filter(None, parts))


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
        config = read_config(files)
        return Run(in_order(read_records(files.predictions), config), config, files)
    except OSError as error:
        raise RunFolderError(
            f"no run at {path}: {_why_none(path, error)}; give a run folder, a predictions .jsonl file or "
            "LiveCodeBench's *_eval_all.json"
        ) from error


def _why_none(path: Path, error: OSError) -> str:
    if path.is_file() and path.suffix not in (".jsonl", ".json"):
        return "it is a file of another kind"
    if path.is_dir():
        inside = sorted(found.parent.name for found in path.glob("*/predictions.jsonl"))
        others = f", but the runs {', '.join(inside[:8])}{', …' * (len(inside) > 8)}" if inside else ""
        return f"the folder holds no predictions.jsonl{others}"
    return error.strerror or str(error)


def side_by_side(
    runs: Sequence[Run],
    *,
    by: str | Sequence[str] | None = None,
    prices: PriceSource | None = None,
    labels: Sequence[str] | None = None,
) -> Overview:
    """Runs in the lines of one table.

    Args:
        runs: as many as fit.
        by: a column of pass@1 for each group of this kind: one or two words as in `Run.table`.
        prices: as in `Run.cost`, for columns of money.
        labels: what to call the runs; None takes their own labels, with their folders where two are alike.

    Raises:
        BadValueError: for an unknown word, or prices that cannot be read or lack a model.
    """
    own = [run.label for run in runs]
    names = labels or [_placed(run) if own.count(run.label) > 1 else run.label for run in runs]
    return overview(
        [(name, run.records) for name, run in zip(names, runs, strict=True)],
        of_group=None if by is None else grouping(by),
        prices=None if prices is None else Prices.of(prices),
        notes=[f"{name}: {note}" for name, run in zip(names, runs, strict=True) for note in run._warnings()],
    )


def compare(a: Run, b: Run, *, by: str | Sequence[str] | None = None) -> Comparison:
    """Compare two runs problem by problem.

    Only problems that both runs scored count, so that an outage in one of them does not move the difference.

    Args:
        a: the first run.
        b: the second; differences are b minus a.
        by: compare within each group of this kind as well: one or two words as in `Run.table`.

    Raises:
        BadValueError: when they have no such problem in common, for an unknown word, or for what is no run.
    """
    for run in (a, b):
        if not isinstance(run, Run):
            raise BadValueError(f"compare takes runs, not {run!r:.80}; load_run(...) opens a folder or file")
    of_problem = None if by is None else grouping(by)
    labels = a.label, b.label
    if labels[0] == labels[1]:
        labels = _placed(a), _placed(b)
    return paired(labels, a.records, b.records, of_problem=of_problem, notes=_unlike(a.config, b.config))


def _placed(run: Run) -> str:
    return f"{run.label} in {run.files}" if run.files else run.label


_JUDGED_BY = {"tests": "tests", "time_limit": "time limit (s)", "memory_limit": "memory limit (bytes)"}


def _unlike(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """What the configurations of two runs say that makes their verdicts less comparable, a sentence each."""
    notes = []
    sources = [config.get("dataset", {}).get("source") for config in (a, b)]
    if None not in sources and sources[0] != sources[1]:
        notes.append(f"the problems come from {sources[0]} in a and {sources[1]} in b; they are paired by id")
    judged = [config.get("settings", {}).get("judging", {}) for config in (a, b)]
    for name, words in _JUDGED_BY.items():
        values = [settings.get(name) for settings in judged]
        if None not in values and values[0] != values[1]:
            notes.append(f"judged with different limits: {words} {values[0]} in a, {values[1]} in b")
    return notes
