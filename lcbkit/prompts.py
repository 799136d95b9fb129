"""A problem's user prompt: LiveCodeBench's generic template, byte for byte, without its system message.

The place of the system message belongs to the role prompt. Public tests are not shown; the samples inside
the statement are part of the text. The template and its two instructions are quoted from LiveCodeBench,
`lcb_runner/prompts/code_generation.py`: Copyright (c) 2024 LiveCodeBench, MIT licence, see
THIRD_PARTY_NOTICES.md.
"""

from lcbkit.problems import Problem, check_problem

__all__ = ["build_prompt"]

_STDIN_FORMAT = (
    "Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on "
    "the sample inputs). Enclose your code within delimiters as follows. Ensure that when the python program "
    "runs, it reads the inputs, runs the algorithm and writes output to STDOUT."
)
_FUNCTIONAL_FORMAT = (
    "You will use the following starter code to write the solution to the problem and enclose your code "
    "within delimiters."
)
_PLACEHOLDER = "# YOUR CODE HERE"


def build_prompt(problem: Problem) -> str:
    """Write the user message that states a problem, the same for every team and role.

    Args:
        problem: its starter code, when there is any, decides on the format line, as in LiveCodeBench.

    Raises:
        BadValueError: for what is no problem.

    Source:
        `get_generic_question_template_answer` of LiveCodeBench.
    """
    check_problem(problem, "a prompt states")
    form = _FUNCTIONAL_FORMAT if problem.starter_code else _STDIN_FORMAT
    # Pasted, not formatted: statements and starter code hold braces.
    return (
        f"### Question:\n{problem.statement}\n\n"
        f"### Format: {form}\n"
        f"```python\n{problem.starter_code or _PLACEHOLDER}\n```\n\n"
        "### Answer: (use the provided format with backticks)\n\n"
    )
