"""The user prompt is LiveCodeBench's, byte for byte: its own function made the texts below."""

import hashlib
import json
from pathlib import Path

import pytest

from lcbkit.errors import BadValueError
from lcbkit.problems import Problem
from lcbkit.prompts import build_prompt

STATEMENT = "Double $n$.\n\n**Input** {braces} stay.\n\nSample: 3\r\n  6 \n"
STARTER = 'class Solution:\n    def double(self, n: int = {"a": 1}["a"]) -> int:\n        '
OFFICIAL_DIGEST = "5834c737c7d6199f886664e6bc63bda0defbeacdbe88166e8996bdeea80d2cdd"

STDIN_PROMPT = (
    "### Question:\nDouble $n$.\n\n**Input** {braces} stay.\n\nSample: 3\r\n  6 \n\n\n"
    "### Format: Read the inputs from stdin solve the problem and write the answer to stdout (do not "
    "directly test on the sample inputs). Enclose your code within delimiters as follows. Ensure that when "
    "the python program runs, it reads the inputs, runs the algorithm and writes output to STDOUT.\n"
    "```python\n# YOUR CODE HERE\n```\n\n"
    "### Answer: (use the provided format with backticks)\n\n"
)
FUNCTIONAL_PROMPT = (
    "### Question:\nDouble $n$.\n\n**Input** {braces} stay.\n\nSample: 3\r\n  6 \n\n\n"
    "### Format: You will use the following starter code to write the solution to the problem and enclose "
    "your code within delimiters.\n"
    '```python\nclass Solution:\n    def double(self, n: int = {"a": 1}["a"]) -> int:\n        \n```\n\n'
    "### Answer: (use the provided format with backticks)\n\n"
)


def problem(starter_code: str, kind: str) -> Problem:
    test = [{"input": "SECRET-IN", "output": "SECRET-OUT", "testtype": kind}]
    row = {
        "question_title": "Double it",
        "question_content": STATEMENT,
        "platform": "atcoder",
        "question_id": "double",
        "contest_id": "own",
        "contest_date": "2024-01-01T00:00:00",
        "starter_code": starter_code,
        "difficulty": "easy",
        "public_test_cases": json.dumps(test),
        "private_test_cases": json.dumps(test),
        "metadata": "{}",
    }
    return Problem.from_row(row)


def test_a_stdin_problem_is_stated_as_livecodebench_states_it() -> None:
    assert build_prompt(problem("", "stdin")).encode() == STDIN_PROMPT.encode()


def test_a_functional_problem_is_stated_with_its_starter_code_as_stored() -> None:
    assert build_prompt(problem(STARTER, "functional")).encode() == FUNCTIONAL_PROMPT.encode()


def test_the_prompt_shows_no_test() -> None:
    assert "SECRET" not in build_prompt(problem("", "stdin")) + build_prompt(problem(STARTER, "functional"))


def test_real_problems_give_the_official_prompts(shared: Path) -> None:
    """The digest is that of the official function's texts for the same rows, joined."""
    with (shared / "data/lcb50/test.jsonl").open() as file:
        prompts = [build_prompt(Problem.from_row(json.loads(line))) for line in file]
    assert len(prompts) == 50
    assert hashlib.sha256("\0".join(prompts).encode()).hexdigest() == OFFICIAL_DIGEST


def test_an_id_is_no_problem() -> None:
    with pytest.raises(BadValueError, match=r"not 'p1'; take one out of load_problems"):
        build_prompt("p1")  # type: ignore[arg-type]
