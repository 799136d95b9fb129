import json
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit.chat import failures
from tests.commands.conftest import Lcb

TOY = ("--model", "toy", "--dataset", "toy", "--eval-rows", "3", "--budget", "4")
IDENTITY = ("optimize", "--method", "identity", "--topology", "single", "--seed")


def test_a_job_is_one_json_line_and_talks_on_standard_error(lcb: Lcb) -> None:
    done = lcb(*IDENTITY, 0, *TOY, "--out", "job")
    assert done.code == 0
    result = json.loads(done.out)
    assert (result["out"], result["status"], result["test"]["delta_pp"]) == ("job", "completed", 0.0)
    assert "phase validate" in done.err
    assert lcb(*IDENTITY, 0, *TOY, "--out", "job", "--quiet").err == ""


def test_three_seeds_become_a_table(lcb: Lcb, tmp_path: Path) -> None:
    for seed in range(3):
        args = (*IDENTITY, seed, *TOY, "--out", f"jobs/{seed}", "--evaluation-cache", "cache", "--quiet")
        assert lcb(*args).code == 0
    refused = lcb("aggregate", "jobs")
    assert (refused.code, refused.out) == (1, "")
    assert "--include-nonconformant" in refused.err
    done = lcb("aggregate", "jobs", "--include-nonconformant", "--out", "table")
    assert done.code == 0
    (cell,) = json.loads(done.out)["cells"]
    assert (cell["status"], cell["delta_pp"], cell["fallbacks"]) == ("complete", 0.0, 3)
    assert "identity" in done.err
    assert (tmp_path / "table/table.md").exists()


def test_a_dry_run_asks_no_model_and_needs_no_folder(lcb: Lcb, tmp_path: Path) -> None:
    done = lcb(
        "optimize",
        "--method",
        "gepa",
        "--topology",
        "sequential",
        "--model",
        "qwen",
        "--seed",
        1,
        "--dry-run",
    )
    said = json.loads(done.out)
    assert said["protocol_conformant"] is True
    assert said["cost"]["charged_rollouts"] == 600
    assert "reflection calls" in done.err
    assert not list(tmp_path.iterdir())


def test_cells_are_listed_a_line_each(lcb: Lcb) -> None:
    lines = lcb("optimize", "--list-cells").out.splitlines()
    assert len(lines) == 2 * (3 * 5 + 6 * 4)
    assert json.loads(lines[0])["task"] == "lcb"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--method", "gepa"), "--topology"),
        ((*IDENTITY[1:], 0, "--model", "toy", "--dataset", "toy"), "--out"),
        ((*IDENTITY[1:], 5, *TOY, "--out", "x"), "--seed"),
        (("--method", "maspo", "--topology", "single", "--seed", 0, *TOY, "--out", "x"), "no cell maspo"),
        ((*IDENTITY[1:], 0, *TOY, "--out", "x", "--setting", "deep"), "NAME=VALUE"),
        ((*IDENTITY[1:], 0, *TOY, "--out", "x", "--setting", "deep=3"), "has no setting"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_2(lcb: Lcb, args: tuple[Any, ...], words: str) -> None:
    done = lcb("optimize", *args)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_job_error_is_exit_code_2(lcb: Lcb, tmp_path: Path) -> None:
    assert lcb(*IDENTITY, 0, *TOY, "--out", "job", "--quiet").code == 0
    path = tmp_path / "job/selection.json"
    path.write_text(path.read_text().replace("validation_tie", "nothing at all"))
    done = lcb(*IDENTITY, 0, *TOY, "--out", "job", "--quiet")
    assert (done.code, done.out) == (2, "")
    assert "changed after it was sealed" in done.err


def test_a_dead_endpoint_is_exit_code_3(
    lcb: Lcb, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "ATTEMPTS", 1)
    endpoint.script = lambda _: Reply(status=503)
    args = ("--model", "m", "--dataset", "toy", "--eval-rows", 3, "--task-endpoints", endpoint.url)
    done = lcb(*IDENTITY, 0, *args, "--out", "job", "--quiet")
    assert (done.code, done.out) == (3, "")
    assert "check that the endpoint answers" in done.err


def test_an_interrupt_says_what_goes_on(lcb: Lcb, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lcbkit.optimizers.running.optimize", interrupt)
    done = lcb(*IDENTITY, 0, *TOY, "--out", "job")
    assert (done.code, done.out) == (130, "")
    assert "a search needs a new --out" in done.err


def test_a_budget_that_is_too_small_to_try_anything_is_told_before_the_job(lcb: Lcb, tmp_path: Path) -> None:
    asked = ("optimize", "--method", "gepa", "--topology", "single", "--seed", 0, *TOY, "--eval-rows", 3)
    assert "9 are the least" in lcb(*asked, "--budget", 8, "--dry-run").err
    done = lcb(*asked, "--budget", 2, "--out", tmp_path / "job")
    assert "a budget of 2 rollouts is too small for gepa" in done.err
    assert "too small" not in lcb(*asked, "--budget", 9, "--dry-run").err


def test_listed_cells_can_be_chosen_and_are_costed(lcb: Lcb) -> None:
    done = lcb("optimize", "--list-cells", "--method", "tavo", "--topology", "sequential", "--model", "llama")
    (cell,) = map(json.loads, done.out.splitlines())
    assert cell["seeds"] == [0, 1, 2]
    assert f"of all 3 jobs: {3 * cell['cost']['task_calls']:,}" in done.err
    assert lcb("optimize", "--list-cells", "--method", "tavo", "--topology", "single").code == 2
