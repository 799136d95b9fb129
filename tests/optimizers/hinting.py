"""A method for tests: it spends what it is told and returns what it is told."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import Context, Event, Outcome, Step
from lcbkit.optimizers.toy import REMEDIES

__all__ = ["Hinting", "HintingSettings", "with_remedies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HintingSettings:
    """`rows` train rows are run twice; then `found` makes the incumbent of the seed."""

    rows: int = 2


class Hinting:
    """Adds every remedy to the first role."""

    name = "hinting"

    def __init__(
        self,
        settings: HintingSettings | None = None,
        *,
        found: Callable[[Bundle], Bundle] | None = None,
        stop_reason: str = "patience",
        on_run: Callable[[Context], Any] | None = None,
    ) -> None:
        self.settings = settings or HintingSettings()
        self._found, self._stop_reason, self._on_run = found or with_remedies, stop_reason, on_run

    def run(self, ctx: Context) -> Outcome:
        rows = ctx.train[: self.settings.rows]
        ctx.evaluate.batch(ctx.seed_bundle, rows, Step("optimization/hinting", 0))
        if self._on_run:
            self._on_run(ctx)
        found = self._found(ctx.seed_bundle)
        score = ctx.evaluate.batch(found, rows, Step("optimization/hinting", 1))
        mean = sum(rollout.score for rollout in score) / len(rows)
        ctx.journal(Event(iteration=1, incumbent=found, score=mean, note="a hint"))
        return Outcome(incumbent=found, stop_reason=self._stop_reason, history=[{"mean": mean}], iterations=1)


def with_remedies(seed: Bundle) -> Bundle:
    """The seed with every remedy in its first role."""
    role = next(iter(seed.roles))
    return seed.with_roles({role: f"{seed.roles[role]}\n{' '.join(REMEDIES.values())}"})
