"""Ways in which checkers of LiveCodeBench went wrong (J11: its own), each with the right verdict."""

import pytest

from lcbkit import Report
from tests.judging.trials import Trial, check, judge_trials

TWO_SUM = """
class Solution:
    def solve(self, nums: List[int], target: int) -> List[int]:
        seen = {}
        for i, x in enumerate(nums):
            if target - x in seen: return [seen[target - x], i]
            seen[x] = i
"""
TRIALS = [
    Trial(
        name="J1 the function's name comes from the problem",
        right="passed",
        fn_name="solve",
        program=TWO_SUM,
        tests=(("[2,7,11,15]\n9", "[0,1]"), ("[3, 3]\n6", "[0, 1]")),
    ),
    Trial(
        name="J2 one argument a line",
        right="passed",
        fn_name="f",
        program="def f(nums, k): return [len(nums), k]",
        tests=(("[2,7,11,15]\n9", "[4, 9]"),),
    ),
    Trial(
        name="J3 a list on one line is one argument",
        right="passed",
        fn_name="f",
        program="def f(*a): return [len(a), a[0]]",
        tests=(("[1,2,3]", "[1, [1, 2, 3]]"), ("[[1, 2], 9]", "[1, [[1, 2], 9]]")),
    ),
    Trial(
        name="J4 a starter's types need no import",
        right="passed",
        fn_name="f",
        program="""
        class Solution:
            def f(self, a: List[int], b: Optional[Dict[str, int]] = None, c: "Deque[int]" = None) -> Tuple:
                return a
        """,
        tests=(("[1]", "[1]"),),
    ),
    Trial(
        name="J5 arguments of 300 kB and of 3 MB",
        right="passed",
        fn_name="f",
        program="def f(a): return sum(a)",
        tests=((str([1] * 100_000), "100000"), (str([1] * 1_000_000), "1000000")),
    ),
    Trial(
        name="J6 a tuple inside a list is no list",
        right="wrong_answer",
        fn_name="f",
        program="def f(a): return [(1, 2)]",
        tests=(("0", "[[1,2]]"),),
    ),
    Trial(
        name="J6 a set is no list",
        right="wrong_answer",
        fn_name="f",
        program="def f(a): return {1, 2}",
        tests=(("0", "[1,2]"),),
    ),
    Trial(
        name="J7 empty lines after a number",
        right="passed",
        program="print('1.0\\n\\n')",
        tests=(("", "1"),),
    ),
    Trial(
        name="J7 white space around lines",
        right="passed",
        program="print('\\na \\nb')",
        tests=(("", "a\nb"),),
    ),
    Trial(
        name="J8 a signalling NaN against a number",
        right="wrong_answer",
        program="print('sNaN')",
        tests=(("", "1"), ("", "1.5 2"), ("", "nan")),
    ),
    Trial(
        name="J9 the right output and exit code 1 is an error here",
        right="runtime_error",
        program="import sys\nprint(6)\nsys.exit(1)",
    ),
    Trial(
        name="J10 a recursion 5,000 deep",
        right="passed",
        program="def f(n): return n and 1 + f(n - 1)\nprint(f(5000))",
        tests=(("", "5000"),),
    ),
    Trial(
        name="J10 names of the prelude",
        right="passed",
        program="print(sqrt(16), gcd(4, 6), Counter('aab')['a'], bisect_left([1], 2), [*accumulate([1, 2])])",
        tests=(("", "4.0 2 2 1 [1, 3]"),),
    ),
    Trial(
        name="J11 lines of the input by iteration",
        right="passed",
        program="import sys\nprint(sum(int(line) for line in sys.stdin))",
        tests=(("1\n2\n3\n", "6"),),
    ),
    Trial(
        name="J11 two lines of the binary input",
        right="passed",
        program="import sys\nread = sys.stdin.buffer.readline\nprint(int(read()) + int(read()))",
        tests=(("2\n4\n", "6"),),
    ),
    Trial(
        name="J11 the input opened by number",
        right="passed",
        program="print(sum(map(int, open(0).read().split())))",
        tests=(("2\n4\n", "6"),),
    ),
    Trial(
        name="J11 a function that assigns a global",
        right="passed",
        program="total = 0\ndef add(n):\n    global total\n    total += n\nadd(2); add(4)\nprint(total)",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return judge_trials(TRIALS)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_table(trial: Trial, reports: dict[str, Report]) -> None:
    check(trial, reports[trial.name])


def test_j8_the_judge_goes_on_after_a_failed_test() -> None:
    trial = Trial(
        name="goes on",
        right="wrong_answer|passed",
        program="print(input())",
        tests=(("sNaN", "1"), ("1", "1")),
    )
    assert [result.passed for result in judge_trials([trial])["goes on"].results] == [False, True]


def test_j12_memory_is_capped_in_both_modes_and_zero_lifts_the_cap() -> None:
    take = "a = bytearray(600 << 20)"
    trials = [
        Trial(
            name=f"{mode} {limit}",
            right=right,
            fn_name=fn_name,
            program=program,
            memory_limit=limit,
            tests=(("3", "6"),),
        )
        for mode, fn_name, program in (
            ("stdin", None, f"{take}\nprint(6)"),
            ("functional", "f", f"def f(n):\n    {take}\n    return 6"),
        )
        for limit, right in ((256 << 20, "memory_limit"), (4 << 30, "passed"), (0, "passed"))
    ]
    for name, report in judge_trials(trials).items():
        check(next(trial for trial in trials if trial.name == name), report)
