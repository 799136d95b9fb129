"""A problem's statement, laid out as the dataset stores those of its platform."""

import re

from sample_problems.record import Example, SampleProblem

__all__ = ["statement"]


def statement(problem: SampleProblem) -> str:
    """The text of `question_content`: the body, what is read and printed, the limits, the examples."""
    layout = {"atcoder": _atcoder, "codeforces": _codeforces, "leetcode": _leetcode}
    return layout[problem.platform](problem)


def _atcoder(problem: SampleProblem) -> str:
    parts = [_unwrapped(problem.body), "Input"]
    parts += ["The input is given from Standard Input in the following format:", problem.input_format]
    parts += ["Output", _unwrapped(problem.output_format)]
    parts += ["Constraints", "\n".join(f"- {line}" for line in problem.constraints)]
    for number, example in enumerate(problem.examples, start=1):
        parts += [f"Sample Input {number}", example.input.strip()]
        parts += [f"Sample Output {number}", example.output.strip()]
        parts += [example.note] if example.note else []
    return "\n\n".join(parts) + "\n"


def _codeforces(problem: SampleProblem) -> str:
    parts = [_unwrapped(problem.body), "Input", _unwrapped(problem.input_format)]
    parts += ["Output", _unwrapped(problem.output_format)]
    for number, example in enumerate(problem.examples, start=1):
        parts += [f"Sample Input {number}:\n{example.input.strip()}"]
        parts += [f"Sample Output {number}:\n{example.output.strip()}"]
    notes = [example.note for example in problem.examples if example.note]
    return "\n\n".join([*parts, "Note", *notes]) + "\n"


def _leetcode(problem: SampleProblem) -> str:
    parts = [_unwrapped(problem.body).replace("\n\n", "\n"), " "]
    signature = problem.starter_code.partition("(self, ")[2].partition(")")[0]
    for number, example in enumerate(problem.examples, start=1):
        parts += [f"Example {number}:", _call(re.findall(r"(\w+):", signature), example)]
    return "\n\n".join([*parts, " ", "Constraints:", "\n".join(problem.constraints)]) + "\n"


def _call(names: list[str], example: Example) -> str:
    values = zip(names, example.input.splitlines(), strict=True)
    shown = ", ".join(f"{name} = {value}" for name, value in values)
    explanation = f"\nExplanation: {example.note}" if example.note else ""
    return f"Input: {shown}\nOutput: {example.output}{explanation}"


def _unwrapped(text: str) -> str:
    """Put each paragraph and each item of a list on one line, as the platforms do."""
    return re.sub(r"(?<!\n)\n(?!\n|- ) *", " ", text.strip())
