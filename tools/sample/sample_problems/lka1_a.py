"""Coupon Day: a total price, less a coupon, but never below zero."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A family visits the aquarium. An adult ticket costs $A$ yen and a child ticket costs $B$ yen. The family
buys $X$ adult tickets and $Y$ child tickets, and uses one coupon that takes $C$ yen off the total price.

If the coupon is worth more than the total price, the family pays nothing and gets no change.

How many yen does the family pay?
"""

REFERENCE = """\
a, b, x, y, c = map(int, input().split())
print(max(0, a * x + b * y - c))
"""

BRUTE_FORCE = """\
a, b, x, y, c = map(int, input().split())
yen = 0
for _ in range(x):
    yen += a
for _ in range(y):
    yen += b
while c > 0 and yen > 0:
    yen -= 1
    c -= 1
print(yen)
"""

# Forgets that a large coupon gives no change.
WRONG = """\
a, b, x, y, c = map(int, input().split())
print(a * x + b * y - c)
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """No ticket, no coupon, a coupon of just the price or one yen beside it, the extremes."""
    edges = [(1, 1, 0, 0, 0), (1, 1, 0, 0, 1), (10000, 10000, 100, 100, 0), (10000, 10000, 100, 100, 1000000)]
    edges += [(750, 420, 2, 1, 1920), (750, 420, 2, 1, 1919), (750, 420, 2, 1, 1921), (500, 300, 0, 7, 100)]
    drawn = [
        [rng.randint(1, 10000) for _ in range(2)] + [rng.randint(0, 100) for _ in range(2)] for _ in "ab"
    ]
    return [lines(edge) for edge in edges] + [lines([*row, rng.randint(0, 1000000)]) for row in drawn]


def small_input(rng: Random) -> str:
    """Prices and a coupon of a few yen."""
    return lines(
        [rng.randint(1, 9), rng.randint(1, 9), rng.randint(0, 4), rng.randint(0, 4), rng.randint(0, 50)]
    )


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    a, b, x, y, c = map(int, test_input.split())
    return 1 <= min(a, b) <= max(a, b) <= 10**4 and 0 <= min(x, y) <= max(x, y) <= 100 and 0 <= c <= 10**6


PROBLEM = SampleProblem(
    id="lka1_a",
    title="Coupon Day",
    platform="atcoder",
    difficulty="easy",
    contest_id="lka1",
    contest_date="2024-05-04",
    body=BODY,
    input_format="$A$ $B$ $X$ $Y$ $C$",
    output_format="Print the number of yen that the family pays.",
    constraints=(
        r"$1 \leq A, B \leq 10^4$",
        r"$0 \leq X, Y \leq 100$",
        r"$0 \leq C \leq 10^6$",
        "All values in the input are integers.",
    ),
    examples=(
        Example(
            input="1200 600 2 3 500\n",
            output="3700\n",
            note=r"The tickets cost $1200 \times 2 + 600 \times 3 = 4200$ yen. "
            "With the coupon, the family pays $4200 - 500 = 3700$ yen.",
        ),
        Example(
            input="300 200 1 1 1000\n",
            output="0\n",
            note="The tickets cost $500$ yen, and the coupon is worth more than that.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
