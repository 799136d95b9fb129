"""What a test reaches of files and of other processes, where no namespace walls it in: the kernel's Landlock.

Needs no rights and Linux 5.19, for signals 6.12. It allows whole folders, and what is not allowed is closed,
even to a user that may read everything. Processes outside cannot be traced, nor can their memory or
environment be read.

`worker.py` loads this file by its path. Standard library only.
"""

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator

__all__ = ["SIGNALS", "TRUNCATION", "make_rules", "obey", "version"]

SIGNALS = 6  # the version from which on signals stop at the wall
TRUNCATION = 3  # the version from which on no file that may only be read can be cut off
_MOVES = 2  # before, no file could move to another folder, nor be linked there

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every machine
_ASK_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = (1 << bit for bit in (0, 1, 2, 3, 14))
_TO_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_ABSTRACT_SOCKETS, _FAR_SIGNALS = 1, 2

_call = ctypes.CDLL(None, use_errno=True).syscall if sys.platform == "linux" else None


def version() -> int:
    """The version of the kernel's rules; 0 where there are none that ordinary programs could bear."""
    found = _call(_CREATE, None, 0, _ASK_VERSION) if _call is not None else 0
    return found if found >= _MOVES else 0


def make_rules(readable: Iterable[str], writable: Iterable[str], closed: Iterable[str] = ()) -> int:
    """A descriptor of rules that close everything else, tried once; of what is not there, no rule is made.

    Args:
        readable: files and folders to read and to run programs from.
        writable: files and folders where everything is allowed.
        closed: what is not to be read although it lies in a readable folder; its names can be listed.

    Returns:
        -1 where the kernel has no such rules, or does not let this process obey them.
    """
    known = version()
    if not known or _call is None:
        return -1
    files = (1 << (14 if known < 3 else 15)) - 1
    scopes = _ABSTRACT_SOCKETS | _FAR_SIGNALS if known >= SIGNALS else 0
    wanted = struct.pack("=QQQ", files, 0, scopes)[: 24 if scopes else 8]
    rules: int = _call(_CREATE, wanted, len(wanted), 0)
    if rules < 0:
        return -1
    try:
        hidden = [os.path.realpath(path) for path in closed]
        for path in readable:
            for part, access in _around(os.path.realpath(path), hidden):
                _allow(rules, part, access)
        for path in writable:
            _allow(rules, path, files)
    except OSError:
        os.close(rules)
        return -1
    child = os.fork()
    if child == 0:
        try:
            obey(rules)
        except OSError:  # there may be too many walls around this process already
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        os.close(rules)
        return -1
    return rules


def obey(rules: int) -> None:
    """Put this process and all that it will start behind the wall; it must have given up new privileges.

    Raises:
        OSError: the kernel did not.
    """
    if _call is not None and _call(_RESTRICT, rules, 0):
        raise OSError(ctypes.get_errno(), "no wall around this process")


def _around(path: str, closed: list[str]) -> Iterator[tuple[str, int]]:
    """Parts of a folder that together are all of it but what is closed; a rule cannot take away."""
    if path in closed:
        return
    if not any(name.startswith(f"{path.rstrip('/')}/") for name in closed):
        yield path, _TO_READ
        return
    yield path, _READ_DIR
    with contextlib.suppress(PermissionError), os.scandir(path) as entries:
        for entry in entries:
            if not entry.is_symlink():
                yield from _around(entry.path, closed)


def _allow(rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _OF_FILES
        rule = struct.pack("=Qi", access, place)
        if _call is not None and _call(_ADD, rules, _PATH_BENEATH, rule, 0):
            raise OSError(ctypes.get_errno(), f"no rule for {path}")
    finally:
        os.close(place)
