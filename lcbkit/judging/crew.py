"""A pool's worker processes: started when needed, lent to one caller at a time, replaced when they fail."""

import os
import queue
import socket
import struct
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from typing import Any, TypeVar

from lcbkit.errors import SandboxError
from lcbkit.judging.interruption import Token
from lcbkit.judging.launch import Confined, spawn, start
from lcbkit.judging.outcomes import Job, Outcome, parse_outcome
from lcbkit.judging.sandbox import choose
from lcbkit.judging.sharing import Supply
from lcbkit.judging.wire import receive, send, send_file, send_test
from lcbkit.problems import TestCase

__all__ = ["STOPPED", "Crew", "run_tests"]

_T = TypeVar("_T")
_GRACE_SECONDS = 60.0  # for a worker that should have answered: compiling, imports, a crowded machine
STOPPED = "the judge was stopped before it was done; judge again"
_ENDED_ITS_JUDGE = b"the program ended the process that judged it"
_AHEAD = 3  # tests on their way to a worker; more would only lie in its queue


class WorkerLostError(Exception):
    """A worker has gone, or says what it should not."""


class UnpreparedError(WorkerLostError):
    """It went before the program's first test could start."""


class Crew:
    """At most `size` workers.

    Args:
        size: how many.
        setting: `auto`, `bwrap`, `limits`, or None for `LCB_SANDBOX`.
    """

    def __init__(self, size: int, setting: str | None) -> None:
        self.size, self.setting, self.closed = size, setting, False
        self._changed = threading.Condition()
        self._idle: list[Confined] = []
        self._busy: set[Confined] = set()
        self._places = size
        self._keeper = _Keeper()
        _crews.add(self)

    def free(self) -> int:
        """How many workers could be lent now without waiting."""
        with self._changed:
            return len(self._idle) + self._places

    def take(self, token: Token) -> Confined:
        """Lend a worker, started if need be; waits for one.

        Raises:
            SandboxError: the crew is closed, the token is cancelled, or no worker starts.
        """
        with self._changed:
            while not (self.closed or token.cancelled or self._idle or self._places):
                self._changed.wait(0.5)  # a token is cancelled without a word to this condition
            if self.closed or token.cancelled:
                raise SandboxError(STOPPED)
            worker = self._idle.pop() if self._idle else None
            if worker is None:
                self._places -= 1
        if worker is None or worker.process.poll() is not None:
            try:
                worker = self._replace(worker)
            except BaseException as error:
                with self._changed:
                    self._places += 1
                    self._changed.notify()
                if self.closed and isinstance(error, SandboxError):
                    raise SandboxError(STOPPED) from error
                raise
        with self._changed:
            self._busy.add(worker)
            if self.closed:
                worker.hang_up()
        token.add(worker)
        return worker

    def give_back(self, worker: Confined, token: Token, *, healthy: bool) -> None:
        """Take a worker back; one that is not healthy is ended."""
        token.remove(worker)
        keep = healthy and not self.closed and not token.cancelled
        if not keep:
            worker.stop()
        with self._changed:
            self._busy.discard(worker)
            if keep:
                self._idle.append(worker)
            else:
                self._places += 1
            self._changed.notify()
            last = self.closed and not self._busy
        if last:
            self._keeper.close()

    def close(self) -> None:
        """End all workers; whoever has one sees it go."""
        with self._changed:
            self.closed = True
            idle, busy = tuple(self._idle), tuple(self._busy)
            self._idle.clear()
            self._changed.notify_all()
        for worker in busy:
            worker.hang_up()
        for worker in idle:
            worker.hang_up()
        for worker in idle:
            worker.stop()
        if not busy:
            self._keeper.close()

    def forget(self) -> None:
        """After a fork, in the child: the workers are the parent's; drop them without a word."""
        for worker in (*self._idle, *self._busy):
            worker.forget()
        self._idle, self._busy, self._places = [], set(), self.size
        self._changed, self._keeper = threading.Condition(), _Keeper()

    def _replace(self, dead: Confined | None) -> Confined:
        if dead is not None:
            dead.stop()
        adopted: list[Confined] = []
        confinement, _ = self._keeper.call(lambda: choose(self.setting, adopt=adopted.append))
        if adopted:
            return adopted[0]
        return start(confinement, spawned=lambda wanted: self._keeper.call(lambda: spawn(wanted)))


def run_tests(
    crew: Crew, job: Job, cases: Sequence[TestCase], supply: Supply, token: Token
) -> Generator[tuple[int, Outcome], None, None]:
    """Yield tests' numbers and how they ended, until the supply runs out, on as many workers as that takes.

    When a worker dies, another one takes over at the same test; two that die on one test are the program's
    doing.

    Raises:
        SandboxError: the crew is closed, the token is cancelled, or no worker starts.
    """
    begun: deque[int] = deque()
    lost = 0
    while begun or (number := supply.take()) is not None:
        if not begun and number is not None:
            begun.append(number)
        worker = crew.take(token)
        healthy = False
        try:
            for number, outcome in _converse(worker, job, cases, begun, supply):
                if outcome.internal and not lost:
                    begun.appendleft(number)
                    raise WorkerLostError(outcome.internal)
                healthy = not begun
                try:
                    yield number, outcome
                except GeneratorExit:
                    healthy = healthy or (job.stop_on_failure and _dismiss(worker))
                    raise
                lost = 0
        except WorkerLostError as error:
            if crew.closed or token.cancelled:
                raise SandboxError(STOPPED) from error
            lost += 1
            if lost == 2:
                if isinstance(error, UnpreparedError):
                    begun.extend(supply.take_all())
                for _ in range(len(begun) if isinstance(error, UnpreparedError) else 1):
                    yield begun.popleft(), Outcome(status=1, stderr=_ENDED_ITS_JUDGE)
                lost = 0
        finally:
            crew.give_back(worker, token, healthy=healthy)


def _converse(
    worker: Confined, job: Job, cases: Sequence[TestCase], begun: deque[int], supply: Supply
) -> Iterator[tuple[int, Outcome]]:
    """Run a program's tests on a worker; the next is on its way while the caller looks at the last.

    Args:
        worker: who runs them.
        job: the program.
        cases: its tests.
        begun: the numbers of those that are this worker's; the first one is the next to end.
        supply: where more of them come from.

    Raises:
        WorkerLostError: the worker has gone or talks nonsense.
        SandboxError: this process is out of descriptors or memory for the inputs.
    """
    first = _introduce(worker, job)
    if "internal" in first:
        yield begun.popleft(), Outcome(internal=str(first["internal"]))
        return
    if "killed" in first:
        outcome = parse_outcome(first, b"the program was not compiled in time")
        begun.extend(supply.take_all())
        while begun:
            yield begun.popleft(), outcome
        return
    sent, ahead = 0, 1 if job.stop_on_failure else _AHEAD
    while begun:
        while len(begun) < ahead and (number := supply.take()) is not None:
            begun.append(number)
        for number in islice(begun, sent, ahead):
            _send_text(worker, cases[number].input.encode("utf-8", "surrogatepass"))
            sent += 1
        try:
            header, blob = receive(worker.sock)
            if len(begun) == 1 and (number := supply.take()) is not None:
                begun.append(number)
            if len(begun) == 1 and not _dismiss(worker):
                raise EOFError("gone after its last test")
            outcome = parse_outcome(header, blob)
        except (OSError, EOFError, ValueError) as error:
            raise WorkerLostError(str(error)) from error
        sent -= 1
        yield begun.popleft(), outcome


def _introduce(worker: Confined, job: Job) -> dict[str, Any]:
    """Send a worker a program; returns its first word on it."""
    limits = job.limits
    _set_patience(worker.sock, _GRACE_SECONDS + 10 * limits.time_limit)
    told = {
        "function": job.function,
        "time_limit": limits.time_limit,
        "memory_limit": limits.memory_limit,
        "prelude": limits.prelude,
    }
    try:
        send(worker.sock, told)
        _send_text(worker, job.code.encode("utf-8", "surrogatepass"))
        return receive(worker.sock)[0]
    except (WorkerLostError, OSError, EOFError, ValueError) as error:
        raise UnpreparedError(str(error)) from error


def _set_patience(sock: socket.socket, seconds: float) -> None:
    """Let the kernel end waits that take too long; Python's own time-outs make two calls of each."""
    whole, rest = divmod(seconds, 1)
    limit = struct.pack("@ll", int(whole), int(rest * 1e6))
    sock.settimeout(None)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _dismiss(worker: Confined) -> bool:
    """Tell a worker that its program gets no more tests; whether the line still stands."""
    try:
        send_test(worker.sock, None)
    except OSError:
        return False
    return True


def _send_text(worker: Confined, text: bytes) -> None:
    """Hand over a program or a test's input."""
    try:
        fd = _nameless_file(text)
    except OSError as error:
        raise SandboxError(
            f"a program or an input could not be handed over: {error}; free some and judge again"
        ) from error
    try:
        send_file(worker.sock, fd)
    except OSError as error:
        raise WorkerLostError(str(error)) from error
    finally:
        os.close(fd)


def _nameless_file(text: bytes) -> int:
    """An open file without a name, at its start, that holds a text."""
    try:
        fd = os.memfd_create("input")
    except (AttributeError, OSError):  # not Linux, or forbidden there
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    try:
        view = memoryview(text)
        while view:
            view = view[os.pwrite(fd, view, len(text) - len(view)) :]
    except BaseException:
        os.close(fd)
        raise
    return fd


class _Keeper:
    """A thread that starts workers and outlives them: bubblewrap ends with the thread that started it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def call(self, function: Callable[[], _T]) -> _T:
        """Have something done there.

        Raises:
            SandboxError: it is closed.
        """
        future: Future[_T] = Future()
        with self._lock:  # nothing may come behind the word that ends the thread: nobody would do it
            if self._closed:
                raise SandboxError(STOPPED)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="lcbkit-judge-keeper", daemon=True)
                with suppress(RuntimeError):  # the interpreter is ending and starts no thread
                    self._thread.start()
            alive = self._thread.is_alive()
            if alive:
                self._calls.put((function, future))
        return future.result() if alive else function()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._calls.put(None)

    def _run(self) -> None:
        while (item := self._calls.get()) is not None:
            function, future = item
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001 - handed to the caller
                future.set_exception(error)


_crews: "weakref.WeakSet[Crew]" = weakref.WeakSet()


def _forget_all() -> None:
    for crew in tuple(_crews):
        crew.forget()


os.register_at_fork(after_in_child=_forget_all)
