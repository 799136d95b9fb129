"""The process that runs untrusted programs: one worker, one process per submission, one process per test.

Started as a program, inside the sandbox where there is one; standard library only. It talks to the pool over
one socket and never learns an expected output. A worker has the prelude's modules loaded and forks a
*submission process*, which compiles the program, imports the installed modules that it names, and forks one
process per test.

Where the system allows it, the submission process is the first process of a namespace of its own: a test
cannot see or signal anything above it, orphans fall to it, and one `kill(-1)` ends whatever a test has left
behind. Elsewhere it is a child subreaper and walks `/proc`. When it dies against the rules, the worker leaves
too, and the pool starts another one.
"""

import contextlib
import ctypes
import gc
import json
import math
import os
import resource
import runpy
import select
import signal
import socket
import struct
import sys
from os import chdir, chmod, fork, kill, rmdir, unlink  # the guard of functional tests takes them out of `os`
from types import SimpleNamespace
from typing import Any, NoReturn

__all__ = ["receive", "send"]

_HEAD = struct.Struct(">II")
_LONGEST = 1 << 30
_RESULT_FD = 200  # far from the low numbers that programs close in bulk
_TRY_WITHOUT_IMPORTS = 75
_CLONE_NEWPID = 0x20000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4

_exit = os._exit
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def send(sock: socket.socket, header: dict[str, Any], blob: bytes = b"", fds: tuple[int, ...] = ()) -> None:
    """Send one message: a small JSON header, raw bytes, and open files beside them."""
    text = json.dumps(header).encode("ascii")
    head = _HEAD.pack(len(text), len(blob)) + text
    if fds:
        head = head[socket.send_fds(sock, [head], list(fds)) :]
    if len(blob) < 65_536:
        head += blob
        blob = b""
    if head:
        sock.sendall(head)
    if blob:
        sock.sendall(blob)


def receive(sock: socket.socket) -> tuple[dict[str, Any], bytes, list[int]]:
    """Receive one message.

    Raises:
        EOFError: the other side has gone.
        ValueError: what came is no message.
    """
    head, fds, _, _ = socket.recv_fds(sock, _HEAD.size, 1)
    head += _receive_exactly(sock, _HEAD.size - len(head))
    text_size, blob_size = _HEAD.unpack(head)
    if text_size + blob_size > _LONGEST:
        raise ValueError("a message of absurd length")
    data = _receive_exactly(sock, text_size + blob_size)
    return json.loads(data[:text_size]), bytes(data[text_size:]), fds


def _receive_exactly(sock: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = sock.recv_into(view)
        if not count:
            raise EOFError("the other side closed the connection")
        view = view[count:]
    return data


class Worker:
    """The long-lived process: says that it is ready, then forks a process per job until the pool hangs up."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.scratch: str = config["scratch"]
        self.uid: int | None = config["uid"]
        self.sock = socket.socket(fileno=config["fd"])
        self.guest = _load(config["folder"], "guest")
        self.supervisor = _load(config["folder"], "supervisor")

    def serve(self) -> None:
        """Work until the pool closes the connection or a submission process dies against the rules."""
        _reset_signals()
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _prctl(_PR_SET_DUMPABLE, 0)  # the same user could read and trace it otherwise
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        os.umask(0o022)
        sys.path.extend(self.config["site"])
        self.names = self.guest.prelude_names()
        self.own_pids = _own_pids() if self.config["namespaces"] else -1
        if self.uid is not None and not self._can_drop(self.uid):
            self.uid = None
        facts = {"own_pids": self.own_pids >= 0, "uid": self.uid}
        self.sock.sendall(json.dumps(facts).encode("ascii") + b"\n")
        os.dup2(0, 2)  # nobody reads what an imported module has to say
        gc.collect()
        gc.freeze()
        gc.disable()  # a collection in a fork would copy every page
        try:
            with contextlib.suppress(EOFError, ConnectionError):
                while self._one_job():
                    pass
        finally:
            self.supervisor.kill_descendants()
            with contextlib.suppress(OSError):
                _empty(self.scratch)

    def _one_job(self) -> bool:
        job, source, _ = receive(self.sock)
        status = self._wait(self._fork_submission(job, source))
        if os.waitstatus_to_exitcode(status) == _TRY_WITHOUT_IMPORTS:
            status = self._wait(self._fork_submission(job | {"imports": False}, source))
        return status == 0

    def _fork_submission(self, job: dict[str, Any], source: bytes) -> int:
        if self.own_pids >= 0:
            _checked("unshare", _CLONE_NEWPID)
        child = fork()
        if child == 0:
            status = 1
            try:
                Submission(self, job, source).serve()
                status = 0
            finally:
                _exit(status)
        if self.own_pids >= 0:
            _checked("setns", self.own_pids, _CLONE_NEWPID)
        return child

    def _wait(self, child: int) -> int:
        """Wait for a submission process, and end it when the pool has gone."""
        if hasattr(os, "pidfd_open"):
            pidfd = os.pidfd_open(child)
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            poll.register(self.sock, getattr(select, "POLLRDHUP", 0))
            ended = pidfd in {fd for fd, _ in poll.poll()}
            os.close(pidfd)
            if not ended:
                kill(child, signal.SIGKILL)
        return os.waitpid(child, 0)[1]

    def _can_drop(self, uid: int) -> bool:
        """Whether another user could run here: read the library, start the interpreter, enter the scratch."""
        child = fork()
        if child == 0:
            status = 1
            try:
                _become(uid)
                for folder in (os.path.dirname(os.__file__), *self.config["site"]):
                    os.listdir(folder)
                chdir(self.scratch)
                status = 0 if os.access(sys.executable, os.X_OK) and os.access(os.__file__, os.R_OK) else 1
            finally:
                _exit(status)
        return os.waitpid(child, 0)[1] == 0


class Submission:
    """One program: compiled once, run in a fresh process for every test that the pool sends."""

    def __init__(self, worker: Worker, job: dict[str, Any], source: bytes) -> None:
        self.worker, self.job, self.source = worker, job, source
        self.path = os.path.join(worker.scratch, "main.py")
        self.folder = os.path.join(worker.scratch, "work")
        self.written: tuple[int, ...] = ()
        self.rlimits = _rlimits(job["time_limit"], job["memory_limit"], worker.config)

    def serve(self) -> None:
        """Answer tests until the pool says `end`."""
        sock = self.worker.sock
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if self.worker.own_pids < 0:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if self.worker.uid is None:
            _drop_capabilities()
        try:
            self._restore_scratch()
        except OSError as error:
            send(sock, {"internal": f"the scratch folder cannot be written: {error}"})
            return
        self._prepare()
        send(sock, {"prepared": True})
        while True:
            header, _, fds = receive(sock)
            if "end" in header:
                return
            outcome, blob = self._run(fds[0])
            os.close(fds[0])
            self._restore_scratch()
            send(sock, outcome, blob)

    def _prepare(self) -> None:
        guest = self.worker.guest
        code = guest.compile_program(self.source, self.path)
        if self.job.get("imports", True) and not isinstance(code, BaseException):
            guest.import_installed(self.source, self.worker.config["site"])
            if len(os.listdir("/proc/self/task") if sys.platform == "linux" else "1") > 1:
                _exit(_TRY_WITHOUT_IMPORTS)  # a module has started threads, which a fork would not carry over
        names = self.worker.names if self.job["prelude"] else {}
        self.program = guest.Program(code, self.path, names, self.job["function"])
        gc.collect()
        gc.freeze()

    def _run(self, stdin: int) -> tuple[dict[str, Any], bytes]:
        arguments: list[Any] = []
        if self.job["function"]:
            try:
                arguments = _parse_arguments(stdin)
            except (ValueError, RecursionError) as error:
                return {"bad_test": f"an input line is not JSON: {error}"}, b""
            stdin = os.open(os.devnull, os.O_RDWR)
        supervisor = self.worker.supervisor
        limits = supervisor.Limits(
            self.job["time_limit"], self.worker.config["output"], self.job["memory_limit"]
        )
        test = supervisor.Test(limits, own_pids=self.worker.own_pids >= 0)
        try:
            outcome: tuple[dict[str, Any], bytes] = test.run(
                lambda main, err: self._become_test(stdin, main, err, arguments)
            )
        except OSError as error:
            return {"internal": str(error)}, b""
        finally:
            if self.job["function"]:
                os.close(stdin)
        return outcome

    def _become_test(self, stdin: int, main: int, err: int, arguments: list[Any]) -> NoReturn:
        """Turn this fresh fork into the process of one test, and run the program in it."""
        try:
            os.setsid()
            function = bool(self.job["function"])
            if function:
                os.dup2(main, _RESULT_FD)
            os.dup2(stdin, 0)
            os.dup2(stdin if function else main, 1)
            os.dup2(err, 2)
            os.closerange(3, _RESULT_FD)
            os.closerange(_RESULT_FD + function, 4096)
            chdir(self.folder)
            for kind, limit in self.rlimits:
                resource.setrlimit(kind, limit)
            if self.worker.uid is not None:
                _become(self.worker.uid)
            _prctl(_PR_SET_DUMPABLE, 1)  # its own `/proc/self` is its own again
            if self.worker.own_pids < 0:
                _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            gc.enable()
            self.program.run(arguments, _RESULT_FD)
        finally:
            _exit(1)

    def _restore_scratch(self) -> None:
        """Make the scratch folder what a test expects: the program's text and an empty working directory."""
        scratch = self.worker.scratch
        mode = 0o777 if self.worker.uid is not None else 0o700
        if self.written and self._is_pristine(mode):
            return
        _empty(scratch)
        os.mkdir(self.folder)
        chmod(self.folder, mode)
        with open(self.path, "wb") as file:
            file.write(self.source)
        self.written = _identity(self.path)

    def _is_pristine(self, mode: int) -> bool:
        try:
            return (
                sorted(os.listdir(self.worker.scratch)) == ["main.py", "work"]
                and os.lstat(self.folder).st_mode & 0o7777 == mode
                and not os.listdir(self.folder)
                and _identity(self.path) == self.written
            )
        except OSError:
            return False


def _load(folder: str, name: str) -> SimpleNamespace:
    """Run one of our files; the sandbox shows files, not a package."""
    return SimpleNamespace(**runpy.run_path(os.path.join(folder, f"{name}.py"), run_name=name))


def _parse_arguments(stdin: int) -> list[Any]:
    """The arguments of a functional test: one JSON value per line."""
    with open(stdin, "rb", closefd=False) as file:
        text = file.read().decode("utf-8", "surrogatepass")
    return [json.loads(line) for line in text.split("\n")]


def _rlimits(
    time_limit: float, memory_limit: int, config: dict[str, Any]
) -> list[tuple[int, tuple[int, int]]]:
    """What to pass to `setrlimit`; a limit that the caller has already is never raised."""
    seconds = math.ceil(time_limit)
    wanted = {
        "RLIMIT_CPU": (seconds + 1, seconds + 2),  # the clock is outside; this is for a clock that is stuck
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_FSIZE": (config["file_size"],) * 2,
        "RLIMIT_NOFILE": (256, 256),
        "RLIMIT_NPROC": (config["processes"],) * 2,
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


def _become(uid: int) -> None:
    """Turn into another user, which takes all capabilities away."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _drop_capabilities() -> None:
    if _libc is not None:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
        _libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def _checked(call: str, *arguments: int) -> None:
    if getattr(_libc, call)(*arguments):
        raise OSError(ctypes.get_errno(), f"{call} failed")


def _own_pids() -> int:
    """A handle to the worker's own process namespace, or -1 where it may not make new ones."""
    child = fork()
    if child == 0:
        status = 1
        try:
            own = os.open("/proc/self/ns/pid", os.O_RDONLY)
            _checked("unshare", _CLONE_NEWPID)
            _checked("setns", own, _CLONE_NEWPID)
            status = 0
        finally:
            _exit(status)
    return -1 if os.waitpid(child, 0)[1] else os.open("/proc/self/ns/pid", os.O_RDONLY)


def _reset_signals() -> None:
    """Undo what the caller's signal settings have left: an ignored SIGINT, a blocked SIGTERM."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _identity(path: str) -> tuple[int, ...]:
    status = os.lstat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _empty(folder: str) -> None:
    """Remove what a folder holds, closed folders of its owner included."""
    chmod(folder, 0o755)
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                _empty(entry.path)
                rmdir(entry.path)
            else:
                unlink(entry.path)


if __name__ == "__main__":
    Worker(json.loads(sys.argv[1])).serve()
