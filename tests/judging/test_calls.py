"""The filter refuses what it should and nothing that ordinary programs need, each tried in a child."""

import ctypes
import errno
import mmap
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lcbkit.judging import calls, kernel
from tests.judging.test_kernel import in_a_child

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="the filter knows two kinds of machine",
)
ALLOWED = 0


def filtered(work: Callable[[], object], *, own_pids: bool = False, network: bool = False) -> int:
    """How a child ends that does the work behind the filter: 0, or the number of its OSError."""

    def run() -> None:
        kernel.forbid_new_privileges()
        assert calls.filter_calls(own_pids=own_pids, network=network)
        work()

    return in_a_child(run)


def call(name: str, *arguments: int) -> Callable[[], None]:
    """A system call by its number on this machine."""

    def run() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        number = calls._NUMBERS[name][list(calls._MACHINES).index(platform.machine())]
        if number >= 0 and libc.syscall(number, *arguments) == -1:
            raise OSError(ctypes.get_errno(), name)

    return run


@pytest.mark.parametrize(
    "name",
    [name for name in calls._NUMBERS if name not in calls._conditions(own_pids=False, network=False)],
)
def test_a_call_that_no_program_needs_is_refused(name: str) -> None:
    wanted = {"clone3": errno.ENOSYS}.get(name, errno.EPERM)
    missing = calls._NUMBERS[name][list(calls._MACHINES).index(platform.machine())] < 0
    # Bad addresses and descriptors all over: reached, each would fail in another way than that.
    assert filtered(call(name, -1, -1, -1, -1, -1)) == (ALLOWED if missing else wanted)


def test_a_call_that_this_list_does_not_know_does_not_exist() -> None:
    def work(number: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall(number, -1, -1, -1)
        raise OSError(ctypes.get_errno(), "")

    for number in (calls._NEWER, 1_000, 0x40000000 + 39):  # the last: a second table of x86_64
        assert filtered(lambda number=number: work(number)) == errno.ENOSYS  # type: ignore[misc]


@pytest.mark.parametrize(
    ("work", "own_pids", "wanted"),
    [
        (lambda: os.kill(-1, 0), False, errno.EPERM),
        (lambda: os.kill(-1, 0), True, ALLOWED),  # signal 0 asks for the right alone
        (lambda: os.kill(os.getpid(), 0), False, ALLOWED),
        (call("clone", 0x10000000 | 17), True, errno.EPERM),  # a user namespace
        (call("clone", 0x8000 | 17), True, errno.EPERM),  # a sibling
        (call("unshare", 0x10000000), True, errno.EPERM),
        (call("unshare", 0x20000000 | 0x10000000), True, errno.EPERM),
        (call("setns", 0, 0), True, errno.EPERM),
        (call("setns", 0, 0x20000000), True, errno.EINVAL),  # allowed, but that is no namespace
        (call("personality", 0x0040000), True, errno.EPERM),
        (call("personality", 0xFFFFFFFF), True, ALLOWED),
        (call("setpriority", 2, 0, 19), True, errno.EPERM),  # of a user, hence of all its processes
        (call("setpriority", 0, 1, 19), True, errno.EPERM),
        (call("setpriority", 0, 0, 19), True, ALLOWED),
        (call("prlimit64", 1, 7, 0, 0), True, errno.EPERM),
        (call("prlimit64", 0, 7, 0, 0), True, ALLOWED),
        (call("sched_setaffinity", 1, 0, 0), True, errno.EPERM),
    ],
)
def test_arguments_decide_about_a_call(work: Callable[[], object], own_pids: bool, wanted: int) -> None:
    assert filtered(work, own_pids=own_pids) == wanted


def test_sockets_of_the_internet_are_refused_where_they_would_lead_there() -> None:
    assert filtered(socket.socket) == errno.EPERM
    assert filtered(lambda: socket.socket(socket.AF_INET6)) == errno.EPERM
    assert filtered(socket.socket, network=True) == ALLOWED
    assert filtered(lambda: socket.socket(40, socket.SOCK_STREAM), network=True) == errno.EPERM  # vsock
    assert filtered(lambda: socket.socket(socket.AF_UNIX)) == errno.EPERM
    assert filtered(lambda: socket.socket(socket.AF_UNIX), network=True) == ALLOWED
    assert filtered(socket.socketpair) == ALLOWED


def test_nothing_is_marked_and_nobody_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    before = file.stat()

    def work() -> None:
        kernel.forbid_new_privileges()
        assert calls.make_marks_filter()()
        os.chmod(file, 0o777)  # noqa: PTH101 - the calls that the filter is about
        os.utime(file, (1, 1))
        os.chown(file, os.getuid(), os.getgid())
        os.setxattr(file, "user.note", b"x")
        with file.open() as opened:
            os.fchmod(opened.fileno(), 0o777)
            os.utime(opened.fileno(), (1, 1))
        shutil.copy2(file, tmp_path / "copy")
        assert (tmp_path / "copy").read_text() == "text"

    assert in_a_child(work) == 0
    after = file.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only there is a second way to call")
def test_calls_by_the_32_bit_way_do_not_exist() -> None:
    def work() -> None:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes.fromhex("53 b8 14 00 00 00 cd 80 5b c3"))  # getpid
        function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
        assert function() == -errno.ENOSYS

    assert filtered(work) in (ALLOWED, -11)  # a kernel without that way ends the process


def test_threads_processes_and_programs_start_as_ever() -> None:
    def work() -> None:
        thread = threading.Thread(target=lambda: os.waitpid(os.fork() or os._exit(0), 0))
        thread.start()
        thread.join()
        program = "import multiprocessing; print(multiprocessing.Pool(2).map(abs, [-3]), end='')"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert ran.stdout == "[3]"
        subprocess.run("exit 0", shell=True, check=True)

    assert filtered(work) == ALLOWED


@pytest.mark.parametrize(
    ("column", "header"),
    [(0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), (1, "/usr/include/asm-generic/unistd.h")],
)
def test_the_numbers_are_those_of_the_systems_headers(column: int, header: str) -> None:
    if not Path(header).exists():
        pytest.skip("the kernel's headers are not installed")
    text = Path(header).read_text()
    known = {name: int(number) for name, number in re.findall(r"define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    for name, numbers in (calls._NUMBERS | calls._MARKS).items():
        if name in known or numbers[column] < max(known.values()):
            assert numbers[column] == known.get(name, -1), name
