"""The page on verdicts lists every difference to LiveCodeBench's checker; a program shows each."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lcbkit import Problem, Verdict, judge, sandbox_status
from tests.docs.pages import table
from tests.judging.trials import Trial, check, judge_trials, make_problem

RIGHT, WRONG = "Right programs that pass here", "Wrong programs that do not pass here"

# By the line of the page: programs that show it, and shared cases that LiveCodeBench's checker was run on.
PASSING: Mapping[str, tuple[tuple[dict[str, Any], ...], tuple[str, ...]]] = {
    "reads with `sys.stdin.buffer.readline()` twice, `open(0)`, `os.read(0, n)`, `for line in sys.stdin`, or "
    "`input()` and then `sys.stdin.read()`": (
        (
            {
                "program": "import sys\nread = sys.stdin.buffer.readline\nn = int(read())\n"
                "print(sum(map(int, read().split())))"
            },
            {"program": "print(sum(map(int, open(0).read().split()[1:])))"},
            {"program": "import os\nprint(sum(map(int, os.read(0, 100).split()[1:])))"},
            {"program": "import sys\nprint([sum(map(int, line.split())) for line in sys.stdin][1])"},
            {"program": "import sys\ninput()\nprint(sum(map(int, sys.stdin.read().split())))"},
        ),
        (
            *("s01-buffer-readline-twice", "s02-open-fd0", "s03-os-read", "s05-mixed-input-and-read"),
            "s06-iterate-stdin",
        ),
    ),
    "reads with `sys.stdin.read(n)`, `sys.stdin.readlines()` whose lines become numbers, "
    '`sys.stdin.buffer.readlines()`, `open("/dev/stdin")` or `fileinput`': (
        (
            {"program": "import sys\nprint(6, sys.stdin.read(1))", "tests": (("77", "6 7"),)},
            {
                "program": "import sys\nprint(sum(int(line) for line in sys.stdin.readlines()))",
                "tests": (("2\n4\n", "6"),),
            },
            {"program": "import sys\nprint(sum(map(int, sys.stdin.buffer.readlines()[1].split())))"},
            {"program": "print(sum(map(int, open('/dev/stdin').read().split()[1:])))"},
            {
                "program": "import fileinput\nprint(sum(map(int, fileinput.input())))",
                "tests": (("2\n4\n", "6"),),
            },
        ),
        (),
    ),
    "begins with `from __future__ import …`": (
        (
            {"program": "from __future__ import annotations\nprint(6)"},
            {"program": "from __future__ import annotations\ndef f(n): return 6", "fn_name": "f"},
        ),
        ("s27-future-import", "f40-future-import"),
    ),
    "begins with a byte order mark": (({"program": "\ufeffprint(6)"},), ("s32-bom-source",)),
    'has code after its `if __name__ == "__main__":` block, or asks for that in other words, such as '
    '`if __name__ == "__main__" and True:`': (
        (
            {"program": "x = None\nif __name__ == '__main__':\n    x = 6\nprint(x)"},
            {"program": "if __name__ == '__main__' and True:\n    print(6)"},
            {"program": "def main():\n    if __name__ == '__main__': print(6)\nmain()"},
        ),
        ("s28-main-guard-not-last",),
    ),
    "uses `global` on a name of the module": (
        ({"program": "total = 0\ndef add(n):\n    global total\n    total += n\nadd(6)\nprint(total)"},),
        ("s29-global-statement",),
    ),
    "gives a built-in it uses another meaning (`print = partial(print, flush=True)`), or reaches its own "
    "names through `globals()`, `exec` or `eval`": (
        (
            {"program": "import functools\nprint = functools.partial(print, flush=True)\nprint(6)"},
            {"program": "x = 6\nprint(globals()['x'])"},
            {"program": "exec('x = 6')\nprint(x)"},
            {"program": "x = 6\nprint([eval('x') for _ in range(1)][0])"},
        ),
        (),
    ),
    "defines a `class Solution` and reads standard input": (
        ({"program": "class Solution:\n    def solve(self): return 6\nprint(Solution().solve())"},),
        (),
    ),
    "reads standard input and needs `resource`, `tempfile`, `os.getcwd()` or a change of `os.environ`": (
        (
            {"program": "import resource\nresource.getrusage(resource.RUSAGE_SELF)\nprint(6)"},
            {"program": "import tempfile\nwith tempfile.TemporaryFile(): print(6)"},
            {"program": "import os\nos.getcwd()\nprint(6)"},
            {"program": "import os\nos.environ['A'] = 'b'\nprint(6)"},
        ),
        (),
    ),
    "looks at `__file__` or `sys.argv`": (
        (
            {
                "program": "import os, sys\nprint(os.path.exists(__file__), len(sys.argv))",
                "tests": (("", "True 1"),),
            },
        ),
        ("s31-dunder-file-argv",),
    ),
    "ends by `quit()`, or by `os._exit(0)` after a flush": (
        ({"program": "print(6)\nquit()"}, {"program": "import os\nprint(6, flush=True)\nos._exit(0)"}),
        ("s15-quit-early", "s17-os-exit-flushed"),
    ),
    "prints from an `atexit` handler, from a thread that outlives the main one, or through "
    "`sys.stdout.buffer` without a flush": (
        (
            {"program": "import atexit\natexit.register(print, 6)"},
            {"program": "import threading\nthreading.Timer(0.1, print, [6]).start()"},
            {"program": "import sys\nsys.stdout.buffer.write(b'6')"},
        ),
        ("s19-atexit-output", "s20-thread-prints-late", "s57-buffer-write-no-flush"),
    ),
    "starts processes, also ones that hold its output open": (
        (
            {
                "program": "import subprocess, sys\n"
                "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\nprint(6)"
            },
            {
                "program": "import os\nfor _ in range(5):\n    if os.fork() == 0: os._exit(0)\n"
                "    os.wait()\nprint(6)"
            },
        ),
        ("s71-child-outlives", "s73-fifty-forks"),
    ),
    "signals its parent, which is the judge there, and goes on": (
        (
            {
                "program": "import os, signal\ntry: os.kill(os.getppid(), signal.SIGINT)\n"
                "except OSError: pass\nprint(6)"
            },
        ),
        ("s23-sigint-parent",),
    ),
    "sets `sys.stdout`, `sys.stderr` and `sys.stdin` to `None` in a function": (
        (
            {
                "program": "import sys\nsys.stdout = sys.stderr = sys.stdin = None\ndef f(n): return 6",
                "fn_name": "f",
            },
        ),
        ("f45-no-std-streams",),
    ),
    "defines a plain function and says `class Solution` in a comment, or a `Solution` without saying so": (
        (
            {"program": "# no class Solution here\ndef f(n): return 6", "fn_name": "f"},
            {"program": "class Answer:\n    def f(self, n): return 6\nSolution = Answer", "fn_name": "f"},
        ),
        ("f37-solution-in-comment",),
    ),
    "catches a `MemoryError` and goes on": (
        ({"program": "try: bytearray(8 << 30)\nexcept MemoryError: print(6)"},),
        ("s67-cap-is-there",),
    ),
    "tries to lift its own memory limit, is refused, and goes on": (
        (
            {
                "program": "import resource as r\ntry: r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY,) * 2)\n"
                "except (ValueError, OSError): print(6)"
            },
        ),
        ("s68-raises-own-limit",),
    ),
}
FAILING: Mapping[str, tuple[tuple[dict[str, Any], ...], tuple[str, ...]]] = {
    "prints the right output and exits with another code than 0": (
        (
            {"program": "import sys\nprint(6)\nsys.exit(3)"},
            {"program": "import sys\nprint(6)\nsys.exit('a message')"},
        ),
        ("s13-sys-exit-message", "s14-sys-exit-3"),
    ),
    "has `return` or `nonlocal` outside of all functions": (
        (
            {"program": "print(6)\nif True:\n    return"},
            {"program": "x = 3\ndef double():\n    nonlocal x\n    x *= 2\ndouble()\nprint(x)"},
        ),
        (),
    ),
    "takes the lines of `sys.stdin.readlines()` to come without line feeds": (
        ({"program": "import sys\nprint(len(sys.stdin.readlines()[0]))", "tests": (("abcdef\n", "6"),)},),
        (),
    ),
    "returns an object that equals everything": (
        (
            {
                "program": "class All(int):\n    def __eq__(self, other): return True\n"
                "def f(n): return All(7)",
                "fn_name": "f",
            },
        ),
        ("f08-always-equal",),
    ),
    "keeps state between tests (a counter on `self`, a cache in the module) and needs it": (
        (
            {
                "program": "calls = []\ndef f(n):\n    calls.append(n)\n    return len(calls)",
                "fn_name": "f",
                "tests": (("5", "1"), ("5", "2")),
                "right": "passed|wrong_answer",
            },
        ),
        ("f31-state-on-self",),
    ),
    "needs more than 4 GiB": (
        ({"program": "a = bytearray(5 << 30)\nprint(6)", "right": "memory_limit"},),
        (),
    ),
}


def trials_of(lines: Mapping[str, Any], right: str) -> list[tuple[str, Trial]]:
    return [
        (line, Trial(name=f"{line} [{number}]", **({"right": right, "tests": given(case)} | case)))
        for line, (cases, _) in lines.items()
        for number, case in enumerate(cases)
    ]


def given(case: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (("3" if "fn_name" in case else "3\n1 2 3\n", "6"),)


NOBODY_ELSE = "a limit on the number of processes" in sandbox_status().does_not_hold
TRIALS = trials_of(PASSING, "passed") + trials_of(FAILING, "runtime_error|wrong_answer")


@pytest.mark.parametrize(("heading", "lines"), [(RIGHT, PASSING), (WRONG, FAILING)])
def test_each_line_of_the_page_has_its_programs(heading: str, lines: Mapping[str, Any]) -> None:
    assert [row[0] for row in table("verdicts.md", heading)] == list(lines)


def test_every_program_of_the_page_gets_its_verdict() -> None:
    reports = judge_trials([trial for _, trial in TRIALS])
    for line, trial in TRIALS:
        if line.startswith("tries to lift") and NOBODY_ELSE:
            continue  # root that is no other user may lift any limit
        check(trial, reports[trial.name])
        assert reports[trial.name].passed is (line in PASSING), trial.name


def test_the_page_lists_every_case_that_the_checker_of_livecodebench_sees_otherwise(shared: Path) -> None:
    cases = map(json.loads, (shared / "data/cases/cases.jsonl").read_text().splitlines())
    otherwise = {
        case["id"]: "verdict_alt" in case["expected"]
        for case in cases
        if (note := case.get("official_note"))
        and (note == "ok") is not (case["expected"]["verdict"] == "pass")
    }
    listed = {name for lines in (PASSING, FAILING) for _, names in lines.values() for name in names}
    assert {name for name, either_is_right in otherwise.items() if not either_is_right} <= listed
    assert listed <= set(otherwise)


def test_the_other_differences_are_of_counting() -> None:
    assert [row[0] for row in table("verdicts.md", "The same program, another count")] == [
        "time",
        "time of a functional program's top level",
        "tests",
        "after a failure",
    ]
    row = make_problem([("1", "0"), ("2", "2")]).to_row()
    public = json.dumps([{"input": "3", "output": "3", "testtype": "stdin"}])
    problem = Problem.from_row(row | {"public_test_cases": public})
    echo = "print(input())"
    assert judge(echo, problem).letters == "WP"
    assert judge(echo, problem, tests="all").total == 3
    assert judge(echo, problem, stop_on_failure=True).total == 2
    assert [r.verdict for r in judge(echo, problem, stop_on_failure=True).results] == [Verdict.WRONG_ANSWER]
    # Asleep it uses no processor time, so a limit that it outlasts by the clock does not end it.
    sleeps = judge(f"import time; time.sleep(0.5)\n{echo}", problem, time_limit=0.25)
    assert sleeps.letters == "WP"
    # Half a second at its top level and half a second in its function are together above the limit.
    burn = "while time.process_time() < {}: pass\n"
    slow = "import time\n" + burn.format(0.5) + "def f(n):\n    " + burn.format("1.0") + "    return n\n"
    case = make_problem([("6", "6")], fn_name="f")
    assert judge(slow, case, time_limit=0.8).results[0].verdict is Verdict.TIME_LIMIT
    assert judge(slow, case, time_limit=4.0).passed
