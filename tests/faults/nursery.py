"""A program that runs each command of its input as a process of its own: `lcb run`, at the mercy of a fault.

    python nursery.py FOLDER [KiB]

It forks, since to import all that a batch needs takes longer than the batch. With a size it first mounts a
small file system of its own on the folder, which only it and its children see and which ends with them. It
adopts what a batch leaves behind, and tells what of it is still alive after a while.

A line of input is a JSON object: `args` for `lcb`, the files for its `results` and its `talk`, and at choice
an `aim`: what to do to the process at the `nth` time that it opens (or moves) a file whose path matches. A
line of output is the process's number, and when it has ended how, and what it left.
"""

import ctypes
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

_ADOPT = 36  # PR_SET_CHILD_SUBREAPER
_PATIENCE_SECONDS = 30.0
_BALLAST = "ballast"
_HURRY = 0.02
CHOKED_BYTES = 1024  # less than any file of a run, more than a sentence in the log


def main() -> None:
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        size = f"size={sys.argv[2]}k"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "lcbkit-faults", str(folder)], check=True)
    ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    _import_all()
    _tell("ready")
    for line in sys.stdin:
        command = json.loads(line)
        if (child := os.fork()) == 0:
            _live(command, folder)
        _tell(str(child))
        status = os.waitpid(child, 0)[1]
        _tell(json.dumps({"code": os.waitstatus_to_exitcode(status), "left": _bury()}))


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _import_all() -> None:
    import lcbkit.chat.live
    import lcbkit.cli
    import lcbkit.evaluation
    import lcbkit.topologies.agents
    import lcbkit.topologies.rollout
    import lcbkit.topologies.single

    lcbkit.chat.failures.FIRST_WAIT_SECONDS = _HURRY  # retries are made, but without their long waits


def _live(command: dict[str, Any], folder: Path) -> None:
    """Be the batch; never returns."""
    from lcbkit import cli

    for stream, name in ((1, "results"), (2, "talk")):
        os.dup2(os.open(command[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    if aim := command.get("aim"):
        sys.addaudithook(_hook(aim, folder))
    cli.main(command["args"])


def _hook(aim: dict[str, Any], folder: Path) -> Callable[[str, tuple[Any, ...]], None]:
    """What Python calls with all that the process does: strikes once, at the moment that is aimed at."""
    left, lock = aim["nth"], threading.Lock()

    def look(event: str, args: tuple[Any, ...]) -> None:
        nonlocal left
        if event != aim["event"] or not re.search(aim["path"], str(args[0])) or _only_reads(event, args):
            return
        with lock:
            left -= 1
            if left:
                return
        _strike(aim, args[0], folder)

    return look


def _only_reads(event: str, args: tuple[Any, ...]) -> bool:
    return event == "open" and not args[2] & (os.O_WRONLY | os.O_RDWR)


def _strike(aim: dict[str, Any], path: Any, folder: Path) -> None:
    if aim["what"] == "fill":
        fill(folder)
    elif aim["what"] == "tear":  # the kernel ends the process after so many bytes of what it writes now
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        size = Path(path).stat().st_size if Path(path).exists() else 0
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + aim["bytes"], hard))
    else:
        os.kill(os.getpid(), signal.Signals[aim["what"]])


def fill(folder: Path) -> None:
    """Leave no byte free on the folder's own file system; without one, let no file of this process grow."""
    if not folder.is_mount():
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (CHOKED_BYTES, hard))
        return
    with (folder / _BALLAST).open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            while True:
                try:
                    file.write(bytes(size))
                except OSError:
                    break


def _bury() -> list[str]:
    """Wait for what the batch has left to end; names what does not."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return []
    names = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            names.append(f"{process.pid} {' '.join(process.cmdline())[:120]}")
            process.kill()
    return names


if __name__ == "__main__":
    main()
