"""Where faults happen: batches as processes of their own, at a real endpoint, on a small disk."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import psutil
from scripted_endpoint import Reply, Request, ScriptedEndpoint
from twice_problems import RIGHT, WRONG, asked_for, row

from lcbkit.records import Record
from lcbkit.results import Run, load_run
from lcbkit.runs.batch import REDO
from tests.processes import runs

__all__ = ["INSTANCES", "Aim", "Batch", "Ending", "Key", "Site", "can_mount", "site"]

Key: TypeAlias = tuple[str, int]

PROBLEMS, SAMPLES = 8, 2
INSTANCES = PROBLEMS * SAMPLES
_DISK_KIB = 1024
_PATIENCE_SECONDS = 280.0

# A killed worker's places at the endpoint come free sooner.
_DASK = {
    "DASK_DISTRIBUTED__SCHEDULER__LOCKS__LEASE_TIMEOUT": "5s",
    "DASK_DISTRIBUTED__SCHEDULER__LOCKS__LEASE_VALIDATION_INTERVAL": "1s",
}

SLOW = "```python\nimport time\nn = int(input())\ntime.sleep(0.2)\nprint(2 * n)\n```"
BROKEN = "```python\nprint(1 // (int(input()) - 3))\n```"
ANSWERS = (RIGHT, SLOW, WRONG, "I do not know.", BROKEN)


@cache
def can_mount() -> bool:
    """Whether this user can give a process a small file system of its own."""
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k probe /mnt"]
    with suppress(OSError):
        return os.geteuid() == 0 and subprocess.run(probe, capture_output=True, check=False).returncode == 0
    return False


def answer(request: Request) -> Reply:
    """What the model says: decided by problem and sample alone, after a moment that differs."""
    kind = int(asked_for(request)[1:]) + 2 * ((request.seed or 0) // 1000)
    return Reply(ANSWERS[kind % len(ANSWERS)], delay=0.02 * (request.index % 4))


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What happens to a batch at one moment of its own doing.

    Attributes:
        what: `fill` the disk, `tear` the write that begins, or a signal's name.
        path: the file that it is about to write (or, for `os.rename`, to put in place), as a pattern.
        nth: at which time.
        event: Python's name for the moment.
        bytes: for `tear`, how many of them are written.
    """

    what: str
    path: str
    nth: int = 1
    event: str = "open"
    bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a batch ended: its exit code (negative: a signal), its words, the processes that outlived it."""

    code: int
    said: str
    left: Sequence[str]

    @property
    def sentence(self) -> str:
        """The one thing that it had to say at the end; before, it may have told of a weaker sandbox."""
        lines = [line for line in self.said.splitlines() if line.startswith("lcb: ")]
        (line,) = [line for line in lines if "judged with resource limits only" not in line]
        assert "Traceback" not in self.said, self.said
        return line


@dataclass
class Site:
    """A place for batches.

    Attributes:
        folder: where runs lie, as batches see it.
        seen: the same, as this process sees it.
        logs: where their words go.
        scratch: where they put what is temporary.
        endpoint: what answers them now.
        nursery: what starts them.
    """

    folder: Path
    seen: Path
    logs: Path
    scratch: Path
    endpoint: ScriptedEndpoint
    nursery: "subprocess.Popen[str]"
    count: int = 0
    flags: Sequence[str] = ()

    def start(self, run: str, *flags: str, aim: Aim | None = None, talk: str | None = None) -> "Batch":
        """Start or take up a run."""
        self.count += 1
        log = self.logs / f"{self.count}.log"
        args = [
            *("run", "single", "--source", str(self.logs / "twice.jsonl"), "--model", "scripted"),
            *("--base-url", self.endpoint.url, "--no-python-exec", "--samples", str(SAMPLES)),
            *("--concurrency", "3", "--out-dir", str(self.folder / run)),
            *(() if "--engine" in flags else ("--judge-workers", "2")),
            *self.flags,
            *flags,
        ]
        command = {"args": args, "results": os.devnull, "talk": talk or str(log), "aim": aim and vars(aim)}
        assert self.nursery.stdin
        assert self.nursery.stdout
        self.nursery.stdin.write(json.dumps(command) + "\n")
        self.nursery.stdin.flush()
        return Batch(self, run, int(self.nursery.stdout.readline()), log)

    def predictions(self, run: str) -> Path:
        return self.seen / run / "predictions.jsonl"

    def finished(self, run: str) -> dict[Key, dict[str, Any]]:
        """The rows on disk that need not be made again, as plain JSON: an independent reading of the file."""
        rows = {_key(row): row for row in self._rows(run)}
        return {key: row for key, row in rows.items() if row["status"] not in REDO}

    def lines(self, run: str) -> Counter[Key]:
        """How many finished lines each instance has."""
        return Counter(_key(row) for row in self._rows(run) if row["status"] not in REDO)

    def _rows(self, run: str) -> Iterator[dict[str, Any]]:
        path = self.predictions(run)
        for line in path.read_bytes().split(b"\n") if path.exists() else ():
            with suppress(ValueError):
                if isinstance(row := json.loads(line), dict):
                    yield row

    def load(self, run: str) -> Run:
        return load_run(self.seen / run)

    def asked(self) -> list[Key]:
        """What the endpoint has been asked for since it was last told to forget."""
        return [(asked_for(request), (request.seed or 0) // 1000) for request in self.endpoint.requests]

    def fill(self, batch: "Batch") -> None:
        """Leave no room on the disk, while a batch is at work."""
        from tests.faults import nursery

        if can_mount():
            nursery.fill(self.seen)
        else:
            batch.choke()

    def free(self) -> None:
        """Make room again."""
        (self.seen / "ballast").unlink(missing_ok=True)

    def endpoint_goes(self) -> None:
        """Close the port; connections that are open are reset at their next request."""
        self.endpoint.script = lambda _request: Reply(drop=True)
        self.endpoint.close()

    def endpoint_comes_back(self) -> None:
        """Listen on the same port again."""
        port = self.endpoint.port
        self.endpoint = ScriptedEndpoint(answer, port=port).__enter__()
        assert self.endpoint.port == port, "another program has taken the port meanwhile"


@dataclass
class Batch:
    """A batch at work in a process of its own."""

    site: Site
    run: str
    pid: int
    log: Path
    _ended: bool = field(default=False, init=False)

    def alive(self) -> bool:
        return psutil.pid_exists(self.pid)

    def lines(self) -> int:
        """How many lines are on disk."""
        path = self.site.predictions(self.run)
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def reaches(self, count: int) -> bool:
        """Wait until so many lines are on disk; False if the batch ended before."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self.lines() < count:
            if not self.alive():
                return False
            assert time.monotonic() < deadline, f"the batch does not get on: {self.log.read_text()}"
            time.sleep(0.002)
        return True

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def choke(self) -> None:
        """Let no file of the process grow, where no disk can be filled."""
        import resource

        from tests.faults.nursery import CHOKED_BYTES

        with suppress(ProcessLookupError):
            hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)[1]
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (CHOKED_BYTES, hard))

    def judging(self) -> list[list[psutil.Process]]:
        """For each judge worker all of its processes, from the first down to the test's."""
        with suppress(psutil.Error):
            first = [child for child in psutil.Process(self.pid).children() if runs(child, "worker.py")]
            return [[worker, *worker.children(recursive=True)] for worker in first]
        return []

    def cluster(self) -> list[psutil.Process]:
        """The workers of its own Dask cluster."""
        with suppress(psutil.Error):
            return [child for child in psutil.Process(self.pid).children() if runs(child, "spawn_main")]
        return []

    def wait(self) -> Ending:
        """Wait for its end, and for that of what it started."""
        assert self.site.nursery.stdout
        guard = threading.Timer(_PATIENCE_SECONDS, self.signal, [signal.SIGKILL])
        guard.start()
        try:
            ended = json.loads(self.site.nursery.stdout.readline())
        finally:
            guard.cancel()
        said = self.log.read_text() if self.log.exists() else ""
        return Ending(code=ended["code"], left=ended["left"], said=said)


def _key(row: dict[str, Any]) -> Key:
    return row["id"], row["sample"]


@contextmanager
def site(*, flags: Sequence[str] = ()) -> Iterator[Site]:
    """A site with a disk of its own where this user can have one, else with a plain folder.

    Args:
        flags: more of them for every `lcb run`.
    """
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lcbkit-faults-")))
        folder, logs = home / "disk", home / "logs"
        for place in (folder, logs, home / "tmp"):
            place.mkdir()
        rows = [json.dumps(row(number)) for number in range(PROBLEMS)]
        (logs / "twice.jsonl").write_text("\n".join(rows) + "\n")
        command = [sys.executable, str(Path(__file__).with_name("nursery.py")), str(folder)]
        if can_mount():
            command = ["unshare", "-m", *command, str(_DISK_KIB)]
        env = os.environ | {"LCB_CACHE": str(home / "cache"), "TMPDIR": str(home / "tmp"), **_DASK}
        nursery = stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        )
        stack.callback(nursery.communicate)
        assert nursery.stdout
        assert nursery.stdout.readline() == "ready\n"
        seen = Path(f"/proc/{nursery.pid}/root{folder}") if can_mount() else folder
        endpoint = ScriptedEndpoint(answer).__enter__()
        here = Site(folder, seen, logs, home / "tmp", endpoint, nursery, flags=flags)
        stack.callback(lambda: here.endpoint.close())
        yield here


def untimed(record: Record, *, failed_calls: bool = False) -> dict[str, Any]:
    """A record's row without times; at choice without the calls that failed, which an outage adds."""
    found = {name: value for name, value in record.to_row().items() if not name.endswith("_s")}
    if failed_calls:
        found["n_llm_calls"] -= found["calls_without_usage"]
        for agent in found["agents"]:
            agent["n_llm_calls"] -= found["calls_without_usage"]
        found["calls_without_usage"] = 0
    return found


def moment(rng: random.Random) -> None:
    """Wait for a moment that differs."""
    time.sleep(rng.random() * 0.08)
