"""What a stranger tried against the judge: each test states the claim that it holds."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lcbkit.judging.encoding import decode_value
from lcbkit.judging.pool import Pool
from lcbkit.judging.report import Execution, TestResult, Verdict
from lcbkit.judging.sandbox import sandbox_status
from tests.conftest import ROOT
from tests.judging.trials import make_problem

# System calls without a wrapper in the standard library.
CALLS = """\
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
numbers = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(os.uname().machine)
if numbers is None: print("unknown machine"); sys.exit(75)
ADD_KEY, KEYCTL = numbers
"""


def calls(pool: Pool, code: str, **limits: float) -> Execution:
    """Run a program that makes system calls by number; skips where those are unknown."""
    ran = pool.run_python(CALLS + code, **limits)  # type: ignore[arg-type]
    if ran.exit_code == 75:
        pytest.skip("numbers of system calls are not known for this machine")
    return ran


def verdict(pool: Pool, code: str, given: str, wanted: str) -> Verdict:
    (result,) = pool.judge(code, make_problem([(given, wanted)], "f"), time_limit=2).results
    return result.verdict


def forger(payload: str) -> str:
    return (
        f"import os\ndef f(x):\n  b = {payload.encode() + chr(10).encode()!r}\n"
        "  while b: b = b[os.write(200, b):]\n  os._exit(0)\n"
    )


# The caller survives whatever comes back


def test_no_returned_number_raises_in_the_caller_or_keeps_its_worker(tier: str) -> None:
    code = "from decimal import Decimal\ndef f(x): return [{'a': Decimal('sNaN')}, Decimal('sNaN')][x]\n"
    with Pool(1, sandbox=tier) as own:
        kept = []
        for place, wanted in ((0, '{"a": 1}'), (1, "1")):
            assert not kept or own._crew.free() == 1
            try:
                assert verdict(own, code, str(place), wanted) is Verdict.WRONG_ANSWER
            except ArithmeticError as error:
                kept.append(error)
        assert not kept


PAYLOADS = (
    'T[]', 'T["F","0x1","0x0"]', 'T["n","zz"]', 'T["c",1e999,"a"]', 'T["D","1E+999999999999999999"]',
    'T["d",[["l"],1]]', 'T["o"]', 'T["s",["l"]]', "JNaN", "J-Infinity", "J1e400", "J" + "[" * 30_000, "", "J",
    'T["n","0x' + "f" * 60_000 + '"]', "J" + "9" * 60_000, 'T["D",[0,[1],0]]', 'T["o",{"a":[1]}]',
)  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload[:24])
def test_a_forged_answer_is_wrong_and_nothing_worse(pool: Pool, payload: str) -> None:
    assert verdict(pool, forger(payload), "1", '{"a": 1}') is Verdict.WRONG_ANSWER


@pytest.mark.parametrize("shape", ['["s",{}]', '["d",{}]'])
def test_numbers_of_equal_hash_cost_the_caller_no_more_than_others(shape: str) -> None:
    def cost(step: int) -> float:
        numbers = [str(step * place) for place in range(1, 3_000)]
        items = numbers if '"s"' in shape else [f"[{number},0]" for number in numbers]
        payload = f"T{shape.format(','.join(items))}".encode()
        start = time.process_time()
        decode_value(payload)
        return time.process_time() - start

    usual = min(cost(2**61 + 1) for _ in range(3))
    # Other work on the machine only ever adds: quadratic work has no quick try.
    assert any(cost(2**61 - 1) < 20 * usual + 0.05 for _ in range(5))


def test_a_report_is_text_that_can_be_stored(pool: Pool) -> None:
    code = "class X:\n  def __repr__(self): return '\\ud800'\ndef f(x): return X()\n"
    report = pool.judge(code, make_problem([("1", "1")], "f"))
    assert not report.passed
    str(report).encode()
    report._repr_html_().encode()
    json.dumps(report.to_dict(), ensure_ascii=False).encode()


# Limits


def test_time_of_children_counts_that_nobody_waits_for(pool: Pool) -> None:
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for _ in range(12):\n"
        "  if not (child := os.fork()):\n"
        "    while time.process_time() < 0.1: pass\n"
        "    os._exit(0)\n"
        "  try: os.waitpid(child, 0)\n"
        "  except ChildProcessError: pass\n"
    )
    assert pool.run_python(code, time_limit=0.4).timed_out


def test_a_sleeper_that_seems_to_wait_for_a_disk_is_caught(pool: Pool) -> None:
    code = (
        "import ctypes, os, time\n"
        "number = {'x86_64': 56, 'aarch64': 220}.get(os.uname().machine)\n"
        "if ctypes.CDLL(None).syscall(number, 0x4000 | 17, 0, 0, 0, 0) == 0: time.sleep(2.2); os._exit(0)\n"
    )
    assert pool.run_python(code, time_limit=0.4).timed_out


def test_memory_in_nameless_files_counts(pool: Pool) -> None:
    code = (
        "import os, time\nblock = bytes(1 << 20)\n"
        "for _ in range(3):\n  file = os.memfd_create('x')\n  for _ in range(40): os.write(file, block)\n"
        "time.sleep(0.7)\nprint('held')\n"
    )
    assert "held" not in pool.run_python(code, memory_limit=80 << 20).stdout


def test_memory_in_shared_segments_counts(pool: Pool) -> None:
    code = (
        "kept = []\n"
        "for _ in range(3):\n"
        "  kept.append(libc.shmget(0, 40 << 20, 0o1600))\n"
        "  if kept[-1] < 0: sys.exit('refused')\n"
        "  place = libc.shmat(kept[-1], None, 0)\n"
        "  ctypes.memset(place, 65, 40 << 20)\n"
        "  libc.shmdt(ctypes.c_void_p(place))\n"
        "for name in kept: libc.shmctl(name, 0, None)\n"
        "print('held')\n"
    )
    assert "held" not in calls(pool, code, memory_limit=80 << 20).stdout


def test_no_program_makes_namespaces_with_rights_in_them(pool: Pool) -> None:
    ran = calls(pool, "print(libc.unshare(0x10000000))\nprint(open('/proc/self/status').read())\n")
    assert ran.stdout.startswith("-1\n")
    assert "CapEff:\t000001ffffffffff" not in ran.stdout


# Nothing passes from one program to the next


def test_a_message_queue_does_not_outlive_its_test(pool: Pool) -> None:
    code = (
        "queue = libc.mq_open(b'/lcbkit-red-team', 0o2)\n"
        "print('found' if queue >= 0 else 'none')\n"
        "if queue >= 0: libc.mq_unlink(b'/lcbkit-red-team')\n"
        "else: libc.mq_send(libc.mq_open(b'/lcbkit-red-team', 0o102, 0o600, None), b'left', 4, 0)\n"
    )
    outputs = {result.actual.strip() for result in judged_twice(pool, CALLS + code)}
    assert outputs == {"none"}


def test_a_key_does_not_outlive_its_test(pool: Pool) -> None:
    code = (
        "key = libc.syscall(KEYCTL, 10, -4, b'user', b'lcbkit-red-team', 0)\n"
        "print('found' if key > 0 else 'none')\n"
        "if key > 0: libc.syscall(KEYCTL, 9, key, -4)\n"
        "else: libc.syscall(ADD_KEY, b'user', b'lcbkit-red-team', b'left', 4, -4)\n"
    )
    outputs = {result.actual.strip() for result in judged_twice(pool, CALLS + code)}
    assert outputs == {"none"}


HUNT = """
import re
found = 0
for line in open("/proc/self/maps"):
    words = line.split()
    if "r" in words[1] and not (words + [""])[5].startswith("[v"):
        start, end = (int(word, 16) for word in words[0].split("-"))
        with open("/proc/self/mem", "rb") as memory:
            memory.seek(start)
            try: found += len(re.findall(rb"XYZZY[-]PLUGH", memory.read(end - start)))
            except OSError: pass
"""


def test_the_text_of_a_program_is_not_in_the_memory_of_the_next(tier: str) -> None:
    text = "".join(f"v{number} = 'XYZZY-PLUGH {number}'\n" for number in range(2_000))
    with Pool(1, sandbox=tier) as own:
        assert int(own.run_python(text + HUNT + "print(found)").stdout) > 0
        assert own.run_python(HUNT + "print(found)").stdout == "0\n"


def judged_twice(pool: Pool, code: str) -> tuple[TestResult, ...]:
    """Results of two tests of one worker; the second takes back what the first may have left."""
    return pool.judge(code, make_problem([("", "none")] * 2)).results


# Nothing of the judge or of its caller is within reach


def test_the_line_to_the_judge_is_closed_however_many_files_the_caller_has_open(tier: str) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < 4_500:
        pytest.skip("the system gives too few descriptors")
    program = (
        "import os, resource\nfrom lcbkit.judging.pool import Pool\n"
        "_, most = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (4500, most))\n"
        "kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(4150)]\n"
        f"with Pool(1, sandbox={tier!r}) as pool:\n"
        "    code = 'import os\\nfor fd in range(3, 4500):\\n  try: os.fstat(fd); print(fd)\\n'\n"
        "    code += '  except OSError: pass'\n"
        "    print(pool.run_python(code).stdout, end='')\n"
    )
    assert run_caller(program) == ""


def test_a_caller_without_standard_streams_can_judge(tier: str) -> None:
    program = (
        "import os\nkeep = os.dup(1)\nos.closerange(0, 3)\n"
        "from lcbkit.judging.pool import Pool\n"
        f"with Pool(1, sandbox={tier!r}) as pool:\n"
        "    os.write(keep, pool.run_python('print(7)').stdout.encode())\n"
    )
    assert run_caller(program) == "7\n"


@pytest.mark.parametrize("home", ["closed", "none"])
def test_a_caller_without_a_home_can_judge(tier: str, home: str, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"HOME": str(tmp_path / "closed" / "home")} if home == "closed" else {}
    program = (
        "from lcbkit.judging.pool import Pool\n"
        f"with Pool(1, sandbox={tier!r}) as pool: print(pool.run_python('print(7)').stdout, end='')\n"
    )
    somebody: dict[str, Any] = {"user": 54_321, "group": 54_321, "extra_groups": []}
    given = somebody if os.geteuid() == 0 else {}
    try:
        subprocess.run([sys.executable, "-c", "import platformdirs"], env=environment, check=True, **given)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("others cannot run this interpreter")
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        **given,
    )
    assert ran.stdout == "7\n", ran.stderr


def claims(tier: str | None, words: str) -> bool:
    return any(text.startswith(words) for text in sandbox_status(tier).holds)


def run_caller(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, timeout=60, check=False, text=True
    ).stdout


def test_the_process_that_judges_takes_no_signal_or_limit_of_a_test(pool: Pool) -> None:
    code = (
        "import os, resource, signal\nabove = os.getppid()\n"
        "if above != 1: print('alive'); raise SystemExit\n"
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSTOP):\n"
        "  try: os.kill(above, number)\n  except OSError: pass\n"
        "try: resource.prlimit(above, resource.RLIMIT_NOFILE, (4, 4))\nexcept OSError: pass\n"
        "print('alive')\n"
    )
    assert pool.run_python(code).stdout == "alive\n"


def test_the_memory_of_no_process_above_opens(pool: Pool) -> None:
    if not claims(pool._crew.setting, "no look at your other processes"):
        pytest.skip("an ordinary user's other processes are open to its tests, as the status says")
    code = (
        "import os\nmine = os.readlink('/proc/self')\n"
        "for name in os.listdir('/proc'):\n"
        "  if name.isdigit() and name != mine:\n"
        "    try: open(f'/proc/{name}/mem', 'rb'); print(name)\n    except OSError: pass\n"
    )
    assert pool.run_python(code).stdout == ""


def test_the_callers_environment_is_out_of_reach(tier: str) -> None:
    program = (
        "import os\nfrom lcbkit.judging.pool import Pool\n"
        "code = '''import os\nfor name in os.listdir('/proc'):\n"
        "  try:\n    text = name.isdigit() and open(f'/proc/{name}/environ', 'rb').read()\n"
        "    if text and b'LCBKIT_' + b'RED_TEAM=' in text: print(name)\n"
        "  except OSError: pass'''\n"
        f"with Pool(1, sandbox={tier!r}) as pool: print(pool.run_python(code).stdout, end='')\n"
    )
    if not claims(tier, "no look at your other processes"):
        pytest.skip("a program of the same user reads it, as the status says")
    environment = dict(os.environ) | {"LCBKIT_RED_TEAM": "secret"}
    ran = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, timeout=60, check=True
    )
    assert ran.stdout == b""


# Strange programs


@pytest.mark.parametrize(
    "code",
    [
        "print(1)\0",
        "x=" + "(" * 5_000 + "1" + ")" * 5_000, "x=" + "-" * 200_000 + "1", "x=" + "9" * 60_000,
    ],
    ids=["null byte", "parentheses", "signs", "digits"],
)  # fmt: skip
def test_a_program_that_cannot_be_compiled_fails_by_itself(pool: Pool, code: str) -> None:
    ran = pool.run_python(code)
    assert ran.exit_code == 1
    assert "Error" in ran.stderr


# Rights


def test_a_program_of_root_lends_no_rights(pool: Pool) -> None:
    code = (
        "import os, stat, subprocess\n"
        "names = ['su', 'passwd', 'mount', 'chsh', 'newgrp', 'gpasswd']\n"
        "paths = [path for path in (f'/usr/bin/{name}' for name in names) if os.path.exists(path)]\n"
        "paths = [path for path in paths if os.stat(path).st_mode & stat.S_ISUID]\n"
        "for path in paths:\n"
        "  ran = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=-3, stderr=-3)\n"
        "  for name in filter(str.isdigit, os.listdir('/proc')):\n"  # under another number there
        "    try:\n"
        "      if os.path.basename(path) == open(f'/proc/{name}/comm').read().strip():\n"
        "        lines = [line.split() for line in open(f'/proc/{name}/status')]\n"
        "        if ['Uid:', str(os.getuid())] in [words[:2] for words in lines]:\n"
        "          for words in lines:\n"
        "            if words[0] in ('Uid:', 'CapEff:'): print(*sorted(set(words[1:])))\n"
        "    except OSError: pass\n"
        "  ran.kill(); ran.wait()\n"
        "print(os.getuid(), len(paths))\n"
    )
    *lines, last = pool.run_python(code).stdout.splitlines()
    user, found = last.split()
    if found == "0":
        pytest.skip("no such program is in sight")
    assert set(lines) <= {user, "0000000000000000", "0000000000000004"}


def test_no_program_traces_even_its_own_child(pool: Pool) -> None:
    code = (
        "import signal\nnumber = {'x86_64': 101, 'aarch64': 117}.get(os.uname().machine)\n"
        "child = os.fork()\nif not child: signal.pause()\n"
        "print(libc.syscall(number, 16, child, 0, 0), os.strerror(ctypes.get_errno()))\n"
        "os.kill(child, 9)\n"
    )
    assert calls(pool, code).stdout == "-1 Operation not permitted\n"


def test_a_full_folder_for_temporary_files_is_told_and_no_verdict(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can mount a small one")
    program = (
        "import os, pathlib\nfrom lcbkit.judging.pool import Pool\n"
        "from tests.judging.trials import make_problem\n"
        "with Pool(1, sandbox='limits') as pool:\n"
        "    assert pool.run_python('print(7)').stdout == '7\\n'\n"
        "    folder = pathlib.Path(os.environ['TMPDIR'])\n"
        "    with (folder / 'fill').open('wb', buffering=0) as file:\n"
        "        try:\n            while True: file.write(bytes(4096))\n"
        "        except OSError: pass\n"
        "    report = pool.judge('print(6)' + ' ' * 5000, make_problem([('', '6')]))\n"
        "    print(report.results[0].verdict, report.results[0].stderr)\n"
        "    (folder / 'fill').unlink()\n"
        "    print(pool.judge('print(6)', make_problem([('', '6')])).passed)\n"
    )
    mount = 'mount -t tmpfs -o size=1m,mode=1777 x "$TMPDIR" && exec "$@"'
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-c", program],
        env=dict(os.environ) | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if "mount" in ran.stderr and not ran.stdout:
        pytest.skip(f"no small file system can be mounted: {ran.stderr.strip()}")
    told, again = ran.stdout.splitlines()
    assert told.startswith("internal_error")
    assert "No space left" in told
    assert again == "True"
