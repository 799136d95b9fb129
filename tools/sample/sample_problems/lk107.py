"""Necklace Without One Bead: the longest run of a circular string after at most one removal."""

import re
from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
A necklace is a closed ring of beads. You are given a string beads, where beads[i] is the colour of the i-th
bead in clockwise order. After the last bead, the first one follows again.

You may take at most one bead out of the necklace. The two neighbours of that bead are then next to each
other, and the necklace is a closed ring again.

Return the largest possible number of consecutive beads of the same colour on the ring. Every bead counts
only once.
"""

STARTER = """\
class Solution:
    def longestRun(self, beads: str) -> int:
        """

REFERENCE = """\
from itertools import groupby


class Solution:
    def longestRun(self, beads: str) -> int:
        runs = [[colour, len(list(group))] for colour, group in groupby(beads)]
        if len(runs) > 1 and runs[0][0] == runs[-1][0]:
            runs[0][1] += runs.pop()[1]
        longest = max(length for _, length in runs)
        # With two runs, both neighbours of a single bead are the same run.
        if len(runs) > 2:
            for i, (_, length) in enumerate(runs):
                before, after = runs[i - 1], runs[(i + 1) % len(runs)]
                if length == 1 and before[0] == after[0]:
                    longest = max(longest, before[1] + after[1])
        return longest
"""

BRUTE_FORCE = """\
class Solution:
    def longestRun(self, beads: str) -> int:
        rings = [beads] + [beads[:i] + beads[i + 1:] for i in range(len(beads))]
        longest = 0
        for ring in rings:
            for length in range(1, len(ring) + 1):
                for start in range(len(ring)):
                    part = (ring + ring)[start:start + length]
                    if len(set(part)) == 1:
                        longest = max(longest, length)
        return longest
"""

# Forgets that the necklace is closed.
WRONG = """\
from itertools import groupby


class Solution:
    def longestRun(self, beads: str) -> int:
        runs = [(colour, len(list(group))) for colour, group in groupby(beads)]
        longest = max(length for _, length in runs)
        for before, taken, after in zip(runs, runs[1:], runs[2:]):
            if taken[1] == 1 and before[0] == after[0]:
                longest = max(longest, before[1] + after[1])
        return longest
"""

# Takes out every bead in turn and walks around the whole ring.
SLOW = """\
class Solution:
    def longestRun(self, beads: str) -> int:
        if len(set(beads)) == 1:
            return len(beads)
        longest = 0
        for i in range(len(beads)):
            ring = beads[:i] + beads[i + 1:]
            run, last = 0, ""
            for bead in ring + ring:
                run = run + 1 if bead == last else 1
                last = bead
                longest = max(longest, min(run, len(ring)))
        return longest
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One to three beads, one colour, a single odd bead, runs across the string's end, long necklaces."""
    edges = ["a", "ab", "aba", "aaabaaa", "aabbaa", "baabcb", "bcaacb", "aabacadaa"]
    edges += ["".join(rng.choices("ab", k=50)), "".join(rng.choices("aaab", k=2000))]
    return [
        arguments(beads) for beads in [*edges, "r" * 100000, "g" * 40000 + "b" + "g" * 10000 + "rb" * 24999]
    ]


def small_input(rng: Random) -> str:
    """A few beads of two or three colours."""
    return arguments("".join(rng.choices("aabc"[: rng.randint(3, 4)], k=rng.randint(1, 9))))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    (beads,) = values(test_input)
    return 1 <= len(beads) <= 10**5 and bool(re.fullmatch("[a-z]+", beads))


PROBLEM = SampleProblem(
    id="lk107",
    title="necklace-without-one-bead",
    platform="leetcode",
    difficulty="medium",
    contest_id="lk-weekly-5",
    contest_date="2025-03-16",
    body=BODY,
    constraints=("1 <= beads.length <= 10^5", "beads consists of lowercase English letters."),
    examples=(
        Example(
            input=arguments("rrbrrg"),
            output="4",
            note="Take out the bead b. The ring is then rrrrg, with four consecutive beads r.",
        ),
        Example(
            input=arguments("ababa"),
            output="3",
            note="The first and the last bead are next to each other. Take out one of the beads b: "
            "three beads a are then consecutive.",
        ),
        Example(
            input=arguments("aaab"),
            output="3",
            note="If the bead b is taken out, the ring consists of three beads a.",
        ),
    ),
    starter_code=STARTER,
    func_name="longestRun",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
