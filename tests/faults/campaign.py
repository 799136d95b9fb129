"""Runs that are struck by faults, taken up again after each, and compared with one that nothing disturbed."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from shutil import rmtree
from typing import Any

from lcbkit.display.text import columns
from tests.faults.faults import FAULTS, Scene
from tests.faults.site import INSTANCES, Key, Site, untimed

__all__ = ["Campaign", "Tally"]

_OUTAGES = ("endpoint gone", "endpoint away")


@dataclass
class Tally:
    """What one kind of fault has done.

    Attributes:
        injected: times that it met a batch at work.
        missed: times that the batch had ended before.
        resumes: batches started after it, up to the next fault or to the end of the run.
        lost: records that were on disk before and not after.
        double: instances made again though they were on disk, and keys that a run holds twice.
        differing: records that are not those of the undisturbed run, after the last resume.
        left: processes, locks, partial and scratch files that stayed behind.
    """

    injected: int = 0
    missed: int = 0
    resumes: int = 0
    lost: int = 0
    double: int = 0
    differing: int = 0
    left: int = 0


@dataclass
class Campaign:
    """Faults on one site.

    Attributes:
        site: where.
        seed: of all that is drawn.
        tallies: by the fault's name.
        notes: a line for each thing that went wrong.
    """

    site: Site
    seed: int = 0
    tallies: dict[str, Tally] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        ending = self.site.start("undisturbed").wait()
        assert (ending.code, ending.left) == (0, []), ending
        assert len(self.site.asked()) == INSTANCES
        self.undisturbed = self.site.load("undisturbed")
        self.summary = self._summary("undisturbed")
        self._runs = 0

    @property
    def injected(self) -> int:
        """Faults that have met a batch at work."""
        return sum(tally.injected for tally in self.tallies.values())

    def strike(self, *names: str) -> None:
        """Let faults strike one run, one after the other, finish it, and compare."""
        self._runs += 1
        run = f"run{self._runs}"
        before: dict[Key, dict[str, Any]] = {}
        for name in names:
            tally = self.tallies.setdefault(name, Tally())
            scene = Scene(self.site, run, self.rng, last=name == names[-1])
            try:
                struck = FAULTS[name](scene)
            except AssertionError as error:  # the batch did not end as it should
                self._note(name, "differing", f"{run}: {error}")
                self.site.free()
                break
            tally.injected += struck.hit
            tally.missed += not struck.hit
            tally.resumes += 1
            self._check(name, run, before, struck.ending.left, spoiled=struck.spoiled)
            before = self.site.finished(run)
        self.site.endpoint.requests.clear()
        ending = self.site.start(run).wait()
        if ending.code == 0:
            self._check(names[-1], run, before, ending.left)
            self._compare(names, run)
        else:
            self._note(names[-1], "differing", f"the resume ended with {ending.code}: {ending.said}")
        rmtree(self.site.seen / run)

    def _check(
        self,
        name: str,
        run: str,
        before: dict[Key, dict[str, Any]],
        left: Sequence[str],
        *,
        spoiled: frozenset[Key] = frozenset(),
    ) -> None:
        """What was finished before the last batch is still there as it was, and was not made again."""
        now = self.site.finished(run)
        for key in before.keys() & set(self.site.asked()):
            self._note(name, "double", f"{run}: {key} was asked for again")
        for key, row in before.items():
            if now.get(key) != row and key not in spoiled:
                self._note(name, "lost", f"{run}: {key}")
        for process in left:
            self._note(name, "left", f"{run}: {process}")

    def _compare(self, names: Sequence[str], run: str) -> None:
        name = names[-1]
        opened = self.site.load(run)
        outage = any(fault in _OUTAGES for fault in names)
        expected = {record.key: untimed(record) for record in self.undisturbed.records}
        for key, count in self.site.lines(run).items():
            if count > 1:
                self._note(name, "double", f"{run}: {key} has {count} finished lines")
        for record in opened.records:
            wanted = expected.pop(record.key, None)
            if wanted is None:
                self._note(name, "double", f"{run}: {record.key} twice")
            elif (got := untimed(record, failed_calls=outage)) != wanted:
                parts = {part: (got[part], wanted[part]) for part in wanted if got[part] != wanted[part]}
                self._note(name, "differing", f"{run}: {record.key} {parts}")
            texts = opened.trajectory(record.problem_id, record.sample)
            if texts["code"] != record.code or ("report" in texts) != (record.code is not None):
                self._note(name, "differing", f"{run}: the texts of {record.key}")
        for key in expected:
            self._note(name, "lost", f"{run}: {key}")
        if not outage and self._summary(run) != self.summary:
            self._note(name, "differing", f"{run}: the summary")
        for path in self._litter(run):
            self._note(name, "left", f"{run}: {path}")

    def _summary(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.site.seen / run / "summary.json").read_text())
        return found | {"seconds": 0}

    def _litter(self, run: str) -> Iterator[Path]:
        """Files that no run has, here and among the judge's scratch folders."""
        folder = self.site.seen / run
        known = {folder / name for name in ("run.json", "summary.json", "predictions.jsonl", "trajectories")}
        known |= {
            folder / "trajectories" / f"{record.problem_id}-{record.sample}.json"
            for record in self.undisturbed.records
        }
        yield from set(folder.rglob("*")) - known
        # What a killed Dask worker leaves there, the next one clears away.
        yield from (path for path in self.site.scratch.iterdir() if path.name != "dask-scratch-space")

    def _note(self, name: str, what: str, words: str) -> None:
        tally = self.tallies[name]
        setattr(tally, what, getattr(tally, what) + 1)
        self.notes.append(f"{name}, {what}: {words}")

    def table(self) -> str:
        """A line per fault, and their sum."""
        names = [column.name for column in fields(Tally)]
        total = Tally(**{name: sum(getattr(t, name) for t in self.tallies.values()) for name in names})
        rows = [*self.tallies.items(), ("all", total)]
        return columns(
            ("fault", *names),
            [(name, *(str(getattr(tally, column)) for column in names)) for name, tally in rows],
        )
