"""There and Back: a string, then the same string backwards without its last letter."""

import re
from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
A music box plays a melody from its first note to its last, and then backwards to the first note again. The
last note, where the melody turns round, is played only once.

You are given a string notes, in which every letter is one note. Return the string of all notes that the
music box plays.
"""

STARTER = """\
class Solution:
    def thereAndBack(self, notes: str) -> str:
        """

REFERENCE = """\
class Solution:
    def thereAndBack(self, notes: str) -> str:
        return notes + notes[:-1][::-1]
"""

BRUTE_FORCE = """\
class Solution:
    def thereAndBack(self, notes: str) -> str:
        played, position, step = notes[0], 0, 1
        while len(played) < 2 * len(notes) - 1:
            if position == len(notes) - 1:
                step = -1
            position += step
            played += notes[position]
        return played
"""

# Plays the last note twice.
WRONG = """\
class Solution:
    def thereAndBack(self, notes: str) -> str:
        return notes + notes[::-1]
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One note, equal notes, melodies that read the same backwards, the longest."""
    edges = ["z", "aa", "ab", "abba", "abcba", "ggggggggg", "edcdeee", "g" * 1000]
    drawn = ["".join(rng.choices("abcdefg", k=n)) for n in (17, 100, 999)]
    return [arguments(notes) for notes in edges + drawn]


def small_input(rng: Random) -> str:
    """A few notes."""
    return arguments("".join(rng.choices("abc", k=rng.randint(1, 7))))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    (notes,) = values(test_input)
    return bool(re.fullmatch("[a-z]{1,1000}", notes))


PROBLEM = SampleProblem(
    id="lk104",
    title="there-and-back",
    platform="leetcode",
    difficulty="easy",
    contest_id="lk-weekly-3",
    contest_date="2024-09-15",
    body=BODY,
    constraints=("1 <= notes.length <= 1000", "notes consists of lowercase English letters."),
    examples=(
        Example(
            input=arguments("cde"),
            output='"cdedc"',
            note='The music box plays "cde" and then "dc" on the way back.',
        ),
        Example(
            input=arguments("noon"),
            output='"noonoon"',
            note='The music box plays "noon" and then "oon" on the way back.',
        ),
        Example(input=arguments("a"), output='"a"'),
    ),
    starter_code=STARTER,
    func_name="thereAndBack",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
