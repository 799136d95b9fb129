"""One test's process tree, from the fork to the last reaped orphan: clock, accountant and undertaker.

`worker.py` loads this file by its path; it runs in the submission process, outside of the test's. Standard
library only.

Time is the CPU time of everything that a test has started. A tree that neither computes nor waits for a core
is idle, and idle time has a limit of its own; both stay put when the machine is busy with other things.
"""

import contextlib
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from os import fchmod, fork, kill  # the guard of functional tests takes them out of `os`
from typing import NamedTuple, NoReturn

__all__ = ["Limits", "Test", "kill_descendants"]

_STDERR_KEPT = 64 * 1024
_CHUNK = 1 << 16  # as much as a pipe holds
_CLEANUP_SECONDS = 10.0
_LOOK_SECONDS = 0.5
_QUICK_LOOK_SECONDS = 0.02
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MAXRSS_UNIT = 1024 if sys.platform == "linux" else 1
_OUTCOME = '{"status": %d, "killed": "%s", "wall": %r, "cpu": %r, "memory": %d, "main": %d}'
_HAS_PIDFD = hasattr(os, "pidfd_open")
_exit = os._exit


class Limits(NamedTuple):
    """What a test may use: CPU seconds, bytes of output, bytes of memory (0 for no limit)."""

    time: float
    output: int
    memory: int


class Test:
    """One test.

    Args:
        limits: what it may use.
        own_pids: whether this is the first process of a namespace, so that one signal reaches all others.
    """

    __test__ = False

    def __init__(self, limits: Limits, *, own_pids: bool) -> None:
        self.limits, self.own_pids = limits, own_pids
        self.cpu, self.memory, self.idle, self.killed = 0.0, 0, 0.0, ""
        self.main, self.err, self.err_size = bytearray(), bytearray(), 0
        self.end: tuple[int, resource.struct_rusage] | None = None

    def run(self, become: Callable[[int, int], NoReturn]) -> tuple[str, bytes]:
        """Fork, let the child become the test, and tell how it ended.

        Args:
            become: called in the child with the descriptors for its main output and standard error.

        Returns:
            The outcome as JSON, and main output and standard error one after the other.

        Raises:
            OSError: no process or no pipe can be had.
        """
        main_read, main_write = os.pipe()
        err_read, err_write = os.pipe()
        try:
            for fd in (main_write, err_write):
                fchmod(fd, 0o666)  # so that any user can open `/dev/stdout`
            self.start = self.looked = time.monotonic()
            self.seen = self.lost = 0.0
            self.tree: dict[int, _Process] = {}
            self.pid = fork()
            if self.pid == 0:
                become(main_write, err_write)
        finally:
            os.close(main_write)
            os.close(err_write)
        try:
            os.set_blocking(main_read, False)
            os.set_blocking(err_read, False)
            self.main_read, self.streams = main_read, [main_read, err_read]
            self._watch()
            wall = time.monotonic() - self.start
            status, usage = self.end or os.wait4(self.pid, 0)[1:]
            self._charge(usage)
            self._bury()
            for stream in self.streams[:]:
                while not self.killed and self._read(stream):
                    pass
        finally:
            os.close(main_read)
            os.close(err_read)
        code = os.waitstatus_to_exitcode(status)
        outcome = _OUTCOME % (code, self.killed, wall, self.cpu, self.memory, len(self.main))
        return outcome, bytes(self.main + self.err)

    def _watch(self) -> None:
        """Return when the test's first process has ended, by itself or by our hand."""
        poll = select.poll()
        pidfd = os.pidfd_open(self.pid) if _HAS_PIDFD else -1
        for fd in (pidfd, *self.streams):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        look = self.start + min(_LOOK_SECONDS, self.limits.time) / 2
        try:
            while True:
                pause = look - time.monotonic() if pidfd >= 0 else 0.005
                for fd, _ in poll.poll(max(1, math.ceil(pause * 1000))):
                    if fd == pidfd:
                        return
                    if not self._read(fd) and fd not in self.streams:
                        poll.unregister(fd)
                if pidfd < 0:
                    pid, status, usage = os.wait4(self.pid, os.WNOHANG)
                    if pid:
                        self.end = (status, usage)
                        return
                if not self.killed and time.monotonic() >= look:
                    look = self._look()
                if self.killed:
                    self._kill()
                    look = time.monotonic() + _LOOK_SECONDS
        finally:
            if pidfd >= 0:
                os.close(pidfd)

    def _read(self, fd: int) -> bool:
        """Take what a stream holds; False if that is nothing now, or nothing ever again."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.streams.remove(fd)
        elif fd == self.main_read:
            self._take_main(data)
        else:
            self._take_err(data)
        return bool(data)

    def _take_main(self, data: bytes) -> None:
        self.main += data
        if len(self.main) > self.limits.output:
            self.killed = self.killed or "output"

    def _take_err(self, data: bytes) -> None:
        self.err += data
        self.err_size += len(data)
        if len(self.err) > 4 * _STDERR_KEPT:
            del self.err[_STDERR_KEPT:-_STDERR_KEPT]
        if self.err_size > self.limits.output:
            self.killed = self.killed or "output"

    def _look(self) -> float:
        """Compare the tree's time and memory with the limits; returns when to look again."""
        now = time.monotonic()
        numbers = _numbers()
        tree = _descendants(numbers)
        before, self.tree = self.tree, {process.pid: process for process in tree}
        self.lost += _lost(before, self.tree, numbers)
        cpu = self.cpu + self.lost + sum(process.cpu for process in tree)
        used = cpu + sum(map(_core_wait, tree))
        running = {process.pid for process in tree if process.runs}
        # Others run than at the last look, and of those before them nobody tells how long they have waited.
        passing = before and not running & before.keys() and (self.lost or any(p.ignores for p in tree))
        unexplained = max(0.0, (now - self.looked) - (used - self.seen))
        if not running or passing:  # else it waits for nothing but a core
            self.idle += unexplained
        self.looked, self.seen = now, max(used, self.seen)
        left = (
            (self.limits.time - cpu) / _CORES,
            self.limits.time + 1 - self.idle,
            10 * self.limits.time - (now - self.start),
        )
        if min(left) < 0:
            self.killed = "time"
        elif self.limits.memory and sum(process.memory for process in tree) > self.limits.memory:
            self.killed = "memory"
        soon = passing and unexplained > _QUICK_LOOK_SECONDS / 2
        return now + min(max(min(left), _QUICK_LOOK_SECONDS), _QUICK_LOOK_SECONDS if soon else _LOOK_SECONDS)

    def _charge(self, usage: resource.struct_rusage) -> None:
        self.cpu += usage.ru_utime + usage.ru_stime
        self.memory = max(self.memory, usage.ru_maxrss * _MAXRSS_UNIT)

    def _kill(self) -> None:
        if self.own_pids:
            kill(-1, signal.SIGKILL)
        else:
            kill(self.pid, signal.SIGKILL)

    def _bury(self) -> None:
        """Kill and reap everything that the test has left behind, or give up this whole process."""
        deadline = time.monotonic() + _CLEANUP_SECONDS
        while True:
            try:
                pid, _, usage = os.wait4(-1, os.WNOHANG)
                if pid:
                    self._charge(usage)
                elif self.own_pids:
                    kill(-1, signal.SIGKILL)
                    self._charge(os.wait4(-1, 0)[2])
                else:
                    kill_descendants()
                    time.sleep(0.001)
            except ChildProcessError:
                return
            if time.monotonic() > deadline:
                _exit(1)


class _Process(NamedTuple):
    """What `/proc` says of a process.

    Attributes:
        pid: its number.
        parent: its parent's.
        runs: whether it computes, waits for a core or for a disk.
        cpu: CPU seconds, with those of children that it has waited for.
        waited: CPU seconds of these children alone.
        ignores: whether it ignores the end of its children, so that their time is lost.
        memory: bytes, without what a fork shares with its parent.
    """

    pid: int
    parent: int
    runs: bool
    cpu: float
    waited: float
    ignores: bool
    memory: int


def kill_descendants() -> None:
    """Send SIGKILL to every process below this one."""
    if os.path.realpath("/proc/self") != f"/proc/{os.getpid()}":
        return  # `/proc` counts as another namespace does, so its numbers would hit strangers
    for process in _descendants(_numbers()):
        with contextlib.suppress(OSError):
            kill(process.pid, signal.SIGKILL)


def _numbers() -> set[int]:
    """The numbers of all processes in `/proc`."""
    try:
        return {int(name) for name in os.listdir("/proc") if name.isdigit()}
    except OSError:
        return set()


def _descendants(numbers: set[int]) -> list[_Process]:
    """Every process among these that is below this one, under the numbers that `/proc` uses."""
    if not numbers:
        return []
    root = int(os.readlink("/proc/self"))
    children: dict[int, list[int]] = {}
    stats: dict[int, list[bytes]] = {}
    for number in numbers:
        with contextlib.suppress(OSError), open(f"/proc/{number}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            stats[number] = fields
            children.setdefault(int(fields[1]), []).append(number)
    shared = int(stats[root][21]) if root in stats else 0
    found: list[_Process] = []
    front = children.get(root, [])
    while front:
        pid = front.pop()
        fields = stats[pid]
        below = children.get(pid, [])
        # After a `vfork`, state D means to wait for the child, and not for a disk.
        runs = fields[0] == b"R" or (fields[0] == b"D" and not below)
        waited = sum(map(int, fields[13:15])) * _TICK
        cpu = sum(map(int, fields[11:13])) * _TICK + waited
        ignores = bool(int(fields[30]) >> (signal.SIGCHLD - 1) & 1)
        memory = max(0, int(fields[21]) - shared) * _PAGE
        found.append(_Process(pid, int(fields[1]), runs, cpu, waited, ignores, memory))
        front += below
    return found


def _lost(before: dict[int, _Process], now: dict[int, _Process], numbers: set[int]) -> float:
    """CPU seconds of processes that have gone without being waited for: their parents ignore such ends.

    Args:
        before: an earlier look.
        now: a later one.
        numbers: what was there before the later look read any, so that who is missing had been waited for
            by then, if ever.
    """
    gone: dict[int, float] = {}
    for process in before.values():
        if process.pid not in numbers:
            heir = process.parent
            while heir in before and heir not in numbers:
                heir = before[heir].parent
            gone[heir] = gone.get(heir, 0.0) + process.cpu
    return sum(
        max(0.0, seconds - (now[heir].waited - before[heir].waited))
        for heir, seconds in gone.items()
        if heir in now and heir in before
    )


def _core_wait(process: _Process) -> float:
    """Seconds that the living threads of a process have waited for a core."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/schedstat", "rb") as file:
                total += int(file.read().split()[1])
    return total / 1e9
