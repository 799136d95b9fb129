"""The budget of a search: every rollout has its place reserved before it is run, and is charged once."""

import threading
from dataclasses import dataclass

from lcbkit.errors import BadValueError
from lcbkit.optimizers.interface import BudgetExhausted

__all__ = ["INFRASTRUCTURE_FAILURE", "SEMANTIC_FAILURE", "SUCCESS", "Budget", "Ledger", "Reservation"]

SUCCESS, SEMANTIC_FAILURE = "success", "semantic_failure"
INFRASTRUCTURE_FAILURE = "infrastructure_failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a ledger says at one moment.

    Attributes:
        maximum: rollouts that may be charged.
        charged: usable rollouts so far.
        reserved: places of rollouts that are on their way.
        remaining: `maximum - charged`.
        attempted: executions, retries included.
        successful: usable rollouts with a right program.
        semantic_failures: usable rollouts without one.
        infrastructure_failures: executions that ended without an observation.
        retries: the same count by its other name: each of them calls for a retry, granted or not.
    """

    maximum: int
    charged: int
    reserved: int
    remaining: int
    attempted: int
    successful: int
    semantic_failures: int
    infrastructure_failures: int
    retries: int

    def to_dict(self) -> dict[str, int]:
        """The counts as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


class Reservation:
    """Places in the ledger that wait for their outcomes; made and closed by the ledger alone."""

    def __init__(self, granted: int) -> None:
        self.granted = granted
        self.open = granted


class Ledger:
    """Counts what a search may spend and has spent; safe to use from several threads.

    Args:
        maximum: the budget in usable rollouts, at least 1.
    """

    def __init__(self, maximum: int) -> None:
        if maximum < 1:
            raise BadValueError(f"the budget is {maximum} rollouts; it must be at least 1")
        self._maximum = maximum
        self._lock = threading.Lock()
        self._reserved = 0
        self._counts = {SUCCESS: 0, SEMANTIC_FAILURE: 0, INFRASTRUCTURE_FAILURE: 0}

    @property
    def budget(self) -> Budget:
        """The counters now."""
        with self._lock:
            return self._budget()

    @property
    def available(self) -> int:
        """Rollouts that are neither charged nor reserved."""
        with self._lock:
            return self._available()

    def reserve(self, n: int) -> Reservation:
        """Set up to n places aside: as many as are left.

        Raises:
            BudgetExhausted: when none is left.
            ValueError: when n is below 1.
        """
        return self._reserve(n, exact=False)

    def reserve_exact(self, n: int) -> Reservation:
        """Set n places aside, or none.

        Raises:
            BudgetExhausted: when fewer than n are left.
            ValueError: when n is below 1.
        """
        return self._reserve(n, exact=True)

    def settle(self, reservation: Reservation, outcome: str) -> Budget:
        """Close one place of a reservation with how its rollout ended.

        Raises:
            RuntimeError: when none of its places is open, or the outcome is none.
        """
        with self._lock:
            if outcome not in self._counts:
                raise RuntimeError(f"no outcome {outcome!r}; there is: {', '.join(self._counts)}")
            if not reservation.open:
                raise RuntimeError("an outcome without an open place in its reservation")
            reservation.open -= 1
            self._reserved -= 1
            self._counts[outcome] += 1
            return self._checked()

    def note_failure(self, reservation: Reservation) -> Budget:
        """Count an execution without an observation whose place is kept for its retry.

        Raises:
            RuntimeError: when none of the reservation's places is open.
        """
        with self._lock:
            if not reservation.open:
                raise RuntimeError("a retry without an open place in its reservation")
            self._counts[INFRASTRUCTURE_FAILURE] += 1
            return self._checked()

    def cancel(self, reservation: Reservation) -> Budget:
        """Give the open places back; nothing is counted for them."""
        with self._lock:
            self._reserved -= reservation.open
            reservation.open = 0
            return self._checked()

    def assert_closed(self) -> Budget:
        """The counters at the end of a search.

        Raises:
            RuntimeError: when places are still reserved.
        """
        budget = self.budget
        if budget.reserved:
            raise RuntimeError(f"the search has ended with {budget.reserved} places still reserved")
        return budget

    def _reserve(self, n: int, *, exact: bool) -> Reservation:
        if n < 1:
            raise ValueError(f"a reservation of {n} places; it needs at least one")
        with self._lock:
            left = self._available()
            if left < (n if exact else 1):
                raise BudgetExhausted(f"{n} rollouts do not fit into the {left} that are left")
            granted = min(n, left)
            self._reserved += granted
            return Reservation(granted)

    @property
    def _charged(self) -> int:
        return self._counts[SUCCESS] + self._counts[SEMANTIC_FAILURE]

    def _available(self) -> int:
        return self._maximum - self._charged - self._reserved

    def _budget(self) -> Budget:
        failures = self._counts[INFRASTRUCTURE_FAILURE]
        return Budget(
            maximum=self._maximum,
            charged=self._charged,
            reserved=self._reserved,
            remaining=self._maximum - self._charged,
            attempted=self._charged + failures,
            successful=self._counts[SUCCESS],
            semantic_failures=self._counts[SEMANTIC_FAILURE],
            infrastructure_failures=failures,
            retries=failures,
        )

    def _checked(self) -> Budget:
        if self._reserved < 0 or self._available() < 0:
            raise RuntimeError(f"the ledger is broken: {self._budget()}")
        return self._budget()
