from collections.abc import Iterator
from typing import Any

import pytest

from lcbkit.dataset import load_problems
from tests.conftest import ROOT
from tests.live_kernel import Kernel, running_kernel, wait_until

RIGHT = "a, b, x, y, c = map(int, input().split())\nprint(max(0, a * x + b * y - c))\n"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with running_kernel(tmp_path_factory.mktemp("magic")) as kernel:
        reply, _ = kernel.run(
            "%load_ext lcbkit\nimport lcbkit\nmine = lcbkit.load_problems('sample', limit=3)\nodd = 1"
        )
        assert reply["status"] == "ok"
        yield kernel


def shown(outputs: list[dict[str, Any]], mime: str) -> str:
    return "".join(output["content"].get("data", {}).get(mime, "") for output in outputs)


def printed(outputs: list[dict[str, Any]], name: str = "stderr") -> str:
    return "".join(
        output["content"]["text"]
        for output in outputs
        if output["msg_type"] == "stream" and output["content"]["name"] == name
    )


def test_a_cell_is_judged_and_its_report_is_the_output(kernel: Kernel) -> None:
    reply, outputs = kernel.run(f"%%judge lka1_a\n{RIGHT}")
    assert reply["status"] == "ok"
    assert "12 of 12 tests passed" in shown(outputs, "text/plain")
    assert "passed" in shown(outputs, "text/html")
    kernel.run(f"%%judge lka1_a\n{RIGHT.replace('max(0, ', '(')}")
    reply, outputs = kernel.run("print(type(_).__name__, _.passed)")
    assert printed(outputs, "stdout") == "Report False\n"


def test_options_choose_the_problems_the_tests_and_the_limit(kernel: Kernel) -> None:
    public = len(load_problems("sample")["lka1_a"].public_tests)
    _, outputs = kernel.run(f"%%judge lka1_a --problems mine --tests=all --time-limit 2.5\n{RIGHT}")
    assert f"{12 + public} of {12 + public} tests passed" in shown(outputs, "text/plain")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "which problem? Write %%judge <problem id>"),
        ("lka1_b", "no problem 'lka1_b' (near: "),
        ("lka1_a lka2_d", "one problem at a time"),
        ("lka1_a --limit 3", "%%judge has no option --limit"),
        ("lka1_a --tests", "--tests needs a value"),
        ("lka1_a --tests public", "--tests is 'public'; say hidden or all"),
        ("lka1_a --time-limit soon", "--time-limit is 'soon'"),
        ("lka1_a --time-limit -1", "--time-limit is '-1'"),
        ("lka1_a --time-limit nan", "--time-limit is 'nan'"),
        ("lka1_a --problems nobody", "--problems nobody: that variable does not exist"),
        ("lka1_a --problems odd", "--problems odd: that variable is a int"),
        ("'lka1_a", "cannot read"),
    ],
)
def test_a_mistake_is_answered_in_one_sentence(kernel: Kernel, line: str, sentence: str) -> None:
    reply, outputs = kernel.run(f"%%judge {line}\n{RIGHT}")
    assert reply["status"] == "error", "a run of all cells stops here"
    said = printed(outputs)
    assert sentence in said
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1
    assert not [output for output in outputs if output["msg_type"] == "error"]


@pytest.mark.parametrize("cell", ["# only words", "x = (", "  "])
def test_a_cell_without_a_program_is_not_judged(kernel: Kernel, cell: str) -> None:
    reply, outputs = kernel.run(f"%%judge lka1_a\n{cell}\n")
    assert (reply["status"], "no program" in printed(outputs)) == ("error", True)


def test_ids_options_and_their_values_are_completed(kernel: Kernel) -> None:
    assert set(kernel.complete("%%judge lka")) == {"lka1_a", "lka2_a", "lka2_d", "lka3_b", "lka4_f"}
    assert kernel.complete("%%judge ") == list(load_problems("sample").ids), "and no words of Python"
    assert kernel.complete("%%judge lka1_a --tests ") == ["hidden", "all"]
    assert kernel.complete("%%judge lka1_a --ti") == ["--time-limit"]
    assert "mine" in kernel.complete("%%judge --problems mi")
    ids = load_problems("sample", limit=3).ids
    assert sorted(kernel.complete("%%judge --problems mine ")) == sorted(ids)


def test_the_default_source_is_the_environments(kernel: Kernel) -> None:
    demo = ROOT / "data_cache/sample/demo.jsonl"
    kernel.run(f"import os; os.environ['LCB_DATASET'] = {str(demo)!r}")
    try:
        assert kernel.complete("%%judge lkdemo") == ["lkdemo1", "lkdemo2"]
    finally:
        kernel.run("del os.environ['LCB_DATASET']")


def test_an_interrupted_cell_says_so_and_the_kernel_goes_on(kernel: Kernel) -> None:
    before = len(kernel.children())
    message = kernel.start("%%judge lka1_a --time-limit 600\nwhile True: pass")
    assert wait_until(lambda: len(kernel.children()) > before), "the program runs"
    kernel.manager.interrupt_kernel()
    assert kernel.end(message)["status"] == "error"
    _, outputs = kernel.run(f"%%judge lka1_a\n{RIGHT}")
    assert "12 of 12" in shown(outputs, "text/plain")
