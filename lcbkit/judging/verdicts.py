"""From how a test ended to what it means: verdicts, and texts of a length that people can read.

Where this differs from LiveCodeBench's own checker, which runs programs inside its own process, the reason is
that a program runs here as a program:

- standard input is real: `open(0)`, `os.read`, `sys.stdin.buffer`, iteration over `sys.stdin`, mixed calls;
- a program is compiled by itself: `from __future__`, a byte order mark, `global`, code after the main guard,
  an empty program and line numbers are what the interpreter makes of them;
- exit status 0 is required, and a program killed by a signal fails whatever it printed;
- what exit handlers, non-daemon threads and unflushed buffers print counts; `quit()` and `os._exit(0)` are
  fine;
- every test has a fresh process: nothing is carried from one to the next on `self` or in a module;
- time is CPU time, idle time has a limit one second longer, and memory is limited in both modes;
- `class Solution` is looked up in the namespace, not in the text, and a main guard stays closed in functional
  mode;
- equality is judged on plain data outside of the program: an object cannot claim to be equal;
- an argument line or an expected value that is not JSON is a defect of the test, not of the program.
"""

import re

from lcbkit.judging.comparison import same_output, same_value
from lcbkit.judging.encoding import decode_value, parse_json
from lcbkit.judging.outcomes import Limits, Outcome
from lcbkit.judging.report import Execution, TestResult, Verdict
from lcbkit.problems import TestCase

__all__ = ["execution", "judge_outcome"]

KEPT_CHARACTERS = 16_000
_OUT_OF_MEMORY = re.compile(rb"^(?:[\w.]*\.)?\w*MemoryError\b")


def judge_outcome(index: int, case: TestCase, outcome: Outcome, limits: Limits) -> TestResult:
    """The result of one test case."""
    if case.mode == "functional":
        verdict, actual, note = _judge_value(case, outcome, limits)
    else:
        verdict, actual, note = _judge_output(case, outcome, limits)
    return TestResult(
        index=index,
        mode=case.mode,
        verdict=verdict,
        input=_cut(case.input),
        expected=_cut(case.output),
        actual=_cut(actual),
        stderr=_cut(outcome.stderr.decode("utf-8", "replace")) or note,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        wall_seconds=outcome.wall,
        cpu_seconds=outcome.cpu,
        memory_bytes=outcome.memory,
    )


def execution(outcome: Outcome, limits: Limits) -> Execution:
    """What a free run gave."""
    return Execution(
        stdout=outcome.main.decode("utf-8", "replace"),
        stderr=outcome.stderr.decode("utf-8", "replace"),
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        timed_out=outcome.over_time(limits),
        wall_seconds=outcome.wall,
        cpu_seconds=outcome.cpu,
        memory_bytes=outcome.memory,
    )


def _judge_output(case: TestCase, outcome: Outcome, limits: Limits) -> tuple[Verdict, str, str]:
    """Verdict, actual output, and a note for where standard error is empty."""
    try:
        actual, readable = outcome.main.decode("utf-8"), True
    except UnicodeDecodeError:  # equal to no text, whatever it looks like
        actual, readable = outcome.main.decode("utf-8", "replace"), False
    if ended := _judge_end(outcome, limits):
        return ended[0], actual, ended[1]
    passed = readable and same_output(actual, case.output)
    return (Verdict.PASSED if passed else Verdict.WRONG_ANSWER), actual, ""


def _judge_value(case: TestCase, outcome: Outcome, limits: Limits) -> tuple[Verdict, str, str]:
    try:
        expected = parse_json(case.output)
    except ValueError as error:
        return Verdict.BAD_TEST, "", f"the expected output is not JSON: {error}"
    if ended := _judge_end(outcome, limits):
        return ended[0], "", ended[1]
    if not outcome.main.endswith(b"\n"):
        return Verdict.RUNTIME_ERROR, "", "the program ended before its function returned"
    text = outcome.main[1:-1]
    if len(text) > 64 * len(case.output) + 65_536:  # cannot be equal, and could take gigabytes when decoded
        return Verdict.WRONG_ANSWER, _cut(text.decode("ascii", "replace")), ""
    value = decode_value(outcome.main[:-1])
    passed = same_value(value, expected)
    if passed and len(text) > KEPT_CHARACTERS:
        return Verdict.PASSED, text.decode("ascii", "replace"), ""
    try:
        actual = repr(value)
    except (ValueError, RecursionError):  # more digits than this process converts
        actual = text.decode("ascii", "replace")
    return (Verdict.PASSED if passed else Verdict.WRONG_ANSWER), actual, ""


def _judge_end(outcome: Outcome, limits: Limits) -> tuple[Verdict, str] | None:
    """The verdict on a test that did not run to a good end, and why; None for one that did."""
    if outcome.internal:
        return Verdict.INTERNAL_ERROR, outcome.internal
    if outcome.bad_test:
        return Verdict.BAD_TEST, outcome.bad_test
    if outcome.over_time(limits):
        times = f"{outcome.cpu:.2f} s of processor time, {outcome.wall:.2f} s elapsed"
        return Verdict.TIME_LIMIT, f"{times}; the limit is {limits.time_limit:g} s"
    if outcome.killed == "output":
        return Verdict.OUTPUT_LIMIT, "more output than the judge takes"
    if outcome.killed == "memory":
        return Verdict.MEMORY_LIMIT, f"all processes together: more than {limits.memory_limit >> 20} MiB"
    if not outcome.status:
        return None
    last_line = outcome.stderr.rstrip().rpartition(b"\n")[2]
    if limits.memory_limit and _OUT_OF_MEMORY.search(last_line):
        return Verdict.MEMORY_LIMIT, ""
    if outcome.signal:
        return Verdict.RUNTIME_ERROR, f"ended by signal {outcome.signal}"
    return Verdict.RUNTIME_ERROR, f"ended with exit status {outcome.exit_code}"


def _cut(text: str) -> str:
    if len(text) <= KEPT_CHARACTERS:
        return text
    half = KEPT_CHARACTERS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters are missing here]\n{text[-half:]}"
