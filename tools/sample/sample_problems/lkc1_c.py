"""The Mirror Dial: shifts and mirror images, repeated up to 10^18 times."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, lines

__all__ = ["PROBLEM"]

BODY = r"""
A dial has $m$ positions, numbered from $0$ to $m - 1$. Its hand points to position $0$ at first. A program
of $n$ commands moves the hand. If the hand points to position $p$, then

- the command $\texttt{+}\ x$ moves it to position $(p + x) \bmod m$;
- the command $\texttt{-}\ x$ moves it to position $(p - x) \bmod m$;
- the command $\texttt{M}$ moves it to the mirror position $(m - p) \bmod m$.

Here $a \bmod m$ is the integer $r$ with $0 \leq r \lt m$ for which $a - r$ is divisible by $m$, also for a
negative $a$.

The program is run from its first command to its last $k$ times in a row. The hand is not put back to
position $0$ between the runs. Find the position of the hand at the end.
"""

INPUT = r"""
The first line contains three integers $n$, $m$ and $k$ ($1 \leq n \leq 5 \cdot 10^4$, $1 \leq m \leq 10^9$,
$1 \leq k \leq 10^{18}$) — the number of commands, the number of positions and the number of runs.

Each of the next $n$ lines contains one command: $\texttt{+}\ x$, $\texttt{-}\ x$ ($1 \leq x \leq 10^9$) or
$\texttt{M}$.
"""

REFERENCE = """\
import sys

head, *commands = sys.stdin.read().splitlines()
n, m, k = map(int, head.split())
sign, shift = 1, 0
for command in commands[:n]:
    if command[0] == "M":
        sign, shift = -sign, -shift
    elif command[0] == "+":
        shift += int(command[2:])
    else:
        shift -= int(command[2:])
# One run takes p to sign * p + shift; two runs with sign -1 undo each other.
runs = k if sign == 1 else k % 2
print(shift * runs % m)
"""

BRUTE_FORCE = """\
n, m, k = map(int, input().split())
program = [input().split() for _ in range(n)]
hand = 0
for _ in range(k):
    for name, *steps in program:
        if name == "M":
            hand = (m - hand) % m
            continue
        for _ in range(int(steps[0])):
            hand += 1 if name == "+" else -1
            if hand == m:
                hand = 0
            if hand < 0:
                hand = m - 1
print(hand)
"""

# Takes every run for the same shift, also when the program mirrors an odd number of times.
WRONG = """\
n, m, k = map(int, input().split())
hand = 0
for _ in range(n):
    command = input().split()
    if command[0] == "+":
        hand = (hand + int(command[1])) % m
    elif command[0] == "-":
        hand = (hand - int(command[1])) % m
    else:
        hand = (m - hand) % m
print(hand * k % m)
"""

# Runs the program k times.
SLOW = """\
n, m, k = map(int, input().split())
program = [input().split() for _ in range(n)]
hand = 0
for _ in range(k):
    for command in program:
        if command[0] == "+":
            hand = (hand + int(command[1])) % m
        elif command[0] == "-":
            hand = (hand - int(command[1])) % m
        else:
            hand = (m - hand) % m
print(hand)
"""

LARGEST = 10**9


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One position, mirrors alone, one run, even and odd numbers of runs and mirrors, the extremes."""
    tests = [
        lines([1, 1, 10**18], "+ 1"),
        lines([1, LARGEST, 1], "M"),
        lines([1, LARGEST, 10**18], "- 1000000000"),
    ]
    tests += [lines([2, 6, k], "- 4", "M") for k in (1, 2)]
    tests += [lines([3, 999999937, k], "+ 999999936", "M", "M") for k in (10**18 - 1, 10**18)]
    tests += [_test(_program(rng, 30, 50), 97, 1), _test(_program(rng, 31, LARGEST), LARGEST - 3, 10**17 + 4)]
    for n in (1999, 2000):
        tests.append(_test(_program(rng, n, LARGEST), LARGEST - 7, 10**18 - n))
    return [*tests, _test(["+ 1000000000", "M"] * 24999 + ["+ 7", "- 2"], LARGEST - 1, 10**18 - 2)]


def small_input(rng: Random) -> str:
    """A short program on a small dial, run a few times."""
    return _test(_program(rng, rng.randint(1, 5), 12), rng.randint(1, 9), rng.randint(1, 6))


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    head, *program = test_input.splitlines()
    n, m, k = map(int, head.split())
    proper = all(
        line == "M" or (line[:2] in ("+ ", "- ") and 1 <= int(line[2:]) <= LARGEST) for line in program
    )
    return proper and 1 <= n == len(program) <= 5 * 10**4 and 1 <= m <= LARGEST and 1 <= k <= 10**18


def _program(rng: Random, n: int, largest: int) -> list[str]:
    return [f"{name} {rng.randint(1, largest)}" if name != "M" else name for name in rng.choices("+-M", k=n)]


def _test(program: Sequence[str], m: int, k: int) -> str:
    return lines([len(program), m, k], *program)


PROBLEM = SampleProblem(
    id="lkc1_C",
    title="C. The Mirror Dial",
    platform="codeforces",
    difficulty="medium",
    contest_id="lkc1",
    contest_date="2024-06-08",
    body=BODY,
    input_format=INPUT,
    output_format="Output a single integer — the position of the hand after all $k$ runs.",
    examples=(
        Example(
            input="3 10 2\n+ 3\nM\n+ 1\n",
            output="0\n",
            note=r"In the first sample, the first run moves the hand $0 \to 3 \to 7 \to 8$, "
            r"and the second run moves it $8 \to 1 \to 9 \to 0$.",
        ),
        Example(
            input="2 7 5\n+ 5\n- 2\n",
            output="1\n",
            note=r"In the second sample, every run moves the hand three positions on: "
            r"$0 \to 3 \to 6 \to 2 \to 5 \to 1$.",
        ),
        Example(
            input="3 10 999999999999999999\n- 4\nM\n+ 1\n",
            output="5\n",
            note=r"In the third sample, the first run moves the hand $0 \to 6 \to 4 \to 5$.",
        ),
    ),
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
