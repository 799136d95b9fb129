import random
from collections.abc import Callable
from itertools import combinations, permutations
from statistics import fmean

import pytest

from lcbkit.optimizers.shapley import CoalitionPlan, batch_sizes, plan_coalitions, shapley_values

Scores = dict[frozenset[str], float]


def table(**values: float) -> Scores:
    return {frozenset("" if name == "none" else name): value for name, value in values.items()}


TEAM = table(none=0.2, A=0.2, C=0.6, T=0.2, AC=0.6, AT=0.4, CT=0.8, ACT=0.8)
LOSS = table(none=0, A=0, C=0.4, T=0.2, AC=0.4, AT=0, CT=0.8, ACT=0.6)
GLOVES = {
    frozenset(chosen): float("a" in chosen and len(chosen) > 1)
    for size in range(4)
    for chosen in combinations("abc", size)
}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (GLOVES, {"a": 2 / 3, "b": 1 / 6, "c": 1 / 6}),
        (TEAM, {"A": 0.1 / 3, "C": 1.3 / 3, "T": 0.4 / 3}),
        (LOSS, {"A": -0.1, "C": 0.5, "T": 0.2}),
    ],
)
def test_values_of_games_that_were_worked_out_by_hand(scores: Scores, expected: dict[str, float]) -> None:
    plan = plan_coalitions(list(expected), random.Random(0))
    assert set(plan.coalitions) == set(scores)
    values = shapley_values(plan, scores)
    assert values == pytest.approx(expected)
    whole = frozenset(expected)
    assert sum(values.values()) == pytest.approx(scores[whole] - scores[frozenset()])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_values_are_the_mean_gain_over_all_orders_of_arrival(count: int) -> None:
    players = "abcdefgh"[:count]
    rng = random.Random(count)
    for _ in range(20):
        plan = plan_coalitions(list(players), rng)
        scores = {coalition: rng.random() for coalition in plan.coalitions}
        gains: dict[str, list[float]] = {player: [] for player in players}
        for order in permutations(players):
            for place, player in enumerate(order):
                before = frozenset(order[:place])
                gains[player].append(scores[before | {player}] - scores[before])
        expected = {player: fmean(gains[player]) for player in players}
        assert shapley_values(plan, scores) == pytest.approx(expected)


def test_drawn_orders_give_the_mean_gain_over_them() -> None:
    orders = (tuple("ACT"), tuple("TCA"))
    plan = CoalitionPlan(players=tuple("ACT"), coalitions=(), orders=orders)
    assert shapley_values(plan, TEAM) == pytest.approx({"A": 0.0, "C": 0.5, "T": 0.1})


@pytest.mark.parametrize(("count", "orders"), [(6, 7), (7, 6), (9, 4)])
def test_many_players_are_judged_by_as_many_orders_as_fit(count: int, orders: int) -> None:
    players = [f"worker_{number}" for number in range(count)]
    plan = plan_coalitions(players, random.Random(7))
    assert len(plan.orders) == orders
    assert all(sorted(order) == sorted(players) for order in plan.orders)
    prefixes = {frozenset(order[:size]) for order in plan.orders for size in range(count + 1)}
    assert set(plan.coalitions) == prefixes
    assert len(plan.coalitions) <= 40
    assert [len(chosen) for chosen in plan.coalitions] == sorted(map(len, plan.coalitions))
    assert plan == plan_coalitions(players, random.Random(7))


def test_an_estimate_comes_close_to_the_exact_values() -> None:
    def score(chosen: frozenset[str]) -> float:
        return sum({"a": 5, "b": 3, "c": 2}.get(name, 0) for name in chosen) + 4 * ({"a", "b"} <= chosen)

    plan = plan_coalitions(list("abcdefg"), random.Random(1), most=120)
    assert plan.orders
    values = shapley_values(plan, {chosen: score(chosen) for chosen in plan.coalitions})
    # What a and b are worth together is shared by them: 5 + 2 and 3 + 2.
    assert values == pytest.approx({"a": 7, "b": 5, "c": 2, "d": 0, "e": 0, "f": 0, "g": 0}, abs=1.0)
    assert sum(values.values()) == pytest.approx(14)


def test_all_coalitions_come_smallest_first_and_in_the_teams_order() -> None:
    plan = plan_coalitions(["b", "a"], random.Random(0))
    assert plan.coalitions == (frozenset(), frozenset("b"), frozenset("a"), frozenset("ab"))
    assert len(plan_coalitions(list("abcde"), random.Random(0)).coalitions) == 32


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: plan_coalitions([], random.Random(0)), "must be some"),
        (lambda: plan_coalitions(["a", "a"], random.Random(0)), "each named once"),
        (lambda: plan_coalitions(list("abcdef"), random.Random(0), most=6), "7 can"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("coalitions", "remaining", "sizes", "fits"),
    [
        (8, 600, (5, 5), True),
        (16, 89, (4, 4), True),
        (16, 60, (3, 3), True),
        (8, 30, (3, 3), True),
        (8, 10, (1, 1), True),
        (16, 18, (1, 1), True),
        (16, 17, (1, 1), False),
    ],
)
def test_batches_shrink_until_a_cycle_fits(
    coalitions: int, remaining: int, sizes: tuple[int, int], fits: bool
) -> None:
    rows, gate = batch_sizes(coalitions, remaining)
    assert (rows, gate) == sizes
    assert (coalitions * rows + 2 * gate <= remaining) == fits
