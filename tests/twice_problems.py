"""Tiny problems whose statement names them, so that a scripted endpoint knows which one it is asked."""

import json

from scripted_endpoint import Request

from lcbkit.problems import Problem, ProblemSet

__all__ = ["RIGHT", "WRONG", "asked_for", "problem_set", "row"]

RIGHT = "```python\nprint(2 * int(input()))\n```"
WRONG = "```python\nprint(3 * int(input()))\n```"


def row(number: int) -> dict[str, str]:
    """Problem p<number> in the dataset's schema: print twice the number that is read."""
    tests = [{"input": f"{n}\n", "output": f"{2 * n}\n", "testtype": "stdin"} for n in (3, 4)]
    return {
        "question_title": f"Twice {number}",
        "question_content": f"Print twice the number. (variant p{number}.)",
        "platform": ("atcoder", "codeforces")[number % 2],
        "question_id": f"p{number}",
        "contest_id": "c",
        "contest_date": f"2024-0{1 + number % 9}-01T00:00:00",
        "starter_code": "",
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "public_test_cases": json.dumps(tests[:1]),
        "private_test_cases": json.dumps(tests),
        "metadata": "{}",
    }


def problem_set(count: int) -> ProblemSet:
    return ProblemSet([Problem.from_row(row(i)) for i in range(count)], source="twice")


def asked_for(request: Request) -> str:
    """The id of the problem that a request is about."""
    return request.text.partition("(variant ")[2].partition(".)")[0]
