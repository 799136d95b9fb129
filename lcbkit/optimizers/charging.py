"""The charged evaluator: rollouts of a real team against a ledger, each written down as it ends."""

import threading
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.endpoints import Decoding
from lcbkit.optimizers.interface import BudgetExhausted, InfrastructureExhausted, Request, Rollout, Row, Step
from lcbkit.optimizers.ledger import Budget, Ledger, Reservation
from lcbkit.optimizers.rollouts import ATTEMPTS, Execution, Runner, rollout_row
from lcbkit.optimizers.seeds import SeedBase, logical_seed
from lcbkit.storage import append_jsonl
from lcbkit.waiting import run_sync, waking

__all__ = ["ChargedTeam"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Granted:
    """A request with its places in the ledger."""

    request: Request
    reservation: Reservation
    rows: Sequence[Row]


class ChargedTeam:
    """A `ChargedEvaluator` on a real team.

    Args:
        runner: runs the team.
        ledger: is charged.
        decoding: sampling values of the task model.
        seeds: what the seeds start from.
        folder: gets `attempts.jsonl` and `records.jsonl`.
        on_charge: is told each charged rollout and the budget after it; what it raises ends the search.
        before: is called before each batch; what it raises keeps the batch from being run.
    """

    def __init__(
        self,
        *,
        runner: Runner,
        ledger: Ledger,
        decoding: Decoding,
        seeds: SeedBase,
        folder: Path,
        on_charge: Callable[[Rollout, Budget], None],
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._before = before
        self._runner, self._ledger, self._decoding = runner, ledger, decoding
        self._seeds, self._folder, self._on_charge = seeds, folder, on_charge
        self._lock = threading.Lock()

    @property
    def maximum(self) -> int:
        """The whole budget, in rollouts."""
        return self._ledger.budget.maximum

    @property
    def remaining(self) -> int:
        """Rollouts that are neither charged nor reserved."""
        return self._ledger.available

    def rollout(self, bundle: Bundle, row: Row, step: Step, *, mask: frozenset[str] = frozenset()) -> Rollout:
        """Run the team once; as `batch` with one row."""
        return self.batch(bundle, [row], step, mask=mask)[0]

    def batch(
        self,
        bundle: Bundle,
        rows: Sequence[Row],
        step: Step,
        *,
        exact: bool = True,
        mask: frozenset[str] = frozenset(),
    ) -> list[Rollout]:
        """Run the team once per row; see `ChargedEvaluator.batch`."""
        request = Request(bundle=bundle, rows=rows, step=step, exact=exact, mask=mask)
        self._check([request])
        reserve = self._ledger.reserve_exact if exact else self._ledger.reserve
        return self._run([self._granted(request, reserve(len(rows)))])[0]

    def batches(self, requests: Sequence[Request]) -> list[list[Rollout]]:
        """Run several batches side by side; see `ChargedEvaluator.batches`."""
        self._check(requests)
        granted: list[_Granted | None] = []
        try:
            for request in requests:
                granted.append(self._reserved(request))
        except BudgetExhausted:
            for one in granted:
                if one:
                    self._ledger.cancel(one.reservation)
            raise
        done = iter(self._run([one for one in granted if one]))
        return [next(done) if one else [] for one in granted]

    def _reserved(self, request: Request) -> _Granted | None:
        if request.exact:
            return self._granted(request, self._ledger.reserve_exact(len(request.rows)))
        try:
            return self._granted(request, self._ledger.reserve(len(request.rows)))
        except BudgetExhausted:
            return None

    @staticmethod
    def _granted(request: Request, reservation: Reservation) -> _Granted:
        return _Granted(request=request, reservation=reservation, rows=request.rows[: reservation.granted])

    def _check(self, requests: Sequence[Request]) -> None:
        self._before()
        for request in requests:
            ids = [row.id for row in request.rows]
            if not ids or len(set(ids)) != len(ids):
                raise ValueError(f"a batch needs rows, each of them once, not {ids[:20]}")
            self._runner.check(request.bundle, request.mask)

    def _run(self, granted: Sequence[_Granted]) -> list[list[Rollout]]:
        if not granted:
            return []
        try:
            return run_sync(lambda: self._arun(granted))
        finally:
            for one in granted:
                self._ledger.cancel(one.reservation)

    async def _arun(self, granted: Sequence[_Granted]) -> list[list[Rollout]]:
        places = [
            (index, self._execution(one, position))
            for index, one in enumerate(granted)
            for position in range(len(one.rows))
        ]
        index_of = {id(execution): index for index, execution in places}
        done: list[list[Rollout]] = [[] for _ in granted]

        def attempted(execution: Execution, rollout: Rollout, number: int) -> None:
            self._attempted(granted[index_of[id(execution)]], execution, rollout, number)

        async with waking():
            results = self._runner.run_all([execution for _, execution in places], self._decoding, attempted)
            async with aclosing(results):
                async for execution, rollout in results:
                    index = index_of[id(execution)]
                    self._settle(granted[index], execution, rollout)
                    done[index].append(rollout)
        return done

    def _execution(self, one: _Granted, position: int) -> Execution:
        step, row = one.request.step, one.rows[position]
        seed = logical_seed(
            optimizer_seed=self._seeds.optimizer_seed,
            cell_id=self._seeds.cell_id,
            phase=step.phase,
            iteration=step.iteration,
            row_id=row.id,
            key=step.tag or one.request.bundle.sha256,
            position=position,
        )
        return Execution(
            bundle=one.request.bundle, row_id=row.id, seed=seed, mask=one.request.mask, place=position
        )

    def _attempted(self, one: _Granted, execution: Execution, rollout: Rollout, number: int) -> None:
        if not rollout.usable and number < ATTEMPTS:
            self._ledger.note_failure(one.reservation)
        self._write("attempts", {**self._line(one, execution, rollout), "attempt": number})

    def _settle(self, one: _Granted, execution: Execution, rollout: Rollout) -> None:
        with self._lock:
            budget = self._ledger.settle(one.reservation, rollout.status)
            if rollout.usable:
                line = {**self._line(one, execution, rollout), "budget": budget.to_dict()}
                append_jsonl(self._folder / "records.jsonl", [line])
        if not rollout.usable:
            raise InfrastructureExhausted(
                f"problem {rollout.row_id} has no observation after {ATTEMPTS} executions ({rollout.error}); "
                "check that the endpoint answers"
            )
        self._on_charge(rollout, budget)

    def _line(self, one: _Granted, execution: Execution, rollout: Rollout) -> dict[str, Any]:
        step = one.request.step
        return {
            **rollout_row(rollout),
            "bundle_sha256": execution.bundle.sha256,
            "step": {"phase": step.phase, "iteration": step.iteration, "tag": step.tag},
            "mask": sorted(execution.mask),
        }

    def _write(self, name: str, line: dict[str, Any]) -> None:
        with self._lock:
            append_jsonl(self._folder / f"{name}.jsonl", [line])
