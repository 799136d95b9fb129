"""What a worker asks of the kernel: other users, fewer rights, namespaces, limits, signals.

`worker.py` loads this file by its path. Standard library only; outside of Linux most of it does nothing.
"""

import contextlib
import ctypes
import math
import os
import resource
import signal
import sys
from os import fork  # the guard of functional tests takes it out of `os`

__all__ = [
    "User",
    "become",
    "die_with_parent",
    "drop_bounding_set",
    "drop_capabilities",
    "find_user",
    "forbid_new_privileges",
    "hide_memory",
    "keep_orphans",
    "leave_pids",
    "limit_files",
    "new_pids",
    "own_pids",
    "reset_signals",
    "rlimits",
    "show_memory",
    "trim_memory",
]

_CLONE_NEWPID = 0x20000000
_MS_NOSUID, _MS_NODEV, _MS_REMOUNT = 2, 4, 32
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS, _PR_SET_CHILD_SUBREAPER = 1, 4, 8, 36
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 2, 4
_PR_CAPBSET_DROP = 24
_CAP_DAC_READ_SEARCH = 2
_CAPABILITY_VERSION = 0x20080522

_exit = os._exit
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

# The user that tests become, and whether it must be let read everything to reach the interpreter.
User = tuple[int, bool]


def become(user: User) -> None:
    """Turn into another user, which takes all capabilities away, but for reading if that is needed."""
    uid, reads_all = user
    if reads_all:
        _prctl(_PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if reads_all:
        _set_capabilities(1 << _CAP_DAC_READ_SEARCH)
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_READ_SEARCH)


def find_user(uid: int | None, folders: list[str]) -> User | None:
    """How tests can become this user and still run: read these folders, start the interpreter.

    Returns:
        None where they cannot, or where no user is given.
    """
    for user in ((uid, False), (uid, True)) if uid is not None else ():
        child = fork()
        if child == 0:
            status = 1
            try:
                become(user)
                for folder in folders:
                    os.listdir(folder)
                status = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-I", "-S", "-c", ""])
            finally:
                _exit(status)
        if os.waitpid(child, 0)[1] == 0:
            return user
    return None


def drop_capabilities() -> None:
    """Give up what a namespace, or root, has given."""
    if _libc is not None:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
        _set_capabilities(0)


def drop_bounding_set(*, reads_all: bool) -> None:
    """Let no program that is started later gain a capability, but for reading if tests must be given that."""
    for capability in range(64) if _libc is not None else ():
        if not (reads_all and capability == _CAP_DAC_READ_SEARCH):
            _prctl(_PR_CAPBSET_DROP, capability)


def forbid_new_privileges() -> None:
    """From here on no program gives more rights than its caller has."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def hide_memory() -> None:
    """Keep other processes of the same user from reading and tracing this one."""
    _prctl(_PR_SET_DUMPABLE, 0)


def show_memory() -> None:
    """Undo it: a program's `/proc/self` is its own."""
    _prctl(_PR_SET_DUMPABLE, 1)


def trim_memory() -> None:
    """Give back memory that is free, so that no fork copies it."""
    if _libc is not None and hasattr(_libc, "malloc_trim"):  # glibc
        _libc.malloc_trim(0)


def keep_orphans() -> None:
    """Become the parent of descendants whose own parent has ended."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Be killed when the parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def own_pids() -> int:
    """A handle to this process's own process namespace, or -1 where it may not make new ones."""
    if _libc is None:
        return -1
    child = fork()
    if child == 0:
        status = 1
        try:
            own = os.open("/proc/self/ns/pid", os.O_RDONLY)
            new_pids()
            leave_pids(own)
            status = 0
        finally:
            _exit(status)
    return -1 if os.waitpid(child, 0)[1] else os.open("/proc/self/ns/pid", os.O_RDONLY)


def new_pids() -> None:
    """The next child is the first process of a namespace."""
    if _libc is not None and _libc.unshare(_CLONE_NEWPID):
        raise OSError(ctypes.get_errno(), "no process namespace can be made")


def leave_pids(own: int) -> None:
    """Further children live in this process's own namespace again."""
    if _libc is not None and _libc.setns(own, _CLONE_NEWPID):
        raise OSError(ctypes.get_errno(), "no way back to the own process namespace")


def limit_files(folder: str, number: int) -> None:
    """Let a file system in memory hold so many files, where this process may say so; 0 for any number.

    Empty ones take memory too, and time to remove.
    """
    if _libc is not None and number:
        flags = _MS_REMOUNT | _MS_NOSUID | _MS_NODEV
        _libc.mount(None, folder.encode(), None, flags, b"nr_inodes=%d" % number)


def rlimits(
    time_limit: float, memory_limit: int, file_size: int, processes: int
) -> list[tuple[int, tuple[int, int]]]:
    """What to pass to `setrlimit` for a test; a limit that holds for the caller already is never raised."""
    seconds = math.ceil(time_limit)
    wanted = {
        # The clock is outside; this is for one that is stuck. It counts ticks, and runs ahead under load.
        "RLIMIT_CPU": (2 * seconds + 5, 2 * seconds + 6),
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_FSIZE": (file_size, file_size),
        "RLIMIT_NOFILE": (256, 256),
        "RLIMIT_NPROC": (processes, processes),
    }
    if memory_limit:
        wanted["RLIMIT_AS"] = wanted["RLIMIT_DATA"] = (memory_limit, memory_limit)
    limits = []
    for name, (soft, hard) in wanted.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            _, most = resource.getrlimit(kind)
            top = hard if most == resource.RLIM_INFINITY else min(hard, most)
            limits.append((kind, (min(soft, top), top)))
    return limits


def reset_signals() -> None:
    """Undo what the caller's signal settings have left: an ignored SIGINT, a blocked SIGTERM.

    What has a handler of Python's in a namespace's first process could be sent to it from inside: only a
    test's own process takes SIGINT, as `default_int_handler` does.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)


def _set_capabilities(mask: int) -> None:
    if _libc is not None:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
        _libc.capset(header, (ctypes.c_uint32 * 6)(mask, mask, mask))


def _prctl(option: int, value: int, detail: int = 0) -> None:
    if _libc is not None:
        _libc.prctl(option, value, detail, 0, 0)
