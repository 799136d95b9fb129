"""Which system calls a test may make: a filter that the kernel applies to all that a worker starts.

Refused is what ordinary programs never need and what would reach past a limit or a wall: namespaces, mounts,
memory without a process (nameless files, System V segments), message queues and keys that stay after a test,
the insides of other processes. A refused call fails with `EPERM`; what is newer
than this list does not exist, and libraries do without.

`worker.py` loads this file by its path. Standard library only.
"""

import ctypes
import errno
import os
import struct
import sys
from typing import NamedTuple

__all__ = ["filter_calls"]

# Numbers on x86_64 and aarch64; 0: no such call there.
_NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280),
    "chroot": (161, 51), "clock_adjtime": (305, 266), "clock_settime": (227, 112), "clone": (56, 220),
    "clone3": (435, 435), "delete_module": (176, 106), "fanotify_init": (300, 262),
    "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430),
    "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "ioperm": (173, 0), "iopl": (172, 0),
    "ioprio_set": (251, 30), "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "kill": (62, 129), "listmount": (458, 458), "lookup_dcookie": (212, 18),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "migrate_pages": (256, 238),
    "modify_ldt": (154, 0), "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "move_pages": (279, 239), "mq_getsetattr": (245, 185), "mq_notify": (244, 184), "mq_open": (240, 180),
    "mq_timedreceive": (243, 183), "mq_timedsend": (242, 182), "mq_unlink": (241, 181),
    "msgctl": (71, 187), "msgget": (68, 186), "msgrcv": (70, 188), "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41), "prlimit64": (302, 261), "process_madvise": (440, 440),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142), "request_key": (249, 218),
    "sched_setaffinity": (203, 122), "sched_setattr": (314, 274), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "semctl": (66, 191), "semget": (64, 190), "semop": (65, 193),
    "semtimedop": (220, 192), "setdomainname": (171, 162), "sethostname": (170, 161), "setns": (308, 268),
    "setpriority": (141, 140), "settimeofday": (164, 170), "shmat": (30, 196), "shmctl": (31, 195),
    "shmdt": (67, 197), "shmget": (29, 194), "socket": (41, 198), "socketpair": (53, 199),
    "statmount": (457, 457), "swapoff": (168, 225), "swapon": (167, 224), "sysfs": (139, 0),
    "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "uselib": (134, 0),
    "userfaultfd": (323, 282), "ustat": (136, 0), "vhangup": (153, 58),
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
        network: whether sockets of the internet may be made, since they lead nowhere.

    Returns:
        False where the kernel filters nothing, or for a kind of machine whose numbers are not known here.
    """
    machine = os.uname().machine
    if sys.platform != "linux" or machine not in _MACHINES or struct.calcsize("P") != 8:
        return False
    program = _assemble(_lines(machine, own_pids=own_pids, network=network))
    kept = ctypes.create_string_buffer(program, len(program))
    description = struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
    call = ctypes.CDLL(None).syscall
    number = _MACHINES[machine][0]
    return any(call(number, _SET_MODE_FILTER, flags, description) == 0 for flags in (_KEEP_SPECULATION, 0))


def _lines(machine: str, *, own_pids: bool, network: bool) -> list[_Line]:
    conditions = _conditions(own_pids=own_pids, network=network)
    column = list(_MACHINES).index(machine)
    starts = {0: "allow", _NEWER: "unknown"}
    for name, numbers in _NUMBERS.items():
        if number := numbers[column]:
            starts[number] = name if name in conditions else "refuse"
            starts.setdefault(number + 1, "allow")
    starts[_NUMBERS["clone3"][column]] = "unknown"  # its flags are out of the filter's sight; `clone` follows
    return [
        _Line("", _LOAD, 4),
        _Line("", _EQUAL, _MACHINES[machine][1], no="unknown"),
        _Line("", _LOAD, 0),
        *_search(sorted(starts.items()), ""),
        *(line for lines in conditions.values() for line in lines),
        _Line("allow", _RETURN, _ALLOW),
        _Line("refuse", _RETURN, _ERROR | errno.EPERM),
        _Line("unknown", _RETURN, _ERROR | errno.ENOSYS),
    ]


def _conditions(*, own_pids: bool, network: bool) -> dict[str, list[_Line]]:
    """The calls that their arguments decide about; a worker makes process namespaces, its tests may not."""
    families = (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK) if network else (_AF_UNIX,)
    found = {
        "clone": _unless(0, _ANY_BIT, _NEW_NAMESPACES | _CLONE_PARENT),
        "unshare": _only_if(0, _CLONE_NEWPID),
        "setns": _only_if(1, _CLONE_NEWPID),
        "socket": _only_if(0, *families),
        "socketpair": _only_if(0, *families),
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
    return [_Line("", _LOAD, 16 + 8 * argument), *tests[:-1], tests[-1]._replace(no="refuse")]


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
