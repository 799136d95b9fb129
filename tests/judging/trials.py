"""Programs with stated verdicts, judged many at once, and what a submission may have left behind.

The folder `nasty` holds the programs as they are. In its files a line `#: name` starts a trial, lines
`#: key = value` after it set its fields (values are JSON; memory is in MiB), and the program follows. Fields
before the first trial hold for all, and lines there are put in front of every program.
"""

import json
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar

import psutil

from lcbkit import Problem, Report, Verdict, judge_many, sandbox_status
from lcbkit.judging.bubblewrap import SCRATCH
from tests.processes import below

__all__ = [
    "BURIED",
    "CONFINED",
    "KEPT_APART",
    "Trial",
    "check",
    "judge_trials",
    "judging_processes",
    "make_problem",
    "processes_with",
    "read_trials",
    "wait_for",
    "wait_until_gone",
]

CONFINED = sandbox_status().tier == "bwrap"
KEPT_APART = any("signal to your other processes" in words for words in sandbox_status().holds)
BURIED = any("nothing that a test starts outlives it" in words for words in sandbox_status().holds)
FOLDER = Path(__file__).parent / "nasty"

_S = TypeVar("_S", bound=Sized)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A program, the tests it gets, and the verdicts that are right for it.

    Attributes:
        name: what it does, for the test's id.
        program: its text; common indentation is dropped.
        right: verdicts that are right, by their names joined with `|`.
        tests: pairs of input and expected output.
        fn_name: the function that functional tests call; None in stdin mode.
    """

    name: str
    program: str
    right: str
    tests: tuple[tuple[str, str], ...] = (("3\n1 2 3\n", "6\n"),)
    fn_name: str | None = None
    time_limit: float = 6.0
    memory_limit: int = 4 << 30

    @property
    def verdicts(self) -> set[Verdict]:
        return {Verdict(name) for name in self.right.split("|")}


def read_trials(name: str) -> list[Trial]:
    """The trials of a file of the folder `nasty`."""
    before, *parts = re.split(r"^#: (?!\w+ = )", (FOLDER / name).read_text(), flags=re.MULTILINE)
    common, before = _fields(before)
    return [_trial(part, common, before) for part in parts]


def _trial(part: str, common: dict[str, Any], before: str) -> Trial:
    title, _, rest = part.partition("\n")
    own, program = _fields(rest)
    given = {"input": "3\n1 2 3\n", "output": "6\n"} | common | own
    if "memory_limit" in given:
        given["memory_limit"] *= 1 << 20
    tests = ((given.pop("input"), given.pop("output")),)
    return Trial(name=title, program=f"{before}{program.strip(chr(10))}\n", tests=tests, **given)


def _fields(text: str) -> tuple[dict[str, Any], str]:
    """The fields at the top of a text, and the rest of it."""
    found = {}
    while match := re.match(r"#: (\w+) = (.*)\n", text):
        found[match[1]] = json.loads(match[2])
        text = text[match.end() :]
    return found, text


def make_problem(tests: Iterable[tuple[str, str]], fn_name: str | None = None, starter: str = "") -> Problem:
    """A problem with the given hidden tests and no public ones."""
    mode = "functional" if fn_name else "stdin"
    hidden = [{"input": given, "output": wanted, "testtype": mode} for given, wanted in tests]
    return Problem.from_row(
        {
            "question_id": "trial",
            "question_title": "Trial",
            "question_content": "",
            "platform": "leetcode" if fn_name else "atcoder",
            "contest_id": "trial",
            "contest_date": "2024-01-01T00:00:00",
            "difficulty": "easy",
            "starter_code": starter,
            "public_test_cases": "[]",
            "private_test_cases": json.dumps(hidden),
            "metadata": json.dumps({"func_name": fn_name} if fn_name else {}),
        }
    )


def judge_trials(trials: Sequence[Trial], workers: int | None = None) -> dict[str, Report]:
    """Judge all of them, those with equal limits together; the reports by the trials' names."""
    groups = defaultdict(list)
    for trial in trials:
        groups[trial.time_limit, trial.memory_limit].append(trial)
    reports = {}
    for (time_limit, memory_limit), group in groups.items():
        pairs = [(dedent(trial.program), make_problem(trial.tests, trial.fn_name)) for trial in group]
        judged = judge_many(
            pairs, workers=workers, progress=False, time_limit=time_limit, memory_limit=memory_limit
        )
        reports |= {trial.name: report for trial, report in zip(group, judged, strict=True)}
    assert len(reports) == len(trials), "two trials share a name"
    return reports


def check(trial: Trial, report: Report) -> None:
    """Every test got one of the right verdicts."""
    assert len(report.results) == report.total == len(trial.tests)
    assert {result.verdict for result in report.results} <= trial.verdicts, str(report)


def processes_with(marker: str) -> list[str]:
    """Command lines of live processes that hold the marker, in whatever namespace."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) not in (os.getpid(), os.getppid()):
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if marker in line:
                found.append(f"{folder.name} {line}")
    return found


def judging_processes() -> list[str]:
    """Command lines of workers and of what their programs have started, below this process."""
    found = []
    for process in below():
        with suppress(psutil.Error):
            line, surroundings = " ".join(process.cmdline()), process.environ()
            home = surroundings.get("HOME", "")
            if "worker.py" in line or home.startswith(SCRATCH) or "lcbkit-judge-" in home:
                found.append(f"{process.pid} {line}")
    return found


def wait_for(look: Callable[[], _S], seconds: float = 60.0) -> _S:
    """What is still there after a moment, at once if nothing is; killing and reaping may take one."""
    deadline = time.monotonic() + seconds
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def wait_until_gone(marker: str, seconds: float = 60.0) -> list[str]:
    """What is left of the processes with the marker after a moment."""
    return wait_for(lambda: processes_with(marker), seconds)
