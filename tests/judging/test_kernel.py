"""What a worker asks of the kernel is what it gets, each tried in a process of its own."""

import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lcbkit.judging import kernel

linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's calls are Linux's")


def in_a_child(work: Callable[[], object]) -> int:
    """Exit status of a child that does the work; the number of an OSError, 255 for any other exception."""
    child = os.fork()
    if child == 0:
        status = 255
        try:
            work()
            status = 0
        except OSError as error:
            status = error.errno or 254
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@linux
def test_limits_are_set_as_wanted() -> None:
    def work() -> None:
        for kind, limit in kernel.rlimits(1.5, 1 << 30, 1 << 20, 99):
            resource.setrlimit(kind, limit)
        assert resource.getrlimit(resource.RLIMIT_AS) == (1 << 30, 1 << 30)
        assert resource.getrlimit(resource.RLIMIT_FSIZE) == (1 << 20, 1 << 20)
        assert resource.getrlimit(resource.RLIMIT_NPROC) == (99, 99)
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)

    assert in_a_child(work) == 0


@linux
def test_no_memory_limit_leaves_memory_alone() -> None:
    kinds = [kind for kind, _ in kernel.rlimits(1.0, 0, 1, 1)]
    assert resource.RLIMIT_AS not in kinds
    assert resource.RLIMIT_STACK not in kinds  # glibc takes it for every thread's stack


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_root_finds_a_user_that_can_run_and_read() -> None:
    folder = str(Path(os.__file__).parent)
    user = kernel.find_user(1_999_999_999, [folder])

    def work() -> None:
        assert user is not None
        kernel.become(user)
        assert os.getresuid() == (1_999_999_999,) * 3
        assert list(Path(folder).iterdir())
        os.kill(os.getppid(), 0)

    assert in_a_child(work) == errno.EPERM


def test_without_a_number_no_user_is_sought() -> None:
    assert kernel.find_user(None, ["/"]) is None


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="ordinary users make namespaces inside of bubblewrap only")
def test_the_first_process_of_a_namespace_has_number_one_and_the_way_back_is_open() -> None:
    def work() -> None:
        own = kernel.own_pids()
        if own < 0:
            return  # a container that lets nobody make namespaces
        kernel.new_pids()
        assert in_a_child(lambda: os.kill(os.getpid(), 0) if os.getpid() == 1 else os._exit(3)) == 0
        kernel.leave_pids(own)
        assert in_a_child(lambda: os._exit(4) if os.getpid() == 1 else None) == 0

    assert in_a_child(work) == 0


def test_signals_are_as_an_interpreter_has_them_at_its_start() -> None:
    def work() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        kernel.reset_signals()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == set()

    assert in_a_child(work) == 0
