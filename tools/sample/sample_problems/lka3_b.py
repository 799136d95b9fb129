"""Second Visit: the first entry of a list that has occurred before."""

import re
from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
The guest book of a museum has $N$ entries. The name in the $i$-th entry is $S_i$. Guests with the same name
are the same person.

Read the book from its first entry to its last, and find the first entry whose name has already occurred in
an earlier entry. Print that name. If no name occurs twice, print $-1$.
"""

REFERENCE = """\
import sys

seen = set()
for name in sys.stdin.read().split()[1:]:
    if name in seen:
        print(name)
        break
    seen.add(name)
else:
    print(-1)
"""

BRUTE_FORCE = """\
n = int(input())
names = [input().strip() for _ in range(n)]
answer = -1
for i in reversed(range(n)):
    for j in range(i):
        if names[i] == names[j]:
            answer = names[i]
print(answer)
"""

# Takes, of the names that occur twice, the one that was the first to occur once.
WRONG = """\
from collections import Counter

n = int(input())
counts = Counter(input().strip() for _ in range(n))
print(next((name for name, count in counts.items() if count > 1), -1))
"""

# Searches a list of all earlier names.
SLOW = """\
n = int(input())
seen = []
for _ in range(n):
    name = input().strip()
    if name in seen:
        print(name)
        break
    seen.append(name)
else:
    print(-1)
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One entry, equal names, nested and crossing pairs, prefixes, a second visit in the last entry."""
    edges = [
        ["a"],
        ["a", "a"],
        ["a", "b"],
        ["a", "b", "b", "a"],
        ["a", "b", "a", "b"],
        ["ab", "a", "abc", "b"],
    ]
    edges += [["z" * 10] * 3, ["mia", "mi", "mia", "mi", "m"], _names(rng, 40, 2), _names(rng, 1000, 4)]
    everyone = [_spelled(i) for i in range(49999)]
    return [_test(names) for names in [*edges, everyone[:5000], [*everyone, everyone[-2]]]]


def small_input(rng: Random) -> str:
    """A few short names."""
    return _test(["".join(rng.choices("abc", k=rng.randint(1, 2))) for _ in range(rng.randint(1, 7))])


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    n, *names = test_input.split()
    return 1 <= int(n) == len(names) <= 5 * 10**4 and all(re.fullmatch("[a-z]{1,10}", name) for name in names)


def _names(rng: Random, n: int, length: int) -> list[str]:
    return ["".join(rng.choices("adeilmnos", k=length)) for _ in range(n)]


def _spelled(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:05}")


def _test(names: Sequence[str]) -> str:
    return lines(len(names), *names)


PROBLEM = SampleProblem(
    id="lka3_b",
    title="Second Visit",
    platform="atcoder",
    difficulty="easy",
    contest_id="lka3",
    contest_date="2024-11-09",
    body=BODY,
    input_format="$N$\n$S_1$\n$S_2$\n$\\vdots$\n$S_N$",
    output_format="Print the name in the first such entry, or $-1$ if no name occurs twice.",
    constraints=(
        r"$1 \leq N \leq 5 \times 10^4$",
        "$N$ is an integer.",
        "$S_i$ is a string of lowercase English letters.",
        r"The length of $S_i$ is between $1$ and $10$, inclusive.",
    ),
    examples=(
        Example(
            input="5\nmia\nnoah\nemma\nnoah\nmia\n",
            output="noah\n",
            note="The fourth entry is the first one with a name that has occurred before.",
        ),
        Example(input="3\nken\nkenta\nkento\n", output="-1\n", note="All names are different."),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
