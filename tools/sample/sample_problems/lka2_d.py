"""Lamps Along the Pier: positions covered by exactly K of N intervals."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A pier has $N$ positions, numbered $1, 2, \ldots, N$ from the shore outwards. A lamp stands at each of them.
The lamp at position $i$ has strength $H_i$: it lights every position $j$ of the pier with $|i - j| \leq
H_i$, its own among them.

How many positions of the pier are lit by exactly $K$ lamps?
"""

REFERENCE = """\
from itertools import accumulate

n, k = map(int, input().split())
change = [0] * (n + 1)
for i, strength in enumerate(map(int, input().split())):
    change[max(0, i - strength)] += 1
    change[min(n, i + strength + 1)] -= 1
print(list(accumulate(change[:n])).count(k))
"""

BRUTE_FORCE = """\
n, k = map(int, input().split())
strengths = list(map(int, input().split()))
print(sum(sum(abs(i - j) <= strengths[i] for i in range(n)) == k for j in range(n)))
"""

# Counts the positions that at least K lamps light.
WRONG = """\
from itertools import accumulate

n, k = map(int, input().split())
change = [0] * (n + 1)
for i, strength in enumerate(map(int, input().split())):
    change[max(0, i - strength)] += 1
    change[min(n, i + strength + 1)] -= 1
print(sum(count >= k for count in accumulate(change[:n])))
"""

# Visits every position that a lamp lights.
SLOW = """\
n, k = map(int, input().split())
strengths = list(map(int, input().split()))
lit = [0] * n
for i in range(n):
    for j in range(max(0, i - strengths[i]), min(n, i + strengths[i] + 1)):
        lit[j] += 1
print(lit.count(k))
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One lamp, K out of reach, no lamp beyond its own position, all lamps over the whole pier."""
    tests = [_test(0, [0]), _test(1, [0]), _test(1, [1]), _test(0, [0] * 10), _test(1, [0] * 10)]
    tests += [_test(10, [10] * 10), _test(3, [2, 0, 1, 3, 0, 1, 2, 5, 0, 0])]
    tests += [_test(7, [rng.randint(0, 9) for _ in range(100)])]
    tests += [_test(500, [rng.randint(0, 2000) for _ in range(2000)])]
    return [*tests, _test(60000, [60000] * 60000), _test(30001, [15000, 15000, 15000, 15000, 15000] * 12000)]


def small_input(rng: Random) -> str:
    """A short pier."""
    n = rng.randint(1, 8)
    return _test(rng.randint(0, n), [rng.randint(0, rng.randint(0, n)) for _ in range(n)])


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, k, *strengths = map(int, test_input.split())
    return (
        1 <= n == len(strengths) <= 6 * 10**4 and 0 <= k <= n and 0 <= min(strengths) <= max(strengths) <= n
    )


def _test(k: int, strengths: Sequence[int]) -> str:
    return lines([len(strengths), k], strengths)


PROBLEM = SampleProblem(
    id="lka2_d",
    title="Lamps Along the Pier",
    platform="atcoder",
    difficulty="medium",
    contest_id="lka2",
    contest_date="2024-08-03",
    body=BODY,
    input_format="$N$ $K$\n$H_1$ $H_2$ $\\ldots$ $H_N$",
    output_format="Print the number of positions that are lit by exactly $K$ lamps.",
    constraints=(
        r"$1 \leq N \leq 6 \times 10^4$",
        r"$0 \leq K \leq N$",
        r"$0 \leq H_i \leq N$",
        "All values in the input are integers.",
    ),
    examples=(
        Example(
            input="5 2\n1 0 2 0 1\n",
            output="2\n",
            note="The numbers of lamps that light the positions $1, 2, 3, 4, 5$ are $2, 3, 1, 3, 2$. "
            "Exactly two lamps light the positions $1$ and $5$.",
        ),
        Example(input="3 0\n0 0 0\n", output="0\n", note="Every position is lit by its own lamp."),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
