"""`aggregate`: results of several seeds and cells as one table, with intervals and corrected tests."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal

from lcbkit.display.text import columns
from lcbkit.errors import BadValueError, LcbkitError, NothingToDoError
from lcbkit.html import table
from lcbkit.optimizers.canonical import canonical_json
from lcbkit.optimizers.job import JobFolder, UnknownFileError
from lcbkit.optimizers.protocol import Cell
from lcbkit.optimizers.seeds import OFFSETS
from lcbkit.optimizers.statistics import REPLICATES, holm, paired_counts, paired_p, stratified_interval
from lcbkit.optimizers.summary import check_result
from lcbkit.storage import write_atomic, write_json

if TYPE_CHECKING:
    import pandas

__all__ = ["Aggregate", "CellResult", "SeedResult", "aggregate"]

Family = Literal["task", "method", "none"]

_OF_ALL_SEEDS = {
    "budget": "their budget",
    "settings": "the method's settings",
    "reflection_model": "the reflection model",
    "decodings": "sampling values",
    "condition_id": "team, seed prompts, scorer or problems",
}
"""What the jobs of a cell must have in common to be repetitions of each other."""

_HEADER = (
    *("method", "topology", "size", "model", "task", "seeds", "n", "baseline", "deployed"),
    *("delta pp", "sd", "95 % interval", "p (Holm) by seed", "kept seed"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """One job of a cell.

    Attributes:
        seed: the optimizer seed.
        n: test problems.
        baseline: mean test score of the seed prompts.
        deployed: mean test score of the deployed prompts.
        delta_pp: their difference in percentage points.
        wins: problems that only the deployed prompts solve.
        losses: problems that only the seed prompts solve.
        p_value: of the exact McNemar test.
        p_adjusted: by Holm within the family; None in an incomplete cell.
        fallback_reason: why nothing was deployed, else None.
        folder: of the job.
    """

    seed: int
    n: int
    baseline: float
    deployed: float
    delta_pp: float
    wins: int
    losses: int
    p_value: float
    p_adjusted: float | None
    fallback_reason: str | None
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """A cell over its seeds.

    Attributes:
        cell: which.
        status: `complete`, or `incomplete` with the `problems` that keep it from that.
        problems: a phrase each.
        seeds: what is there, by seed.
        baseline: mean over seeds of the seed prompts' test score; None in an incomplete cell, as the rest.
        deployed: the same of the deployed prompts.
        delta_pp: mean difference in percentage points.
        delta_sd: its sample standard deviation over seeds.
        interval: 95 % bootstrap interval of the mean difference, over seeds and problems.
    """

    cell: Cell
    status: str
    problems: tuple[str, ...]
    seeds: tuple[SeedResult, ...]
    baseline: float | None = None
    deployed: float | None = None
    delta_pp: float | None = None
    delta_sd: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def fallbacks(self) -> int:
        """Seeds whose search found nothing better."""
        return sum(seed.fallback_reason is not None for seed in self.seeds)

    def to_dict(self) -> dict[str, Any]:
        """The cell as plain JSON values."""
        return {**asdict(self), "fallbacks": self.fallbacks}

    def row(self) -> tuple[str, ...]:
        """The cell as a line of the table."""
        cell = self.cell
        name = (cell.method, cell.topology, str(cell.team_size), cell.task_model, cell.task)
        seeds = ",".join(str(seed.seed) for seed in self.seeds) or "-"
        if self.delta_pp is None or self.interval is None or self.baseline is None or self.deployed is None:
            return (*name, seeds, "-", "-", "-", "-", "-", "-", "; ".join(self.problems), "-")
        low, high = self.interval
        p_values = ", ".join("-" if s.p_adjusted is None else f"{s.p_adjusted:.3g}" for s in self.seeds)
        return (
            *name,
            seeds,
            str(self.seeds[0].n),
            f"{self.baseline:.1%}",
            f"{self.deployed:.1%}",
            f"{self.delta_pp:+.1f}",
            f"{self.delta_sd:.1f}",
            f"{low:+.1f} to {high:+.1f}",
            p_values,
            f"{self.fallbacks} of {len(self.seeds)}",
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Aggregate:
    """All cells that were found.

    Attributes:
        cells: in the order of method, topology, model.
        family: which p-values Holm's correction takes together.
        bootstrap: replicates of the interval.
        left_out: folders that do not count, with the reason.
    """

    cells: tuple[CellResult, ...]
    family: str
    bootstrap: int
    left_out: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {
            "cells": [cell.to_dict() for cell in self.cells],
            "family": self.family,
            "bootstrap": self.bootstrap,
            "left_out": dict(self.left_out),
        }

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each seed of each cell."""
        import pandas as pd

        return pd.DataFrame(
            [
                {**asdict(cell.cell), "status": cell.status, **asdict(seed)}
                for cell in self.cells
                for seed in cell.seeds
            ]
        )

    def write(self, folder: str | Path) -> None:
        """Write `aggregate.json`, `table.csv` and `table.md` into a folder.

        Raises:
            LcbkitError: it cannot be written there.
        """
        folder = Path(folder).expanduser()
        rows = [cell.row() for cell in self.cells]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([_HEADER, *rows])
        lines = [_HEADER, tuple("---" for _ in _HEADER), *rows]
        page = "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)
        try:
            write_json(folder / "aggregate.json", self.to_dict())
            write_atomic(folder / "table.csv", text.getvalue())
            write_atomic(folder / "table.md", page)
        except OSError as error:
            raise LcbkitError(
                f"cannot write to {folder}: {error.strerror or error}; name another folder (--out, out=)"
            ) from error

    def _notes(self) -> list[str]:
        notes = [f"{folder}: left out, {reason}" for folder, reason in self.left_out.items()]
        return [*notes, *(f"{_name(cell.cell)}: {'; '.join(cell.problems)}" for cell in self._incomplete())]

    def _incomplete(self) -> list[CellResult]:
        return [cell for cell in self.cells if cell.problems]

    def __repr__(self) -> str:
        complete = sum(cell.status == "complete" for cell in self.cells)
        return f"<Aggregate: {len(self.cells)} cells, {complete} complete>"

    def __str__(self) -> str:
        return "\n".join([columns(_HEADER, [cell.row() for cell in self.cells]), *self._notes()])

    def _repr_html_(self) -> str:
        rows = [[escape(part) for part in cell.row()] for cell in self.cells]
        return table(_HEADER, rows) + "".join(f"<div>{escape(note)}</div>" for note in self._notes())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One finished job."""

    folder: Path
    cell: Cell
    seed: int
    test: Mapping[str, Any]
    fallback_reason: str | None
    asked: Mapping[str, Any]

    @property
    def differences(self) -> list[float]:
        pairs = zip(self.test["baseline_scores"], self.test["deployed_scores"], strict=True)
        return [deployed - baseline for baseline, deployed in pairs]


def aggregate(
    *roots: str | Path,
    bootstrap: int = REPLICATES,
    family: Family = "task",
    include_nonconformant: bool = False,
    out: str | Path | None = None,
) -> Aggregate:
    """Bring the jobs below some folders together: a line for each cell, over its three seeds.

    A cell is complete with seeds 0, 1 and 2, each once, each valid, on the same test problems. Its interval
    is a paired bootstrap over seeds and problems; each seed has an exact McNemar test of its own, corrected
    by Holm within a family.

    Args:
        *roots: job folders, or folders that hold some at any depth.
        bootstrap: replicates, at least 100.
        family: `task` corrects the tests of a task and model together, `method` those of a method, `none`
            all of them.
        include_nonconformant: take jobs that depart from the protocol as well.
        out: a folder for `aggregate.json`, `table.csv` and `table.md`.

    Raises:
        NothingToDoError: no finished job that counts.
        JobError: a file was changed after it was sealed, or is another job's.
        BadValueError: an argument outside of its range.
    """
    if bootstrap < 100:
        raise BadValueError(f"bootstrap is {bootstrap}; it must be at least 100 replicates")
    if family not in ("task", "method", "none"):
        raise BadValueError(f"no family {family!r}; there is: task, method, none")
    jobs, left_out = [], dict[str, str]()
    for folder in _folders(roots):
        found = _read(folder, include_nonconformant)
        if isinstance(found, str):
            left_out[str(folder)] = found
        else:
            jobs.append(found)
    if not jobs:
        first = next(iter(left_out.items()), None)
        why = f"; {len(left_out)} jobs do not count, such as {first[0]}: {first[1]}" if first else ""
        way = "; take those that depart with --include-nonconformant" if "departs" in why else ""
        raise NothingToDoError(f"no result to aggregate below {', '.join(map(str, roots))}{why}{way}")
    grouped: dict[Cell, list[_Job]] = defaultdict(list)
    for job in jobs:
        grouped[job.cell].append(job)
    cells = [_of_cell(cell, grouped[cell], bootstrap) for cell in sorted(grouped, key=_name)]
    result = Aggregate(
        cells=tuple(_corrected(cells, family)), family=family, bootstrap=bootstrap, left_out=left_out
    )
    if out is not None:
        result.write(out)
    return result


def _folders(roots: Iterable[str | Path]) -> Iterator[Path]:
    """Folders with a job, each once."""
    seen = set()
    for root in roots:
        path = Path(root).expanduser()
        for job in sorted(path.rglob("job.json")):
            if job.parent.resolve() not in seen:
                seen.add(job.parent.resolve())
                yield job.parent


def _read(folder: Path, include_nonconformant: bool) -> _Job | str:
    """A finished job, or why it does not count."""
    files = JobFolder(folder)
    try:
        job = files.read("job")
    except UnknownFileError:
        return "its job.json is none of this version of lcbkit"
    test, result = (files.read(kind) for kind in ("test", "result"))
    if job is None or test is None or result is None:
        return "not finished"
    check_result(files, job, test, result)
    if not result["protocol_conformant"] and not include_nonconformant:
        return f"departs from the protocol ({'; '.join(result['departures'])})"
    return _Job(
        folder=folder,
        cell=Cell(**result["cell"]),
        seed=result["optimizer_seed"],
        test=result["test"],
        fallback_reason=result["selection"]["fallback_reason"],
        asked={name: job.get(name) for name in _OF_ALL_SEEDS},
    )


def _of_cell(cell: Cell, jobs: Sequence[_Job], bootstrap: int) -> CellResult:
    jobs = sorted(jobs, key=lambda job: (job.seed, str(job.folder)))
    valid = [job for job in jobs if job.test["valid_for_aggregation"]]
    problems = [
        f"seed {job.seed} has test problems without an observation" for job in jobs if job not in valid
    ]
    counts = [sum(job.seed == seed for job in jobs) for seed in OFFSETS]
    problems += [
        f"seed {seed} is missing" if count == 0 else f"seed {seed} is there {count} times"
        for seed, count in zip(OFFSETS, counts, strict=True)
        if count != 1
    ]
    if len({tuple(job.test["example_ids"]) for job in valid}) > 1:
        problems.append("the seeds were tested on different problems")
    problems += [
        f"the seeds differ in {_OF_ALL_SEEDS[name]}"
        for name in _OF_ALL_SEEDS
        if len({canonical_json(job.asked[name]) for job in jobs}) > 1
    ]
    seeds = tuple(map(_of_seed, valid))
    result = CellResult(
        cell=cell,
        status="incomplete" if problems else "complete",
        problems=tuple(problems),
        seeds=seeds,
    )
    if problems:
        return result
    low, high = stratified_interval([job.differences for job in valid], replicates=bootstrap)
    deltas = [seed.delta_pp for seed in seeds]
    return replace(
        result,
        baseline=fmean(seed.baseline for seed in seeds),
        deployed=fmean(seed.deployed for seed in seeds),
        delta_pp=fmean(deltas),
        delta_sd=stdev(deltas),
        interval=(100 * low, 100 * high),
    )


def _of_seed(job: _Job) -> SeedResult:
    sides = job.test["baseline_scores"], job.test["deployed_scores"]
    wins, losses = paired_counts(*sides)
    return SeedResult(
        seed=job.seed,
        n=len(sides[0]),
        baseline=fmean(sides[0]),
        deployed=fmean(sides[1]),
        delta_pp=100 * fmean(job.differences),
        wins=wins,
        losses=losses,
        p_value=paired_p(*sides),
        p_adjusted=None,
        fallback_reason=job.fallback_reason,
        folder=str(job.folder),
    )


def _corrected(cells: Sequence[CellResult], family: Family) -> list[CellResult]:
    """The cells with their p-values adjusted within each family of complete cells."""
    members: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for place, result in enumerate(cells):
        cell = result.cell
        keys = {"task": (cell.task, cell.task_model), "method": (cell.method,), "none": ()}
        if result.status == "complete":
            members[keys[family]] += [(place, number) for number in range(len(result.seeds))]
    seeds = [list(result.seeds) for result in cells]
    for places in members.values():
        adjusted = holm([seeds[place][number].p_value for place, number in places])
        for (place, number), p_value in zip(places, adjusted, strict=True):
            seeds[place][number] = replace(seeds[place][number], p_adjusted=p_value)
    return [replace(result, seeds=tuple(own)) for result, own in zip(cells, seeds, strict=True)]


def _cell(text: str) -> str:
    """A cell of a Markdown table; a model's name may hold anything."""
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _name(cell: Cell) -> str:
    return " ".join(map(str, asdict(cell).values()))
