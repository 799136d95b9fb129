"""Rewriting: one prompt after the other is written anew, and kept if it does better on a few problems."""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import BudgetExhausted, Context, Event, Outcome, ReflectionError, Step
from lcbkit.optimizers.knobs import check_least
from lcbkit.optimizers.reading import as_prompt

__all__ = ["Rewrite", "RewriteSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteSettings:
    """The method's knobs.

    Attributes:
        minibatch: train rows on which two prompts are compared.
    """

    minibatch: int = 2

    def __post_init__(self) -> None:
        check_least(self, minibatch=1)


class Rewrite:
    """Hill climbing, a role at a time."""

    name = "example_rewrite"

    def __init__(self, settings: RewriteSettings | None = None) -> None:
        self.settings = settings or RewriteSettings()

    def run(self, ctx: Context) -> Outcome:
        """Climb until the budget is spent."""
        best, history = ctx.seed_bundle, list[dict[str, Any]]()
        rows, roles = ctx.train[: self.settings.minibatch], list(ctx.seed_bundle.roles)
        try:
            score = self._score(ctx, best, rows, 0)
            while ctx.evaluate.remaining:
                iteration = len(history) + 1
                role = roles[iteration % len(roles)]
                child = best.with_roles({role: self._rewritten(ctx, best, role, iteration)})
                reached = self._score(ctx, child, rows, iteration)
                history.append({"role": role, "score": reached, "kept": reached > score})
                if reached > score:
                    best, score = child, reached
                ctx.journal(Event(iteration=iteration, incumbent=best, score=score, note=role))
        except BudgetExhausted:
            pass
        return Outcome(
            incumbent=best, stop_reason="rollout_budget_spent", history=history, iterations=len(history)
        )

    def _score(self, ctx: Context, bundle: Bundle, rows: Any, iteration: int) -> float:
        step = Step(f"optimization/{self.name}", iteration, "minibatch")
        return fmean(rollout.score for rollout in ctx.evaluate.batch(bundle, rows, step))

    def _rewritten(self, ctx: Context, bundle: Bundle, role: str, iteration: int) -> str:
        ask = f"Write this instruction better, and reply with nothing else:\n{bundle.roles[role]}"
        try:
            answer = ctx.reflect(ask, step=Step(f"optimization/{self.name}", iteration), role=role)
        except ReflectionError:
            return bundle.roles[role]
        return as_prompt(answer, ctx.seed_bundle.roles[role]) or bundle.roles[role]
