"""Temperature Swing: the difference between the highest and the lowest value."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A thermometer on a mountain hut was read $N$ times. The $i$-th reading was $T_i$ degrees; readings below
zero are negative.

By how many degrees does the highest reading exceed the lowest one?
"""

REFERENCE = """\
n = int(input())
readings = list(map(int, input().split()))
print(max(readings) - min(readings))
"""

BRUTE_FORCE = """\
n = int(input())
readings = list(map(int, input().split()))
print(max(a - b for a in readings for b in readings))
"""

# Starts the search for the highest reading at zero.
WRONG = """\
n = int(input())
readings = list(map(int, input().split()))
highest, lowest = 0, 1000
for reading in readings:
    if reading > highest:
        highest = reading
    if reading < lowest:
        lowest = reading
print(highest - lowest)
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One reading, equal ones, all below or all above zero, the extremes."""
    edges = [[0], [-7], [100], [5, 5, 5, 5], [-100, 100], [100, -100], [-3, -1, -2], [12, 15, 11, 19]]
    edges += [[rng.randint(-100, 100) for _ in range(30)], [rng.randint(-100, -50) for _ in range(100)]]
    return [_test(readings) for readings in [*edges, [rng.randint(-100, 100) for _ in range(100)]]]


def small_input(rng: Random) -> str:
    """A few readings around zero."""
    return _test([rng.randint(-9, 9) for _ in range(rng.randint(1, 6))])


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, *readings = map(int, test_input.split())
    return 1 <= n == len(readings) <= 100 and -100 <= min(readings) <= max(readings) <= 100


def _test(readings: Sequence[int]) -> str:
    return lines(len(readings), readings)


PROBLEM = SampleProblem(
    id="lka2_a",
    title="Temperature Swing",
    platform="atcoder",
    difficulty="easy",
    contest_id="lka2",
    contest_date="2024-08-03",
    body=BODY,
    input_format="$N$\n$T_1$ $T_2$ $\\ldots$ $T_N$",
    output_format="Print the difference between the highest and the lowest reading, in degrees.",
    constraints=(
        r"$1 \leq N \leq 100$",
        r"$-100 \leq T_i \leq 100$",
        "All values in the input are integers.",
    ),
    examples=(
        Example(
            input="4\n3 -5 10 2\n",
            output="15\n",
            note="The highest reading is $10$ degrees and the lowest is $-5$ degrees. "
            "The difference is $10 - (-5) = 15$ degrees.",
        ),
        Example(input="1\n21\n", output="0\n", note="The only reading is both the highest and the lowest."),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
