"""MIPRO: demonstrations from solved rows, grounded instructions, and a search over their combinations.

K. Opsahl-Ong, M. J. Ryan, J. Purtell, D. Broman, C. Potts, M. Zaharia, O. Khattab, "Optimizing Instructions
and Demonstrations for Multi-Stage Language Model Programs", arXiv 2406.11695 (EMNLP 2024); carried by
`dspy`'s MIPROv2 with Optuna's TPE sampler.

A demonstration of a role is a train problem that the team solved with what the role wrote; one solved row
gives one for every role that spoke. A candidate is one of three instructions and one of three demonstration
sets for each role; it is kept iff its mean validation score is strictly higher than the best so far. Chosen
demonstrations are written into the role's prompt, so that the incumbent is a bundle like any other.

Where this differs from the benchmark: a validation pass that does not fit into the budget is refused before
it runs, instead of being scored with zeros.
"""

from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from statistics import fmean
from typing import Any

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.extras import load_extra
from lcbkit.optimizers.interface import BudgetExhausted, Context, Event, Outcome, Rollout, Row, Step
from lcbkit.optimizers.knobs import check_least

__all__ = ["Mipro", "MiproSettings"]

_PHASE = "optimization/mipro"


@dataclass(frozen=True, slots=True, kw_only=True)
class MiproSettings:
    """The method's knobs.

    Attributes:
        num_candidates: instructions, and demonstration sets, of each role; the first is the seed's.
        num_trials: combinations that are tried.
        max_bootstrapped_demos: demonstrations in a set.
        minibatch: whether trials run on a part of the validation rows, with full passes in between.
        minibatch_size: rows of such a part.
        full_eval_steps: trials between full passes then.
        view_data_batch_size: rows that are described at a time.
        init_temperature: of proposals.
        seed: of the search; the optimizer seed is added.
    """

    num_candidates: int = 3
    num_trials: int = 3
    max_bootstrapped_demos: int = 4
    minibatch: bool = False
    minibatch_size: int = 35
    full_eval_steps: int = 5
    view_data_batch_size: int = 10
    init_temperature: float = 1.0
    seed: int = 9

    def __post_init__(self) -> None:
        check_least(self, num_candidates=2, num_trials=1, max_bootstrapped_demos=1, minibatch_size=1)
        check_least(self, full_eval_steps=1, view_data_batch_size=1)


class Mipro:
    """Instruction and demonstration search."""

    name = "mipro"

    def __init__(self, settings: MiproSettings | None = None) -> None:
        self.settings = settings or MiproSettings()

    def run(self, ctx: Context) -> Outcome:
        """Bootstrap, propose, search; ends early where the next rollouts do not fit."""
        for package in ("dspy", "optuna"):
            load_extra(package, method=self.name, extra="optimize")
        parts = import_module("lcbkit.optimizers.mipro_program")
        search = _Search(ctx)
        stop_reason = "num_trials_complete"
        with parts.quietly():
            try:
                self._compile(ctx, search, parts)
            except parts.Halted as halted:
                if not isinstance(halted.reason, BudgetExhausted):
                    raise halted.reason from None
                stop_reason = "rollout_budget_spent"
        return Outcome(
            incumbent=search.best,
            stop_reason=stop_reason,
            history=search.history,
            iterations=max(0, len(search.history) - 1),
        )

    def _compile(self, ctx: Context, search: "_Search", parts: Any) -> None:
        own = self.settings
        model = parts.reflection_lm(ctx.reflect, Step(_PHASE, 0))

        def run(program: Any, row_id: str) -> tuple[Row, Rollout]:
            try:
                return search.bootstrap(program.bundle(), row_id)
            except Exception as error:
                raise parts.Halted(error) from error

        optimizer = parts.TeamMipro(
            description=parts.team_description(ctx),
            evaluate=lambda program, ids: search.evaluate(program.bundle(), ids),
            metric=lambda _example, prediction, _trace=None: prediction.score,
            prompt_model=model,
            task_model=model,
            max_bootstrapped_demos=own.max_bootstrapped_demos,
            max_labeled_demos=0,
            auto=None,
            num_candidates=own.num_candidates,
            seed=own.seed + ctx.seed,
            init_temperature=own.init_temperature,
            track_stats=False,
        )
        optimizer.compile(
            parts.TeamProgram(ctx.seed_bundle, run),
            trainset=parts.examples(ctx.train),
            valset=parts.examples(ctx.validation),
            num_trials=own.num_trials,
            minibatch=own.minibatch,
            minibatch_size=own.minibatch_size,
            minibatch_full_eval_steps=own.full_eval_steps,
            view_data_batch_size=own.view_data_batch_size,
        )


@dataclass(slots=True)
class _Search:
    """Runs what DSPy asks for, and remembers the best candidate of all full validation passes."""

    ctx: Context
    best: Bundle = field(init=False)
    best_score: float | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[str, Row] = field(init=False)
    tries: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.best = self.ctx.seed_bundle
        self.rows = {row.id: row for row in (*self.ctx.train, *self.ctx.validation)}

    def bootstrap(self, bundle: Bundle, row_id: str) -> tuple[Row, Rollout]:
        """One rollout on a train row; a second one on the same row meets other randomness."""
        row = self.rows[row_id]
        step = Step(f"{_PHASE}/bootstrap", self.tries[row_id])
        self.tries[row_id] += 1
        return row, self.ctx.evaluate.rollout(bundle, row, step)

    def evaluate(self, bundle: Bundle, ids: list[str]) -> float:
        """The mean score of a bundle on validation rows, which run side by side."""
        trial = len(self.history)
        rows = [self.rows[row_id] for row_id in ids]
        found = self.ctx.evaluate.batch(bundle, rows, Step(_PHASE, trial))
        score = fmean(one.score for one in found)
        whole = len(rows) == len(self.ctx.validation)
        # The first full pass is the seed's; a candidate that only reaches it does not take its place.
        better = whole and (self.best_score is None or score > self.best_score)
        if better:
            self.best, self.best_score = bundle, score
        entry = {
            "trial": trial,
            "score": score,
            "rows": len(rows),
            "bundle": bundle.sha256,
            "outcome": "best so far" if better else "no better",
        }
        self.history.append(entry)
        self.ctx.journal(
            Event(
                iteration=trial,
                incumbent=self.best if better else None,
                score=self.best_score,
                note=f"trial {trial}: {score:.3f}",
                detail=entry,
            )
        )
        return score
