"""Problems of a line, for measuring the judge and not the program."""

import json
from collections.abc import Iterable

from lcbkit import Problem

__all__ = ["make_problem"]


def make_problem(tests: Iterable[tuple[str, str]], fn_name: str | None = None) -> Problem:
    """A problem with the given pairs of input and expected output as its hidden tests."""
    mode = "functional" if fn_name else "stdin"
    hidden = [{"input": given, "output": wanted, "testtype": mode} for given, wanted in tests]
    return Problem.from_row(
        {
            "question_id": "small",
            "question_title": "Small",
            "question_content": "",
            "platform": "leetcode" if fn_name else "atcoder",
            "contest_id": "small",
            "contest_date": "2024-01-01T00:00:00",
            "difficulty": "easy",
            "starter_code": "",
            "public_test_cases": "[]",
            "private_test_cases": json.dumps(hidden),
            "metadata": json.dumps({"func_name": fn_name} if fn_name else {}),
        }
    )
