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
import gc
import json
import marshal
import os
import resource
import select
import signal
import sys
import time
import types
from _signal import signal as set_handler  # type: ignore[import-not-found]  # makes no enums
from _socket import socket
from collections.abc import Callable
from os import chdir, fork, kill  # the guard of functional tests takes them out of `os`
from typing import Any, NamedTuple, NoReturn

_INPUT_CHUNK = 1 << 16
_RESULT_FD = 200  # far from the low numbers that programs close in bulk
_TRY_WITHOUT_IMPORTS = 75
_PREPARING_LOOK = 200  # milliseconds between looks at a submission process that is late
_CPU_CLOCK = 2  # of a whole process, to be combined with its number
_exit = os._exit


class Worker:
    """The long-lived process: says that it is ready, then forks a process per job until the pool hangs up."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.scratch: str = config["scratch"]
        # A low number, whatever the caller's was, so that no test misses it when it closes what it inherits.
        line = os.dup(config["fd"])
        os.close(config["fd"])
        self.sock = socket(fileno=line)
        self.fork_hooks: list[dict[str, Any]] = []
        self.go_behind_the_wall: Callable[[], None] = lambda: None
        self.mark_no_files: Callable[[], object] = lambda: None
        register, os.register_at_fork = os.register_at_fork, lambda **hooks: self.fork_hooks.append(hooks)
        try:
            self._load_modules(config)
        finally:
            os.register_at_fork = register

    def _load_modules(self, config: dict[str, Any]) -> None:
        """Load our files and the prelude's modules; `fork_hooks` takes what they want to be done at forks.

        A test's process does that where it matters: for all, it would cost more than the fork itself.
        """
        self.calls = _load(config["folder"], "calls")
        self.guest = _load(config["folder"], "guest")
        self.kernel = _load(config["folder"], "kernel")
        self.prelude = _load(config["folder"], "prelude")
        self.scratches = _load(config["folder"], "scratch")
        self.supervisor = _load(config["folder"], "supervisor")
        self.wire = _load(config["folder"], "wire")
        self.names = self.prelude.prelude_names()
        # Filled once, before any fork: for each program it would copy the pages of all that it holds.
        self.module = types.ModuleType("__main__")
        self.module.__dict__.update(self.names)

    def serve(self) -> None:
        """Work until the pool closes the connection or a submission process dies against the rules."""
        kernel, site = self.kernel, self.config["site"]
        os.environ.pop("LD_BIND_NOW", None)
        kernel.reset_signals()
        kernel.limit_files(self.scratch, self.config["files"])
        kernel.forbid_new_privileges()
        kernel.hide_memory()
        kernel.keep_orphans()
        os.umask(0o022)
        sys.path.extend(site)
        self.own_pids = kernel.own_pids()
        filtered = self.calls.filter_calls(own_pids=self.own_pids >= 0, network=self.config["network"])
        self.user = kernel.find_user(self.config["uid"], [os.path.dirname(os.__file__), self.scratch, *site])
        kernel.drop_bounding_set(reads_all=self.user is not None and self.user[1])
        walled = self._build_wall() if self.config["readable"] else 0
        if walled and self.user is None:
            self.mark_no_files = self.calls.make_marks_filter()
        facts = {
            "own_pids": self.own_pids >= 0,
            "user": self.user,
            "filtered": filtered,
            "walled": walled,
        }
        self.sock.sendall(json.dumps(facts).encode("ascii") + b"\n")
        for stream in (1, 2):
            os.dup2(0, stream)  # nobody reads what an imported module has to say
        gc.collect()
        kernel.trim_memory()
        gc.freeze()
        gc.disable()  # a collection in a fork would copy every page
        try:
            with contextlib.suppress(EOFError, ConnectionError):
                while self._one_job():
                    pass
        finally:
            self.supervisor.kill_descendants()
            self.make_scratch(b"").remove()

    def _build_wall(self) -> int:
        """Prepare what tests are to be kept behind; returns its version, 0 where the kernel has none."""
        landlock = _load(self.config["folder"], "landlock")
        wall = landlock.make_rules(self.config["readable"], self.config["writable"], self.config["closed"])
        if wall < 0:
            return 0
        self.go_behind_the_wall = lambda: landlock.obey(wall)
        version: int = landlock.version()
        return version

    def make_scratch(self, source: bytes) -> Any:
        """The scratch folder of a program; all use the same place, one after the other."""
        uid = None if self.user is None else self.user[0]
        return self.scratches.Scratch(self.scratch, source, uid=uid, littered=self.config["littered"])

    def _one_job(self) -> bool:
        """Serve one program; False when this worker must not go on."""
        job, _ = self.wire.receive(self.sock)
        # Of this process's memory all later programs get a copy: no text of any program must ever be in it.
        source = self.wire.receive_file(self.sock)
        if source is None:
            raise ValueError("a job without a program")
        try:
            end = self._run_submission(job, source)
            if end.status == _TRY_WITHOUT_IMPORTS:
                end = self._run_submission(job | {"imports": False}, source)
        finally:
            os.close(source)
        if end.late:
            self.wire.send(self.sock, {"killed": "time", "cpu": end.cpu})
        return end.late or end.status == 0

    def _run_submission(self, job: dict[str, Any], source: int) -> "_End":
        ready, tell = os.pipe()
        if self.own_pids >= 0:
            self.kernel.new_pids()
        child = fork()
        if child == 0:
            status = 1
            try:
                os.lseek(source, 0, os.SEEK_SET)
                Submission(self, job, _read_all(source), tell).serve()
                status = 0
            finally:
                _exit(status)
        if self.own_pids >= 0:
            self.kernel.leave_pids(self.own_pids)
        os.close(tell)
        try:
            return self._wait(child, ready, job["time_limit"])
        finally:
            os.close(ready)

    def _wait(self, child: int, ready: int, time_limit: float) -> "_End":
        """Wait for a submission process; end it when the pool has gone, or when it is not ready in time."""
        late = False
        if hasattr(os, "pidfd_open"):
            poll = select.poll()
            pidfd = os.pidfd_open(child)
            poll.register(pidfd, select.POLLIN)
            poll.register(ready, select.POLLIN)
            poll.register(self.sock, getattr(select, "POLLRDHUP", 0))
            start, pause = time.monotonic(), 1000 * time_limit  # milliseconds
            while True:
                events = {fd for fd, _ in poll.poll(pause)}
                if ready in events:
                    poll.unregister(ready)
                    pause = -1.0
                late = not events and self._overdue(child, start, time_limit)
                if late or self.sock.fileno() in events:
                    kill(child, signal.SIGKILL)
                if late or events - {ready}:
                    break
                if not events:
                    pause = _PREPARING_LOOK
            os.close(pidfd)
        _, status, usage = os.wait4(child, 0)
        late = late and os.read(ready, 1) == b""  # it may have got ready at the last moment
        return _End(os.waitstatus_to_exitcode(status), late, usage.ru_utime + usage.ru_stime)

    @staticmethod
    def _overdue(child: int, start: float, time_limit: float) -> bool:
        cpu = time.clock_gettime((~child << 3) | _CPU_CLOCK)
        return cpu > time_limit or time.monotonic() - start > 10 * time_limit


class _End(NamedTuple):
    """How a submission process ended: exit status, whether it was killed before it was ready, CPU time."""

    status: int
    late: bool
    cpu: float


class Submission:
    """One program: compiled once, run in a fresh process for every test that the pool sends."""

    def __init__(self, worker: Worker, job: dict[str, Any], source: bytes, tell: int) -> None:
        self.worker, self.job, self.source, self.tell = worker, job, source, tell
        self.scratch = worker.make_scratch(source)
        config = worker.config
        self.limits = worker.supervisor.Limits(job["time_limit"], config["output"], job["memory_limit"])
        function = bool(job["function"])
        rlimits = worker.kernel.rlimits(
            job["time_limit"], job["memory_limit"], config["file_size"], config["processes"]
        )
        # What makes a fresh fork the process of one test, as plain calls: each line of Python that a fork
        # runs first copies a few pages, and pages are most of what a test costs.
        self.becoming: list[tuple[Callable[..., object], tuple[Any, ...]]] = [
            (worker.go_behind_the_wall, ()),
            (os.closerange, (3, _RESULT_FD)),
            (os.closerange, (_RESULT_FD + function, 4096)),
            (chdir, (self.scratch.work,)),
            *((resource.setrlimit, limit) for limit in rlimits),
            *([] if worker.user is None else [(worker.kernel.become, (worker.user,))]),
            (worker.mark_no_files, ()),
            (worker.kernel.show_memory, ()),
            (set_handler, (int(signal.SIGINT), signal.default_int_handler)),
            *([(worker.kernel.die_with_parent, ())] if worker.own_pids < 0 else []),
            (gc.enable, ()),
        ]

    def serve(self) -> None:
        """Answer tests until the pool says `end`."""
        sock, kernel, wire = self.worker.sock, self.worker.kernel, self.worker.wire
        kernel.hide_memory()
        kernel.keep_orphans()
        kernel.die_with_parent()
        if self.worker.own_pids >= 0 and os.getpid() != 1:
            raise RuntimeError("not alone in a namespace: cleaning up could reach others")
        if self.worker.user is None:
            kernel.drop_capabilities()
        try:
            self.scratch.restore()
        except OSError as error:
            wire.send(sock, {"internal": f"the scratch folder cannot be written: {error}"})
            return
        self._prepare()
        os.write(self.tell, b"1")
        os.close(self.tell)
        wire.send(sock, '{"prepared": true}')
        while (stdin := wire.receive_file(sock)) is not None:
            outcome, blob = self._run(stdin)
            os.close(stdin)
            self.scratch.restore()
            wire.send(sock, outcome, blob)

    def _prepare(self) -> None:
        guest = self.worker.guest
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (self.job["memory_limit"] or soft, hard))
        code = guest.compile_program(self.source, self.scratch.program)
        if self.job.get("imports", True) and not isinstance(code, BaseException):
            self.worker.prelude.import_named(self.source, self.worker.config["site"])
            if len(os.listdir("/proc/self/task") if sys.platform == "linux" else "1") > 1:
                _exit(_TRY_WITHOUT_IMPORTS)  # a module has started threads, which a fork would not carry over
        names = self.worker.names if self.job["prelude"] else {}
        module = self.worker.module if names else types.ModuleType("__main__")
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        self.program = guest.Program(
            code, self.source, self.scratch.program, names, module, self.job["function"]
        )
        self.program.fork_hooks = self.worker.fork_hooks
        gc.collect()
        gc.freeze()

    def _run(self, stdin: int) -> tuple[dict[str, Any] | str, bytes]:
        arguments: list[Any] = []
        if self.job["function"]:
            try:
                arguments = _parse_arguments(stdin)
            except (ValueError, RecursionError) as error:
                return {"bad_test": f"an input line is not JSON: {error}"}, b""
            stdin = os.open(os.devnull, os.O_RDWR)
        test = self.worker.supervisor.Test(self.limits, own_pids=self.worker.own_pids >= 0)
        try:
            outcome: tuple[str, bytes] = test.run(
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
            if self.job["function"]:
                os.dup2(main, _RESULT_FD)
                main = stdin
            os.dup2(stdin, 0)
            os.dup2(main, 1)
            os.dup2(err, 2)
            for function, details in self.becoming:
                function(*details)
            self.program.run(arguments, _RESULT_FD)
        finally:
            _exit(1)


def _load(folder: str, name: str) -> types.SimpleNamespace:
    """Run one of our files; the sandbox shows files, not a package."""
    path = os.path.join(folder, f"{name}.py")
    names: dict[str, Any] = {"__name__": name, "__file__": path}
    exec(_compile_elsewhere(path), names)
    return types.SimpleNamespace(**names)


def _compile_elsewhere(path: str) -> types.CodeType:
    """Compile a file in a child, with whom the memory goes that this takes: forks would copy it."""
    ready, tell = os.pipe()
    child = fork()
    if child == 0:
        try:
            os.close(ready)
            with open(path, "rb") as source, open(tell, "wb") as answer:
                marshal.dump(compile(source.read(), path, "exec"), answer)
        finally:
            _exit(0)
    os.close(tell)
    with open(ready, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    code: types.CodeType = marshal.loads(data)
    return code


def _parse_arguments(stdin: int) -> list[Any]:
    """The arguments of a functional test: one JSON value per line."""
    return [json.loads(line) for line in _read_all(stdin).decode("utf-8", "surrogatepass").split("\n")]


def _read_all(file: int) -> bytes:
    return b"".join(iter(lambda: os.read(file, _INPUT_CHUNK), b""))


if __name__ == "__main__":
    Worker(json.loads(sys.argv[1])).serve()
