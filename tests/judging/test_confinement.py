"""What a submission can see and touch, tried by programs that try; in every tier that this machine offers."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcbkit.judging import bubblewrap, launch
from lcbkit.judging.kernel import rlimits
from lcbkit.judging.pool import Pool
from lcbkit.judging.sandbox import sandbox_status
from lcbkit.storage import cache_folder, shipped_folder
from tests.conftest import ROOT
from tests.judging.trials import make_problem

TRY_TO_READ = """
import os
for path in {paths!r}:
    try:
        print("read", path, os.listdir(path) if os.path.isdir(path) else open(path).read(1))
    except OSError:
        pass
"""
TRY_TO_WRITE = """
import os
for folder in ["/", "/tmp", "/usr", "/usr/lib", "/etc", "/dev", "/proc", "/home", "/root", "/judge",
               "/scratch", "/var/tmp", "/run", os.path.dirname(__file__), os.path.dirname(os.__file__)]:
    try:
        name = os.path.join(folder, "trace-of-a-test")
        if os.path.realpath(folder) != os.getcwd():
            open(name, "w").close()
            print("wrote", name)
    except OSError:
        pass
try:
    open(__file__, "a").close()
    print("wrote", __file__)
except OSError:
    pass
"""


@pytest.fixture
def bwrap(tier: str, pool: Pool) -> Pool:
    if tier != "bwrap":
        pytest.skip("file systems and network are bubblewrap's")
    return pool


@pytest.fixture
def walled(tier: str, pool: Pool) -> Pool:
    """A pool that shows programs only what the status says."""
    if not any(words.startswith("nothing to read but") for words in sandbox_status(tier).holds):
        pytest.skip("nothing walls files in here, as the status says")
    return pool


def output(pool: Pool, code: str) -> str:
    run = pool.run_python(code)
    assert run.exit_code == 0, run.stderr
    return run.stdout


def test_nothing_of_ours_can_be_read(walled: Pool, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    ours = [ROOT, ROOT / "lcbkit", Path.home() / ".ssh", Path.home() / ".bashrc", cache_folder(), secret]
    ours += [shipped_folder("sample"), Path("/etc/passwd"), Path("/etc/hostname"), Path("/var"), Path("/sys")]
    assert output(walled, TRY_TO_READ.format(paths=[str(path) for path in ours])) == ""


def test_the_home_folder_shows_no_more_than_the_way_to_the_interpreter(bwrap: Pool) -> None:
    code = (
        f"import os; print(os.listdir({str(Path.home())!r}) if os.path.isdir({str(Path.home())!r}) else [])"
    )
    inside = eval(output(bwrap, code))
    needed = [Path(sys.prefix), Path(sys.base_prefix), *map(Path, sys.path)]
    ways = [path.relative_to(Path.home()).parts[:1] for path in needed if path.is_relative_to(Path.home())]
    assert {(name,) for name in inside} <= set(ways)


def test_no_copy_of_the_library_can_be_read(bwrap: Pool) -> None:
    code = """
import os, sys
for folder in sys.path:
    for root, _, files in os.walk(os.path.join(folder, "lcbkit")):
        for name in files: print(os.path.join(root, name))
try:
    import lcbkit.problems
    print("imported")
except ImportError: pass
"""
    assert output(bwrap, code) == ""


@pytest.mark.usefixtures("walled")
def test_an_installed_copy_of_the_library_is_closed(monkeypatch: pytest.MonkeyPatch, tier: str) -> None:
    (site, *_) = bubblewrap.site_folders()
    monkeypatch.setattr(bubblewrap, "_PACKAGE", site / "pip")  # as if that were ours, with our data inside
    monkeypatch.setattr(bubblewrap, "shipped_folder", lambda _: site / "pip" / "_internal")
    with Pool(1, sandbox=tier) as own:
        closed, open_one = str(site / "pip" / "__init__.py"), str(site / "psutil" / "__init__.py")
        assert output(own, TRY_TO_READ.format(paths=[closed, open_one])).split()[:2] == ["read", open_one]
        assert output(own, "import numpy; print(numpy.ones(2).sum())") == "2.0\n"


def test_files_of_the_same_user_cannot_be_marked(
    tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not any(words.startswith("nothing to write but") for words in sandbox_status(tier).holds):
        pytest.skip("nothing keeps programs from that here, as the status says")
    monkeypatch.setattr(launch, "unused_uid", lambda _: None)  # run by root, tests stay root then
    file = tmp_path / "file"
    file.write_text("text")
    before = file.stat()
    code = f"""
import os
for mark in (lambda p: os.chmod(p, 0o777), lambda p: os.utime(p, (1, 1)), lambda p: os.truncate(p, 1),
             lambda p: os.setxattr(p, "user.note", b"x"), lambda p: os.chown(p, os.getuid(), os.getgid()),
             lambda p: os.chmod("/proc/self/fd/%d" % os.open(p, os.O_PATH), 0o777)):
    try: mark({str(file)!r})
    except OSError: pass
import shutil
open("a", "w").write("6")
shutil.copy("a", "b")
print(open("b").read())
"""
    with Pool(1, sandbox=tier) as own:
        assert output(own, code) == "6\n"
    after = file.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns, after.st_size) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ctime_ns,
        before.st_size,
    )


def test_no_local_socket_of_others_can_be_reached(pool: Pool, tier: str, tmp_path: Path) -> None:
    if not any(words.startswith("no talk to your other programs") for words in sandbox_status(tier).holds):
        pytest.skip("nothing keeps programs from them here, as the status says")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o777)
        server.listen()
        code = f"import socket\ntry: socket.socket(socket.AF_UNIX).connect({str(path)!r}); print('in')\n"
        assert output(pool, code + "except OSError: print('no')") == "no\n"


def test_only_the_working_folder_can_be_written(walled: Pool) -> None:
    assert output(walled, TRY_TO_WRITE) == ""


def test_the_scratch_folder_is_small_and_given_back(bwrap: Pool) -> None:
    code = """
import os, resource
total = 0
try:
    for number in range(100):
        with open(str(number), "wb") as file:
            for _ in range(100):
                total += file.write(bytes(1 << 20))
except OSError as error:
    print(total >> 20, error.strerror)
"""
    size, reason = output(bwrap, code).split(" ", 1)
    assert 100 < int(size) <= 256
    assert reason == "No space left on device\n"
    assert output(bwrap, "open('x', 'wb').write(bytes(100 << 20)); print(1)") == "1\n"


def test_the_scratch_folder_holds_so_many_files(bwrap: Pool) -> None:
    code = """
import os
try:
    for number in range(40_000): os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY))
except OSError as error:
    print(number, error.strerror)
"""
    number, reason = output(bwrap, code).split(" ", 1)
    assert 30_000 < int(number) <= 32_768
    assert reason == "No space left on device\n"
    assert output(bwrap, "open('x', 'w').close(); print(1)") == "1\n"


def test_there_is_no_network(tier: str, pool: Pool) -> None:
    if not any(words.startswith("no network") for words in sandbox_status(tier).holds):
        pytest.skip("nothing keeps programs from the network here, as the status says")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\ntry: socket.create_connection(('127.0.0.1', {port}), 1); print('in')\n"
        assert output(pool, code + "except OSError: print('no')") == "no\n"
    if tier == "bwrap":
        assert output(pool, "import socket; print([n for _, n in socket.if_nameindex()])") == "['lo']\n"


def test_no_key_of_the_caller_is_in_any_environment(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = """
import glob
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        if b"sk-secret" in open(path, "rb").read(): print(path)
    except OSError: pass
"""
    with Pool(1, sandbox=tier) as fresh:
        assert output(fresh, code) == "" or tier == "limits"
        assert "sk-secret" not in output(fresh, "import os; print(os.environ)")


def test_no_descriptor_leads_to_the_judge(pool: Pool) -> None:
    code = """
import os
for fd in range(3, 300):
    try:
        os.write(fd, b"forged")
        print(fd, os.readlink(f"/proc/self/fd/{fd}"))
    except OSError: pass
"""
    assert output(pool, code) == ""
    report = pool.judge(
        f"def f(n):\n{code.replace(chr(10), chr(10) + ' ')}", make_problem([("1", "1")], fn_name="f")
    )
    assert report.results[0].verdict in ("runtime_error", "wrong_answer")


def test_there_are_no_rights_and_no_way_to_new_ones(pool: Pool) -> None:
    code = """
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(status["NoNewPrivs"].strip(), int(status["CapEff"], 16) & ~4, int(status["CapPrm"], 16) & ~4)
"""
    assert output(pool, code) == "1 0 0\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="about what root gives up")
def test_run_by_root_a_test_is_another_user_than_root(pool: Pool) -> None:
    assert int(output(pool, "import os; print(os.getuid())")) > 65_536
    assert output(pool, "import os\ntry: os.setuid(0)\nexcept OSError: print('no')") == "no\n"


def test_limits_cannot_be_lifted(pool: Pool) -> None:
    code = """
import resource as r
for name in ("AS", "DATA", "FSIZE", "NOFILE", "NPROC", "CPU"):
    kind = getattr(r, "RLIMIT_" + name)
    soft, hard = r.getrlimit(kind)
    try:
        r.setrlimit(kind, (r.RLIM_INFINITY, r.RLIM_INFINITY))
        print(name, "lifted")
    except (ValueError, OSError):
        if hard == r.RLIM_INFINITY: print(name, "not set")
"""
    assert output(pool, code) == ""


def test_a_limit_of_the_caller_is_not_raised() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = dict(rlimits(1.0, 0, 1 << 40, 1 << 20))
    assert wanted[resource.RLIMIT_NOFILE][1] <= (hard if hard != resource.RLIM_INFINITY else 1 << 60)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)


@pytest.fixture
def bystander() -> Iterator["subprocess.Popen[bytes]"]:
    """A process of ours that no test may reach; of a session of its own, like those that a user has."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_a_signal_to_everybody_reaches_nobody_else(
    pool: Pool, bystander: "subprocess.Popen[bytes]", number: signal.Signals
) -> None:
    run = pool.run_python(
        f"import os; print(6, flush=True); os.kill(-1, {int(number)}); os.kill(os.getpid(), 9)"
    )
    assert run.stdout == "6\n"
    time.sleep(0.1)
    assert bystander.poll() is None
    assert Path(f"/proc/{bystander.pid}/stat").read_text().rpartition(")")[2].split()[0] in "SR"
    assert pool.run_python("print(7)").stdout == "7\n"


def test_the_processes_that_judge_cannot_be_signalled(bwrap: Pool) -> None:
    code = """
import glob, os, signal
numbers = {os.getppid(), 1} | {int(path[6:]) for path in glob.glob("/proc/[0-9]*")}
for number in numbers - {os.getpid(), 0}:
    for kind in (signal.SIGSTOP, signal.SIGKILL):
        try: os.kill(number, kind)
        except OSError: pass
print(6)
"""
    before = set(bwrap._crew._idle)
    report = bwrap.judge(code, make_problem([("", "6")] * 2))
    assert report.passed, str(report)
    assert set(bwrap._crew._idle) >= before


def test_the_memory_of_the_processes_that_judge_cannot_be_read(pool: Pool) -> None:
    code = """
import glob, os
me = os.path.basename(os.path.realpath("/proc/self"))
for path in glob.glob("/proc/[0-9]*/mem"):
    try:
        if path.split("/")[2] != me and b"worker.py" in open(path[:-3] + "cmdline", "rb").read():
            open(path, "rb")
            print(path)
    except OSError: pass
"""
    assert output(pool, code) == ""


def test_a_fork_bomb_ends_with_its_test(bwrap: Pool) -> None:
    code = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"
    report = bwrap.judge(code, make_problem([("", "6")]), time_limit=1.0)
    assert report.results[0].verdict == "time_limit"
    assert bwrap.run_python("print(7)").stdout == "7\n"
