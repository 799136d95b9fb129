"""The Longest Jar Label: the longest word, the first one of several."""

import re
from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
A row of spice jars stands on a shelf. You are given an array of strings labels, where labels[i] is the
label of the i-th jar from the left.

Return the longest label. If several labels are the longest, return the one that stands furthest to the
left.
"""

STARTER = """\
class Solution:
    def longestLabel(self, labels: List[str]) -> str:
        """

REFERENCE = """\
class Solution:
    def longestLabel(self, labels: list[str]) -> str:
        return max(labels, key=len)
"""

BRUTE_FORCE = """\
class Solution:
    def longestLabel(self, labels: list[str]) -> str:
        for i, label in enumerate(labels):
            shorter_before = all(len(other) < len(label) for other in labels[:i])
            none_longer = all(len(other) <= len(label) for other in labels[i:])
            if shorter_before and none_longer:
                return label
"""

# Takes the last one of several longest labels.
WRONG = """\
class Solution:
    def longestLabel(self, labels: list[str]) -> str:
        best = ""
        for label in labels:
            if len(label) >= len(best):
                best = label
        return best
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One jar, equal labels, ties that the alphabet would break otherwise, the longest first or last."""
    edges = [["a"], ["z" * 20], ["b", "a"], ["a", "b"], ["clove", "clove"], ["a" * 19, "b" * 20]]
    edges += [
        ["mint", "sage", "dill", "thyme", "basil", "anise", "cumin"],
        ["x" * i for i in range(20, 0, -1)],
    ]
    edges += [_labels(rng, 12, 4), _labels(rng, 100, 20), _labels(rng, 100, 3)]
    return [arguments(edge) for edge in edges]


def small_input(rng: Random) -> str:
    """A few short labels of two letters."""
    return arguments(_labels(rng, rng.randint(1, 6), 4))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    (labels,) = values(test_input)
    return 1 <= len(labels) <= 100 and all(re.fullmatch("[a-z]{1,20}", label) for label in labels)


def _labels(rng: Random, n: int, longest: int) -> list[str]:
    return ["".join(rng.choices("aemnrst", k=rng.randint(1, longest))) for _ in range(n)]


PROBLEM = SampleProblem(
    id="lk102",
    title="the-longest-jar-label",
    platform="leetcode",
    difficulty="easy",
    contest_id="lk-weekly-2",
    contest_date="2024-07-07",
    body=BODY,
    constraints=(
        "1 <= labels.length <= 100",
        "1 <= labels[i].length <= 20",
        "labels[i] consists of lowercase English letters.",
    ),
    examples=(
        Example(
            input=arguments(["salt", "cinnamon", "pepper"]),
            output='"cinnamon"',
            note='"cinnamon" has 8 letters, more than any other label.',
        ),
        Example(
            input=arguments(["dill", "thyme", "basil"]),
            output='"thyme"',
            note='"thyme" and "basil" both have 5 letters, and "thyme" stands further to the left.',
        ),
    ),
    starter_code=STARTER,
    func_name="longestLabel",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
