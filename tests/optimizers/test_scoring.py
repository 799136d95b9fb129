import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from row_factory import make_row, pack

from lcbkit.judging.pool import Pool
from lcbkit.optimizers.scoring import Scorer
from lcbkit.problems import Problem

SECRET = "7 4 9 the hidden input"
NUMBER = itertools.count()
TWICE = "print(2 * int(input()))"


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Pool(workers=1) as pool:
        yield Scorer(pool)


def problem(tests: list[tuple[str, str]], mode: str = "stdin", **fields: Any) -> Problem:
    packed = pack(json.dumps([{"input": i, "output": o, "testtype": mode} for i, o in tests]))
    return Problem.from_row(make_row(f"p{next(NUMBER)}", mode=mode, hidden=packed, **fields))


def test_the_first_three_hidden_tests_decide(scorer: Scorer) -> None:
    tests = [("1\n", "2"), ("2\n", "4"), ("3\n", "6"), ("4\n", "a fourth that no program passes")]
    score = scorer.score(TWICE, problem(tests))
    assert (score.status, score.score, score.error) == ("success", 1.0, None)
    assert score.metadata["total_tests"] == 3
    assert score.feedback == "All 3 hidden tests passed."


def test_a_wrong_answer_is_told_by_the_ends_of_the_outputs_alone(scorer: Scorer) -> None:
    long = "x" * 500 + "THE END"
    score = scorer.score("print(input()[:3] * 100)", problem([(SECRET, long)]))
    assert (score.status, score.score) == ("semantic_failure", 0.0)
    assert "passed 0 of 1" in score.feedback
    assert "THE END" in score.feedback
    assert "x" * 114 not in score.feedback
    assert SECRET not in score.feedback


@pytest.mark.parametrize("code", [None, "# nothing but a comment", '"""text"""'])
def test_no_program_is_a_semantic_failure(scorer: Scorer, code: str | None) -> None:
    score = scorer.score(code, problem([("1", "2")]))
    assert (score.status, score.score) == ("semantic_failure", 0.0)
    assert "No program" in score.feedback


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(3)", "a runtime error"),
        ("print(undefined)", "NameError"),
    ],
)
def test_other_failures_are_named(scorer: Scorer, code: str, said: str) -> None:
    score = scorer.score(code, problem([("1", "2")]))
    assert score.status == "semantic_failure"
    assert said in score.feedback


def test_a_method_of_a_class_with_several_arguments_is_called_as_its_problem_means(scorer: Scorer) -> None:
    starter = "class Solution:\n    def add(self, a: int, b: List[int]) -> int:\n        "
    row = problem([("3\n[4, 5]", "12"), ("0\n[]", "0")], "functional", starter_code=starter)
    assert (
        scorer.score(
            "class Solution:\n    def add(self, a, b: List[int]):\n        return a + sum(b)", row
        ).score
        == 1.0
    )
    assert (
        scorer.score("class Solution:\n    def add(self, a, b):\n        return a", row).status
        == "semantic_failure"
    )


def test_defective_tests_are_left_out_and_alone_give_no_observation(scorer: Scorer) -> None:
    starter = "class Solution:\n    def twice(self, n: int) -> int:\n        "
    code = "class Solution:\n    def twice(self, n):\n        return 2 * n"
    mixed = problem([("1", "2"), ("2", "not json {")], "functional", starter_code=starter)
    assert (scorer.score(code, mixed).score, scorer.score(code, mixed).metadata["total_tests"]) == (1.0, 1)
    broken = scorer.score(code, problem([("1", "not json {")], "functional", starter_code=starter))
    assert broken.status == "infrastructure_failure"
    assert "none of its tests is usable" in str(broken.error)
