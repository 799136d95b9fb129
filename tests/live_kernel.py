"""A real kernel that runs cells and can be interrupted, and counting what it left behind."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

__all__ = ["Kernel", "named", "running_kernel", "wait_until"]


class Kernel:
    """A kernel with one client.

    No cell stops the next one: after an error a kernel refuses, for a moment, whatever reaches it.
    """

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client

    def run(self, code: str, *, seconds: float = 120) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The reply to a cell, and what the cell put out."""
        outputs: list[dict[str, Any]] = []
        reply = self.client.execute_interactive(
            code, timeout=seconds, output_hook=outputs.append, stop_on_error=False
        )
        return reply["content"], outputs

    def start(self, code: str) -> str:
        """Begin a cell; gives what `end` takes."""
        return str(self.client.execute(code, stop_on_error=False))

    def end(self, message: str, *, seconds: float = 60) -> dict[str, Any]:
        """Wait for a begun cell's reply."""
        while True:
            reply = self.client.get_shell_msg(timeout=seconds)
            if reply["parent_header"].get("msg_id") == message:
                return dict(reply["content"])

    def complete(self, code: str) -> list[str]:
        """What the kernel offers at the end of a text."""
        reply = self.client.complete(code, len(code), reply=True, timeout=60)
        return list(reply["content"]["matches"])

    @property
    def pid(self) -> int:
        """The kernel's process."""
        return int(self.manager.provisioner.pid)  # type: ignore[union-attr]

    def children(self) -> list[psutil.Process]:
        """Every process below the kernel."""
        return psutil.Process(self.pid).children(recursive=True)


def named(name: str) -> list[int]:
    """All processes of this machine that call themselves so, whoever their parent is by now."""
    return [process.pid for process in psutil.process_iter(["name"]) if process.info["name"] == name]


@contextmanager
def running_kernel(
    folder: str | os.PathLike[str], environment: Mapping[str, str] | None = None
) -> Iterator[Kernel]:
    """A fresh kernel; the environment comes on top of this process's."""
    with tempfile.TemporaryDirectory() as sockets:
        # A port is chosen before the kernel takes it, so another process may come first; a file is its own.
        manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/kernel")
        manager.start_kernel(cwd=str(folder), env={**os.environ, **(environment or {})})
        client = manager.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=120)
            yield Kernel(manager, client)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def wait_until(holds: Callable[[], bool], *, seconds: float = 60) -> bool:
    """Whether it comes true; the time is only there for a machine that never gets to it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False
