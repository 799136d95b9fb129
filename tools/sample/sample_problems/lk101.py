"""Rain Above the Mark: the sum of the values that reach a threshold."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
A weather station measures the rain of every day in millimetres. You are given an integer array rain, where
rain[i] is the rain of day i, and an integer mark.

A day is called heavy if its rain is at least mark.

Return the total rain of all heavy days. If there is no heavy day, return 0.
"""

STARTER = """\
class Solution:
    def totalHeavyRain(self, rain: List[int], mark: int) -> int:
        """

REFERENCE = """\
class Solution:
    def totalHeavyRain(self, rain: list[int], mark: int) -> int:
        return sum(amount for amount in rain if amount >= mark)
"""

BRUTE_FORCE = """\
class Solution:
    def totalHeavyRain(self, rain: list[int], mark: int) -> int:
        days = sorted(rain)
        while days and days[0] < mark:
            days.pop(0)
        total = 0
        for amount in days:
            total += amount
        return total
"""

# Leaves out the days whose rain is exactly the mark.
WRONG = """\
class Solution:
    def totalHeavyRain(self, rain: list[int], mark: int) -> int:
        return sum(amount for amount in rain if amount > mark)
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One day on either side of the mark, all or no days heavy, ties with the mark, a long record."""
    edges = [([0], 0), ([0], 1), ([5], 5), ([4], 5), ([500], 500), ([7] * 12, 7), ([7] * 12, 8)]
    tests = [arguments(*edge) for edge in edges]
    tests += [arguments([rng.randint(0, 20) for _ in range(40)], 10)]
    tests += [arguments([rng.randint(0, 500) for _ in range(1000)], mark) for mark in (0, 250)]
    return [*tests, arguments([500] * 1000, 500)]


def small_input(rng: Random) -> str:
    """A few days of little rain."""
    return arguments([rng.randint(0, 6) for _ in range(rng.randint(1, 8))], rng.randint(0, 7))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    rain, mark = values(test_input)
    return 1 <= len(rain) <= 1000 and all(0 <= amount <= 500 for amount in [*rain, mark])


PROBLEM = SampleProblem(
    id="lk101",
    title="rain-above-the-mark",
    platform="leetcode",
    difficulty="easy",
    contest_id="lk-weekly-1",
    contest_date="2024-05-19",
    body=BODY,
    constraints=("1 <= rain.length <= 1000", "0 <= rain[i] <= 500", "0 <= mark <= 500"),
    examples=(
        Example(
            input=arguments([3, 12, 0, 7, 10], 7),
            output="29",
            note="The heavy days are 1, 3 and 4. Their total rain is 12 + 7 + 10 = 29.",
        ),
        Example(input=arguments([1, 2, 3], 4), output="0", note="No day is heavy."),
    ),
    starter_code=STARTER,
    func_name="totalHeavyRain",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
