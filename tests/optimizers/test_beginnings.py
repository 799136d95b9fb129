"""What must be known before the first rollout, so that a slip costs a second and not a budget."""

from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit.errors import BadValueError, ModelError
from lcbkit.optimizers.interface import ConfigError, Context, InfrastructureExhausted, Step
from lcbkit.optimizers.job import JobError
from lcbkit.optimizers.optimized import Optimized
from lcbkit.optimizers.running import optimize
from tests.optimizers.conftest import Job
from tests.optimizers.hinting import Hinting

ANSWER = "```python\nprint(1)\n```"


def test_a_cache_that_cannot_be_written_costs_no_search(job: Job, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for cache in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        with pytest.raises(BadValueError, match=r"cannot write evaluations to .*--evaluation-cache"):
            job(evaluation_cache=cache)
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(
    "served",
    [
        {"model": "m", "reflection_model": "toy"},
        {"model": "m", "task_endpoints": "nonsense", "reflection_model": "toy"},
        {"model": "toy", "reflection_model": "m"},
        {"model": "toy", "reflection_model": "m", "reflection_endpoint": "nonsense"},
        {"model": "toy", "reflection_model": "recorded"},
    ],
)
def test_a_model_that_cannot_be_had_leaves_no_folder(
    job: Job, tmp_path: Path, served: dict[str, Any]
) -> None:
    with pytest.raises((ModelError, BadValueError)):
        job(**served)
    assert not (tmp_path / "job").exists()


def test_a_finished_job_needs_no_model_to_be_looked_at(job: Job, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _: ANSWER
    served = {"model": "m", "reflection_model": "toy"}
    first = job(**served, task_endpoints=endpoint.url, phase="optimize")
    assert first.summary["status"] == "optimized"
    with pytest.raises(ModelError):
        job(**served)
    done = job(**served, task_endpoints=endpoint.url)
    assert job(**served) == done


class Asking(Hinting):
    """Asks so often for what it could do better, whether or not it is told."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def run(self, ctx: Context) -> Any:
        self.ask(ctx)
        return super().run(ctx)

    def ask(self, ctx: Context) -> None:
        for number in range(self.times):
            try:
                ctx.reflect(f"What else, {number}?", step=Step("optimization/asking", number))
            except Exception as error:  # noqa: BLE001 - as a method that goes on without an answer
                assert "gave no answer" in str(error)  # noqa: PT017


def silent(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    """A reflection model that never answers."""
    endpoint.script = lambda _: Reply(status=404, error="no such model")
    return {"reflection_model": "m", "reflection_endpoint": endpoint.url}


@pytest.mark.usefixtures("one_attempt")
def test_a_reflection_model_that_never_answers_is_no_search_that_found_nothing(
    job: Job, endpoint: ScriptedEndpoint
) -> None:
    done = job(Asking(1), **silent(endpoint))
    assert done.summary["optimization"]["failure_kind"] == "infrastructure_invalid"
    assert done.summary["selection"]["fallback_reason"] == "infrastructure_invalid_optimization"


@pytest.mark.usefixtures("one_attempt")
def test_a_silent_reflection_model_ends_the_search_before_it_spends_more(
    job: Job, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    with pytest.raises(InfrastructureExhausted, match="the last 10 calls of the reflection model") as failure:
        job(Asking(10), **(served := silent(endpoint)))
    assert failure.value.exit_code == 3
    assert not (tmp_path / "job/optimization.json").exists()
    endpoint.script = lambda _: "Try again."
    assert job(Asking(10), **served).summary["status"] == "completed"


class Needing(Asking):
    """Cannot begin without answers, and knows no better than to say so."""

    def run(self, ctx: Context) -> Any:
        self.ask(ctx)
        raise ConfigError("too few variants")


@pytest.mark.usefixtures("one_attempt")
def test_a_method_that_misses_answers_is_told_by_the_endpoint_that_gave_none(
    job: Job, endpoint: ScriptedEndpoint
) -> None:
    served = silent(endpoint)
    with pytest.raises(InfrastructureExhausted, match="1 calls of the reflection model have no answer"):
        job(Needing(1), **served)
    endpoint.script = lambda _: "Try again."
    with pytest.raises(ConfigError, match="too few variants"):
        job(Needing(1), **served)


@pytest.mark.usefixtures("one_attempt")
def test_single_questions_without_an_answer_are_the_methods_own_affair(
    job: Job, endpoint: ScriptedEndpoint
) -> None:
    served = silent(endpoint)
    endpoint.script = lambda request: "Try again." if "else, 0" in request.text else Reply(status=404)
    done = job(Asking(10), **served)
    assert done.summary["optimization"]["failure_kind"] is None


def test_an_evaluation_of_other_problems_or_other_code_is_not_taken(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lcbkit.optimizers import specification

    cache = tmp_path / "cache"
    job(evaluation_cache=cache)
    before = set(cache.glob("*.json"))
    job(evaluation_cache=cache, out=tmp_path / "same")
    assert set(cache.glob("*.json")) == before
    monkeypatch.setattr(specification, "_code_digest", lambda: "another version")
    job(evaluation_cache=cache, out=tmp_path / "newer")
    assert len(set(cache.glob("*.json"))) == 2 * len(before)


def test_a_result_of_another_job_is_refused(job: Job, tmp_path: Path) -> None:
    job()
    job(out=tmp_path / "other", seed=1)
    (tmp_path / "job/result.json").write_bytes((tmp_path / "other/result.json").read_bytes())
    with pytest.raises(JobError, match="does not go with"):
        job()
    with pytest.raises(JobError, match="does not go with"):
        Optimized.load(tmp_path / "job")


@pytest.mark.parametrize("name", ["optimization", "selection", "test"])
def test_a_part_of_another_job_is_not_shown(job: Job, tmp_path: Path, name: str) -> None:
    job()
    job(out=tmp_path / "other", seed=1)
    (tmp_path / "job" / f"{name}.json").write_bytes((tmp_path / "other" / f"{name}.json").read_bytes())
    with pytest.raises(JobError, match="does not go with"):
        Optimized.load(tmp_path / "job")


@pytest.mark.parametrize(
    ("topology", "changes", "words"),
    [
        ("centralized_r8", {"team_size": 2, "allow_any_cell": True}, "say one of them"),
        ("single", {"eval_rows": 0}, "eval_rows is 0"),
    ],
)
def test_contradictions_are_told(tmp_path: Path, topology: str, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadValueError, match=words):
        optimize(
            "gepa", topology, out=tmp_path / "job", model="toy", dataset="toy", progress=False, **changes
        )
    with pytest.raises(BadValueError, match="no method 'gepo'"):
        optimize("gepo", "single", out=tmp_path / "job", model="toy", dataset="toy", progress=False)
    assert not (tmp_path / "job").exists()
