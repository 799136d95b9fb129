"""A program meets what it would meet in an interpreter of its own, once for every test."""

import pytest

from lcbkit import Verdict
from lcbkit.judging.pool import Pool
from tests.judging.trials import make_problem

ONE = make_problem([("3\n1 2 3\n", "6\n")])


@pytest.mark.parametrize(
    ("code", "stdout", "exit_code"),
    [
        ("import sys; print(sys.argv == [__file__], __name__, __builtins__.__name__)",
         "True __main__ builtins\n", 0),
        ("import sys, __main__; print(__main__ is sys.modules[__name__], __main__.__file__ == __file__)",
         "True True\n", 0),
        ("# -*- coding: gbk -*-\nprint('\xe9')", "\xe9\n", 0),  # a text has been decoded already
        ("# -*- coding: rot13 -*-\nprint(1)", "1\n", 0),
        ("# -*- coding: ../../scratch/main/x -*-\nprint(1)", "1\n", 0),
        ("import os; print(os.listdir(), os.path.exists(__file__), os.getcwd() == os.environ['HOME'])",
         "[] True True\n", 0),
        ("print(open(__file__).read().count('count'))", "2\n", 0),
        ("from sys import *; print(stdin.encoding, stdout.encoding, stdout.line_buffering, flags.utf8_mode)",
         "utf-8 utf-8 False 0\n", 0),
        ("import gc, sys; print(gc.isenabled(), sys.gettrace(), len(sys.orig_argv))", "True None 2\n", 0),
        ("import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)", "True\n", 0),
        ("from threading import *; print(current_thread() is main_thread(), active_count())",
         "True 1\n", 0),
        ("import os, sys; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4])",
         "[0, 1, 2, 3]\n", 0),
        ("print('a'); exit(7)", "a\n", 7),
        ("raise SystemExit(True)", "", 1),
        ("raise SystemExit(-1)", "", 255),
        ("raise SystemExit('x')", "", 1),
        ("raise KeyboardInterrupt", "", 130),
        ("import atexit; atexit.register(print, 'late'); print('soon')", "soon\nlate\n", 0),
        ("import atexit, sys; atexit.register(lambda: 1/0); print(1)", "1\n", 0),
        ("from threading import *; Timer(0.2, lambda: print('t')).start(); print('m')",
         "m\nt\n", 0),
        ("from threading import *; Thread(target=Event().wait, daemon=True).start(); print('m')", "m\n", 0),
        ("import os; os.close(1)", "", 0),
        ("import os; print(1); os.close(1)", "", 120),
        ("import sys; sys.stdout.close()", "", 0),
        ("class N:\n  def write(self, text): pass\nimport sys; sys.stdout = N(); print(1)", "", 120),
        ("f = open(1, 'w', closefd=False); f.write('kept')", "kept", 0),
        ("class D:\n  def __del__(self): print('deleted')\nd = D()", "deleted\n", 0),
        ("import io, sys\nfirst, sys.stdout = sys.stdout, io.StringIO()\nprint(6, file=first)", "6\n", 0),
        ("open('/dev/stdout', 'w').write(open('/dev/stdin').read())", "in\n", 0),
        ("import os; print(os.fstat(0).st_size, os.read(0, 99), os.read(0, 99))", "3 b'in\\n' b''\n", 0),
        ("import os; os.write(1, b'raw'); os._exit(0)", "raw", 0),
        ("import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'print(input())']).returncode)",
         "in\n0\n", 0),
        ("from multiprocessing import Pool\nwith Pool(2) as p: print(p.map(abs, [-1, 2]))",
         "[1, 2]\n", 0),
        ("import concurrent.futures as c\nprint(*c.ThreadPoolExecutor(3).map(abs, [-1, 2]))", "1 2\n", 0),
        ("import asyncio; print(asyncio.run(asyncio.sleep(0.01, 'slept')))", "slept\n", 0),
        ("import tempfile; f = tempfile.NamedTemporaryFile(); f.write(b'x'); print(f.name[0])", "/\n", 0),
        ("import dataclasses\n@dataclasses.dataclass\nclass P:\n  x: 'int' = 1\nprint(P())", "P(x=1)\n", 0),
        ("import pickle\nclass P: pass\nprint(type(pickle.loads(pickle.dumps(P()))) is P)", "True\n", 0),
    ],
)  # fmt: skip
def test_a_program_runs_as_from_the_shell(pool: Pool, code: str, stdout: str, exit_code: int) -> None:
    run = pool.run_python(code, "in\n")
    assert (run.stdout, run.exit_code) == (stdout, exit_code), run.stderr


def test_a_traceback_shows_the_program_alone(pool: Pool) -> None:
    run = pool.run_python("def f():\n    1 / 0\n\nf()\n")
    first, *rest = run.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert [line.split(", ")[1] for line in rest if "File" in line] == ["line 4", "line 2"]
    assert "    1 / 0" in rest
    assert rest[-1] == "ZeroDivisionError: division by zero"


def test_a_syntax_error_is_told_as_the_interpreter_tells_it(pool: Pool) -> None:
    run = pool.run_python("x = 1\nx = = 2\n")
    assert run.exit_code == 1
    assert run.stderr.splitlines()[0].endswith('main.py", line 2')
    assert run.stderr.splitlines()[-1].startswith("SyntaxError")


def test_the_hash_seed_is_fixed_and_the_environment_made_from_nothing(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import os; print(hash('lcbkit'), sorted(os.environ))"
    one, other = pool.run_python(code), pool.run_python(code)
    assert one.stdout == other.stdout
    assert "OPENAI" not in one.stdout
    assert "OMP_NUM_THREADS" in one.stdout


def test_every_test_has_a_fresh_process_and_an_empty_folder(pool: Pool) -> None:
    code = """
import os, builtins
assert not os.listdir(".") and not hasattr(builtins, "left")
builtins.left = 1
os.makedirs("a/b"); open("a/b/c", "w").write("x"); os.symlink("/", "link"); os.chmod("a/b", 0)
os.chmod(".", 0o555) if os.stat(".").st_uid == os.getuid() else None
print(input())
"""
    report = pool.judge(code, make_problem([(str(i), str(i)) for i in range(6)]))
    assert report.passed, str(report)


def test_the_programs_own_file_is_whole_for_every_test(pool: Pool) -> None:
    code = """
import os
print(open(__file__).read().endswith("# whole\\n"))
try:
    os.chmod(__file__, 0o666)
    open(__file__, "w").write("x")
except OSError: pass
# whole
"""
    report = pool.judge(code, make_problem([("", "True")] * 3))
    assert report.passed


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("def f(n): return n + 1", "passed"),
        ("class Solution:\n  def f(self, n): return n + 1", "passed"),
        ("class Solution:\n  def g(self, n): return n\ndef f(n): return n + 1", "runtime_error"),
        ("import sys\ndef f(n): return n + 1 + len(sys.stdin.read()) + len(sys.argv) - 1", "passed"),
        ("def f(n): print('noise' * 100_000); return n + 1", "passed"),
        ("import os\ndef f(n): os.write(1, b'6'); os._exit(0)", "runtime_error"),
        ("def f(n): raise SystemExit(0)", "runtime_error"),
        ("def f(n): return f(n)", "runtime_error"),
        ("def f(n):\n  import os\n  return n + 1 if os.system is None else 0", "passed"),
        ("def f(n):\n  import resource\n  return n + 1", "runtime_error"),
        ("from __future__ import annotations\ndef f(n: Nothing) -> List[Nowhere]: return n + 1", "passed"),
        ("if __name__ == '__main__': 1/0\ndef f(n): return n + 1", "passed"),
        ("import threading\ndef f(n): threading.Timer(50, print).start(); return n + 1", "passed"),
        ("def f(n): return {n: (n, {n})}", "wrong_answer"),
        ("sub = 1\ndef solve(n): return n + 1", "runtime_error"),
    ],
)  # fmt: skip
def test_a_function_is_called_as_the_official_checker_calls_it(pool: Pool, code: str, verdict: str) -> None:
    report = pool.judge(code, make_problem([("5", "6")], fn_name="f"))
    assert report.results[0].verdict == verdict, str(report)


def test_a_name_of_the_prelude_is_not_the_programs_function(pool: Pool) -> None:
    report = pool.judge("def other(a, b): return a - b", make_problem([("5\n3", "2")], fn_name="sub"))
    assert report.results[0].verdict is Verdict.RUNTIME_ERROR
    assert "no function 'sub'" in report.results[0].stderr


@pytest.mark.parametrize("given", ["", "1\n", "[1", "nope"])
def test_an_input_that_is_not_json_is_the_tests_fault(pool: Pool, given: str) -> None:
    report = pool.judge("def f(*a): return 1", make_problem([(given, "1")], fn_name="f"))
    assert report.results[0].verdict is Verdict.BAD_TEST


def test_an_expected_value_that_is_not_json_is_the_tests_fault(pool: Pool) -> None:
    report = pool.judge("def f(*a): return 1", make_problem([("1", "one")], fn_name="f"))
    assert report.results[0].verdict is Verdict.BAD_TEST


def test_python_calls_go_as_deep_as_the_official_limit(pool: Pool) -> None:
    code = "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f({}))"
    assert pool.run_python(code.format(40_000)).stdout == "40000\n"
    assert "RecursionError" in pool.run_python(code.format(60_000)).stderr
    thread = (
        "import sys, threading; sys.setrecursionlimit(10**6); threading.stack_size(512 << 20)\n"
        "def f(n): return 0 if n == 0 else 1 + max([n], key=lambda _: 0) * 0 + f(n - 1)\n"
        "t = threading.Thread(target=lambda: print(f(100_000))); t.start(); t.join()"
    )
    assert pool.run_python(thread).stdout == "100000\n"


def test_compiling_counts_against_the_time_limit(pool: Pool) -> None:
    code = "\n".join(f"def f{i}(a=({i},)): return [a for a in range({i}) if a]" for i in range(60_000))
    report = pool.judge(code, make_problem([("", "")] * 3), time_limit=0.5)
    assert [result.verdict for result in report.results] == [Verdict.TIME_LIMIT] * 3
    assert pool.judge("print(6)", ONE).passed


def test_a_program_that_crashes_the_compiler_fails_all_its_tests(pool: Pool) -> None:
    report = pool.judge("x = " + "-" * 3_000_000 + "1", make_problem([("", "")] * 3))
    assert report.pass_count == 0
    assert len(report.results) == 3


def test_installed_packages_are_imported_once_for_all_tests(pool: Pool) -> None:
    code = "import numpy as np\nprint(np.arange(int(input())).sum())"
    report = pool.judge(code, make_problem([(str(n), str(n * (n - 1) // 2)) for n in range(30)]))
    assert report.passed
    assert sum(result.cpu_seconds for result in report.results) < 3  # an import each would take longer


def test_a_module_that_starts_threads_as_it_is_imported_is_left_to_the_tests(pool: Pool) -> None:
    code = "import tqdm, anyio, psygnal\nimport numpy, threading\nprint(threading.active_count())"
    run = pool.run_python(code)
    assert (run.stdout, run.exit_code) == ("1\n", 0)


def test_the_memory_of_all_processes_together_is_looked_at(pool: Pool) -> None:
    code = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        a = bytearray(b"x") * (100 << 20)
        time.sleep(50)
time.sleep(50)
"""
    report = pool.judge(code, ONE, memory_limit=400 << 20)
    assert report.results[0].verdict is Verdict.MEMORY_LIMIT


def test_processor_time_of_children_counts(pool: Pool) -> None:
    code = """
import os
for _ in range(3):
    if os.fork() == 0:
        while True: pass
os.wait()
"""
    result = pool.judge(code, ONE, time_limit=1.0).results[0]
    assert result.verdict is Verdict.TIME_LIMIT
    # On a machine so full that they get less than a tenth of a core, the cap on elapsed time comes first.
    assert result.cpu_seconds > 1.0 or result.wall_seconds > 10


def test_orphans_are_charged_when_they_have_ended(pool: Pool) -> None:
    code = """
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        end = time.process_time() + 0.4
        while time.process_time() < end: pass
        os._exit(0)
    os._exit(0)
os.wait()
os.close(writer)
os.read(reader, 1)  # its end
time.sleep(0.1)
print(6)
"""
    result = pool.judge(code, ONE).results[0]
    assert result.verdict is Verdict.PASSED
    assert 0.4 < result.cpu_seconds < 2


def test_a_module_that_speaks_when_it_is_imported_speaks_in_each_test(pool: Pool) -> None:
    report = pool.judge("import this", make_problem([("", "")] * 2))
    assert all(result.actual.startswith("The Zen of Python") for result in report.results)


def test_the_guard_reaches_modules_that_only_the_program_imports(pool: Pool) -> None:
    code = """
def f(n):
    import shutil, subprocess
    return [shutil.rmtree is None, shutil.copy is None, subprocess.Popen is None]
"""
    report = pool.judge(code, make_problem([("1", "[true, false, true]")] * 2, fn_name="f"))
    assert report.passed, str(report)
