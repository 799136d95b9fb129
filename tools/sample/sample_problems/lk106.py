"""Every Fourth Ride Is Free: the cheapest way through a network where every fourth line costs nothing."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
There are n towns, numbered from 0 to n - 1. You are given an array lines, where lines[i] = [u, v, fare]
means that a bus line runs between the towns u and v in both directions, and that a ride in either direction
costs fare.

You travel from town start to town goal by bus, with a loyalty card: of all the rides of your journey, in
their order, the fourth one, the eighth one, the twelfth one and so on are free. You pay the fare of every
other ride. You may pass through a town and use the same line as often as you like.

Return the smallest total cost of a journey from start to goal. Return -1 if there is no such journey. A
journey without any ride costs nothing.
"""

STARTER = """\
class Solution:
    def cheapestJourney(self, n: int, lines: List[List[int]], start: int, goal: int) -> int:
        """

REFERENCE = """\
from heapq import heappop, heappush


class Solution:
    def cheapestJourney(self, n: int, lines: list[list[int]], start: int, goal: int) -> int:
        buses = [[] for _ in range(n)]
        for u, v, fare in lines:
            buses[u].append((v, fare))
            buses[v].append((u, fare))
        done = set()
        heap = [(0, start, 0)]
        while heap:
            cost, town, stamps = heappop(heap)
            if town == goal:
                return cost
            if (town, stamps) in done:
                continue
            done.add((town, stamps))
            for other, fare in buses[town]:
                paid = 0 if stamps == 3 else fare
                if (other, (stamps + 1) % 4) not in done:
                    heappush(heap, (cost + paid, other, (stamps + 1) % 4))
        return -1
"""

# Follows the rides one by one, up to a number of rides that no cheapest journey needs.
BRUTE_FORCE = """\
INFINITY = float("inf")


class Solution:
    def cheapestJourney(self, n: int, lines: list[list[int]], start: int, goal: int) -> int:
        costs = [INFINITY] * n
        costs[start] = 0
        cheapest = costs[goal]
        for ride in range(1, 8 * n + 8):
            after = [INFINITY] * n
            for u, v, fare in lines:
                paid = fare if ride % 4 else 0
                after[v] = min(after[v], costs[u] + paid)
                after[u] = min(after[u], costs[v] + paid)
            costs = after
            cheapest = min(cheapest, costs[goal])
        return -1 if cheapest == INFINITY else cheapest
"""

# Keeps only the cheapest way to each town, whatever the number of rides so far.
WRONG = """\
from heapq import heappop, heappush


class Solution:
    def cheapestJourney(self, n: int, lines: list[list[int]], start: int, goal: int) -> int:
        buses = [[] for _ in range(n)]
        for u, v, fare in lines:
            buses[u].append((v, fare))
            buses[v].append((u, fare))
        done = set()
        heap = [(0, 0, start)]
        while heap:
            cost, rides, town = heappop(heap)
            if town == goal:
                return cost
            if town in done:
                continue
            done.add(town)
            for other, fare in buses[town]:
                heappush(heap, (cost + (0 if rides % 4 == 3 else fare), rides + 1, other))
        return -1
"""

# Relaxes all lines until nothing changes.
SLOW = """\
INFINITY = float("inf")


class Solution:
    def cheapestJourney(self, n: int, lines: list[list[int]], start: int, goal: int) -> int:
        costs = [[INFINITY] * 4 for _ in range(n)]
        costs[start][0] = 0
        changed = True
        while changed:
            changed = False
            for u, v, fare in lines:
                for a, b in ((u, v), (v, u)):
                    for stamps in range(4):
                        cost = costs[a][stamps] + (0 if stamps == 3 else fare)
                        if cost < costs[b][(stamps + 1) % 4]:
                            costs[b][(stamps + 1) % 4] = cost
                            changed = True
        cheapest = min(costs[goal])
        return -1 if cheapest == INFINITY else cheapest
"""

DEAREST = 10**6


def hidden_inputs(rng: Random) -> Sequence[str]:
    """Start at the goal, no way, detours to reach the free ride, parallel lines, free lines, long chains."""
    tests = [
        arguments(2, [[0, 1, 0]], 0, 0),
        arguments(3, [[0, 1, 5]], 0, 2),
        arguments(2, [[0, 1, 9]], 1, 0),
    ]
    tests += [arguments(2, [[0, 1, 8], [1, 0, 3], [0, 1, 4]], 0, 1)]
    tests += [arguments(3, [[0, 1, 2], [1, 2, DEAREST]], 2, 0), arguments(5, _chain(5, 10), 0, 4)]
    tests += [arguments(6, [[0, 1, 1], [1, 2, 1], [2, 3, 1], [3, 4, 1], [0, 3, 3], [4, 5, 100]], 0, 5)]
    for n, count, dearest in ((8, 12, 9), (60, 90, 100), (600, 900, DEAREST)):
        tests.append(arguments(n, _lines(rng, n, count, dearest), 0, n - 1))
    chain = _chain(3000, DEAREST)[::-1]
    return [*tests, arguments(3000, chain + [[0, 1, DEAREST]] * 2001, 0, 2999)]


def small_input(rng: Random) -> str:
    """A few towns and cheap lines."""
    n = rng.randint(2, 6)
    return arguments(
        n, _lines(rng, n, rng.randint(1, 7), rng.choice((3, 30))), rng.randrange(n), rng.randrange(n)
    )


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, lines, start, goal = values(test_input)
    towns = [start, goal, *(town for line in lines for town in line[:2])]
    proper = all(len(line) == 3 and line[0] != line[1] and 0 <= line[2] <= DEAREST for line in lines)
    return proper and 2 <= n <= 3000 and 1 <= len(lines) <= 5000 and 0 <= min(towns) <= max(towns) < n


def _chain(n: int, fare: int) -> list[list[int]]:
    return [[town, town + 1, fare] for town in range(n - 1)]


def _lines(rng: Random, n: int, count: int, dearest: int) -> list[list[int]]:
    return [[*rng.sample(range(n), 2), rng.randint(0, dearest)] for _ in range(count)]


PROBLEM = SampleProblem(
    id="lk106",
    title="every-fourth-ride-is-free",
    platform="leetcode",
    difficulty="hard",
    contest_id="lk-weekly-4",
    contest_date="2024-12-15",
    body=BODY,
    constraints=(
        "2 <= n <= 3000",
        "1 <= lines.length <= 5000",
        "lines[i].length == 3",
        "0 <= u, v <= n - 1 and u != v",
        "0 <= fare <= 10^6",
        "0 <= start, goal <= n - 1",
        "Several lines may run between the same two towns.",
    ),
    examples=(
        Example(
            input=arguments(5, [[0, 1, 4], [1, 2, 3], [2, 3, 5], [3, 4, 20], [0, 4, 13]], 0, 4),
            output="12",
            note="The journey 0 - 1 - 2 - 3 - 4 costs 4 + 3 + 5 + 0 = 12, because its fourth ride is free. "
            "The direct ride costs 13.",
        ),
        Example(
            input=arguments(3, [[0, 1, 1], [1, 2, 50]], 0, 2),
            output="3",
            note="The journey 0 - 1 - 0 - 1 - 2 costs 1 + 1 + 1 + 0 = 3.",
        ),
        Example(
            input=arguments(4, [[0, 1, 6], [2, 3, 6]], 0, 3),
            output="-1",
            note="No line runs from the towns 0 and 1 to the towns 2 and 3.",
        ),
    ),
    starter_code=STARTER,
    func_name="cheapestJourney",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
