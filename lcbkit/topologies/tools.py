"""The one tool that agents have: running a program of their own in the judge's sandbox."""

import asyncio
import logging
import os
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from langchain_core.tools import BaseTool, StructuredTool

from lcbkit.judging.pool import run_python
from lcbkit.judging.report import Execution

__all__ = ["PYTHON_EXEC", "python_exec_tool", "render_execution"]

PYTHON_EXEC = "python_exec"
TIME_LIMIT_SECONDS = 10.0
OUTPUT_CHARS = 4_000

_log = logging.getLogger(__name__)
# Addresses differ from run to run; with them a recorded conversation could never be replayed.
_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]+(?=[ >])")

_DESCRIPTION = f"""Run a Python 3 program and read what it prints; use it to check your own work.

Each call is a fresh process: nothing is kept between calls, and there is no network. What contest programs
usually import is already there. The program is stopped after {TIME_LIMIT_SECONDS:g} seconds. Returns what it
wrote to stdout and stderr (long outputs are cut in the middle) and its exit code.

Args:
    code: the whole program.
    stdin: what the program reads from standard input.
"""


def python_exec_tool() -> BaseTool:
    """The tool `python_exec(code, stdin="")`; it always returns text and never raises.

    Programs run as in the judge, with the same prelude, so that a self-test predicts the verdict.
    """

    async def python_exec(code: str, stdin: str = "") -> str:
        return await asyncio.get_running_loop().run_in_executor(_threads(), _execute, code, stdin)

    return StructuredTool.from_function(
        func=_execute, coroutine=python_exec, name=PYTHON_EXEC, description=_DESCRIPTION
    )


def render_execution(execution: Execution) -> str:
    """What a model reads of a run: stdout, stderr, exit code, and nothing that differs from run to run."""
    if execution.timed_out:
        ending = f"ERROR: stopped after the time limit of {TIME_LIMIT_SECONDS:g} seconds"
    elif execution.exit_code is None:
        ending = f"ERROR: ended by signal {execution.signal}"
    else:
        ending = f"exit_code: {execution.exit_code}"
    return f"stdout:\n{_clipped(execution.stdout)}\nstderr:\n{_clipped(execution.stderr)}\n{ending}"


def _execute(code: str, stdin: str = "") -> str:
    try:
        return render_execution(run_python(code, stdin, time_limit=TIME_LIMIT_SECONDS))
    except Exception as error:  # noqa: BLE001 - a tool that raises would end the agent's run
        _log.warning("python_exec failed: %s: %s", type(error).__name__, error)
        return f"ERROR: the program could not be run ({type(error).__name__})"


@cache
def _threads() -> ThreadPoolExecutor:
    """Own threads: the loop's default ones serve others, who would starve behind slow programs."""
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="python-exec")


def _clipped(text: str) -> str:
    """The text cut to `OUTPUT_CHARS` characters: head, tail, and a line between that says what is missing."""
    text = _ADDRESS.sub("0x...", text)
    if len(text) <= OUTPUT_CHARS:
        return text
    half = OUTPUT_CHARS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"
