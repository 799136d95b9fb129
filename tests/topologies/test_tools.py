import asyncio
import os
import subprocess
import sys

import pytest

from lcbkit.judging.report import Execution
from lcbkit.topologies import tools
from lcbkit.topologies.tools import OUTPUT_CHARS, python_exec_tool, render_execution


def run(code: str, stdin: str = "") -> str:
    result = python_exec_tool().invoke({"code": code, "stdin": stdin})
    assert isinstance(result, str)
    return result


def execution(
    *, stdout: str = "", exit_code: int | None = 0, signal: int | None = None, timed_out: bool = False
) -> Execution:
    return Execution(
        stdout=stdout,
        stderr="",
        exit_code=exit_code,
        signal=signal,
        timed_out=timed_out,
        wall_seconds=0.1,
        cpu_seconds=0.1,
        memory_bytes=1,
    )


def test_a_program_is_run_on_the_given_input() -> None:
    assert run("print(2 * int(input()))", "21\n") == "stdout:\n42\n\nstderr:\n\nexit_code: 0"


def test_the_model_sees_the_program_and_its_input_as_the_only_arguments() -> None:
    properties = python_exec_tool().tool_call_schema.model_json_schema()["properties"]  # type: ignore[union-attr]
    assert set(properties) == {"code", "stdin"}


def test_a_self_test_has_the_judges_prelude() -> None:
    assert run("print(Counter('aab').most_common(1), gcd(12, 18))").startswith("stdout:\n[('a', 2)] 6")


def test_an_error_comes_back_with_the_place_in_the_program() -> None:
    result = run("x = 1\nraise ValueError('broken')")
    assert "ValueError: broken" in result
    assert "line 2" in result
    assert result.endswith("exit_code: 1")


@pytest.mark.parametrize(
    "code",
    [
        "import sys; print(object(), file=sys.stderr); print([lambda: 0])",
        "def f(): raise RuntimeError(f)\nf()",
        "print({'b', 'a', 'c', 'd'})",
        "import os; print(os.getcwd() and sorted(os.environ))",
        "this is not python",
    ],
)
def test_what_a_model_reads_is_the_same_each_time(code: str) -> None:
    """Replays depend on it: the result is part of the next request."""
    assert run(code) == run(code)


def test_long_output_keeps_its_head_and_its_tail() -> None:
    result = run("print('first' + 'x' * 100_000 + 'last')")
    assert "stdout:\nfirstxxx" in result
    assert "xxxlast\n" in result
    assert "characters cut" in result
    assert len(result) < OUTPUT_CHARS + 200


def test_output_up_to_the_limit_is_kept_whole() -> None:
    assert "x" * OUTPUT_CHARS in render_execution(execution(stdout="x" * OUTPUT_CHARS))


def test_an_endless_program_is_stopped_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "TIME_LIMIT_SECONDS", 0.5)
    assert run("print('begin', flush=True)\nwhile True: pass").endswith(
        "ERROR: stopped after the time limit of 0.5 seconds"
    )


def test_a_program_that_a_signal_ends_says_so() -> None:
    assert "ERROR: ended by signal 11" in render_execution(execution(exit_code=None, signal=11))


def test_no_key_is_visible_to_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in run("import os; print(dict(os.environ), open('/proc/self/environ').read())")


LOOK_AROUND = """
import glob
looked = 0
for name in (*glob.glob("/proc/[0-9]*/environ"), *glob.glob("/proc/[0-9]*/cmdline"), *glob.glob("/root/.*")):
    try:
        text = open(name, "rb").read()
    except OSError:
        continue
    looked += 1
    if b"sk-" + b"secret" in text:
        print("found it in", name)
print("looked", looked > 0)
"""


def test_no_key_of_the_process_that_asks_is_found_by_a_program_that_looks_for_it() -> None:
    ask = (
        "import sys; from lcbkit.topologies.tools import python_exec_tool; "
        "print(python_exec_tool().invoke({'code': sys.stdin.read()}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask],
        input=LOOK_AROUND,
        env={**os.environ, "OPENAI_API_KEY": "sk-secret"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "looked True" in done.stdout
    assert "found" not in done.stdout


def test_a_child_that_stays_and_a_flood_of_output_are_contained() -> None:
    child = "import os, time\nif os.fork() == 0:\n    time.sleep(60)\nprint('parent')"
    assert run(child) == "stdout:\nparent\n\nstderr:\n\nexit_code: 0"
    flood = run("for _ in range(2_000):\n    print('x' * 500_000)")  # a gigabyte
    assert len(flood) < OUTPUT_CHARS + 500
    assert "ERROR" in flood


def test_a_judge_that_fails_is_text_for_the_model_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise OSError("no process can be started")

    monkeypatch.setattr(tools, "run_python", broken)
    assert run("print(1)").startswith("ERROR: ")


async def test_the_event_loop_stays_free_while_a_program_runs() -> None:
    tool = python_exec_tool()
    await tool.ainvoke({"code": "pass"})  # the first call starts the judge
    call = asyncio.create_task(tool.ainvoke({"code": "import time; time.sleep(0.6)"}))
    turns = 0
    while not call.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 5  # a call on the loop itself would leave it one or two
