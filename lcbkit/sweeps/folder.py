"""Sweeps as they lie on disk: run folders in one, and a table of them; no model or graph library needed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from lcbkit.errors import LcbkitError, RunFolderError
from lcbkit.results import Run, load_run, side_by_side
from lcbkit.scoring.costs import PriceSource
from lcbkit.scoring.overview import Overview
from lcbkit.storage import read_json, write_atomic, write_json

__all__ = ["Cell", "Sweep", "is_sweep", "load_sweep", "note_cells", "write_tables"]

_FILE = "sweep.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One team of a sweep; the single team has no size."""

    topology: str
    team_size: int | None
    message_format: str

    @property
    def name(self) -> str:
        """The cell's folder, and what tables call it."""
        size = f"-r{self.team_size}" if self.team_size else ""
        return f"{self.topology}{size}-{self.message_format}"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Sweep:
    """The runs of a sweep.

    Attributes:
        folder: where they lie, each in a folder of its cell's name.
        runs: by cell, in order; None where nothing has run yet.
        failures: by cell, why it could not run in this call.
        unreadable: by cell, what is wrong with its folder.
    """

    folder: Path
    runs: Mapping[Cell, Run | None]
    failures: Mapping[Cell, str] = field(default_factory=dict)
    unreadable: Mapping[Cell, str] = field(default_factory=dict)

    def table(self, *, by: str | Sequence[str] | None = None, prices: PriceSource | None = None) -> Overview:
        """A line for each cell.

        Args:
            by: a column of pass@1 for each group of this kind: one or two words as in `Run.table`.
            prices: as in `Run.cost`, for columns of money.

        Raises:
            BadValueError: for an unknown word, or prices that cannot be read or lack the model.
        """
        runs = [run or Run([]) for run in self.runs.values()]
        table = side_by_side(runs, by=by, prices=prices, labels=[cell.name for cell in self.runs])
        broken = (f"{cell.name}: {why}" for cell, why in self.unreadable.items())
        return replace(table, notes=(*table.notes, *broken))

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def is_sweep(folder: Path) -> bool:
    """Whether a folder is one of a sweep."""
    return (folder.expanduser() / _FILE).is_file()


def load_sweep(folder: str | Path) -> Sweep:
    """Open a sweep, finished or not; a run in it that cannot be read is named as such.

    Raises:
        RunFolderError: no sweep there.
    """
    folder = Path(folder).expanduser()
    runs: dict[Cell, Run | None] = {}
    unreadable: dict[Cell, str] = {}
    for cell in _known_cells(folder):
        runs[cell], place = None, folder / cell.name
        try:
            runs[cell] = load_run(place) if (place / "predictions.jsonl").exists() else None
        except LcbkitError as error:
            unreadable[cell] = str(error)
    return Sweep(folder=folder, runs=runs, unreadable=unreadable)


def _known_cells(folder: Path) -> list[Cell]:
    try:
        return [_cell(**values) for values in read_json(folder / _FILE)["cells"]]
    except (LcbkitError, OSError, KeyError, TypeError) as error:
        raise RunFolderError(f"no sweep at {folder} ({error}); give a folder of `lcb sweep`") from error


def _cell(*, topology: str, team_size: int | None, message_format: str) -> Cell:
    if (
        not isinstance(topology, str)
        or not isinstance(message_format, str)
        or not isinstance(team_size, int | None)
    ):
        raise TypeError(f"no team is {(topology, team_size, message_format)!r:.80}")
    return Cell(topology=topology, team_size=team_size, message_format=message_format)


def note_cells(folder: Path, cells: Iterable[Cell]) -> None:
    """Write down which cells the folder has, those of earlier calls included.

    Raises:
        RunFolderError: the folder holds a run, or cannot be written.
    """
    if (folder / "predictions.jsonl").exists():
        raise RunFolderError(f"{folder} holds a run, not a sweep; name another folder (--out-dir, out_dir=)")
    known = _known_cells(folder) if is_sweep(folder) else []
    try:
        values = [asdict(cell) for cell in dict.fromkeys([*known, *cells])]
        write_json(folder / _FILE, {"schema_version": 1, "cells": values})
    except OSError as error:
        raise RunFolderError(
            f"cannot write the sweep to {folder}: {error.strerror or error}; name another folder (--out-dir, "
            "out_dir=)"
        ) from error


def write_tables(done: Sweep, prices: PriceSource | None) -> None:
    """Put the sweep's table into its folder, as CSV and Markdown.

    Raises:
        BadValueError: as `Sweep.table`.
        RunFolderError: when they cannot be written.
    """
    table = done.table(prices=prices)
    try:
        write_atomic(done.folder / "table.csv", table.to_csv())
        write_atomic(done.folder / "table.md", table.to_markdown())
    except OSError as error:
        raise RunFolderError(
            f"cannot write the table to {done.folder}: {error.strerror or error}; the runs are complete: "
            "`lcb show` prints it"
        ) from error
