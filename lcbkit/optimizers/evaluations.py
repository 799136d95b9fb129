"""Uncharged evaluations: a bundle on a split, addressed by what decides it, and resumed row by row."""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.canonical import digest
from lcbkit.optimizers.endpoints import Decoding
from lcbkit.optimizers.interface import InfrastructureExhausted, Rollout
from lcbkit.optimizers.job import JobError, read_sealed, write_sealed
from lcbkit.optimizers.ledger import INFRASTRUCTURE_FAILURE
from lcbkit.optimizers.rollouts import Execution, Runner, rollout_row
from lcbkit.optimizers.seeds import evaluation_seed
from lcbkit.storage import append_jsonl, locked, mend_jsonl, read_jsonl
from lcbkit.waiting import run_sync, waking

__all__ = ["Evaluation", "Evaluations"]

_SILENT_ROWS = 5
"""So many rows in a row without an observation, and the endpoint is taken for dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A bundle's records on a split, in its order.

    Attributes:
        id: hash of what decides the records; the file's name.
        records: a row for each problem.
        seal: hash of the file.
    """

    id: str
    records: tuple[Mapping[str, Any], ...]
    seal: str

    @property
    def scores(self) -> list[float]:
        """The scores in the split's order."""
        return [record["score"] for record in self.records]

    @property
    def usage(self) -> dict[str, int]:
        """The sum of what the rollouts cost."""
        total: Counter[str] = Counter()
        for record in self.records:
            total.update(record["usage"])
        return dict(total)


class Evaluations:
    """Makes evaluations, or takes them from their folder.

    Args:
        folder: of the evaluations; several jobs may share one.
        runner: runs the team.
        decoding: sampling values of the task model.
        condition_id: what besides bundle, seed and split decides a record.
        optimizer_seed: 0, 1 or 2.
        origin: hashes of problems and code; evaluations of other ones are not taken.
    """

    def __init__(
        self,
        *,
        folder: Path,
        runner: Runner,
        decoding: Decoding,
        condition_id: str,
        optimizer_seed: int,
        origin: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._folder, self._runner, self._decoding = folder, runner, decoding
        self._condition, self._optimizer_seed, self._origin = condition_id, optimizer_seed, origin

    def check(self) -> None:
        """Make sure that the folder can take evaluations, before anything is spent on what goes into it.

        Raises:
            BadValueError: it cannot.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._folder):
                pass
        except OSError as error:
            raise BadValueError(
                f"cannot write evaluations to {self._folder}: {error.strerror}; name another folder "
                "(--evaluation-cache)"
            ) from error

    def run(
        self,
        bundle: Bundle,
        split: str,
        row_ids: Sequence[str],
        tell: Callable[[Mapping[str, Any], int], None],
    ) -> Evaluation:
        """The evaluation of a bundle.

        Args:
            bundle: the role prompts.
            split: `validation` or `test`.
            row_ids: its problems.
            tell: gets each record with the number of records so far; what it raises ends the evaluation,
                which can be taken up again.

        Raises:
            InfrastructureExhausted: the endpoint is dead. What is observed is kept.
            JobError: a file of the evaluation does not belong to it, or was changed.
        """
        identity = {
            "condition_id": self._condition,
            "optimizer_seed": self._optimizer_seed,
            "split": split,
            "row_ids": list(row_ids),
            "bundle_sha256": bundle.sha256,
            **self._origin,
        }
        evaluation_id = digest(identity)[:32]
        path = self._folder / f"{evaluation_id}.json"
        with locked(self._folder / f"{evaluation_id}.lock"):
            if path.exists():
                sealed = read_sealed(path, "evaluation")
                if sealed["identity"] != identity:
                    raise JobError(f"{path} is another evaluation under this name; remove it")
                for number, record in enumerate(sealed["records"], 1):
                    tell(record, number)
            else:
                journal = _Journal(self._folder / f"{evaluation_id}.partial.jsonl", row_ids)
                records = run_sync(lambda: self._collect(bundle, split, row_ids, journal, tell))
                payload = {"identity": identity, "bundle": bundle.to_dict(), "records": records}
                sealed = write_sealed(path, "evaluation", payload)
                journal.path.unlink(missing_ok=True)
        return Evaluation(id=evaluation_id, records=tuple(sealed["records"]), seal=sealed["sha256"])

    async def _collect(
        self,
        bundle: Bundle,
        split: str,
        row_ids: Sequence[str],
        journal: "_Journal",
        tell: Callable[[Mapping[str, Any], int], None],
    ) -> list[dict[str, Any]]:
        records = list(journal.records)
        for number, record in enumerate(records, 1):
            tell(record, number)
        executions = [
            Execution(
                bundle=bundle,
                row_id=row_id,
                seed=evaluation_seed(
                    condition_id=self._condition,
                    optimizer_seed=self._optimizer_seed,
                    split=split,
                    row_id=row_id,
                ),
                place=place,
                spent=journal.spent[row_id],
            )
            for place, row_id in enumerate(row_ids)
            if place >= len(records)
        ]

        def attempted(execution: Execution, rollout: Rollout, number: int) -> None:
            journal.attempted(execution.row_id, rollout, number)

        async with waking():
            results = self._runner.run_all(executions, self._decoding, attempted)
            async with aclosing(results):
                async for _, rollout in results:
                    record = rollout_row(rollout)
                    records.append(record)
                    journal.recorded(record)
                    tell(record, len(records))
        journal.close()
        return records


class _Journal:
    """What is known of an evaluation before it is sealed: records in the split's order, and executions.

    Failures are written when an observation follows them: those of an endpoint that has died say nothing of
    their problems, and would use up their retries.
    """

    def __init__(self, path: Path, row_ids: Sequence[str]) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []
        self.spent: Counter[str] = Counter()
        self._waiting: list[dict[str, Any]] = []
        self._silent = 0
        self._open = len(row_ids)
        if path.exists():
            mend_jsonl(path)
            self._read(row_ids)

    def attempted(self, row_id: str, rollout: Rollout, number: int) -> None:
        line = {"attempt": number, "row_id": row_id, "status": rollout.status, "error": rollout.error}
        self._write(line, observed=rollout.usable)

    def recorded(self, record: dict[str, Any]) -> None:
        """Note the next record of the split.

        Raises:
            InfrastructureExhausted: one more of many without an observation.
        """
        observed = record["status"] != INFRASTRUCTURE_FAILURE
        self._silent = 0 if observed else self._silent + 1
        if self._silent >= min(_SILENT_ROWS, self._open):
            raise InfrastructureExhausted(
                f"the last {self._silent} problems have no observation ({record['error']}); check that the "
                "endpoint answers, then run the same command again: what is observed is kept"
            )
        self._write({"record": record}, observed=observed)

    def close(self) -> None:
        """Write what still waits: single failures at the end are these problems' own."""
        if self._waiting:
            append_jsonl(self.path, self._waiting)

    def _write(self, line: dict[str, Any], *, observed: bool) -> None:
        self._waiting.append(line)
        if observed:
            append_jsonl(self.path, self._waiting)
            self._waiting = []

    def _read(self, row_ids: Sequence[str]) -> None:
        try:
            for line in read_jsonl(self.path, torn_ok=True):
                if "record" in line:
                    self.records.append(line["record"])
                else:
                    self.spent[line["row_id"]] += line["status"] == INFRASTRUCTURE_FAILURE
        except (LcbkitError, KeyError, TypeError) as error:
            raise JobError(f"{self.path} is not the journal of an evaluation ({error}); remove it") from error
        begun = [record["row_id"] for record in self.records]
        if begun != list(row_ids[: len(begun)]):
            raise JobError(f"{self.path} does not hold the first problems of its split; remove it")
        self._open -= len(begun)
