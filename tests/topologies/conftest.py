"""Small problems, and answers that a scripted model gives to them."""

import json
from typing import Any

import pytest

from lcbkit.chat import failures
from lcbkit.problems import Problem

DOUBLE = "print(2 * int(input()))"
ANSWER = f"Read, double, print.\n```python\n{DOUBLE}\n```"


def problem_row(**changes: Any) -> dict[str, Any]:
    return {
        "question_title": "Double",
        "question_content": "Read an integer n and print twice its value.",
        "platform": "atcoder",
        "question_id": "double",
        "contest_id": "small",
        "contest_date": "2024-05-01T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([{"input": "3", "output": "6", "testtype": "stdin"}]),
        "private_test_cases": json.dumps([{"input": "4444", "output": "8888", "testtype": "stdin"}]),
        "metadata": "{}",
        **changes,
    }


@pytest.fixture
def problem() -> Problem:
    return Problem.from_row(problem_row())


@pytest.fixture
def functional_problem() -> Problem:
    tests = json.dumps([{"input": "4444", "output": "8888", "testtype": "functional"}])
    return Problem.from_row(
        problem_row(
            platform="leetcode",
            starter_code="class Solution:\n    def double(self, n: int) -> int:\n        ",
            public_test_cases=tests,
            private_test_cases=tests,
            metadata=json.dumps({"func_name": "double"}),
        )
    )


@pytest.fixture(autouse=True)
def _retries_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
