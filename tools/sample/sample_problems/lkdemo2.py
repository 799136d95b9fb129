"""Hungry Penguins: how many values stay below a limit; the second of the two problems of the demo."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
The penguins of a colony come back from the sea. You are given an integer array fish, where fish[i] is the
number of fish that the i-th penguin has eaten, and an integer need. A penguin is still hungry if it has
eaten fewer than need fish.

Return the number of penguins that are still hungry.
"""

STARTER = """\
class Solution:
    def hungryPenguins(self, fish: List[int], need: int) -> int:
        """

REFERENCE = """\
class Solution:
    def hungryPenguins(self, fish: list[int], need: int) -> int:
        return sum(eaten < need for eaten in fish)
"""

BRUTE_FORCE = """\
class Solution:
    def hungryPenguins(self, fish: list[int], need: int) -> int:
        line = sorted(fish)
        while line and line[-1] >= need:
            line.pop()
        return len(line)
"""

# Sends back to the sea those who have eaten just enough.
WRONG = """\
class Solution:
    def hungryPenguins(self, fish: list[int], need: int) -> int:
        return sum(eaten <= need for eaten in fish)
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One penguin, all or none hungry, many who have eaten just enough, a large colony."""
    edges = [([0], 0), ([0], 1), ([9, 9, 9, 9], 10), ([5, 4, 5, 6, 5], 5)]
    tests = [arguments(*edge) for edge in edges]
    return [*tests, arguments([rng.randint(0, 50) for _ in range(100)], 25)]


def small_input(rng: Random) -> str:
    """A few penguins and fish."""
    return arguments([rng.randint(0, 5) for _ in range(rng.randint(1, 7))], rng.randint(0, 6))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    fish, need = values(test_input)
    return 1 <= len(fish) <= 100 and all(0 <= amount <= 50 for amount in [*fish, need])


PROBLEM = SampleProblem(
    id="lkdemo2",
    title="hungry-penguins",
    platform="leetcode",
    difficulty="easy",
    contest_id="lkdemo",
    contest_date="2024-05-01",
    body=BODY,
    constraints=("1 <= fish.length <= 100", "0 <= fish[i] <= 50", "0 <= need <= 50"),
    examples=(
        Example(
            input=arguments([4, 2, 7, 1], 4),
            output="2",
            note="The penguins 1 and 3 are still hungry: they have eaten only 2 fish and 1 fish.",
        ),
        Example(input=arguments([6, 6], 6), output="0", note="Both penguins have eaten just enough."),
    ),
    starter_code=STARTER,
    func_name="hungryPenguins",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
