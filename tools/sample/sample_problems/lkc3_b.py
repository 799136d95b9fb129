"""Ferry at Dawn: how many trips a ferry needs for each tail of a queue."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A queue of $n$ cars waits for a ferry. The cars are numbered from $1$ to $n$ from the front of the queue to
its end, and the $i$-th car is $a_i$ metres long. The deck of the ferry is $c$ metres long.

The cars never change their order. For each trip, the ferry takes cars from the front of the queue, one
after the other, as long as the next car still fits: the total length of the cars on the deck must not
exceed $c$. As soon as the next car does not fit, or no car is left, the ferry leaves. It comes back empty
for the next trip.

Answer $q$ independent questions. In the $j$-th one, the cars $1, 2, \ldots, l_j - 1$ have gone home before
the first trip, so that car $l_j$ is at the front of the queue. How many trips does the ferry need until the
queue is empty?
"""

INPUT = r"""
The first line contains three integers $n$, $q$ and $c$ ($1 \leq n, q \leq 5 \cdot 10^4$, $1 \leq c \leq
10^9$) — the number of cars, the number of questions and the length of the deck.

The second line contains $n$ integers $a_1, a_2, \ldots, a_n$ ($1 \leq a_i \leq c$) — the lengths of the
cars.

The third line contains $q$ integers $l_1, l_2, \ldots, l_q$ ($1 \leq l_j \leq n$) — the cars at the front
of the queue in the questions.
"""

REFERENCE = """\
n, q, c = map(int, input().split())
a = list(map(int, input().split()))
trips = [0] * (n + 1)
end, room = n, c
for first in range(n - 1, -1, -1):
    room -= a[first]
    while room < 0:
        end -= 1
        room += a[end]
    trips[first] = trips[end] + 1
print("\\n".join(str(trips[int(front) - 1]) for front in input().split()))
"""

BRUTE_FORCE = """\
n, q, c = map(int, input().split())
a = list(map(int, input().split()))
for front in map(int, input().split()):
    queue = a[front - 1:]
    trips = 0
    while queue:
        deck = []
        while queue and sum(deck) + queue[0] <= c:
            deck.append(queue.pop(0))
        trips += 1
    print(trips)
"""

# Cuts the cars to pieces: divides their total length by the length of the deck.
WRONG = """\
n, q, c = map(int, input().split())
a = list(map(int, input().split()))
tails = [0] * (n + 1)
for i in range(n - 1, -1, -1):
    tails[i] = tails[i + 1] + a[i]
for front in map(int, input().split()):
    print((tails[front - 1] + c - 1) // c)
"""

# Loads the ferry car by car for every question.
SLOW = """\
n, q, c = map(int, input().split())
a = list(map(int, input().split()))
for front in map(int, input().split()):
    trips, room = 0, 0
    for length in a[front - 1:]:
        if length > room:
            trips += 1
            room = c
        room -= length
    print(trips)
"""

LARGEST = 10**9


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One car, decks that fit all, one or exactly two cars, every front, random and extreme lengths."""
    tests = [_test(1, [1], [1]), _test(LARGEST, [LARGEST], [1, 1]), _test(LARGEST, [1] * 8, range(1, 9))]
    tests += [_test(10, [10] * 9, range(1, 10)), _test(10, [5] * 9, range(9, 0, -1))]
    tests += [_test(10, [6, 5] * 6, range(1, 13)), _test(12, [1, 11, 12, 2, 10, 1, 1, 11], range(1, 9))]
    tests += [_test(20, [rng.randint(1, 20) for _ in range(60)], range(1, 61))]
    longest = LARGEST // 20
    tests += [_test(LARGEST, [rng.randint(1, longest) for _ in range(2000)], range(2000, 0, -1))]
    return [*tests, _test(3, [2] * 50000, [1] * 50000), _test(7, [3, 1, 2, 4, 1] * 10000, range(1, 20001))]


def small_input(rng: Random) -> str:
    """A few short cars, every front."""
    c, n = rng.randint(1, 9), rng.randint(1, 8)
    return _test(c, [rng.randint(1, c) for _ in range(n)], rng.sample(range(1, n + 1), n))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, q, c, *rest = map(int, test_input.split())
    a, fronts = rest[:n], rest[n:]
    proper = 1 <= min(a) <= max(a) <= c <= LARGEST and 1 <= min(fronts) <= max(fronts) <= n
    return proper and 1 <= n == len(a) <= 5 * 10**4 and 1 <= q == len(fronts) <= 5 * 10**4


def _test(c: int, a: Sequence[int], fronts: Sequence[int]) -> str:
    return lines([len(a), len(fronts), c], a, fronts)


PROBLEM = SampleProblem(
    id="lkc3_B",
    title="B. Ferry at Dawn",
    platform="codeforces",
    difficulty="medium",
    contest_id="lkc3",
    contest_date="2025-02-08",
    body=BODY,
    input_format=INPUT,
    output_format="For each question, output a single integer on a line of its own — the number of trips.",
    examples=(
        Example(
            input="5 4 10\n4 5 4 8 2\n1 2 4 5\n",
            output="3\n2\n1\n1\n",
            note="In the first question, the ferry takes the cars $1$ and $2$, then car $3$, "
            "then the cars $4$ and $5$.\n\n"
            "In the second question, it takes the cars $2$ and $3$, then the cars $4$ and $5$.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
