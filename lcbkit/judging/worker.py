"""The process that runs untrusted programs: one worker, one process per submission, one process per test.

Started as a program, inside the sandbox where there is one; standard library only. It talks to the pool over one
socket and never learns an expected output. A worker has the prelude's modules loaded and forks a *submission process*,
which compiles the program, imports the installed modules that it names, and forks one process per test; it is also the
clock, the accountant and the undertaker of its tests.

Where the system allows it, the submission process is the first process of a namespace of its own: a test cannot see or
signal anything above it, orphans fall to it, and one `kill(-1)` ends whatever a test has left behind. Elsewhere it
is a child subreaper and walks `/proc`. When it dies against the rules, the worker leaves too, and the pool starts another.

Time is CPU time of everything a test has started. A process that neither computes nor waits for a core is idle, and idle
time has a limit as well.
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
import shutil
import signal
import socket
import struct
import sys
import time
from typing import Any, NoReturn

__all__ = ["receive", "send"]

_HEAD = struct.Struct(">II")
_RESULT_FD = 200  # far from the low numbers that programs close in bulk
_STDERR_KEPT = 64 * 1024
_CHUNK = 1 << 18
_CLEANUP_SECONDS = 5.0

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
        sent = socket.send_fds(sock, [head], list(fds))
        head = head[sent:]
    if len(blob) < 65_536:
        sock.sendall(head + blob)
    else:
        sock.sendall(head)
        sock.sendall(blob)


def receive(sock: socket.socket) -> tuple[dict[str, Any], bytes, list[int]]:
    """Receive one message.

    Raises:
        EOFError: the other side has gone.
    """
    head, fds, _, _ = socket.recv_fds(sock, _HEAD.size, 1)
    head += _receive_exactly(sock, _HEAD.size - len(head))
    text_size, blob_size = _HEAD.unpack(head)
    return json.loads(_receive_exactly(sock, text_size)), bytes(_receive_exactly(sock, blob_size)), fds


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
    """The long-lived process: announces itself, then forks a submission process per job until the pool hangs up."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.scratch: str = config["scratch"]
        self.uid: int | None = config["uid"]
        self.sock = socket.socket(fileno=config["fd"])
        self.sock.set_inheritable(False)

    def serve(self) -> None:
        """Work until the pool closes the connection or a submission process dies against the rules."""
        _reset_signals()
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _prctl(_PR_SET_DUMPABLE, 0)  # the same user could read and trace it otherwise
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        sys.path.extend(self.config["site"])
        self.guest = runpy.run_path(self.config["guest"], run_name="guest")
        self.names = self.guest["prelude_names"]()
        self.own_pids = _own_pids_fd() if self.config["namespaces"] else -1
        if self.uid is not None and not self._can_drop(self.uid):
            self.uid = None
        facts = {
            "own_pids": self.own_pids >= 0,
            "uid": self.uid,
            "schedstat": os.path.exists("/proc/self/schedstat"),
        }
        self.sock.sendall(json.dumps(facts).encode("ascii") + b"\n")
        gc.collect()
        gc.freeze()
        gc.disable()  # a collection in a fork would copy every page
        try:
            with contextlib.suppress(EOFError, ConnectionError):
                while self._one_job():
                    pass
        finally:
            _Tests.kill_descendants()
            shutil.rmtree(self.scratch, ignore_errors=True)

    def _one_job(self) -> bool:
        job, source, _ = receive(self.sock)
        child = self._fork_submission(job, source)
        if not self._wait(child):
            return False
        return True

    def _fork_submission(self, job: dict[str, Any], source: bytes) -> int:
        if self.own_pids >= 0 and _libc.unshare(_CLONE_NEWPID):  # type: ignore[union-attr]
            raise OSError(ctypes.get_errno(), "no process namespace")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                Submission(self, job, source).serve()
                status = 0
            except (EOFError, ConnectionError):
                pass
            finally:
                _exit(status)
        if self.own_pids >= 0 and _libc.setns(self.own_pids, _CLONE_NEWPID):  # type: ignore[union-attr]
            raise OSError(ctypes.get_errno(), "no way back to the worker's process namespace")
        return child

    def _wait(self, child: int) -> bool:
        """Wait for a submission process, and end it when the pool has gone."""
        watch = select.poll()
        pidfd = os.pidfd_open(child) if hasattr(os, "pidfd_open") else -1
        if pidfd >= 0:
            watch.register(pidfd, select.POLLIN)
            watch.register(self.sock, getattr(select, "POLLRDHUP", select.POLLHUP))
            ready = {fd for fd, _ in watch.poll()}
            os.close(pidfd)
            if pidfd not in ready:
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        return status == 0

    def _can_drop(self, uid: int) -> bool:
        """Whether another user could run here: read the library, enter the scratch folder."""
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                _drop_privileges(uid)
                os.listdir(os.path.dirname(os.__file__))
                with open(os.__file__, "rb"), open(sys.executable, "rb"):
                    os.chdir(self.scratch)
                    for folder in self.config["site"]:
                        os.listdir(folder)
                    _exit(0)
            _exit(1)
        return os.waitpid(child, 0)[1] == 0


class Submission:
    """One program: compiled once, run in a fresh process for every test that the pool sends."""

    def __init__(self, worker: Worker, job: dict[str, Any], source: bytes) -> None:
        self.worker, self.job, self.source = worker, job, source
        self.path = os.path.join(worker.scratch, "main.py")
        self.folder = os.path.join(worker.scratch, "work")

    def serve(self) -> None:
        """Answer tests until the pool says `end`."""
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if self.worker.own_pids < 0:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        self._restore_scratch()
        self.code = self.worker.guest["compile_program"](self.source, self.path)
        if not isinstance(self.code, BaseException):
            self.worker.guest["import_installed"](self.source, self.worker.config["site"])
        gc.collect()
        gc.freeze()
        send(self.worker.sock, {"prepared": True})
        while True:
            header, _, fds = receive(self.worker.sock)
            if "end" in header:
                return
            outcome, blob = self._run(fds[0])
            os.close(fds[0])
            send(self.worker.sock, outcome, blob)
            self._restore_scratch()

    def _run(self, stdin: int) -> tuple[dict[str, Any], bytes]:
        arguments: list[Any] = []
        if self.job["function"]:
            try:
                arguments = _parse_arguments(stdin)
            except (ValueError, RecursionError) as error:
                return {"bad_test": f"an input line is not JSON: {error}"}, b""
        try:
            return _Tests(self, stdin, arguments).run()
        except OSError as error:
            return {"internal": str(error)}, b""

    def become_test(self, stdin: int, stdout: int, stderr: int, arguments: list[Any]) -> NoReturn:
        """Turn this fresh fork into the process of one test, and run the program in it. Never returns."""
        try:
            job, guest = self.job, self.worker.guest
            os.setsid()
            function = job["function"]
            if function:
                os.dup2(stdout, _RESULT_FD)
                stdin = stdout = os.open(os.devnull, os.O_RDWR)
            for source, target in ((stdin, 0), (stdout, 1), (stderr, 2)):
                os.dup2(source, target)
            os.closerange(3, _RESULT_FD)
            os.closerange(_RESULT_FD + bool(function), 4096)
            os.chdir(self.folder)
            _set_limits(job)
            _drop_privileges(self.worker.uid)
            _prctl(_PR_SET_DUMPABLE, 1)
            gc.enable()
            names, prelude = self.worker.names, job["prelude"]
            if function:
                guest["call_function"](
                    self.code, self.path, names, function, arguments, _RESULT_FD, prelude=prelude
                )
            guest["run_program"](self.code, self.path, names, prelude=prelude)
        finally:
            _exit(1)

    def _restore_scratch(self) -> None:
        """Make the scratch folder what a test expects: the program's text and an empty working directory."""
        scratch, shared = self.worker.scratch, self.worker.uid is not None
        with contextlib.suppress(OSError):
            if set(os.listdir(scratch)) == {"main.py", "work"} and not os.listdir(self.folder):
                status = os.stat(self.path)
                if (status.st_size, status.st_mtime_ns, status.st_ino) == getattr(self, "_written", None):
                    return
        for entry in os.scandir(scratch):
            _remove(entry)
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o777 if shared else 0o700)
        with open(self.path, "wb") as file:
            file.write(self.source)
        status = os.stat(self.path)
        self._written = (status.st_size, status.st_mtime_ns, status.st_ino)


class _Tests:
    """One test's process tree, from the fork to the last reaped orphan."""

    def __init__(self, submission: Submission, stdin: int, arguments: list[Any]) -> None:
        self.submission, self.stdin, self.arguments = submission, stdin, arguments
        job = submission.job
        self.time_limit: float = job["time_limit"]
        self.output_limit: int = job["output_limit"]
        self.memory_limit: int = job["memory_limit"]
        self.cpu, self.memory, self.killed = 0.0, 0, ""
        self.main, self.err, self.err_size = bytearray(), bytearray(), 0

    def run(self) -> tuple[dict[str, Any], bytes]:
        """Run the test and tell how it ended."""
        main_read, main_write = os.pipe()
        err_read, err_write = os.pipe()
        self.start = time.monotonic()
        try:
            self.pid = os.fork()
            if self.pid == 0:
                self.submission.become_test(self.stdin, main_write, err_write, self.arguments)
        finally:
            os.close(main_write)
            os.close(err_write)
        self.streams = {main_read, err_read}
        self.main_read = main_read
        try:
            for stream in self.streams:
                os.set_blocking(stream, False)
            self._watch()
            wall = time.monotonic() - self.start
            _, status, usage = os.wait4(self.pid, 0)
            self._charge(usage)
            self._bury()
            for stream in tuple(self.streams):
                self._drain(stream)
        finally:
            os.close(main_read)
            os.close(err_read)
        outcome = {
            "status": os.waitstatus_to_exitcode(status),
            "killed": self.killed,
            "wall": wall,
            "cpu": self.cpu,
            "memory": self.memory,
            "main": len(self.main),
        }
        return outcome, bytes(self.main) + bytes(self.err)

    def _watch(self) -> None:
        """Return when the test's main process has ended, by itself or by our hand."""
        poll = select.poll()
        pidfd = os.pidfd_open(self.pid)
        for fd in (pidfd, *self.streams):
            poll.register(fd, select.POLLIN)
        check = self.start + min(0.25, self.time_limit / 4)
        try:
            while True:
                for fd, _ in poll.poll(max(1, math.ceil((check - time.monotonic()) * 1000))):
                    if fd == pidfd:
                        return
                    if not self._read(fd):
                        poll.unregister(fd)
                        self.streams.discard(fd)
                if not self.killed and time.monotonic() >= check:
                    check = self._check()
                if self.killed:
                    self._kill()
                    check = time.monotonic() + 1
        finally:
            os.close(pidfd)

    def _read(self, fd: int) -> bool:
        """Take what a stream holds; False at its end."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        if fd == self.main_read:
            self.main += data
            over = len(self.main) > self.output_limit
        else:
            self.err_size += len(data)
            self.err += data
            over = self.err_size > self.output_limit
            if len(self.err) > 4 * _STDERR_KEPT:
                del self.err[_STDERR_KEPT:-_STDERR_KEPT]
        if over and not self.killed:
            self.killed = "output"
        return bool(data)

    def _drain(self, fd: int) -> None:
        while not self.killed:
            size = len(self.main) + self.err_size
            if not self._read(fd) or len(self.main) + self.err_size == size:
                return

    def _check(self) -> float:
        """Compare the tree's time and memory with the limits; returns when to look again."""
        now = time.monotonic()
        cpu, waiting, memory = self.cpu, 0.0, 0
        tree = _descendants()
        for stat in tree.values():
            cpu += stat["cpu"]
            waiting += _run_delay(stat["pid"])
            memory += stat["memory"]
        wall = now - self.start
        idle = wall - cpu - waiting
        if cpu > self.time_limit or idle > self.time_limit + 1 or wall > 10 * self.time_limit:
            self.killed = "time"
        elif self.memory_limit and len(tree) > 1 and memory > self.memory_limit:
            self.killed = "memory"
        left = min((self.time_limit - cpu) / _CORES, self.time_limit + 1 - idle, 10 * self.time_limit - wall)
        return now + min(max(left, 0.02), 0.5)

    def _charge(self, usage: resource.struct_rusage) -> None:
        self.cpu += usage.ru_utime + usage.ru_stime
        self.memory = max(self.memory, usage.ru_maxrss * (1024 if sys.platform == "linux" else 1))

    def _kill(self) -> None:
        if self.submission.worker.own_pids >= 0:
            os.kill(-1, signal.SIGKILL)
        else:
            os.kill(self.pid, signal.SIGKILL)

    def _bury(self) -> None:
        """Kill and reap everything that the test has left behind."""
        deadline = time.monotonic() + _CLEANUP_SECONDS
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, _, usage = os.wait4(-1, os.WNOHANG)
                if pid:
                    self._charge(usage)
                    continue
                if self.submission.worker.own_pids >= 0:
                    os.kill(-1, signal.SIGKILL)
                    self._charge(os.wait4(-1, 0)[2])
                else:
                    self.kill_descendants()
                    time.sleep(0.001)
                if time.monotonic() > deadline:
                    _exit(1)

    @staticmethod
    def kill_descendants() -> None:
        """Send SIGKILL to every process below this one."""
        for pid in _descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _descendants() -> dict[int, dict[str, Any]]:
    """What `/proc` tells of every process below this one, under the numbers that `/proc` uses."""
    stats: dict[int, dict[str, Any]] = {}
    try:
        root = int(os.readlink("/proc/self"))
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return {}
    children: dict[int, list[int]] = {}
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        pid = int(name)
        cpu = sum(map(int, fields[11:15])) * _TICK
        stats[pid] = {"pid": pid, "cpu": cpu, "memory": int(fields[21]) * _PAGE}
        children.setdefault(int(fields[1]), []).append(pid)
    found: dict[int, dict[str, Any]] = {}
    front = [root]
    while front:
        for pid in children.get(front.pop(), ()):
            if pid not in found:
                found[pid] = stats[pid]
                front.append(pid)
    return found


def _run_delay(pid: int) -> float:
    """Seconds that the threads of a process have waited for a core."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", "rb") as file:
                total += int(file.read().split()[1])
    return total / 1e9


def _parse_arguments(stdin: int) -> list[Any]:
    """The arguments of a functional test: one JSON value per line."""
    with open(stdin, "rb", closefd=False) as file:
        text = file.read().decode("utf-8", "surrogatepass")
    return [json.loads(line) for line in text.split("\n")]


def _set_limits(job: dict[str, Any]) -> None:
    seconds = math.ceil(job["time_limit"])
    limits = {
        "RLIMIT_CPU": (seconds + 1, seconds + 2),  # the clock is outside; this is for a clock that is stuck
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_FSIZE": (job["file_limit"], job["file_limit"]),
        "RLIMIT_NOFILE": (256, 256),
        "RLIMIT_NPROC": (job["process_limit"], job["process_limit"]),
    }
    if job["memory_limit"]:
        limits["RLIMIT_AS"] = limits["RLIMIT_DATA"] = (job["memory_limit"], job["memory_limit"])
    for name, (soft, hard) in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            with contextlib.suppress(ValueError, OSError):  # the caller's own limit may be lower
                resource.setrlimit(kind, (soft, hard))


def _drop_privileges(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    if _libc is not None:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        _libc.capset(header, (ctypes.c_uint32 * 6)())


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def _own_pids_fd() -> int:
    """A handle to the worker's own process namespace, or -1 where it may not make new ones."""
    if _libc is None:
        return -1
    child = os.fork()
    if child == 0:
        _exit(0 if not _libc.unshare(_CLONE_NEWPID) else 1)
    if os.waitpid(child, 0)[1]:
        return -1
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    if _libc.setns(own, _CLONE_NEWPID):
        os.close(own)
        return -1
    return own


def _reset_signals() -> None:
    """Undo what the caller's signal settings have left: an ignored SIGINT, a blocked SIGTERM."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _remove(entry: "os.DirEntry[str]") -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, onerror=_unlock)
    else:
        os.unlink(entry.path)


def _unlock(function: Any, path: str, _: Any) -> None:
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        function(path)


if __name__ == "__main__":
    Worker(json.loads(sys.argv[1])).serve()
