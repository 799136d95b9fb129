"""Alpine Diary: the sum of all ascents between neighbouring values."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A hiker walks past $n$ signposts, one after the other. The $i$-th signpost stands at a height of $a_i$
metres. The way between two neighbouring signposts goes steadily up, steadily down, or stays level.

How many metres does the hiker climb in total? Only the ways that go up count: the way from a signpost at
height $x$ to the next one at height $y \gt x$ is a climb of $y - x$ metres.
"""

INPUT = r"""
The first line contains a single integer $t$ ($1 \leq t \leq 100$) — the number of test cases.

The first line of each test case contains a single integer $n$ ($1 \leq n \leq 100$) — the number of
signposts.

The second line of each test case contains $n$ integers $a_1, a_2, \ldots, a_n$ ($0 \leq a_i \leq 4000$) —
the heights of the signposts in metres.
"""

REFERENCE = """\
for _ in range(int(input())):
    n = int(input())
    a = list(map(int, input().split()))
    print(sum(max(0, y - x) for x, y in zip(a, a[1:])))
"""

BRUTE_FORCE = """\
for _ in range(int(input())):
    n = int(input())
    a = list(map(int, input().split()))
    climbed = 0
    for metre in range(max(a)):
        for i in range(n - 1):
            climbed += a[i] <= metre < a[i + 1]
    print(climbed)
"""

# Takes the way from the lowest to the highest signpost for the whole climb.
WRONG = """\
for _ in range(int(input())):
    n = int(input())
    a = list(map(int, input().split()))
    print(max(a) - a[0])
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One signpost, level, up, down and zigzag ways, many and long hikes."""
    tests = [_test([[0]]), _test([[4000]]), _test([[5, 5, 5], [0, 4000], [4000, 0]])]
    tests += [_test([list(range(100)), list(range(100, 0, -1))]), _test([[0, 4000] * 50, [4000, 0] * 50])]
    tests += [_test([_hike(rng, rng.randint(1, 9), 20) for _ in range(30)])]
    return [*tests, _test([[i] for i in range(100)]), _test([_hike(rng, 100, 4000) for _ in range(100)])]


def small_input(rng: Random) -> str:
    """One or two short hikes."""
    return _test([_hike(rng, rng.randint(1, 5), 12) for _ in range(rng.randint(1, 2))])


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    t, *rest = test_input.splitlines()
    hikes = [
        (int(n), list(map(int, heights.split()))) for n, heights in zip(rest[::2], rest[1::2], strict=True)
    ]
    proper = all(1 <= n == len(a) <= 100 and 0 <= min(a) <= max(a) <= 4000 for n, a in hikes)
    return proper and 1 <= int(t) == len(hikes) <= 100


def _hike(rng: Random, n: int, highest: int) -> list[int]:
    return [rng.randint(0, highest) for _ in range(n)]


def _test(hikes: Sequence[Sequence[int]]) -> str:
    return lines(len(hikes)) + "".join(lines(len(hike), hike) for hike in hikes)


PROBLEM = SampleProblem(
    id="lkc2_A",
    title="A. Alpine Diary",
    platform="codeforces",
    difficulty="easy",
    contest_id="lkc2",
    contest_date="2024-10-12",
    body=BODY,
    input_format=INPUT,
    output_format="For each test case, output a single integer — the number of metres that the hiker climbs.",
    examples=(
        Example(
            input="3\n5\n100 250 200 200 340\n3\n30 20 10\n1\n4000\n",
            output="290\n0\n0\n",
            note="In the first test case, the hiker climbs $250 - 100 = 150$ metres, walks down, "
            "walks on the level, and then climbs $340 - 200 = 140$ metres: $290$ metres in total.\n\n"
            "In the second test case, all ways go down.\n\n"
            "In the third test case, there is only one signpost and no way at all.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
