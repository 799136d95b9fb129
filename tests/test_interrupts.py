"""A kernel's interrupt during judging or a batch leaves no process behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit.results import load_run
from tests.conftest import ROOT
from tests.live_kernel import Kernel, named, running_kernel, wait_until

# Forks, takes a name that a scan of all processes finds, and never ends.
ENDLESS = """import ctypes, os, sys
ctypes.CDLL(None).prctl(15, b"{name}", 0, 0, 0)
os.fork()
while True: pass
"""
SAMPLE = ROOT / "data_cache/sample/sample.jsonl"
# Problems on standard input: where a function is called, the guard takes `fork` away.
IDS = ["lka1_a", "lkc1_A", "lkc1_C", "lka2_a"]
SET_UP = f"import lcbkit\nproblems = lcbkit.load_problems({str(SAMPLE)!r}, only={IDS})"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path) as kernel:
        assert kernel.run(SET_UP)[0]["status"] == "ok"
        yield kernel


@pytest.mark.parametrize(
    "call",
    [
        "lcbkit.judge(code, problems[0], time_limit=600)",
        "lcbkit.judge_many([(code, problem) for problem in problems], time_limit=600, progress=False)",
        "lcbkit.run_python(code, time_limit=600)",
    ],
)
def test_an_interrupt_while_judging_ends_the_program_and_all_it_started(kernel: Kernel, call: str) -> None:
    name = f"lcb-{kernel.pid}"
    kernel.run(f"code = {ENDLESS.format(name=name)!r}")
    message = kernel.start(call)
    assert wait_until(lambda: len(named(name)) >= 2), "the program and its child run"
    kernel.manager.interrupt_kernel()
    reply = kernel.end(message)
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    assert wait_until(lambda: not named(name)), named(name)
    reply, outputs = kernel.run("print(lcbkit.run_python('print(6 * 7)').stdout)")
    assert reply["status"] == "ok"
    assert any("42" in output["content"].get("text", "") for output in outputs)


@pytest.mark.parametrize("call", ["lcbkit.evaluate({})", "await lcbkit.aevaluate({})"])
def test_an_interrupt_of_a_batch_leaves_no_process_and_saves_what_is_finished(
    kernel: Kernel, endpoint: ScriptedEndpoint, tmp_path: Path, call: str
) -> None:
    name = f"lcb-{kernel.pid}"
    programs = {0: "print(0)", 1: ENDLESS.format(name=name)}

    def script(request: object) -> Reply:
        index = request.index  # type: ignore[attr-defined]
        if index not in programs:
            return Reply("late", delay=600.0)
        return Reply(f"```python\n{programs[index]}\n```")

    endpoint.script = script
    arguments = "team, problems, out_dir='run', time_limit=600, concurrency=1, progress=False"
    kernel.run(
        f"model = lcbkit.get_model('scripted', base_url={endpoint.url!r})\n"
        "team = lcbkit.build_team('single', model=model, python_exec=False)"
    )
    message = kernel.start(call.format(arguments))
    assert wait_until(lambda: len(named(name)) >= 2), "the second program is being judged"
    finished = tmp_path / "run" / "predictions.jsonl"
    assert wait_until(lambda: finished.exists() and finished.read_text().count("\n") == 1)
    kernel.manager.interrupt_kernel()
    assert kernel.end(message)["status"] == "error"
    assert wait_until(lambda: not named(name)), named(name)
    assert wait_until(lambda: not kernel.children()), kernel.children()
    (record,) = load_run(tmp_path / "run").records
    assert not record.passed
    assert (tmp_path / "run" / "summary.json").exists()


@pytest.mark.parametrize("how", ["restart", "shutdown", "kill"])
def test_a_kernel_that_goes_takes_its_programs_with_it(kernel: Kernel, how: str) -> None:
    name = f"lcb-{kernel.pid}"
    kernel.run(f"code = {ENDLESS.format(name=name)!r}")
    kernel.start("lcbkit.judge(code, problems[0], time_limit=600)")
    assert wait_until(lambda: len(named(name)) >= 2)
    match how:
        case "restart":
            kernel.manager.restart_kernel(now=False)
        case "shutdown":
            kernel.manager.shutdown_kernel(now=False)
        case "kill":
            kernel.manager.signal_kernel(9)
    assert wait_until(lambda: not named(name)), named(name)
