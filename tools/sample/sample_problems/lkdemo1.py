"""Counting Sheep: how often a word occurs; the first of the two problems that a newcomer sees."""

import re
from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
Nora cannot fall asleep. She imagines that $n$ animals jump over a fence, one after the other, and she counts
the sheep among them. Now and then, another animal joins in, and Nora does not count it.

How many sheep does Nora count?
"""

INPUT = r"""
The first line contains a single integer $n$ ($1 \leq n \leq 100$) — the number of animals.

The second line contains $n$ words, separated by single spaces — the animals in the order in which they
jump. Each word consists of lowercase English letters, and it is at most $10$ letters long. A sheep is
always written as $\texttt{sheep}$.
"""

REFERENCE = """\
n = int(input())
print(input().split().count("sheep"))
"""

BRUTE_FORCE = """\
n = int(input())
count = 0
for animal in input().split():
    if animal == "sheep":
        count += 1
print(count)
"""

# Counts parts of words: a sheepdog is no sheep.
WRONG = """\
n = int(input())
print(input().count("sheep"))
"""

ANIMALS = ("sheep", "sheep", "goat", "cow", "sheepdog", "lamb")


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One animal, no sheep, sheep alone, words that hold a sheep, a long night."""
    edges = [["goat"], ["sheepdog"], ["sheep"] * 100, ["sheepish", "sheep", "asheep", "shee", "heep"]]
    return [_test(animals) for animals in [*edges, rng.choices(ANIMALS, k=100)]]


def small_input(rng: Random) -> str:
    """A few animals."""
    return _test(rng.choices(ANIMALS, k=rng.randint(1, 8)))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, *animals = test_input.split()
    return 1 <= int(n) == len(animals) <= 100 and all(re.fullmatch("[a-z]{1,10}", name) for name in animals)


def _test(animals: Sequence[str]) -> str:
    return lines(len(animals), animals)


PROBLEM = SampleProblem(
    id="lkdemo1",
    title="A. Counting Sheep",
    platform="codeforces",
    difficulty="easy",
    contest_id="lkdemo",
    contest_date="2024-05-01",
    body=BODY,
    input_format=INPUT,
    output_format="Output a single integer — the number of sheep that Nora counts.",
    examples=(
        Example(
            input="5\nsheep sheep goat sheep sheepdog\n",
            output="3\n",
            note="In the first sample, Nora counts the first, the second and the fourth animal. "
            "Neither a goat nor a sheepdog is a sheep.",
        ),
        Example(
            input="2\ncow goat\n",
            output="0\n",
            note="In the second sample, there is no sheep at all.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
