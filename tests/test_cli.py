"""The command line as a user meets it: a process, its two streams and its exit code."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit import cli
from lcbkit.dataset import load_problems

RIGHT = "Here it is.\n```python\nprint(input())\n```\n"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Lcb = Callable[..., Outcome]


@pytest.fixture
def lcb(tmp_path: Path) -> Lcb:
    """Run `lcb …` (or another module) in a folder of its own."""

    def call(*args: object, module: str = "lcbkit", stdin: str = "", **environment: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def live(lcb: Lcb, endpoint: ScriptedEndpoint) -> Lcb:
    """Run `lcb run single` on the sample with the scripted endpoint's model."""
    endpoint.script = lambda _: Reply(RIGHT)

    def call(*args: object) -> Outcome:
        flags = ("--source", "sample", "--base-url", endpoint.url, "--model", "scripted", "--no-python-exec")
        return lcb("run", "single", *flags, *args)

    return call


def one_line(outcome: Outcome, *words: str, code: int = 2) -> None:
    """The one clear sentence that bad input gets."""
    assert outcome.code == code, outcome
    assert outcome.out == ""
    message = outcome.err.strip().splitlines()[-1]
    for word in words:
        assert word in message, message


def test_results_that_find_no_space_are_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "lcbkit.cli", "problems", "--source", "sample"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "lcb: cannot write the results to standard output: No space left on device; free space there and run "
        "the same again\n"
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_one_that_nobody_reads(tmp_path: Path, closed: str) -> None:
    run = f'"$0" -m lcbkit run single --source sample --limit 1 --out-dir run {closed}'
    done = subprocess.run(
        ["sh", "-c", run, sys.executable], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert bool(done.stdout) is (">&-" not in closed.split())
    assert bool(done.stderr) is ("2>&-" not in closed.split())
    assert len((tmp_path / "run/predictions.jsonl").read_text().splitlines()) == 1


def test_help_gives_each_command_a_whole_sentence_also_on_a_narrow_terminal(lcb: Lcb) -> None:
    done = lcb("--help", COLUMNS="80")
    assert done.code == 0
    names = [
        "demo",
        "run",
        "sweep",
        "judge",
        "problems",
        "show",
        "compare",
        "rejudge",
        "notebooks",
        "record",
        "doctor",
    ]
    assert all(f"\n  {name} " in done.out for name in names)
    assert "..." not in done.out.partition("Commands:")[2]
    assert "problems that both scored: paired difference, interval, exact McNemar test." in " ".join(
        done.out.split()
    )
    assert max(map(len, done.out.splitlines())) <= 80


def test_every_flag_of_a_batch_is_there_and_told(lcb: Lcb) -> None:
    told = lcb("run", "--help").out
    for flag in FLAGS.split():
        assert f"--{flag}" in told, flag


FLAGS = """
limit offset only difficulty platform start-date end-date source errata team-size message-format communication
rounds no-python-exec model base-url temperature top-p max-tokens request-timeout seed samples concurrency
judge-workers judge-cache time-limit tests stop-on-first-failure out-dir out overwrite retry-errors
max-infra-rate record prices quiet
"""


def test_demo_prints_the_program_and_every_test_of_both_modes_offline(lcb: Lcb) -> None:
    # Nothing is reached: the address is one that no server has.
    done = lcb("demo", HTTPS_PROXY="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9")
    assert done.code == 0, done
    assert "(stdin)" in done.out
    assert "(functional)" in done.out
    assert "class Solution" in done.out
    assert done.out.count("passed") >= 10


def test_the_module_of_a_topology_runs_the_demo_without_batch_and_the_batch_with_it(lcb: Lcb) -> None:
    demo = lcb("--limit", 3, "--communication", "freeform", module="lcbkit.topologies.single")
    assert demo.code == 0, demo
    assert "(functional)" in demo.out
    assert (
        "without --batch this is the demo of two built-in problems; --limit would count with it" in demo.err
    )
    batch = lcb(
        "--batch", "--source", "sample", "--limit", 2, "--out-dir", "r", module="lcbkit.topologies.single"
    )
    assert batch.code == 0, batch
    assert "pass@1" in batch.out


def test_run_writes_the_folder_and_prints_the_table_on_stdout(live: Lcb, tmp_path: Path) -> None:
    done = live("--limit", 3, "--out-dir", "results")
    assert done.code == 0, done
    assert "pass@1" in done.out
    assert done.err
    records = [json.loads(line) for line in (tmp_path / "results/predictions.jsonl").read_text().splitlines()]
    assert {record["id"] for record in records} == set(load_problems("sample", limit=3).ids)
    for name in ("run.json", "summary.json"):
        json.loads((tmp_path / "results" / name).read_text())


def test_quiet_says_nothing_on_stderr(live: Lcb) -> None:
    done = live("--limit", 1, "--quiet", "--out-dir", "results")
    assert (done.code, done.err) == (0, "")


def test_a_finished_run_is_not_asked_again(live: Lcb, endpoint: ScriptedEndpoint) -> None:
    first = live("--limit", 2, "--out-dir", "results")
    asked = len(endpoint.requests)
    again = live("--limit", 2, "--out-dir", "results")
    assert again.code == 0
    assert again.out == first.out
    assert len(endpoint.requests) == asked


def test_show_prints_the_same_table_as_run(live: Lcb, lcb: Lcb) -> None:
    ran = live("--limit", 2, "--out-dir", "results")
    assert lcb("show", "results").out == ran.out
    listed = lcb("show", "results", "--records").out
    for problem_id in load_problems("sample", limit=2).ids:
        assert problem_id in listed


def test_a_dead_endpoint_exits_3_and_scores_nothing(lcb: Lcb) -> None:
    done = lcb(
        *("run", "single", "--source", "sample", "--limit", 1, "--no-python-exec", "--out-dir", "results"),
        *("--model", "any", "--base-url", "http://127.0.0.1:9/v1"),
    )
    assert done.code == 3, done
    assert "infrastructure" in done.err
    assert "0.0%" not in done.out


def test_sigterm_saves_what_is_finished_and_exits_130(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda request: Reply(RIGHT, delay=0.0 if request.index == 0 else 30.0)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "lcbkit.cli", "run", "single", "--source", "sample", "--limit", "3"),
            *("--base-url", endpoint.url, "--model", "scripted", "--no-python-exec", "--out-dir", "results"),
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    predictions = tmp_path / "results/predictions.jsonl"
    deadline = time.monotonic() + 60
    while not (predictions.exists() and predictions.read_text().count("\n")):
        assert time.monotonic() < deadline, "nothing was finished"
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in err
    assert json.loads((tmp_path / "results/summary.json").read_text())


def test_sigterm_cancels_what_runs_in_order_as_ctrl_c_does() -> None:
    done: list[str] = []

    async def work() -> None:
        signal.raise_signal(signal.SIGTERM)
        done.append("the step at hand")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            done.append("what a cancel asks for")
            raise

    before = signal.signal(signal.SIGTERM, cli._interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(work())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done == ["the step at hand", "what a cancel asks for"]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text("print('no such answer')\n")
    return path


def test_judge_prints_a_failing_report_and_exits_0_unless_checked(lcb: Lcb, program: Path) -> None:
    problem = next(p for p in load_problems("sample") if p.mode == "stdin")
    flags = (program, "--problem", problem.id, "--source", "sample")
    done = lcb("judge", *flags)
    assert done.code == 0, done
    assert "wrong answer" in done.out
    assert lcb("judge", *flags, "--check").code == 1


def test_judge_says_no_code_for_a_program_without_a_statement(lcb: Lcb, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("# only a comment\n")
    done = lcb(
        "judge", "empty.py", "--problem", load_problems("sample")[0].id, "--source", "sample", "--check"
    )
    assert done.code == 1
    assert "no_code" in done.out


def test_problems_lists_filters_and_shows(lcb: Lcb) -> None:
    sample = load_problems("sample")
    easy = [p.id for p in sample if p.difficulty == "easy"]
    hard = [p.id for p in sample if p.difficulty == "hard"]
    done = lcb("problems", "--source", "sample", "--difficulty", "easy")
    assert done.code == 0, done
    assert all(name in done.out for name in easy)
    assert not any(name in done.out.split() for name in hard)
    page = lcb("problems", sample[0].id, "--source", "sample").out
    assert sample[0].statement.strip() in page


def test_doctor_names_the_tier_and_never_a_key(lcb: Lcb) -> None:
    done = lcb("doctor", OPENAI_API_KEY="sk-hush")
    assert done.code == 0, done
    assert "bwrap" in done.out or "limits" in done.out
    assert "OPENAI_API_KEY is set" in done.out
    assert "sk-hush" not in done.out


def test_bad_input_gets_one_clear_line_and_exit_2(lcb: Lcb) -> None:
    run = ("run", "single", "--out-dir", "results")
    one_line(lcb(*run, "--source", "sample", "--only", "lk1"), "lk1", "lcb problems")
    one_line(lcb(*run, "--source", "release_v99"), "release_v99", "release_v6")
    one_line(lcb(*run, "--source", "no/such.jsonl"), "no/such.jsonl")
    one_line(lcb(*run, "--source", "sample", "--model", "openai:gpt-5"), "OPENAI_API_KEY")
    one_line(lcb("show", "no-such-run"), "no-such-run")
    one_line(lcb("judge", "no-such-file.py", "--problem", "x"), "no-such-file.py")


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf", "1e9", "soon"])
def test_a_time_that_is_none_is_refused_in_one_line(lcb: Lcb, program: Path, seconds: str) -> None:
    judge = ("judge", program, "--problem", "lka1_a", "--source", "sample")
    one_line(lcb(*judge, "--time-limit", seconds), "--time-limit", seconds)
    run = ("run", "single", "--source", "sample", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    one_line(lcb(*run, "--request-timeout", seconds), "--request-timeout", seconds)


def test_an_empty_source_is_not_the_current_folder(lcb: Lcb) -> None:
    one_line(lcb("problems", "--source", ""), "source is empty")


def test_judge_knows_the_problem_before_it_says_no_code(lcb: Lcb, tmp_path: Path) -> None:
    (tmp_path / "empty.py").touch()
    one_line(lcb("judge", "empty.py", "--problem", "lka1_z", "--source", "sample"), "lka1_z", "lka1_a")


def test_rows_without_usable_tests_are_named_in_a_sentence(lcb: Lcb, tmp_path: Path) -> None:
    row = {**load_problems("sample")[0].to_row(), "private_test_cases": "[]"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row), encoding="utf-8")
    for command in (("problems",), ("judge", "own.jsonl", "--problem", "lka1_a")):
        done = lcb(*command, "--source", "own.jsonl")
        one_line(done, "has usable tests", code=1)
        assert done.err.startswith("lcb: skipped 1 of the rows of own.jsonl")
        assert len(done.err.splitlines()) == 2, done.err


def test_filters_that_match_nothing_exit_1(lcb: Lcb) -> None:
    done = lcb("run", "single", "--source", "sample", "--start-date", "2099-01-01", "--out-dir", "results")
    one_line(done, "no problem", code=1)


def test_a_folder_of_another_configuration_is_refused(live: Lcb) -> None:
    assert live("--limit", 1, "--out-dir", "results").code == 0
    one_line(live("--limit", 1, "--out-dir", "results", "--seed", 7), "seed", "--overwrite")


def test_recording_needs_a_live_model(lcb: Lcb) -> None:
    one_line(lcb("record"), "--model NAME", "MODEL_ID")


def test_a_request_that_the_recording_lacks_is_an_error_that_names_the_way_out(lcb: Lcb) -> None:
    done = lcb("run", "single", "--source", "sample", "--limit", 1, "--seed", 12345, "--out-dir", "results")
    assert done.code == 2, done
    assert "--model" in done.err


def test_a_folder_that_cannot_be_written_is_refused(live: Lcb) -> None:
    one_line(live("--limit", 1, "--out-dir", "/proc/results"), "/proc/results")  # no user may, root included


CTRL_C_WHILE_LOADING = """
import sys

class Impatient:
    def find_spec(self, name, *_):
        if name == "lcbkit.commands":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Impatient())
from lcbkit.__main__ import main
main()
"""


def test_ctrl_c_while_the_command_is_still_loading_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CTRL_C_WHILE_LOADING], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "lcb: interrupted before anything was begun\n"


HEAVY = {"datasets", "ipywidgets", "langchain", "langgraph", "matplotlib", "numpy", "pandas", "pyarrow"}


@pytest.mark.parametrize("module", ["lcbkit", "lcbkit.cli"])
def test_importing_loads_no_heavy_package(module: str) -> None:
    script = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert module in loaded.split()
    assert not HEAVY & set(loaded.split())
