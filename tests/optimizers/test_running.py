"""Whole jobs in the toy world: every file, phase and model call is real, and small."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit.errors import BadValueError, ModelError
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import ConfigError, Context, InfrastructureExhausted, Step
from lcbkit.optimizers.job import JobError, JobStopped
from lcbkit.optimizers.optimized import Optimized
from lcbkit.optimizers.running import optimize
from lcbkit.search_events import EvaluationAdvanced, JobFinished, JobStarted, RolloutCharged
from tests.conftest import ROOT
from tests.optimizers.conftest import Job
from tests.optimizers.hinting import Hinting

ANSWER = "```python\nprint(1)\n```"


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def at(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    return {"model": "m", "task_endpoints": endpoint.url, "reflection_endpoint": endpoint.url}


def test_a_job_leaves_the_files_that_the_protocol_names(job: Job, tmp_path: Path) -> None:
    done = job(full_tests=True)
    folder = tmp_path / "job"
    assert {path.name for path in folder.iterdir()} == {
        *("job.json", "job.lock", "optimization", "optimization.json", "evaluations"),
        *("selection.json", "test.json", "result.json"),
    }
    names = {path.name for path in (folder / "optimization").iterdir()}
    assert {"attempts.jsonl", "records.jsonl", "learning_curve.jsonl", "optimizer_result.json"} <= names
    assert sum(name.startswith("bundle-") for name in names) == 2
    assert len(list((folder / "evaluations").glob("*.json"))) == 4
    optimization, selection, test, result = (
        read(folder, f"{name}.json") for name in ("optimization", "selection", "test", "result")
    )
    assert optimization["budget"]["charged"] == 4
    assert (selection["selected_candidate"], selection["fallback_reason"]) == ("incumbent", None)
    assert selection["test_exposed"] is False
    assert selection["optimization_sha256"] == optimization["sha256"]
    assert test["selection_sha256"] == selection["sha256"]
    assert (result["test"]["baseline_mean"], result["test"]["deployed_mean"]) == (0.25, 1.0)
    assert result["test"]["delta_pp"] == done.delta_pp == 75.0
    assert result["full_pass_at_1"]["delta_pp"] == 75.0
    assert result["optimization"]["usage"]["task"]["n_llm_calls"] == 4
    assert result["protocol_conformant"] is False
    text = "".join(path.read_text() for path in folder.rglob("*.json*"))
    assert str(tmp_path) not in text


def test_what_comes_back_tells_the_story(job: Job) -> None:
    done = job()
    assert done.deployed.sha256 == done.incumbent.sha256 != done.seed_bundle.sha256
    assert done.diff().changed == ("solver",)
    assert "+Mind negative numbers." in str(done.diff())
    assert [row["point"] for row in done.learning_curve] == [0, 10, 12]
    assert [row["carried_forward"] for row in done.learning_curve] == [False, True, True]
    assert done.learning_curve[-1]["incumbent_sha256"] == done.incumbent.sha256
    for text in (str(done), repr(done), done._repr_html_(), done.diff()._repr_html_()):
        assert "<script" not in text
    assert "25.0% before, 100.0% after (+75.0 points)" in repr(done)
    assert Optimized.load(done.folder) == done


def test_the_same_call_again_asks_nobody(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    first = job()

    async def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the model was asked")

    monkeypatch.setattr("lcbkit.topologies.team.Team.asolve", refuse)
    assert job() == first


def test_identity_differs_by_nothing_at_all(tmp_path: Path) -> None:
    done = optimize(
        "identity",
        "independent",
        out=tmp_path,
        model="toy",
        dataset="toy",
        budget=1,
        eval_rows=4,
        progress=False,
    )
    summary = done.summary
    assert summary["optimization"]["budget"]["charged"] == 0
    assert summary["optimization"]["stop_reason"] == "identity_no_search"
    assert summary["selection"]["fallback_reason"] == "validation_tie"
    assert (done.delta_pp, done.deployed) == (0.0, done.seed_bundle)
    assert len(list((tmp_path / "evaluations").glob("*.json"))) == 2


def test_phases_can_be_run_one_by_one_and_in_no_other_order(job: Job, tmp_path: Path) -> None:
    for phase in ("validate", "test"):
        with pytest.raises(JobError, match="run the phase optimize first"):
            job(phase=phase)
    assert job(phase="optimize").summary["status"] == "optimized"
    with pytest.raises(JobError, match="run the phase validate first"):
        job(phase="test")
    assert job(phase="validate").summary["status"] == "validated"
    assert not (tmp_path / "job" / "test.json").exists()
    assert job(phase="test").summary["status"] == "completed"


KILLED = """
import os, signal, sys
from tests.optimizers.conftest import Job
from tests.optimizers.hinting import Hinting
from lcbkit.optimizers import running
running.make_optimizer = lambda *_: Hinting()
def progress(event):
    if eval(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
running.optimize("gepa", "single", out=sys.argv[1], model="toy", dataset="toy", budget=12, eval_rows=4,
                 concurrency=1, progress=progress)
"""


def kill_when(condition: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, folder, condition], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == -9, done.stderr


def test_a_killed_search_is_never_taken_up(job: Job, tmp_path: Path) -> None:
    kill_when("getattr(event, 'charged', 0) == 3", tmp_path / "job")
    before = (tmp_path / "job/optimization/records.jsonl").read_text()
    assert len(before.splitlines()) == 3
    with pytest.raises(JobError, match=r"was interrupted.*name a new folder"):
        job()
    assert (tmp_path / "job/optimization/records.jsonl").read_text() == before


@pytest.mark.parametrize("split", ["validation", "test"])
def test_a_killed_validation_or_test_goes_on_row_by_row(
    job: Job, tmp_path: Path, split: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"getattr(event, 'split', '') == '{split}' and event.candidate != 'seed' and event.done == 2"
    kill_when(where, tmp_path / "job")
    (journal,) = (tmp_path / "job/evaluations").glob("*.partial.jsonl")
    kept = sum("record" in json.loads(line) for line in journal.read_text().splitlines())
    assert kept == 2
    sealed = (tmp_path / "job/optimization.json").read_text()
    asked: list[str] = []
    from lcbkit.topologies.team import Team

    solve = Team.asolve

    async def counted(self: Team, problem: Any, **options: Any) -> Any:
        asked.append(problem.id)
        return await solve(self, problem, **options)

    monkeypatch.setattr(Team, "asolve", counted)
    done = job()
    assert len(asked) == (2 if split == "test" else 2 + 8)
    assert (tmp_path / "job/optimization.json").read_text() == sealed
    assert done.summary["optimization"]["budget"]["charged"] == 4
    assert done.summary["test"] == job(out=tmp_path / "whole").summary["test"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("job.json", '"budget": 12', '"budget": 13'),
        ("optimization.json", '"charged": 4', '"charged": 2'),
        ("selection.json", '"selected_candidate": "incumbent"', '"selected_candidate": "seed"'),
        ("test.json", '"delta_pp": 75.0', '"delta_pp": 95.0'),
        ("result.json", '"delta_pp": 75.0', '"delta_pp": 95.0'),
    ],
)
def test_a_changed_artifact_is_refused(job: Job, tmp_path: Path, name: str, old: str, new: str) -> None:
    job()
    path = tmp_path / "job" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(JobError, match="changed after it was sealed"):
        job()


@pytest.mark.parametrize("name", ["optimization", "selection", "test"])
def test_a_sealed_artifact_of_another_job_is_refused(job: Job, tmp_path: Path, name: str) -> None:
    job()
    job(out=tmp_path / "other", seed=1)
    (tmp_path / "job" / f"{name}.json").write_bytes((tmp_path / "other" / f"{name}.json").read_bytes())
    with pytest.raises(JobError, match="restore"):
        job()


def test_test_rows_are_locked_until_a_selection_is_sealed(job: Job, tmp_path: Path) -> None:
    from lcbkit.optimizers.phases import SplitRows
    from tests.optimizers.world import rows

    data = SplitRows({"validation": rows("validation"), "test": rows("test")})
    assert data.rows("validation")
    with pytest.raises(JobError, match="locked"):
        data.rows("test")
    job()
    selection, own = (read(tmp_path / "job", f"{name}.json") for name in ("selection", "job"))
    with pytest.raises(JobError, match="need a sealed selection"):
        data.unlock({**selection, "selected_candidate": "seed"}, own)
    with pytest.raises(JobError, match="another condition"):
        data.unlock(selection, {**own, "condition_id": "x"})
    data.unlock(selection, own)
    assert data.rows("test")


@pytest.mark.parametrize(
    ("method", "kind", "words"),
    [
        (Hinting(stop_reason="tired"), "contract_failure", "unknown reason"),
        (Hinting(found=lambda _: Bundle(roles={"boss": "x"})), "contract_failure", "the team has solver"),
        (
            Hinting(found=lambda seed: Bundle(roles=seed.roles, metadata={"seen": ["toy_test_0"]})),
            "contract_failure",
            "test split",
        ),
        (Hinting(on_run=lambda _: 1 / 0), "program_failure", "ZeroDivisionError"),
        (
            Hinting(
                on_run=lambda ctx: ctx.evaluate.batch(ctx.seed_bundle, ctx.train, Step("optimization/x", 9))
            ),
            "contract_failure",
            "do not fit",
        ),
    ],
)
def test_a_method_that_breaks_the_contract_is_on_record_and_ends_the_job(
    job: Job, tmp_path: Path, method: Hinting, kind: str, words: str
) -> None:
    with pytest.raises(JobError, match=words):
        job(method)
    optimization = read(tmp_path / "job", "optimization.json")
    assert (optimization["status"], optimization["failure_kind"]) == ("failed", kind)
    assert optimization["budget"]["charged"] in (2, 4)
    with pytest.raises(JobError, match="name a new folder"):
        job()


class Missing(Hinting):
    def run(self, ctx: Context) -> Any:  # noqa: ARG002
        raise ConfigError("needs a package")


def test_a_method_that_cannot_start_leaves_the_folder_usable(job: Job) -> None:
    with pytest.raises(ConfigError):
        job(Missing())
    assert job().delta_pp == 75.0


@pytest.mark.usefixtures("one_attempt")
def test_an_endpoint_that_dies_in_the_search_keeps_the_seed(job: Job, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda request: ANSWER if request.index < 1 else Reply(status=503)
    served: dict[str, Any] = {**at(endpoint), "concurrency": 1}
    with pytest.raises(InfrastructureExhausted, match="have no observation"):
        job(**served)
    endpoint.script = lambda _: ANSWER
    done = job(**served)
    assert done.summary["optimization"]["failure_kind"] == "infrastructure_invalid"
    assert done.summary["optimization"]["budget"]["charged"] == 1
    assert done.summary["selection"]["fallback_reason"] == "infrastructure_invalid_optimization"
    assert (done.delta_pp, done.summary["test"]["valid_for_aggregation"]) == (0.0, True)


@pytest.mark.usefixtures("one_attempt")
def test_an_endpoint_that_was_never_there_spends_nothing_and_the_same_call_starts_anew(
    job: Job, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _: Reply(status=503)
    served: dict[str, Any] = at(endpoint)
    with pytest.raises(InfrastructureExhausted) as failure:
        job(**served)
    assert failure.value.exit_code == 3
    assert not (tmp_path / "job/optimization.json").exists()
    endpoint.script = lambda _: ANSWER
    assert job(**served).summary["status"] == "completed"


@pytest.mark.usefixtures("one_attempt")
def test_a_test_row_without_an_observation_is_no_difference(job: Job, endpoint: ScriptedEndpoint) -> None:
    from tests.optimizers.world import rows

    bad = rows("test")[1].problem.splitlines()[0]
    endpoint.script = lambda request: Reply(status=503) if bad in request.text else ANSWER
    done = job(**at(endpoint))
    assert (done.delta_pp, done.summary["test"]["valid_for_aggregation"]) == (None, False)
    assert "not valid" in repr(done)


def test_a_folder_takes_no_other_job(job: Job) -> None:
    job(phase="optimize")
    with pytest.raises(JobError, match="optimizer_seed: 0 there, 1 here"):
        job(seed=1)
    with pytest.raises(JobError, match="belongs to another job"):
        job(prompts={"solver": "Another seed."})


def test_jobs_share_evaluations_of_the_seed(job: Job, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    job(evaluation_cache=cache)
    assert len(list(cache.glob("*.json"))) == 4
    job(
        Hinting(found=lambda seed: seed.with_roles({"solver": "Guess."})),
        evaluation_cache=cache,
        out=tmp_path / "b",
    )
    assert len(list(cache.glob("*.json"))) == 5
    assert not (tmp_path / "b/evaluations").exists()


def test_events_tell_budget_best_and_rows(job: Job) -> None:
    seen: list[Any] = []
    job(progress=seen.append)
    assert isinstance(seen[0], JobStarted)
    assert isinstance(seen[-1], JobFinished)
    assert [event.charged for event in seen if isinstance(event, RolloutCharged)] == [1, 2, 3, 4]
    rows = [(event.split, event.candidate) for event in seen if isinstance(event, EvaluationAdvanced)]
    assert list(dict.fromkeys(rows)) == [
        ("validation", "seed"),
        ("validation", "incumbent"),
        ("test", "seed"),
        ("test", "deployed"),
    ]


def test_a_stop_is_kept_for_later(job: Job) -> None:
    def stop(event: Any) -> str | None:
        return "stop" if isinstance(event, EvaluationAdvanced) and event.split == "test" else None

    with pytest.raises(JobStopped) as stopped:
        job(progress=stop)
    assert stopped.value.exit_code == 130
    assert job().delta_pp == 75.0


def test_progress_lines_go_to_standard_error(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    job(Hinting(settings=None), progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "phase optimize" in err
    assert "validation, incumbent: 4 of 4, 4 passed" in err
    assert "+75.0 points" in err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dataset": "mbpp"}, "no dataset 'mbpp'"),
        ({"seed": 7}, "0, 1 and 2"),
        ({"budget": 0}, "at least 1"),
        ({"eval_rows": 0}, "at least 1"),
        ({"phase": "tset"}, "no phase 'tset'"),
        ({"concurrency": 0}, "at least 1"),
        ({"source": "sample"}, "for the dataset lcb"),
        ({"rounds": 3}, "no rounds"),
    ],
)
def test_bad_arguments_are_told_before_anything_is_done(
    job: Job, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadValueError, match=words):
        job(**changes)
    assert not (tmp_path / "job").exists()


def test_a_cell_outside_of_the_grid_must_be_wished_for(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"out": tmp_path, "model": "toy", "dataset": "toy", "progress": False}
    with pytest.raises(BadValueError, match="no cell gepa on centralized with 8 agents"):
        optimize("gepa", "centralized_r8", **asked)
    with pytest.raises(BadValueError, match="no method 'geppa'"):
        optimize("geppa", "single", **asked, allow_any_cell=True)


def test_a_recording_cannot_serve(job: Job) -> None:
    with pytest.raises(ModelError, match="no recording holds"):
        job(model="recorded")
