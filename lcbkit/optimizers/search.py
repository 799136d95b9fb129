"""The first phase: a method searches under its budget, and however that ends is written down."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lcbkit.errors import LcbkitError
from lcbkit.optimizers.bundle import Bundle, BundleError
from lcbkit.optimizers.charging import ChargedTeam
from lcbkit.optimizers.chat_text import ChatText
from lcbkit.optimizers.curve import Curve
from lcbkit.optimizers.endpoints import Decoding, Models
from lcbkit.optimizers.interface import (
    STOP_REASONS,
    BudgetExhausted,
    Context,
    Event,
    InfrastructureExhausted,
    Optimizer,
    Outcome,
    ReflectionError,
    Rollout,
    Row,
    Unsupported,
)
from lcbkit.optimizers.job import JobError, JobFolder, JobStopped
from lcbkit.optimizers.ledger import Budget, Ledger
from lcbkit.optimizers.rollouts import Runner
from lcbkit.optimizers.seeds import SeedBase
from lcbkit.search_events import IncumbentReported, RolloutCharged, SearchEvent
from lcbkit.storage import append_jsonl, write_json
from lcbkit.topologies.answer import Usage

__all__ = ["Search"]

_REPORTABLE = (None, "infrastructure_invalid")
_SILENT_CALLS = 9
"""More calls in a row without an answer, and a search that goes on would spend its budget on nothing."""


class Search:
    """One search in a job folder.

    Args:
        folder: of the job.
        job: its sealed identity.
        optimizer: the method.
        runner: runs the team.
        models: who writes and judges.
        decodings: sampling values by use.
        seed_bundle: what the search begins with.
        tell: takes events; what it raises ends the search.
    """

    def __init__(
        self,
        *,
        folder: JobFolder,
        job: Mapping[str, Any],
        optimizer: Optimizer,
        runner: Runner,
        models: Models,
        decodings: Mapping[str, Decoding],
        seed_bundle: Bundle,
        tell: Callable[[SearchEvent], None],
    ) -> None:
        self._folder, self._job, self._optimizer, self._runner = folder, job, optimizer, runner
        self._models, self._decodings, self._seed_bundle, self._tell = models, decodings, seed_bundle, tell
        self._ledger = Ledger(job["budget"])
        self._curve = Curve(seed_bundle, lambda: self._ledger.budget.charged)
        self._usage: dict[str, Counter[str]] = {kind: Counter() for kind in ("task", "judge", "reflection")}
        self._metering = threading.Lock()
        self._texts: tuple[ChatText, ...] = ()

    def run(self, train: Sequence[Row], validation: Sequence[Row]) -> dict[str, Any]:
        """Search, or take what an earlier run has sealed.

        Args:
            train: rows in their order.
            validation: rows in their order.

        Returns:
            The sealed `optimization.json`.

        Raises:
            JobError: an earlier search here was interrupted or failed, or this one fails by a bug.
            ConfigError: the method cannot start; nothing is written.
            InfrastructureExhausted: the endpoint gave no observation at all; nothing is kept.
            JobStopped: a callback said stop.
        """
        sealed = self._folder.read("optimization")
        if sealed is not None:
            return self._reusable(sealed)
        if self._folder.searched:
            raise JobError(
                f"the search in {self._folder.path} was interrupted; taken up again it would spend its "
                "budget twice: name a new folder (--out)"
            )
        scratch = self._folder.optimization / "native"
        scratch.mkdir(parents=True, exist_ok=True)
        context = self._context(train, validation)
        started = time.perf_counter()
        try:
            outcome = self._checked(self._optimizer.run(context))
            self._need_answers(ended=True)
        except (Unsupported, JobStopped):
            raise
        except (InfrastructureExhausted, ReflectionError) as error:
            if not self._ledger.budget.charged:
                self._forget()
                raise
            return self._failed("infrastructure_invalid", error, started)
        except (BundleError, BudgetExhausted) as error:
            return self._failed("contract_failure", error, started)
        except LcbkitError:
            self._need_answers(ended=True)  # without any, that is the reason for what a method misses
            raise
        except Exception as error:  # noqa: BLE001 - a bug of a method must be on record, not only on screen
            return self._failed("program_failure", error, started)
        if self._ledger.budget.reserved:
            return self._failed("ambiguous_external", RuntimeError("rollouts are still open"), started)
        return self._seal(outcome, started)

    def _context(self, train: Sequence[Row], validation: Sequence[Row]) -> Context:
        seeds = SeedBase(optimizer_seed=self._job["optimizer_seed"], cell_id=self._job["cell_id"])
        search, reflection = self._decodings["search"], self._decodings["reflection"]
        folder = self._folder.optimization
        reflect = ChatText(
            make_model=lambda: self._models.for_reflection(reflection),
            max_tokens=reflection.max_tokens,
            seeds=seeds,
            kind="reflection",
            folder=folder,
            on_usage=self._meter,
        )
        task_llm = ChatText(
            make_model=lambda: self._models.for_teams(search)[0],
            max_tokens=search.max_tokens,
            seeds=seeds,
            kind="judge",
            folder=folder,
            on_usage=self._meter,
        )

        self._texts = (reflect, task_llm)
        evaluate = ChargedTeam(
            runner=self._runner,
            ledger=self._ledger,
            decoding=search,
            seeds=seeds,
            folder=folder,
            on_charge=self._charged,
            before=self._need_answers,
        )
        return Context(
            team=self._runner.spec,
            seed_bundle=self._seed_bundle,
            train=train,
            validation=validation,
            evaluate=evaluate,
            reflect=reflect,
            task_llm=task_llm,
            seed=self._job["optimizer_seed"],
            scratch=folder / "native",
            journal=self._journal,
        )

    def _need_answers(self, *, ended: bool = False) -> None:
        """Stop a search whose questions stay without answers; a single one is the method's own affair.

        Raises:
            InfrastructureExhausted: many in a row, or, once the search has ended, all of them.
        """
        for text in self._texts:
            if ended and text.answered:
                continue
            if complaint := text.complaint(0 if ended else _SILENT_CALLS):
                raise InfrastructureExhausted(complaint)

    def _charged(self, rollout: Rollout, budget: Budget) -> None:
        with self._metering:
            self._usage["task"].update(rollout.usage)
        self._tell(RolloutCharged(charged=budget.charged, maximum=budget.maximum, score=rollout.score))

    def _meter(self, kind: str, usage: Usage) -> None:
        with self._metering:
            self._usage[kind].update(usage.to_dict())

    def _journal(self, event: Event) -> None:
        state = self._curve.take(event)
        self._tell(
            IncumbentReported(
                charged=state["charged"],
                maximum=self._ledger.budget.maximum,
                iteration=event.iteration,
                best=state["score"],
                note=event.note,
            )
        )

    def _checked(self, outcome: Outcome) -> Outcome:
        if outcome.stop_reason not in STOP_REASONS:
            raise BundleError(f"the method stopped for an unknown reason: {outcome.stop_reason!r}")
        outcome.incumbent.check(self._seed_bundle, self._job["splits"]["test"])
        return outcome

    def _reusable(self, sealed: dict[str, Any]) -> dict[str, Any]:
        if sealed["job_sha256"] != self._job["sha256"]:
            raise JobError(f"{self._folder.file('optimization')} belongs to another job.json; restore it")
        if sealed["failure_kind"] not in _REPORTABLE:
            raise JobError(
                f"the search in {self._folder.path} failed ({sealed['failure_kind']}: {sealed['error']}); "
                "name a new folder (--out)"
            )
        return sealed

    def _forget(self) -> None:
        """Remove the notes of a search that met a dead endpoint: it has learned and spent nothing."""
        for path in self._folder.optimization.glob("*.jsonl"):
            path.unlink()

    def _failed(self, kind: str, error: Exception, started: float) -> dict[str, Any]:
        outcome = Outcome(incumbent=self._seed_bundle, stop_reason="", history=(), iterations=0)
        sealed = self._seal(outcome, started, kind=kind, error=f"{type(error).__name__}: {error}"[:2_000])
        if kind not in _REPORTABLE:
            raise JobError(
                f"the search failed ({kind}: {sealed['error']}); {self._folder.file('optimization')} says "
                "what was spent"
            ) from error
        return sealed

    def _seal(
        self, outcome: Outcome, started: float, *, kind: str | None = None, error: str | None = None
    ) -> dict[str, Any]:
        budget, folder = self._ledger.budget, self._folder.optimization
        bundles = {**self._curve.bundles, outcome.incumbent.sha256: outcome.incumbent}
        for sha256, bundle in bundles.items():
            write_json(folder / f"bundle-{sha256}.json", bundle.to_dict())
        result = {
            "method": self._optimizer.name,
            "settings": asdict(self._optimizer.settings),
            "stop_reason": outcome.stop_reason or None,
            "iterations": outcome.iterations,
            "history": [dict(entry) for entry in outcome.history],
            "incumbent_sha256": outcome.incumbent.sha256,
        }
        write_json(folder / "optimizer_result.json", result)
        curve = folder / "learning_curve.jsonl"
        curve.unlink(missing_ok=True)
        append_jsonl(
            curve,
            self._curve.rows(budget=budget.maximum, final=outcome.incumbent, charged=budget.charged),
        )
        return self._folder.write(
            "optimization",
            {
                "job_sha256": self._job["sha256"],
                "status": "failed" if kind else "completed",
                "failure_kind": kind,
                "error": error,
                "stop_reason": outcome.stop_reason or None,
                "iterations": outcome.iterations,
                "budget": budget.to_dict(),
                "usage": {name: dict(counts) for name, counts in self._usage.items()},
                "elapsed_seconds": round(time.perf_counter() - started, 3),
                "seed_bundle": self._seed_bundle.to_dict(),
                "incumbent_bundle": outcome.incumbent.to_dict(),
                "train_ids": self._job["splits"]["train"],
                "validation_ids": self._job["splits"]["validation"],
            },
        )
