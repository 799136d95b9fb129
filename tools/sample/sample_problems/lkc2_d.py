"""Stones and a Plank: the best way over the stones, with one crossing of any length."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A river is crossed by a row of $n$ stones, numbered from $1$ to $n$. A frog starts on stone $1$ and wants to
get to stone $n$. It only ever moves forward, in two ways:

- a jump takes it from stone $i$ to a stone $j$ with $L \leq j - i \leq R$;
- a plank takes it from stone $i$ to any stone $j$ with $j \gt i$. The frog has one plank and may use it at
  most once.

Every time that the frog stands on stone $i$, it gains $a_i$ points (it loses points if $a_i$ is negative).
This holds for the stones $1$ and $n$ as well; stones that the frog passes over do not count.

Find the largest number of points that the frog can have in total on its arrival at stone $n$. It can always
get there: the plank alone may take it from stone $1$ to stone $n$.
"""

INPUT = r"""
The first line contains three integers $n$, $L$ and $R$ ($2 \leq n \leq 10^5$, $1 \leq L \leq R \leq n$) —
the number of stones, the shortest and the longest jump.

The second line contains $n$ integers $a_1, a_2, \ldots, a_n$ ($-10^9 \leq a_i \leq 10^9$) — the points of
the stones.
"""

REFERENCE = """\
from collections import deque

n, low, high = map(int, input().split())
a = list(map(int, input().split()))
NEVER = float("-inf")


class Window:
    def __init__(self):
        self.best = deque()

    def add(self, index, value):
        while self.best and self.best[-1][1] <= value:
            self.best.pop()
        self.best.append((index, value))

    def top(self, first):
        while self.best and self.best[0][0] < first:
            self.best.popleft()
        return self.best[0][1] if self.best else NEVER


keeps, used = [a[0]], [NEVER]
keeps_window, used_window = Window(), Window()
best_so_far = a[0]
for i in range(1, n):
    if i >= low:
        keeps_window.add(i - low, keeps[i - low])
        used_window.add(i - low, used[i - low])
    used.append(a[i] + max(used_window.top(i - high), best_so_far))
    keeps.append(a[i] + keeps_window.top(i - high))
    best_so_far = max(best_so_far, keeps[i])
print(max(keeps[-1], used[-1]))
"""

BRUTE_FORCE = """\
n, low, high = map(int, input().split())
a = list(map(int, input().split()))


def best(i, plank):
    if i == n - 1:
        return a[i]
    totals = [best(j, plank) for j in range(i + low, min(n, i + high + 1))]
    if plank:
        totals += [best(j, False) for j in range(i + 1, n)]
    return a[i] + max(totals, default=float("-inf"))


print(best(0, True))
"""

# Uses the plank as often as it likes.
WRONG = REFERENCE.replace("max(best_so_far, keeps[i])", "max(best_so_far, used[i])")

# Tries every jump to every stone.
SLOW = """\
n, low, high = map(int, input().split())
a = list(map(int, input().split()))
NEVER = float("-inf")
keeps, used = [a[0]] + [NEVER] * (n - 1), [NEVER] * n
best_so_far = a[0]
for i in range(1, n):
    used[i] = a[i] + best_so_far
    for j in range(max(0, i - high), i - low + 1):
        keeps[i] = max(keeps[i], a[i] + keeps[j])
        used[i] = max(used[i], a[i] + used[j])
    best_so_far = max(best_so_far, keeps[i])
print(max(keeps[-1], used[-1]))
"""

LARGEST = 10**9


def hidden_inputs(rng: Random) -> Sequence[str]:
    """Two stones, jumps that never fit, a plank that must, must not or may be used, the extremes."""
    tests = [_test(1, 1, [0, 0]), _test(2, 2, [-5, 7]), _test(1, 1, [-1] * 10), _test(7, 9, [1] * 9)]
    tests += [
        _test(4, 4, [1, -5, 2, -9, 3, 8, -1, 4, -2]),
        _test(1, 40, [-LARGEST] * 40),
        _test(3, 5, [4] * 31),
    ]
    tests += [_test(1, 3, [rng.randint(-9, 9) for _ in range(50)])]
    for low, high in ((2, 3), (50, 90)):
        tests.append(_test(low, high, [rng.randint(-LARGEST, LARGEST) for _ in range(1000)]))
    return [*tests, _test(1, 50000, [LARGEST] * 100000), _test(20000, 60000, [-3, 5, -1, 2] * 25000)]


def small_input(rng: Random) -> str:
    """A few stones of few points."""
    n = rng.randint(2, 8)
    low = rng.randint(1, min(n, 3))
    return _test(low, rng.randint(low, n), [rng.randint(-6, 4) for _ in range(n)])


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, low, high, *a = map(int, test_input.split())
    return 2 <= n == len(a) <= 10**5 and 1 <= low <= high <= n and -LARGEST <= min(a) <= max(a) <= LARGEST


def _test(low: int, high: int, a: Sequence[int]) -> str:
    return lines([len(a), low, high], a)


PROBLEM = SampleProblem(
    id="lkc2_D",
    title="D. Stones and a Plank",
    platform="codeforces",
    difficulty="hard",
    contest_id="lkc2",
    contest_date="2024-10-12",
    body=BODY,
    input_format=INPUT,
    output_format="Output a single integer — the largest number of points on arrival at stone $n$.",
    examples=(
        Example(
            input="6 2 3\n1 5 -4 3 -7 2\n",
            output="11\n",
            note="In the first sample, the frog uses the plank from stone $1$ to stone $2$, jumps to "
            "stone $4$, and jumps to stone $6$. It gains $1 + 5 + 3 + 2 = 11$ points.",
        ),
        Example(
            input="4 1 1\n-1 -2 -3 -4\n",
            output="-5\n",
            note="In the second sample, the frog uses the plank from stone $1$ to stone $4$.",
        ),
        Example(
            input="5 2 2\n3 -8 4 -8 5\n",
            output="12\n",
            note="In the third sample, the frog jumps over the stones $2$ and $4$. "
            "It may use the plank instead of one of the jumps, but that gains nothing.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
