"""Dark Lanterns: count a letter."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
There are $n$ lanterns along a village street. In the evening the keeper writes down a string $s$ of length
$n$: its $i$-th character is $\texttt{L}$ if the $i$-th lantern is lit, and $\texttt{D}$ if it is dark.

The keeper then lights every dark lantern, each with a match of its own. How many matches does the keeper
need?
"""

INPUT = r"""
The first line contains a single integer $t$ ($1 \leq t \leq 100$) — the number of test cases.

The first line of each test case contains a single integer $n$ ($1 \leq n \leq 100$) — the number of
lanterns.

The second line of each test case contains a string $s$ of length $n$ that consists of the characters
$\texttt{L}$ and $\texttt{D}$.
"""

REFERENCE = """\
for _ in range(int(input())):
    input()
    print(input().count("D"))
"""

BRUTE_FORCE = """\
for _ in range(int(input())):
    n = int(input())
    street = list(input().strip())
    matches = 0
    while "D" in street:
        street[street.index("D")] = "L"
        matches += 1
    print(matches)
"""

# Takes one match for each group of neighbours that are dark.
WRONG = """\
for _ in range(int(input())):
    n = int(input())
    s = input().strip()
    print(len([group for group in s.split("L") if group]))
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One lantern, all alike, alternating, many and long streets."""
    tests = [_test(["L"]), _test(["D"]), _test(["D" * 100, "L" * 100]), _test(["LD" * 50, "DL" * 50])]
    tests += [_test(["DD", "DL", "LD", "LL"]), _test(["D"] * 100)]
    tests += [_test([_street(rng, rng.randint(1, 12)) for _ in range(20)])]
    return [*tests, _test([_street(rng, 100) for _ in range(100)])]


def small_input(rng: Random) -> str:
    """A few short streets."""
    return _test([_street(rng, rng.randint(1, 8)) for _ in range(rng.randint(1, 3))])


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    t, *rest = test_input.split()
    streets = [(int(n), street) for n, street in zip(rest[::2], rest[1::2], strict=True)]
    proper = all(1 <= n == len(street) <= 100 and set(street) <= set("LD") for n, street in streets)
    return proper and 1 <= int(t) == len(streets) <= 100


def _street(rng: Random, n: int) -> str:
    return "".join(rng.choices("LD", k=n))


def _test(streets: Sequence[str]) -> str:
    return lines(len(streets)) + "".join(lines(len(street), street) for street in streets)


PROBLEM = SampleProblem(
    id="lkc1_A",
    title="A. Dark Lanterns",
    platform="codeforces",
    difficulty="easy",
    contest_id="lkc1",
    contest_date="2024-06-08",
    body=BODY,
    input_format=INPUT,
    output_format="For each test case, output a single integer — the number of matches needed.",
    examples=(
        Example(
            input="3\n6\nLDDLLD\n4\nLLLL\n1\nD\n",
            output="3\n0\n1\n",
            note="In the first test case, the second, third and sixth lanterns are dark.\n\n"
            "In the second test case, all lanterns are lit already.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG),
)
