"""Problems and sets of problems: the values that everything else works on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

__all__ = ["Mode", "Problem", "ProblemSet", "TestCase"]

Mode = Literal["stdin", "functional"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One input and its expected output.

    Attributes:
        input: standard input; for a functional test one JSON value per line, one line per argument.
        output: expected standard output; for a functional test one JSON value.
        mode: `stdin` or `functional`.
    """

    __test__ = False  # keeps pytest from collecting the class in a user's test module

    input: str
    output: str
    mode: Mode
