"""Run the sample's own programs in this process: quick, and only for programs that we wrote."""

import contextlib
import functools
import io
import json
import sys
from types import CodeType
from typing import Any
from unittest.mock import patch

from sample_problems.record import values

__all__ = ["run_program"]


def run_program(source: str, test_input: str, func_name: str = "") -> str:
    """The answer of a trusted program, in the form in which a test stores it.

    Args:
        source: a program on standard input, or one that defines `Solution`.
        test_input: the test's input.
        func_name: the method to call; empty for a program on standard input.

    Returns:
        What the program printed, or its result as one JSON value.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    if func_name:
        exec(_compiled(source), names)
        result = getattr(names["Solution"](), func_name)(*values(test_input))
        return json.dumps(result)
    stdin = io.TextIOWrapper(io.BytesIO(test_input.encode()))
    with contextlib.redirect_stdout(io.StringIO()) as stdout, patch.object(sys, "stdin", stdin):
        exec(_compiled(source), names)
    return stdout.getvalue()


@functools.cache
def _compiled(source: str) -> CodeType:
    return compile(source, "<program of the sample>", "exec")
