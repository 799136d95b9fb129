"""Which system calls a test may make: a filter that the kernel applies to all that a worker starts.

Refused is what ordinary programs never need and what would reach past a limit or a wall: namespaces, mounts,
memory without a process (nameless files, System V segments), message queues and keys that stay after a test,
the insides of other processes, what the whole machine or all of a user's programs share a small number of
(contexts of `io_setup`, watches of `inotify`). A refused call fails with `EPERM`; what is newer than this
list does not exist, and libraries do without.

`worker.py` loads this file by its path. Standard library only.
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["filter_calls", "make_marks_filter"]

# Numbers on x86_64 and aarch64; -1: no such call there.
_NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, 435),
    "delete_module": (176, 106), "fanotify_init": (300, 262), "finit_module": (313, 273),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430), "fspick": (433, 433),
    "init_module": (175, 105), "inotify_add_watch": (254, 27), "inotify_init": (253, -1),
    "inotify_init1": (294, 26), "inotify_rm_watch": (255, 28), "io_cancel": (210, 3), "io_destroy": (207, 1),
    "io_getevents": (208, 4), "io_pgetevents": (333, 292), "io_setup": (206, 0), "io_submit": (209, 2),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425),
    "ioperm": (173, -1), "iopl": (172, -1), "ioprio_set": (251, 30), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "kill": (62, 129),
    "listmount": (458, 458), "lookup_dcookie": (212, 18), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "migrate_pages": (256, 238), "modify_ldt": (154, -1), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 239),
    "mq_getsetattr": (245, 185), "mq_notify": (244, 184), "mq_open": (240, 180),
    "mq_timedreceive": (243, 183), "mq_timedsend": (242, 182), "mq_unlink": (241, 181), "msgctl": (71, 187),
    "msgget": (68, 186), "msgrcv": (70, 188), "msgsnd": (69, 189), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "personality": (135, 92), "pidfd_getfd": (438, 438), "pivot_root": (155, 41), "prlimit64": (302, 261),
    "process_madvise": (440, 440), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "ptrace": (101, 117), "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142),
    "request_key": (249, 218), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "semctl": (66, 191), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "setdomainname": (171, 162), "sethostname": (170, 161),
    "setns": (308, 268), "setpriority": (141, 140), "settimeofday": (164, 170), "shmat": (30, 196),
    "shmctl": (31, 195), "shmdt": (67, 197), "shmget": (29, 194), "socket": (41, 198),
    "socketpair": (53, 199), "statmount": (457, 457), "swapoff": (168, 225), "swapon": (167, 224),
    "sync": (162, 81), "syncfs": (306, 267), "sysfs": (139, -1), "syslog": (103, 116), "umount2": (166, 39),
    "unshare": (272, 97), "uselib": (134, -1), "userfaultfd": (323, 282), "ustat": (136, -1),
    "vhangup": (153, 58),
}  # fmt: skip
# Changes to what is written about a file, which no wall around files (`landlock.py`) looks at.
_MARKS = {
    "chmod": (90, -1), "chown": (92, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "fchown": (93, 55), "fchownat": (260, 54), "fremovexattr": (199, 16), "fsetxattr": (190, 7),
    "futimesat": (261, -1), "lchown": (94, -1), "lremovexattr": (198, 15), "lsetxattr": (189, 6),
    "removexattr": (197, 14), "setxattr": (188, 5), "utime": (132, -1), "utimensat": (280, 88),
    "utimes": (235, -1),
}  # fmt: skip
_NEWER = 463  # on both; the numbers of new calls are the same everywhere
# The machine's number for `seccomp` itself, and what the kernel calls the machine.
_MACHINES = {"x86_64": (317, 0xC000003E), "aarch64": (277, 0xC00000B7)}

_NEW_NAMESPACES, _CLONE_NEWPID, _CLONE_PARENT = 0x7E020000, 0x20000000, 0x8000
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_PRIO_USER = 2
_EVERYBODY = _ANY_PERSONALITY = 0xFFFFFFFF  # -1
# The number of the process that judges, where a test sees no other; a caller names itself by 0.
_JUDGE, _ITSELF = 1, 0

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ERROR, _ALLOW = 0x00050000, 0x7FFF0000
_SET_MODE_FILTER, _KEEP_SPECULATION = 1, 4  # without the flag, old kernels make the whole process slower


class _Line(NamedTuple):
    """One instruction; jumps name the line they lead to, and an empty name is the next one."""

    name: str
    code: int
    value: int
    yes: str = ""
    no: str = ""


def filter_calls(*, own_pids: bool, network: bool) -> bool:
    """Filter the calls of this process and of all that it will start; needs no right but `no_new_privs`.

    Args:
        own_pids: whether all that a test can name by a number is its own, but for the process that judges.
        network: whether sockets may be made that have an address, since they lead nowhere. Without, the
            few modules that talk through files fail, such as `multiprocessing.Manager`.

    Returns:
        False where the kernel filters nothing, or for a kind of machine whose numbers are not known here.
    """
    return _make_filter(_NUMBERS, _conditions(own_pids=own_pids, network=network))()


def make_marks_filter() -> Callable[[], bool]:
    """A second filter, for tests that are the same user as the caller, whose files they could mark.

    It makes calls that change a file's mode, owner, times or attributes do nothing and say that all is well,
    since programs that copy files make them on the way.

    Returns:
        What puts it around a process; returns whether it did.
    """
    return _make_filter(_MARKS, {}, refusal=0)


def _make_filter(
    numbers: dict[str, tuple[int, int]], conditions: dict[str, list[_Line]], refusal: int = errno.EPERM
) -> Callable[[], bool]:
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in _MACHINES or struct.calcsize("P") != 8:
        return lambda: False
    program = _assemble(_lines(machine, numbers, conditions, refusal))
    kept = ctypes.create_string_buffer(program, len(program))
    call = ctypes.CDLL(None).syscall
    number = _MACHINES[machine][0]

    def obey() -> bool:
        description = struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
        tries = (call(number, _SET_MODE_FILTER, flags, description) for flags in (_KEEP_SPECULATION, 0))
        return any(result == 0 for result in tries)

    return obey


def _lines(
    machine: str, calls: dict[str, tuple[int, int]], conditions: dict[str, list[_Line]], refusal: int
) -> list[_Line]:
    column = list(_MACHINES).index(machine)
    starts = {0: "allow", _NEWER: "unknown"}
    for name, numbers in calls.items():
        if (number := numbers[column]) >= 0:
            starts[number] = name if name in conditions else "refuse"
            starts.setdefault(number + 1, "allow")
    if "clone3" in calls:
        starts[calls["clone3"][column]] = "unknown"  # its flags are out of sight; libraries take `clone` then
    return [
        _Line("", _LOAD, 4),
        _Line("", _EQUAL, _MACHINES[machine][1], no="unknown"),
        _Line("", _LOAD, 0),
        *_search(sorted(starts.items()), ""),
        *(line for lines in conditions.values() for line in lines),
        _Line("allow", _RETURN, _ALLOW),
        _Line("refuse", _RETURN, _ERROR | refusal),
        _Line("unknown", _RETURN, _ERROR | errno.ENOSYS),
    ]


def _conditions(*, own_pids: bool, network: bool) -> dict[str, list[_Line]]:
    """The calls that their arguments decide about; a worker makes process namespaces, its tests may not."""
    families = (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK) if network else ()
    found = {
        "clone": _unless(0, _ANY_BIT, _NEW_NAMESPACES | _CLONE_PARENT),
        "unshare": _only_if(0, _CLONE_NEWPID),
        "setns": _only_if(1, _CLONE_NEWPID),
        "socket": _only_if(0, *families),
        "socketpair": _only_if(0, _AF_UNIX),
        "personality": _only_if(0, _ANY_PERSONALITY),
        "setpriority": [
            _Line("", _LOAD, 16),
            _Line("", _EQUAL, _PRIO_USER, yes="refuse"),
            *(_unless(1, _EQUAL, _JUDGE) if own_pids else _only_if(1, _ITSELF)),
        ],
        "kill": [_Line("", _RETURN, _ALLOW)] if own_pids else _unless(0, _EQUAL, _EVERYBODY),
    }
    for name in ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"):
        found[name] = _unless(0, _EQUAL, _JUDGE) if own_pids else _only_if(0, _ITSELF)
    return {name: [first._replace(name=name), *rest] for name, (first, *rest) in found.items()}


def _unless(argument: int, code: int, value: int) -> list[_Line]:
    return [_Line("", _LOAD, 16 + 8 * argument), _Line("", code, value, yes="refuse", no="allow")]


def _only_if(argument: int, *values: int) -> list[_Line]:
    tests = [_Line("", _EQUAL, value, yes="allow") for value in values]
    return [_Line("", _LOAD, 16 + 8 * argument), *tests, _Line("", _RETURN, _ERROR | errno.EPERM)]


def _search(starts: list[tuple[int, str]], name: str) -> list[_Line]:
    """A binary search for the last start at or below the number, which leads to that start's line."""
    middle = len(starts) // 2
    below, above = starts[:middle], starts[middle:]
    left = f"below {above[0][0]}" if len(below) > 1 else below[0][1]
    right = f"from {above[0][0]}" if len(above) > 1 else above[0][1]
    return [
        _Line(name, _AT_LEAST, above[0][0], yes=right, no=left),
        *(_search(below, left) if len(below) > 1 else ()),
        *(_search(above, right) if len(above) > 1 else ()),
    ]


def _assemble(lines: list[_Line]) -> bytes:
    places = {line.name: place for place, line in enumerate(lines) if line.name}
    return b"".join(
        struct.pack(
            "=HBBI",
            line.code,
            places[line.yes] - place - 1 if line.yes else 0,
            places[line.no] - place - 1 if line.no else 0,
            line.value,
        )
        for place, line in enumerate(lines)
    )
