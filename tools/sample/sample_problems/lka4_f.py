"""Heavy Lanterns: the best order to collect weights that make every further step dearer."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
After a festival, $N$ lanterns stand on a large square. The $i$-th lantern stands at the point $(X_i, Y_i)$
and weighs $W_i$. Aoki starts at the point $(0, 0)$, walks to the lanterns one after the other in an order
of his choice, picks up each of them on his arrival, and finally walks back to $(0, 0)$ with all lanterns.

The way from a point $(x, y)$ to a point $(x', y')$ has length $|x - x'| + |y - y'|$. When Aoki walks a way
of length $d$ while he carries lanterns with a total weight of $w$, this costs him $d \times (1 + w)$ units
of strength. He never picks up a lantern on the way to another one.

Find the smallest number of units of strength that the whole walk can cost.
"""

REFERENCE = """\
n = int(input())
x, y, weights = zip(*(map(int, input().split()) for _ in range(n)))
INFINITY = float("inf")
distance = [[abs(x[i] - x[j]) + abs(y[i] - y[j]) for j in range(n)] for i in range(n)]
home = [abs(x[i]) + abs(y[i]) for i in range(n)]
cost = [[INFINITY] * n for _ in range(1 << n)]
for i in range(n):
    cost[1 << i][i] = home[i]
for carried in range(1, 1 << n):
    load = 1 + sum(weights[i] for i in range(n) if carried >> i & 1)
    for i in range(n):
        here = cost[carried][i]
        if here == INFINITY:
            continue
        for j in range(n):
            if not carried >> j & 1:
                there = here + distance[i][j] * load
                if there < cost[carried | 1 << j][j]:
                    cost[carried | 1 << j][j] = there
load = 1 + sum(weights)
print(min(cost[-1][i] + home[i] * load for i in range(n)))
"""

BRUTE_FORCE = """\
from itertools import permutations

n = int(input())
lanterns = [tuple(map(int, input().split())) for _ in range(n)]
costs = []
for order in permutations(lanterns):
    here, load, total = (0, 0), 1, 0
    for x, y, weight in (*order, (0, 0, 0)):
        total += (abs(x - here[0]) + abs(y - here[1])) * load
        here, load = (x, y), load + weight
    costs.append(total)
print(min(costs))
"""

# Always walks to the nearest lantern.
WRONG = """\
n = int(input())
lanterns = [tuple(map(int, input().split())) for _ in range(n)]
x = y = total = 0
load = 1
while lanterns:
    nearest = min(lanterns, key=lambda lantern: abs(lantern[0] - x) + abs(lantern[1] - y))
    lanterns.remove(nearest)
    total += (abs(nearest[0] - x) + abs(nearest[1] - y)) * load
    x, y = nearest[:2]
    load += nearest[2]
print(total + (abs(x) + abs(y)) * load)
"""

# Tries all orders.
SLOW = """\
from itertools import permutations

n = int(input())
lanterns = [tuple(map(int, input().split())) for _ in range(n)]
best = float("inf")
for order in permutations(lanterns):
    x = y = total = 0
    load = 1
    for lantern in order:
        total += (abs(lantern[0] - x) + abs(lantern[1] - y)) * load
        x, y = lantern[:2]
        load += lantern[2]
    best = min(best, total + (abs(x) + abs(y)) * load)
print(best)
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One lantern, lanterns at the start or at one point, on a line, light and heavy ones, the extremes."""
    edges = [[(0, 0, 1)], [(-1000, 1000, 1000)], [(0, 0, 1000), (0, 0, 7), (5, 0, 1)], [(3, 3, 9)] * 5]
    edges += [[(i, 0, 1) for i in range(1, 8)], [(i - 4, 0, 10 - i) for i in range(8)]]
    edges += [[(1000 * a, 1000 * b, 1000) for a in (-1, 1) for b in (-1, 1)] * 3]
    edges += [_lanterns(rng, n, 20, 9) for n in (5, 9)]
    return [_test(lanterns) for lanterns in [*edges, *(_lanterns(rng, 12, 1000, 1000) for _ in range(2))]]


def small_input(rng: Random) -> str:
    """A few lanterns near the start."""
    return _test(_lanterns(rng, rng.randint(1, 5), 5, 4))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, *rest = map(int, test_input.split())
    x, y, weights = rest[::3], rest[1::3], rest[2::3]
    proper = -1000 <= min(x + y) <= max(x + y) <= 1000 and 1 <= min(weights) <= max(weights) <= 1000
    return proper and 1 <= n <= 12 and 3 * n == len(rest)


def _lanterns(rng: Random, n: int, far: int, heavy: int) -> list[tuple[int, int, int]]:
    return [(rng.randint(-far, far), rng.randint(-far, far), rng.randint(1, heavy)) for _ in range(n)]


def _test(lanterns: Sequence[tuple[int, int, int]]) -> str:
    return lines(len(lanterns), *lanterns)


PROBLEM = SampleProblem(
    id="lka4_f",
    title="Heavy Lanterns",
    platform="atcoder",
    difficulty="hard",
    contest_id="lka4",
    contest_date="2025-01-18",
    body=BODY,
    input_format="$N$\n$X_1$ $Y_1$ $W_1$\n$X_2$ $Y_2$ $W_2$\n$\\vdots$\n$X_N$ $Y_N$ $W_N$",
    output_format="Print the smallest number of units of strength.",
    constraints=(
        r"$1 \leq N \leq 12$",
        r"$-1000 \leq X_i, Y_i \leq 1000$",
        r"$1 \leq W_i \leq 1000$",
        "Several lanterns may stand at the same point, also at $(0, 0)$.",
        "All values in the input are integers.",
    ),
    examples=(
        Example(
            input="2\n1 0 5\n3 0 1\n",
            output="14\n",
            note=r"If Aoki picks up the second lantern first, the walk costs "
            r"$3 \times 1 + 2 \times 2 + 1 \times 7 = 14$ units. In the other order, it costs "
            r"$1 \times 1 + 2 \times 6 + 3 \times 7 = 34$ units.",
        ),
        Example(
            input="1\n-2 3 4\n",
            output="30\n",
            note=r"The way to the lantern has length $5$. "
            r"The walk costs $5 \times 1 + 5 \times 5 = 30$ units.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
