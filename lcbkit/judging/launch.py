"""Starting and ending a worker's process."""

import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from lcbkit.errors import SandboxError
from lcbkit.judging import bubblewrap
from lcbkit.judging.scratch import empty_folder

__all__ = ["Confined", "Confinement", "WorkerBrokenError", "spawn", "start", "unused_uid"]

_HERE = Path(__file__).parent
_START_SECONDS = 120.0
_LOOK_SECONDS = 1.0
_OUTPUT_BYTES = 64 * 1024**2
_PROCESSES = 256
_numbers = count()  # tell this process's workers apart; run by root, each gets a user of its own
_ENVIRONMENT = {
    "LD_BIND_NOW": "1",  # else each test looks the same functions up again; the worker takes it out
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


class WorkerKilledError(SandboxError):
    """Somebody killed the worker as it started; the same confinement may well work."""


class WorkerBrokenError(SandboxError):
    """The worker's own program failed; no other confinement would help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """One way to confine a worker.

    Attributes:
        tier: `bwrap` or `limits`.
        program: bubblewrap's path; empty for `limits`.
        user_namespace: whether bubblewrap makes a user namespace; it must, unless run by root.
    """

    tier: str
    program: str = ""
    user_namespace: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Confined:
    """A running worker.

    Attributes:
        process: its process; with bubblewrap that one's.
        sock: the line to it.
        scratch: its scratch folder, None where that is in memory and goes with the worker.
        facts: what it said of itself: `own_pids`, whether tests see no process above them; `user`, which they
            become; `filtered`, whether the kernel filters their calls; `walled`, the version of the rules
            that keep files and processes from them, 0 for none.
    """

    process: "subprocess.Popen[bytes]"
    sock: socket.socket
    scratch: Path | None
    facts: dict[str, Any] = field(default_factory=dict)

    def hang_up(self) -> None:
        """Close the line, so that the worker kills what it runs and ends; others may still be listening."""
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
        self.kill_orphan()
        if self.process.stdout is not None:
            self.process.stdout.close()
        if self.scratch is not None:
            _kill_by_folder(self.scratch)
            _remove(self.scratch)

    def kill_orphan(self) -> None:
        """End what bubblewrap has started if it was itself killed too early to take that along."""
        if self.process.poll() == -signal.SIGKILL:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)  # it began a session, which nothing has left yet

    def forget(self) -> None:
        """After a fork, in the child: let go of the parent's worker without disturbing it."""
        self.sock.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.returncode = 0  # it is no child of this process


def start(confinement: Confinement, *, spawned: Callable[[Confinement], Confined] | None = None) -> Confined:
    """Start a worker and wait until it is ready; one that is killed meanwhile gets a second chance.

    Without that, a kill by whoever is short of memory would look like a confinement that does not work here.

    Args:
        confinement: how to confine it.
        spawned: starts the process; None does so in the calling thread, which must live as long as the
            worker: bubblewrap ends with the thread that started it.

    Raises:
        SandboxError: it did not start; says why.
    """
    spawned = spawned or spawn
    try:
        return _await_ready(spawned(confinement))
    except WorkerKilledError:
        return _await_ready(spawned(confinement))


def spawn(confinement: Confinement) -> Confined:
    """Start a worker's process; `start` waits for its first word.

    Args:
        confinement: how to confine it.

    Raises:
        SandboxError: the system starts no process.
    """
    ours, theirs = socket.socketpair()
    scratch = arguments = None
    try:
        theirs = socket.socket(fileno=_above_the_standard_streams(theirs.detach()))
        passed = [theirs.fileno()]
        if confinement.tier == "bwrap":
            arguments = _pipe_of(bubblewrap.arguments(user_namespace=confinement.user_namespace))
            passed.append(arguments)
        else:
            scratch = Path(tempfile.mkdtemp(prefix="lcbkit-judge-"))
            scratch.chmod(0o755)
        config = _config(confinement, theirs.fileno(), scratch)
        home = f"{config['scratch']}/work"
        process = subprocess.Popen(
            [
                *([confinement.program, "--args", str(arguments), "--"] if arguments else []),
                *(
                    sys.executable,
                    "-s",
                    "-S",
                    "-P",
                    "-B",
                    f"{config['folder']}/worker.py",
                    json.dumps(config),
                ),
            ],
            pass_fds=passed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,  # pipes from the start: a stream keeps in mind whether it can seek
            stderr=subprocess.STDOUT,
            env=_ENVIRONMENT | {"HOME": home, "TMPDIR": home},
            cwd="/",
            start_new_session=True,  # Ctrl-C at the terminal, or a kernel's interrupt, is for the pool alone
        )
    except OSError as error:
        ours.close()
        if scratch is not None:
            _remove(scratch)
        raise SandboxError(f"no judge process could be started: {error}; free some and try again") from error
    finally:
        theirs.close()
        if arguments is not None:
            os.close(arguments)
    return Confined(process=process, sock=ours, scratch=scratch)


def _await_ready(worker: Confined) -> Confined:
    """Wait for a worker to say what it is; returns it.

    Raises:
        SandboxError: it ended or said nothing; says why.
    """
    try:
        worker.facts = json.loads(_first_line(worker))
        worker.sock.settimeout(_START_SECONDS)
    except (OSError, EOFError, ValueError) as error:
        killed = _was_killed(worker.process)
        worker.process.kill()
        worker.process.wait()
        worker.kill_orphan()  # it would keep the line open that is read now
        said = worker.process.stdout.read() if worker.process.stdout else b""
        worker.stop()
        lines = said.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        if any(line.startswith("Traceback ") for line in lines):
            raise WorkerBrokenError(
                f"a judge process broke as it started, which is our fault: {lines[-1]}"
            ) from error
        kind, how = (WorkerKilledError, "killed") if killed else (SandboxError, lines[-1])
        raise kind(f"a judge process did not start: {how}; see `lcb doctor`") from error
    except BaseException:
        worker.stop()
        raise
    return worker


def _first_line(worker: Confined) -> bytes:
    """What the worker says first.

    Raises:
        OSError: it says nothing, or what started it has ended.
        EOFError: it has hung up.
    """
    worker.sock.settimeout(_LOOK_SECONDS)
    line, deadline = b"", time.monotonic() + _START_SECONDS
    while not line.endswith(b"\n"):
        try:
            data = worker.sock.recv(1)
        except TimeoutError:
            if worker.process.poll() is not None or time.monotonic() > deadline:
                raise
            continue
        if not data:
            raise EOFError
        line += data
    return line


def _was_killed(process: "subprocess.Popen[bytes]") -> bool:
    """Whether a process that has hung up was ended by SIGKILL, itself or what bubblewrap ran."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(1) in (-signal.SIGKILL, 128 + signal.SIGKILL)
    return False


def unused_uid(number: int) -> int | None:
    """A user id that nobody has, its own for every worker of a process; None unless run by root."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    return 1_000_000_000 + (os.getpid() % 2**21) * 256 + number % 256


def _config(confinement: Confinement, line: int, scratch: Path | None) -> dict[str, Any]:
    inside = confinement.tier == "bwrap"
    uid = None if confinement.user_namespace else unused_uid(next(_numbers))
    counted_apart = uid is not None or (confinement.user_namespace and _kernel_version() >= (5, 14))
    return {
        "fd": line,
        "folder": bubblewrap.INSIDE if inside else str(_HERE),
        "scratch": bubblewrap.SCRATCH if inside else str(scratch),
        "site": [str(folder) for folder in bubblewrap.site_folders()],
        "uid": uid,
        "readable": [] if inside else ["/proc", *map(str, bubblewrap.visible())],
        "closed": [] if inside else list(map(str, bubblewrap.masked(bubblewrap.visible()))),
        "littered": [] if inside else ["/dev/shm"],
        "writable": [] if inside else [str(scratch), "/dev/shm", *(f"/dev/{n}" for n in bubblewrap.DEVICES)],
        "network": inside,  # no way out of there, so its sockets lead nowhere
        "output": _OUTPUT_BYTES,
        "files": bubblewrap.SCRATCH_FILES if inside else 0,
        "file_size": bubblewrap.SCRATCH_BYTES,
        # Linux counts them for each user; inside a user namespace for that one alone, since version 5.14.
        "processes": _PROCESSES + (0 if counted_apart else _own_tasks()),
    }


def _pipe_of(words: list[str]) -> int:
    """A descriptor to read the words from: on a command line every program inside could read our paths."""
    text = "\0".join(words).encode()
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        file.write(text)
    return _above_the_standard_streams(reader)


def _above_the_standard_streams(fd: int) -> int:
    """A descriptor that a child's own streams do not replace; those of a caller may be closed, hence free."""
    if fd > 2:
        return fd
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(fd)


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


def _remove(scratch: Path) -> None:
    """Remove a scratch folder; one that resists is left to the system's own cleaning."""
    with contextlib.suppress(OSError):
        empty_folder(str(scratch))
        scratch.rmdir()


def _kill_by_folder(scratch: Path) -> None:
    """Kill what a program has left after ending its worker: the scratch folder is in its environment."""
    name = os.fsencode(scratch)
    if os.path.realpath("/proc/self") != f"/proc/{os.getpid()}":
        return  # `/proc` counts as another namespace does
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            places = os.fsencode((folder / "cwd").readlink()) + b"\0" + (folder / "environ").read_bytes()
            if name in places and int(folder.name) != os.getpid():
                os.kill(int(folder.name), signal.SIGKILL)
