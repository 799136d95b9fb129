"""Cut the Ribbon: cuts of a string after which the right part has all letters of the left part."""

import re
from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
A ribbon is made of coloured pieces. You are given a string ribbon, where ribbon[i] is the colour of the
i-th piece from the left.

You cut the ribbon between two neighbouring pieces, so that both the left part and the right part have at
least one piece. The cut is called fair if every colour that occurs in the left part also occurs in the
right part. The right part may have further colours.

Return the number of places where a cut is fair.
"""

STARTER = """\
class Solution:
    def countFairCuts(self, ribbon: str) -> int:
        """

REFERENCE = """\
class Solution:
    def countFairCuts(self, ribbon: str) -> int:
        last = {colour: i for i, colour in enumerate(ribbon)}
        # A cut is fair as long as no colour has its last piece in the left part.
        return min(last.values())
"""

BRUTE_FORCE = """\
class Solution:
    def countFairCuts(self, ribbon: str) -> int:
        cuts = 0
        for cut in range(1, len(ribbon)):
            cuts += all(colour in ribbon[cut:] for colour in ribbon[:cut])
        return cuts
"""

# Wants the same colours in both parts.
WRONG = """\
class Solution:
    def countFairCuts(self, ribbon: str) -> int:
        right = {}
        for colour in ribbon:
            right[colour] = right.get(colour, 0) + 1
        colours = len(right)
        left = set()
        cuts = 0
        for colour in ribbon[:-1]:
            left.add(colour)
            right[colour] -= 1
            if right[colour] == 0:
                break
            cuts += len(left) == colours
        return cuts
"""

# Collects the colours of both parts anew for every cut.
SLOW = """\
class Solution:
    def countFairCuts(self, ribbon: str) -> int:
        cuts = 0
        for cut in range(1, len(ribbon)):
            if set(ribbon[:cut]) <= set(ribbon[cut:]):
                cuts += 1
        return cuts
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One piece, one colour, no fair cut, all letters, colours that end early or late, long ribbons."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    edges = ["aa", "ab", "zzzzz", "abccba", "abcdcbae", "bababac", letters, letters * 2]
    edges += ["".join(rng.choices("abc", k=60)), "".join(rng.choices(letters, k=2000))]
    return [arguments(ribbon) for ribbon in [*edges, "x" * 100000, "ab" * 30000 + "cb" * 20000]]


def small_input(rng: Random) -> str:
    """A few pieces of three colours."""
    return arguments("".join(rng.choices("abc", k=rng.randint(1, 9))))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    (ribbon,) = values(test_input)
    return 1 <= len(ribbon) <= 10**5 and bool(re.fullmatch("[a-z]+", ribbon))


PROBLEM = SampleProblem(
    id="lk105",
    title="cut-the-ribbon",
    platform="leetcode",
    difficulty="medium",
    contest_id="lk-weekly-4",
    contest_date="2024-12-15",
    body=BODY,
    constraints=("1 <= ribbon.length <= 10^5", "ribbon consists of lowercase English letters."),
    examples=(
        Example(
            input=arguments("abacab"),
            output="3",
            note='The fair cuts are "a" + "bacab", "ab" + "acab" and "aba" + "cab". '
            'After the cut "abac" + "ab", the colour c is missing in the right part.',
        ),
        Example(
            input=arguments("rggb"),
            output="0",
            note="Wherever the ribbon is cut, the only piece of the colour r is in the left part.",
        ),
        Example(input=arguments("q"), output="0", note="A ribbon of one piece cannot be cut."),
    ),
    starter_code=STARTER,
    func_name="countFairCuts",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
