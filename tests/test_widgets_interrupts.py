"""A real kernel that is interrupted while the problem browser judges: nothing is left running."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live_kernel import Kernel, running_kernel, wait_until
from tests.processes import below

OPEN = """
import lcbkit
browser = lcbkit.browse(lcbkit.load_problems("sample"))
browser.code = "while True: pass"
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path) as kernel:
        assert kernel.run(OPEN)[0]["status"] == "ok"
        yield kernel


def printed(kernel: Kernel, code: str) -> str:
    reply, outputs = kernel.run(code)
    assert reply["status"] == "ok", reply
    return "".join(output["content"]["text"] for output in outputs if output["msg_type"] == "stream")


def test_an_interrupted_cell_that_judges_ends_with_the_interrupt_and_no_process(kernel: Kernel) -> None:
    message = kernel.start("browser.judge()")
    assert wait_until(lambda: len(below(kernel.pid)) > 1)
    kernel.manager.interrupt_kernel()
    assert kernel.end(message)["ename"] == "KeyboardInterrupt"
    assert not below(kernel.pid)
    assert printed(kernel, "print(browser.judge('print(0)', tests='public').total)") == "2\n"


def test_an_interrupt_while_the_kernel_is_idle_stops_what_a_click_began(kernel: Kernel) -> None:
    printed(kernel, "browser._view.judge.click()")
    assert wait_until(lambda: len(below(kernel.pid)) > 1)
    kernel.manager.interrupt_kernel()
    assert wait_until(lambda: not below(kernel.pid))
    assert "stopped" in printed(kernel, "browser._bench.job.wait(); print(browser._view.status.value)")
