"""Write the sample and the demo in the dataset's row schema: `python tools/sample/build.py`.

The rows follow from the problems in `sample_problems` alone: every draw is seeded with the problem's id, and
an expected output is what the reference program answers.
"""

import base64
import json
import pickle
import zlib
from collections.abc import Iterable
from pathlib import Path
from random import Random

from sample_problems import DEMO, SAMPLE
from sample_problems.programs import run_program
from sample_problems.record import SampleProblem
from sample_problems.statement import statement

__all__ = ["FILES", "hidden_inputs", "main", "row"]

FILES = {"sample.jsonl": SAMPLE, "demo.jsonl": DEMO}
FOLDER = Path(__file__).parents[2] / "data_cache" / "sample"


def main() -> None:
    """Write both files."""
    for name, problems in FILES.items():
        text = "".join(json.dumps(row(problem), ensure_ascii=False) + "\n" for problem in problems)
        (FOLDER / name).write_text(text, encoding="utf-8")


def row(problem: SampleProblem) -> dict[str, str]:
    """The dataset's row of a problem: every value a string, the hidden tests packed."""
    public = [_test(problem, example.input, example.output) for example in problem.examples]
    answers = (
        (text, run_program(problem.programs.reference, text, problem.func_name))
        for text in hidden_inputs(problem)
    )
    hidden = [_test(problem, text, answer) for text, answer in answers]
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
        "metadata": json.dumps({"func_name": problem.func_name} if problem.func_name else {}),
    }


def hidden_inputs(problem: SampleProblem) -> Iterable[str]:
    """The inputs of the hidden tests: those of the examples, then the drawn ones, always the same."""
    return [*(example.input for example in problem.examples), *problem.hidden_inputs(Random(problem.id))]


def _test(problem: SampleProblem, test_input: str, output: str) -> dict[str, str]:
    mode = "functional" if problem.func_name else "stdin"
    return {"input": test_input, "output": output, "testtype": mode}


def _packed(tests: list[dict[str, str]]) -> str:
    data = pickle.dumps(json.dumps(tests), protocol=4)
    return base64.b64encode(zlib.compress(data, level=9)).decode("ascii")


if __name__ == "__main__":
    main()
