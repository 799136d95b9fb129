from concurrent.futures import ThreadPoolExecutor

import pytest

from lcbkit.errors import BadValueError
from lcbkit.optimizers.interface import BudgetExhausted
from lcbkit.optimizers.ledger import INFRASTRUCTURE_FAILURE, SEMANTIC_FAILURE, SUCCESS, Ledger


def test_c5_the_page_example_is_counted_as_the_page_says() -> None:
    ledger = Ledger(5)
    first = ledger.reserve(4)
    assert first.granted == 4
    for outcome in (SUCCESS, SEMANTIC_FAILURE, INFRASTRUCTURE_FAILURE, SUCCESS):
        budget = ledger.settle(first, outcome)
    assert (budget.charged, budget.attempted, budget.infrastructure_failures, budget.remaining) == (
        3,
        4,
        1,
        2,
    )
    second = ledger.reserve(9)
    assert second.granted == 2
    ledger.settle(second, SUCCESS)
    assert ledger.settle(second, SUCCESS).remaining == 0
    with pytest.raises(BudgetExhausted):
        ledger.reserve(1)
    assert ledger.assert_closed().charged == 5


def test_an_exact_reservation_that_does_not_fit_changes_nothing() -> None:
    ledger = Ledger(3)
    before = ledger.budget
    with pytest.raises(BudgetExhausted, match="4 rollouts do not fit into the 3"):
        ledger.reserve_exact(4)
    assert ledger.budget == before


def test_a_place_stays_reserved_while_its_rollout_is_retried() -> None:
    ledger = Ledger(1)
    reservation = ledger.reserve_exact(1)
    ledger.note_failure(reservation)
    with pytest.raises(BudgetExhausted):
        ledger.reserve(1)
    budget = ledger.settle(reservation, SUCCESS)
    assert (budget.charged, budget.attempted, budget.retries) == (1, 2, 1)


def test_a_reservation_is_closed_once() -> None:
    ledger = Ledger(2)
    reservation = ledger.reserve(2)
    for _ in range(2):
        ledger.settle(reservation, SUCCESS)
    for again in (
        lambda: ledger.settle(reservation, SUCCESS),
        lambda: ledger.note_failure(reservation),
    ):
        with pytest.raises(RuntimeError):
            again()
    assert ledger.cancel(reservation).charged == 2


def test_cancelled_places_come_back_uncounted() -> None:
    ledger = Ledger(4)
    reservation = ledger.reserve(3)
    ledger.settle(reservation, SUCCESS)
    budget = ledger.cancel(reservation)
    assert (budget.charged, budget.reserved, budget.remaining, budget.attempted) == (1, 0, 3, 1)


def test_a_search_may_not_end_with_open_places() -> None:
    ledger = Ledger(2)
    ledger.reserve(1)
    with pytest.raises(RuntimeError, match="1 places still reserved"):
        ledger.assert_closed()


def test_an_outcome_must_be_known() -> None:
    ledger = Ledger(2)
    with pytest.raises(RuntimeError, match="no outcome 'maybe'"):
        ledger.settle(ledger.reserve(1), "maybe")


@pytest.mark.parametrize("maximum", [0, -1])
def test_a_budget_is_at_least_one_rollout(maximum: int) -> None:
    with pytest.raises(BadValueError, match="at least 1"):
        Ledger(maximum)


def test_a_reservation_of_nothing_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="0 places"):
        Ledger(1).reserve(0)


def test_many_threads_never_overdraw_it() -> None:
    ledger = Ledger(100)

    def spend(_: int) -> int:
        try:
            reservation = ledger.reserve(3)
        except BudgetExhausted:
            return 0
        ledger.note_failure(reservation)
        for _ in range(reservation.open):
            ledger.settle(reservation, SUCCESS)
        return reservation.granted

    with ThreadPoolExecutor(8) as threads:
        granted = sum(threads.map(spend, range(60)))
    assert granted == ledger.assert_closed().charged == 100
