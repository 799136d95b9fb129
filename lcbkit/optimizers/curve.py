"""The learning curve of a search: where the method stood at every tenth charged rollout."""

import threading
from collections.abc import Callable
from typing import Any

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import Event

__all__ = ["Curve"]

_STEP = 10


class Curve:
    """Takes a method's events with what was charged by then; safe to use from several threads.

    Args:
        seed_bundle: the incumbent before the first event.
        charged: tells how many rollouts are charged now.
    """

    def __init__(self, seed_bundle: Bundle, charged: Callable[[], int]) -> None:
        self._charged, self._lock = charged, threading.Lock()
        self._states: list[dict[str, Any]] = [self._state(0, seed_bundle.sha256, None, 0, "seed", {})]
        self.bundles = {seed_bundle.sha256: seed_bundle}

    def take(self, event: Event) -> dict[str, Any]:
        """Note an event; gives the state after it."""
        with self._lock:
            last = self._states[-1]
            incumbent = event.incumbent
            if incumbent is not None:
                self.bundles[incumbent.sha256] = incumbent
            state = self._state(
                self._charged(),
                last["incumbent_sha256"] if incumbent is None else incumbent.sha256,
                last["score"] if event.score is None and incumbent is None else event.score,
                event.iteration,
                event.note,
                dict(event.detail),
            )
            self._states.append(state)
            return state

    def rows(self, *, budget: int, final: Bundle, charged: int) -> list[dict[str, Any]]:
        """The last state at or below each point of the grid 0, 10, ..., budget.

        Args:
            budget: the last point.
            final: what the search returned; it is carried forward from the rollout at which it ended.
            charged: that rollout.
        """
        last = self._states[-1]
        known = final.sha256 == last["incumbent_sha256"]
        end = self._state(
            charged, final.sha256, last["score"] if known else None, last["iteration"], "final", {}
        )
        states = [*(state for state in self._states if state["charged"] <= charged), end]
        grid = [*range(0, budget, _STEP), budget]
        rows = []
        for point in grid:
            state = [state for state in states if state["charged"] <= point][-1]
            rows.append({"point": point, **state, "carried_forward": point > charged})
        return rows

    @staticmethod
    def _state(
        charged: int, sha256: str, score: float | None, iteration: int, note: str, detail: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "charged": charged,
            "incumbent_sha256": sha256,
            "score": score,
            "iteration": iteration,
            "note": note,
            "detail": detail,
        }
