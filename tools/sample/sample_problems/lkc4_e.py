"""Clasped Wristbands: closed walks of a given length, counted by powers of a matrix."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A wristband is a ring of $n$ beads with a clasp. The beads are numbered $1, 2, \ldots, n$ clockwise from the
clasp. Bead $i$ is followed by bead $i + 1$ for each $i \lt n$, and bead $n$ is followed by bead $1$. In
particular, if $n = 1$, the only bead is followed by itself.

Each bead has one of $k$ colours, numbered from $1$ to $k$. There are $q$ rules. The rule $(x, y)$ says that
a bead of colour $x$ must not be followed by a bead of colour $y$. It does not forbid that a bead of colour
$y$ is followed by one of colour $x$, unless there is a rule $(y, x)$ as well.

Two wristbands are different if there is an $i$ such that their $i$-th beads have different colours. Count
the different wristbands that keep all rules, modulo $998\,244\,353$.
"""

INPUT = r"""
The first line contains a single integer $t$ ($1 \leq t \leq 5$) — the number of test cases.

The first line of each test case contains three integers $n$, $k$ and $q$ ($1 \leq n \leq 10^{18}$, $1 \leq
k \leq 10$, $0 \leq q \leq k^2$) — the number of beads, the number of colours and the number of rules.

Each of the next $q$ lines contains two integers $x$ and $y$ ($1 \leq x, y \leq k$) — a rule. The rules of a
test case are pairwise different.
"""

OUTPUT = r"""
For each test case, output a single integer — the number of different wristbands that keep all rules,
modulo $998\,244\,353$.
"""

REFERENCE = """\
MODULUS = 998244353


def times(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) % MODULUS for column in columns] for row in a]


for _ in range(int(input())):
    n, k, q = map(int, input().split())
    step = [[1] * k for _ in range(k)]
    for _ in range(q):
        x, y = map(int, input().split())
        step[x - 1][y - 1] = 0
    power = [[int(i == j) for j in range(k)] for i in range(k)]
    while n:
        if n & 1:
            power = times(power, step)
        step = times(step, step)
        n >>= 1
    # Each wristband is a walk that ends on the colour where it began.
    print(sum(power[i][i] for i in range(k)) % MODULUS)
"""

BRUTE_FORCE = """\
from itertools import product

for _ in range(int(input())):
    n, k, q = map(int, input().split())
    rules = {tuple(map(int, input().split())) for _ in range(q)}
    count = 0
    for beads in product(range(1, k + 1), repeat=n):
        count += all((beads[i - 1], beads[i]) not in rules for i in range(n))
    print(count % 998244353)
"""

# Forgets the clasp, where the last bead is followed by the first one.
WRONG = REFERENCE.replace("while n:", "n -= 1\n    while n:").replace(
    "sum(power[i][i] for i in range(k))", "sum(map(sum, power))"
)

# Adds the beads one by one.
SLOW = """\
MODULUS = 998244353

for _ in range(int(input())):
    n, k, q = map(int, input().split())
    allowed = [[True] * k for _ in range(k)]
    for _ in range(q):
        x, y = map(int, input().split())
        allowed[x - 1][y - 1] = False
    total = 0
    for first in range(k):
        ways = [0] * k
        ways[first] = 1
        for _ in range(n):
            ways = [sum(ways[x] for x in range(k) if allowed[x][y]) % MODULUS for y in range(k)]
        total += ways[first]
    print(total % MODULUS)
"""

LARGEST = 10**18


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One bead, one colour, all or no rules, odd and even rings, one-way cycles, the extremes."""
    alike = [(x, x) for x in range(1, 11)]
    cycle = [(x, y) for x, y in _pairs(10) if y != x % 10 + 1]
    tests = [_test((1, 1, [])), _test((1, 1, [(1, 1)]), (LARGEST, 1, [])), _test((LARGEST, 3, _pairs(3)))]
    tests += [_test((1, 10, alike), (2, 10, alike), (3, 2, alike[:2]), (4, 2, alike[:2]))]
    tests += [_test((LARGEST, 10, []), (LARGEST, 10, cycle), (LARGEST - 1, 10, cycle), (10, 10, cycle))]
    tests += [_test((LARGEST, 10, alike), (LARGEST - 1, 10, alike)), _test((998244353, 7, alike[:7]))]
    tests += [_test(*(_wristband(rng, n, 4) for n in (2, 3, 5, 8, 20)))]
    return [*tests, _test(*(_wristband(rng, rng.randint(LARGEST // 2, LARGEST), 10) for _ in range(5)))]


def small_input(rng: Random) -> str:
    """One or two short wristbands."""
    return _test(*(_wristband(rng, rng.randint(1, 5), rng.randint(1, 3)) for _ in range(rng.randint(1, 2))))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    rows = [[int(number) for number in line.split()] for line in test_input.splitlines()]
    (t,) = rows.pop(0)
    for _ in range(t):
        n, k, q = rows.pop(0)
        rules = {(x, y) for x, y in rows[:q] if 1 <= min(x, y) <= max(x, y) <= k}
        if not (1 <= n <= LARGEST and 1 <= k <= 10 and 0 <= q == len(rules) <= k * k):
            return False
        del rows[:q]
    return 1 <= t <= 5 and not rows


def _wristband(rng: Random, n: int, k: int) -> tuple[int, int, list[tuple[int, int]]]:
    return n, k, rng.sample(_pairs(k), rng.randint(0, k * k // 2))


def _pairs(k: int) -> list[tuple[int, int]]:
    return [(x, y) for x in range(1, k + 1) for y in range(1, k + 1)]


def _test(*wristbands: tuple[int, int, Sequence[tuple[int, int]]]) -> str:
    return lines(len(wristbands)) + "".join(lines([n, k, len(rules)], *rules) for n, k, rules in wristbands)


PROBLEM = SampleProblem(
    id="lkc4_E",
    title="E. Clasped Wristbands",
    platform="codeforces",
    difficulty="hard",
    contest_id="lkc4",
    contest_date="2025-04-12",
    body=BODY,
    input_format=INPUT,
    output_format=OUTPUT,
    examples=(
        Example(
            input="4\n3 2 1\n1 1\n1 3 1\n2 2\n4 3 6\n1 1\n2 2\n3 3\n1 3\n2 1\n3 2\n1000000000000000000 2 0\n",
            output="4\n2\n0\n242199768\n",
            note="In the first test case, no bead of colour $1$ may be followed by a bead of colour $1$. "
            "The wristbands have the colours $(1, 2, 2)$, $(2, 1, 2)$, $(2, 2, 1)$ and $(2, 2, 2)$.\n\n"
            "In the second test case, the only bead is followed by itself and must not have colour $2$.\n\n"
            "In the third test case, colour $1$ must be followed by $2$, colour $2$ by $3$ and colour $3$ by "
            "$1$. This is only possible if $n$ is divisible by $3$.\n\n"
            "In the fourth test case, there are no rules, so that there are $2^n$ wristbands.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
