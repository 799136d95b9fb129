"""TAVO: credit along whole trajectories, made into a few rules that stand behind every role's prompt.

Source: Wu et al., "Trajectory-Aware Verbalized Optimization for Multi-Agent Systems" (OpenReview dkbQwUp9gW,
submitted to ICLR 2026); later version "From Interaction Trajectories to Prompt Rules: Credit Assignment for
Multi-Agent Prompt Optimization" (OpenReview pXF0puBofz, ICML 2026).

What is implemented, with score(P) the mean over v fixed validation rows:

    v = min(50, max(3, floor((B - 5 * 6) / 6)))                     rows of each validation batch
    candidate_r = seed_r + rules                                    for each role r
    adopt iff score(candidate) - score(seed) >= 0.01 and score(candidate) >= score(best)

The rules come from the rollouts of the current bundle on 6 fixed train rows: each piece of a transcript is
judged knowing the outcome, each role is judged knowing the pieces, the edits proposed for all roles are
pooled and ranked, and the pool is put into three to six rules. The newest candidate is the current bundle of
the next attempt, adopted or not. Two attempts a round, five rounds, an end after two rounds in a row without
an adoption. A candidate whose text is the seed's is not run again: it counts as rejected with the seed's
score.

`mode="overlay"` is that. `hybrid` also rewrites each seed prompt by the pool, before the rules follow it.
`paper` is closer to the paper's first algorithm: credit for each role in each piece, the edits ranked role by
role, and each role's current prompt rewritten, without common rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any

from lcbkit.errors import BadValueError
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import (
    BudgetExhausted,
    ConfigError,
    Context,
    Event,
    Outcome,
    Row,
    Step,
)
from lcbkit.optimizers.knobs import check_least
from lcbkit.optimizers.tavo_reflection import Reflection

__all__ = ["Tavo", "TavoSettings", "accepted", "validation_rows"]

_PHASE = "optimization/tavo"
_MODES = ("overlay", "hybrid", "paper")


@dataclass(frozen=True, slots=True, kw_only=True)
class TavoSettings:
    """Every knob of the method; the defaults are the benchmark's.

    Attributes:
        train_rows: rows that each attempt is learned from.
        rounds: at most.
        attempts: per round, until one is adopted.
        patience: rounds in a row without an adoption that end the search.
        most_validation_rows: that a candidate is scored on.
        least_validation_rows: likewise, whatever the budget.
        threshold: how much better than the seed a candidate must be.
        tolerance: how much worse than the best it may be.
        mode: `overlay`, `hybrid` or `paper`.
        credit: whether pieces are judged before roles are.
        additions: proposed additions that survive the ranking.
        removals: likewise.
        restructurings: likewise.
        least_rules: that are asked for.
        most_rules: that are taken.
        at_once: reflection calls on their way at one time.
        rng_base: the optimizer seed is added to it.
    """

    train_rows: int = 6
    rounds: int = 5
    attempts: int = 2
    patience: int = 2
    most_validation_rows: int = 50
    least_validation_rows: int = 3
    threshold: float = 0.01
    tolerance: float = 0.0
    mode: str = "overlay"
    credit: bool = True
    additions: int = 5
    removals: int = 3
    restructurings: int = 3
    least_rules: int = 3
    most_rules: int = 6
    at_once: int = 4
    rng_base: int = 233

    def __post_init__(self) -> None:
        if self.mode not in _MODES:
            raise BadValueError(f"no mode {self.mode!r}; there is: {', '.join(_MODES)}")
        check_least(self, train_rows=1, rounds=1, attempts=1, patience=1, least_validation_rows=1, at_once=1)


def validation_rows(budget: int, settings: TavoSettings | None = None) -> int:
    """How many validation rows a candidate is scored on under a budget of rollouts."""
    knobs = settings or TavoSettings()
    left = (budget - knobs.rounds * knobs.train_rows) // (knobs.rounds + 1)
    return min(knobs.most_validation_rows, max(knobs.least_validation_rows, left))


def accepted(score: float, base: float, best: float, settings: TavoSettings | None = None) -> bool:
    """Whether a candidate is adopted.

    Args:
        score: the candidate's mean on the validation rows.
        base: the seed's.
        best: that of the best bundle so far.
        settings: threshold and tolerance.
    """
    knobs = settings or TavoSettings()
    slack = 1e-9  # 0.52 - 0.51 is a little less than 0.01 in floating point
    return score - base >= knobs.threshold - slack and score - best >= -knobs.tolerance - slack


class Tavo:
    """The method, see the module."""

    name = "tavo"

    def __init__(self, settings: TavoSettings | None = None) -> None:
        self.settings = settings or TavoSettings()

    def run(self, ctx: Context) -> Outcome:
        """Search; see `Optimizer.run`."""
        knobs = self.settings
        rng = Random(knobs.rng_base + ctx.seed)
        train = rng.sample(list(ctx.train), min(knobs.train_rows, len(ctx.train)))
        rows = min(validation_rows(ctx.evaluate.maximum, knobs), len(ctx.validation))
        validation = rng.sample(list(ctx.validation), rows)
        if not train or not validation or ctx.evaluate.remaining < len(validation):
            raise ConfigError(
                f"tavo scores the seed on {len(validation)} validation rows and learns from {len(train)} "
                f"train rows; a budget of {ctx.evaluate.remaining} rollouts does not reach: 12 are the least"
            )
        return _Search(ctx, knobs, train, validation).run()


class _Search:
    """One search: its fixed rows, and the best and the current bundle."""

    def __init__(
        self, ctx: Context, knobs: TavoSettings, train: Sequence[Row], validation: Sequence[Row]
    ) -> None:
        self._ctx, self._knobs, self._train, self._validation = ctx, knobs, train, validation
        self._best = self._current = ctx.seed_bundle
        self._base = self._best_score = 0.0
        self._attempts = 0
        self._history: list[dict[str, Any]] = []

    def run(self) -> Outcome:
        try:
            self._base = self._best_score = self._scored(self._ctx.seed_bundle, Step(_PHASE, 0))
            self._ctx.journal(Event(iteration=0, incumbent=self._best, score=self._base, note="seed"))
            stop = self._rounds()
        except BudgetExhausted:
            stop = "budget_before_retry"
        return Outcome(
            incumbent=self._best, stop_reason=stop, history=self._history, iterations=self._attempts
        )

    def _rounds(self) -> str:
        cost = len(self._train) + len(self._validation)
        idle = 0
        for number in range(1, self._knobs.rounds + 1):
            if self._ctx.evaluate.remaining < cost:
                return "budget_before_outer_round"
            for attempt in range(self._knobs.attempts):
                if attempt and self._ctx.evaluate.remaining < cost:
                    return "budget_before_retry"
                if self._attempt(number, attempt):
                    idle = 0
                    break
            else:
                idle += 1
                if idle >= self._knobs.patience:
                    return "native_patience"
        return "max_outer_rounds"

    def _attempt(self, number: int, attempt: int) -> bool:
        """Learn from the current bundle's rollouts, score what came of it; whether it was adopted."""
        self._attempts += 1
        knobs = self._knobs
        step = Step(_PHASE, self._attempts)
        rollouts = self._ctx.evaluate.batch(self._current, self._train, step)
        found = Reflection(
            self._ctx,
            step,
            mode=knobs.mode,
            use_credit=knobs.credit,
            at_once=knobs.at_once,
            keep={
                "add": knobs.additions,
                "remove": knobs.removals,
                "restructure": knobs.restructurings,
            },
            rules=(knobs.least_rules, knobs.most_rules),
        ).candidate(self._current, self._train, rollouts)
        unchanged = found.bundle.roles == self._ctx.seed_bundle.roles
        score = self._base if unchanged else self._scored(found.bundle, step)
        adopted = not unchanged and accepted(score, self._base, self._best_score, knobs)
        self._current = found.bundle
        if adopted:
            self._best, self._best_score = found.bundle, score
        entry = {
            "round": number,
            "attempt": attempt,
            "train_score": fmean(rollout.score for rollout in rollouts),
            "score": score,
            "adopted": adopted,
            "unchanged": unchanged,
            "rules": found.rules,
            "unreadable_answers": found.unreadable,
            **found.counts,
        }
        self._history.append(entry)
        self._ctx.journal(
            Event(
                iteration=self._attempts,
                incumbent=self._best if adopted else None,
                score=self._best_score,
                note="adopted" if adopted else "unchanged" if unchanged else "rejected",
                detail=entry,
            )
        )
        return adopted

    def _scored(self, bundle: Bundle, step: Step) -> float:
        return fmean(rollout.score for rollout in self._ctx.evaluate.batch(bundle, self._validation, step))
