"""One problem of the sample, with all that is needed to write it and to check it."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

__all__ = ["Example", "Programs", "SampleProblem", "arguments", "lines", "values"]

PLATFORMS = ("atcoder", "codeforces", "leetcode")
DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A sample test: shown in the statement, and the first of the hidden tests.

    The output is written by hand, so that it checks the reference rather than repeats it.
    """

    input: str
    output: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Submissions with a known verdict.

    Attributes:
        reference: passes, and is fast at every size.
        brute_force: another way to the answer, only for small inputs.
        wrong: ends in time with a wrong answer, by the slip that readers of this statement make.
        slow: right, but too slow at the largest sizes; empty where size does not matter.
    """

    reference: str
    brute_force: str
    wrong: str
    slow: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleProblem:
    """A problem as its author wrote it: the statement in parts, the examples, inputs and programs.

    Attributes:
        input_format: what a program reads; empty for a functional problem.
        output_format: what a program prints; empty for a functional problem.
        constraints: the limits, one a line; empty where `input_format` names them (codeforces).
        starter_code: the signature to fill in; empty for a problem on standard input.
        func_name: the method that the judge calls; empty for a problem on standard input.
        hidden_inputs: draws the hidden inputs that follow the examples: edge cases, then sizes.
        small_input: draws one input that the brute force can answer at once.
        is_legal: whether an input keeps the constraints; False, or an exception, if not.
    """

    id: str
    title: str
    platform: str
    difficulty: str
    contest_id: str
    contest_date: str
    body: str
    input_format: str = ""
    output_format: str = ""
    constraints: tuple[str, ...] = ()
    examples: tuple[Example, ...]
    starter_code: str = ""
    func_name: str = ""
    hidden_inputs: Callable[[Random], Sequence[str]]
    small_input: Callable[[Random], str]
    is_legal: Callable[[str], bool]
    programs: Programs

    def __post_init__(self) -> None:
        if self.platform not in PLATFORMS or self.difficulty not in DIFFICULTIES:
            raise ValueError(f"{self.id}: no such platform or difficulty: {self.platform}, {self.difficulty}")
        if bool(self.func_name) != bool(self.starter_code) or bool(self.func_name) == bool(self.input_format):
            raise ValueError(f"{self.id}: wants starter code and a name, or else an input format")


def lines(*rows: object) -> str:
    """Lay out an input for standard input: one row a line, the items of a list row apart by blanks."""
    return "".join(f"{_row(row)}\n" for row in rows)


def arguments(*values: object) -> str:
    """Lay out an input for a function: one JSON value a line, one line an argument."""
    return "\n".join(json.dumps(value) for value in values)


def values(test_input: str) -> list[Any]:
    """The arguments in an input for a function, as `arguments` laid them out."""
    return [json.loads(line) for line in test_input.splitlines()]


def _row(row: object) -> str:
    if isinstance(row, str) or not isinstance(row, Iterable):
        return str(row)
    return " ".join(map(str, row))
