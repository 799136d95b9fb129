"""Shapley values of players from the scores of their coalitions; pure functions, no model in them.

What a player is worth is its marginal contribution, averaged over the orders in which a team can be formed:
`phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! * (v(S + i) - v(S))`.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import factorial

__all__ = ["CoalitionPlan", "batch_sizes", "plan_coalitions", "shapley_values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoalitionPlan:
    """Which coalitions are to be scored.

    Attributes:
        players: in the team's order.
        coalitions: the smallest first; the empty and the whole one are among them.
        orders: the permutations that values are estimated from; empty when all coalitions are scored.
    """

    players: tuple[str, ...]
    coalitions: tuple[frozenset[str], ...]
    orders: tuple[tuple[str, ...], ...] = ()


def plan_coalitions(players: Sequence[str], rng: random.Random, *, most: int = 40) -> CoalitionPlan:
    """Choose the coalitions to score: all of them if they are few, else the prefixes of random orders.

    Args:
        players: whose contributions are asked for; at least one.
        rng: draws the orders.
        most: how many coalitions may be scored. With more than `most` in all, `(most - 2) // (n - 1)` orders
            are drawn, since an order of n players adds n - 1 prefixes to the empty and the whole team.

    Raises:
        ValueError: if there is no player, one is named twice, or `most` has no place for a single order.
    """
    if not players or len(set(players)) < len(players):
        raise ValueError(f"players must be some, each named once, not {list(players)}")
    count = len(players)
    if 2**count <= most:
        every = (frozenset(chosen) for size in range(count + 1) for chosen in combinations(players, size))
        return CoalitionPlan(players=tuple(players), coalitions=tuple(every))
    if most < count + 1:
        raise ValueError(f"{most} coalitions cannot hold one order of {count} players; {count + 1} can")
    orders = tuple(tuple(rng.sample(players, count)) for _ in range(max(1, (most - 2) // (count - 1))))
    prefixes = {frozenset(order[:size]) for order in orders for size in range(count + 1)}
    place = {name: number for number, name in enumerate(players)}
    ranked = sorted(prefixes, key=lambda chosen: (len(chosen), sorted(place[name] for name in chosen)))
    return CoalitionPlan(players=tuple(players), coalitions=tuple(ranked), orders=orders)


def shapley_values(plan: CoalitionPlan, scores: Mapping[frozenset[str], float]) -> dict[str, float]:
    """Each player's contribution; they add up to the whole team's score less the empty team's.

    Args:
        plan: of the coalitions.
        scores: of each of them.

    Returns:
        By player: exact values, or with drawn orders the mean marginal contribution over them.

    Source:
        L. S. Shapley, A value for n-person games, 1953; the estimate is that of Castro et al. 2009.
    """
    if plan.orders:
        return {player: _over_orders(player, plan.orders, scores) for player in plan.players}
    return {player: _over_coalitions(player, plan.coalitions, scores) for player in plan.players}


def _over_coalitions(
    player: str, coalitions: Sequence[frozenset[str]], scores: Mapping[frozenset[str], float]
) -> float:
    count = max(map(len, coalitions))
    share = [
        Fraction(factorial(size) * factorial(count - size - 1), factorial(count)) for size in range(count)
    ]
    return sum(
        float(share[len(others)]) * (scores[others | {player}] - scores[others])
        for others in coalitions
        if player not in others
    )


def _over_orders(
    player: str, orders: Sequence[tuple[str, ...]], scores: Mapping[frozenset[str], float]
) -> float:
    gains = []
    for order in orders:
        before = frozenset(order[: order.index(player)])
        gains.append(scores[before | {player}] - scores[before])
    return sum(gains) / len(gains)


def batch_sizes(coalitions: int, remaining: int, *, rows: int = 5, gate: int = 5) -> tuple[int, int]:
    """Rows per coalition and rows of the acceptance test, shrunk until one cycle fits a budget.

    A cycle costs `coalitions * rows + 2 * gate`: the test runs two bundles.

    Args:
        coalitions: scored in a cycle.
        remaining: rollouts.
        rows: wished for each coalition.
        gate: wished for the acceptance test.

    Returns:
        Both numbers, at least 1; whether a cycle fits even then is for the caller to see.
    """
    while coalitions * rows + 2 * gate > remaining and rows > 1:
        rows -= 1
        gate = min(gate, rows)
    while coalitions * rows + 2 * gate > remaining and gate > 1:
        gate -= 1
    return rows, gate
