"""A real kernel that is interrupted while the problem browser judges: nothing is left running."""

import time
from collections.abc import Callable, Iterator

import psutil
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

OPEN = """
import lcbkit
browser = lcbkit.browse(lcbkit.load_problems("sample"))
browser.code = "while True: pass"
"""
Kernel = tuple[KernelManager, BlockingKernelClient, psutil.Process]


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    manager = KernelManager()
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    yield manager, client, psutil.Process(manager.provisioner.pid)
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


def run(client: BlockingKernelClient, code: str) -> str:
    """Execute and return what was printed; an error is raised."""
    printed: list[str] = []

    def keep(message: dict) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(code, timeout=120, output_hook=keep, store_history=False)
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(printed)


def until(claim: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not claim():
        assert time.monotonic() < deadline, "waited for nothing"
        time.sleep(0.1)


def programs(kernel: psutil.Process) -> list[psutil.Process]:
    """What runs below the kernel."""
    return [child for child in kernel.children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


def test_an_interrupted_cell_that_judges_ends_with_the_interrupt_and_no_process(kernel: Kernel) -> None:
    manager, client, process = kernel
    run(client, OPEN)
    message = client.execute("browser.judge()")
    until(lambda: len(programs(process)) > 1)
    manager.interrupt_kernel()
    while (reply := client.get_shell_msg(timeout=120))["parent_header"]["msg_id"] != message:
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert not programs(process)
    assert run(client, "print(browser.judge('print(0)', tests='public').total)") == "2\n"


def test_an_interrupt_while_the_kernel_is_idle_stops_what_a_click_began(kernel: Kernel) -> None:
    manager, client, process = kernel
    run(client, OPEN)
    run(client, "browser._view.judge.click()")
    until(lambda: len(programs(process)) > 1)
    manager.interrupt_kernel()
    until(lambda: not programs(process))
    assert "stopped" in run(client, "browser._bench.job.wait(); print(browser._view.status.value)")
