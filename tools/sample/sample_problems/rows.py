"""The rows of the shipped files: problems in the dataset's schema, their hidden tests answered and packed.

Nothing but the problem decides what is in its row: every draw is seeded with its id, and an expected output
is what its reference program answers.
"""

import base64
import json
import pickle
import zlib
from random import Random

from sample_problems import DEMO, SAMPLE
from sample_problems.programs import run_program
from sample_problems.record import SampleProblem
from sample_problems.statement import statement

__all__ = ["FILES", "hidden_inputs", "row"]

FILES = {"sample.jsonl": SAMPLE, "demo.jsonl": DEMO}


def row(problem: SampleProblem) -> dict[str, str]:
    """The dataset's row of a problem; every value is a string."""
    public = [_test(problem, example.input, example.output) for example in problem.examples]
    reference, name = problem.programs.reference, problem.func_name
    hidden = [_test(problem, text, run_program(reference, text, name)) for text in hidden_inputs(problem)]
    return {
        "question_title": problem.title,
        "question_content": statement(problem),
        "platform": problem.platform,
        "question_id": problem.id,
        "contest_id": problem.contest_id,
        "contest_date": f"{problem.contest_date}T00:00:00",
        "starter_code": problem.starter_code,
        "difficulty": problem.difficulty,
        "public_test_cases": json.dumps(public),
        "private_test_cases": _packed(hidden),
        "metadata": json.dumps({"func_name": name} if name else {}),
    }


def hidden_inputs(problem: SampleProblem) -> list[str]:
    """The inputs of the hidden tests: those of the examples, then the drawn ones, always the same."""
    examples = [example.input for example in problem.examples]
    return [*examples, *problem.hidden_inputs(Random(problem.id))]


def _test(problem: SampleProblem, test_input: str, output: str) -> dict[str, str]:
    mode = "functional" if problem.func_name else "stdin"
    return {"input": test_input, "output": output, "testtype": mode}


def _packed(tests: list[dict[str, str]]) -> str:
    data = pickle.dumps(json.dumps(tests), protocol=4)
    return base64.b64encode(zlib.compress(data, level=9)).decode("ascii")
