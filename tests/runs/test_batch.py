"""Batches whose endpoint is dead are given up; others are not."""

from pathlib import Path

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint
from twice_problems import RIGHT, asked_for, problem_set

from lcbkit.evaluation import evaluate
from lcbkit.models import get_model
from lcbkit.results import Run, load_run
from lcbkit.runs.batch import GIVE_UP_AFTER
from lcbkit.runs.progress import RunEvent, RunFinished
from lcbkit.topologies.team import build_team

OUTAGE = Reply(status=500, headers={"Retry-After": "0"})
PROBLEMS = 2 * GIVE_UP_AFTER


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries are made, but without their long waits."""
    monkeypatch.setattr("lcbkit.chat.failures.FIRST_WAIT_SECONDS", 0.001)


def run(endpoint: ScriptedEndpoint, folder: Path, count: int = PROBLEMS, **options: object) -> Run:
    team = build_team("single", model=get_model("scripted", base_url=endpoint.url), python_exec=False)
    given = {"progress": False, "judge_workers": 1, "out_dir": folder} | options
    return evaluate(team, problem_set(count), **given)  # type: ignore[arg-type]


def test_a_dead_endpoint_is_given_up_with_its_records_kept_and_taken_up_later(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: OUTAGE
    events: list[RunEvent] = []
    dead = run(endpoint, tmp_path, progress=events.append)
    asked = {asked_for(request) for request in endpoint.requests}
    assert GIVE_UP_AFTER <= len(asked) < PROBLEMS
    assert GIVE_UP_AFTER <= len(dead.records) <= len(asked)  # one may end in the moment of giving up
    assert (dead.summary().infra_rate, dead.summary().pass_at_1) == (1.0, None)
    assert "so the others were not tried" in dead.config["gave_up"]
    assert "no score of the team" in repr(dead)
    assert isinstance(events[-1], RunFinished)
    assert events[-1].stopped
    assert repr(load_run(tmp_path)) == repr(dead)
    endpoint.script = lambda _request: RIGHT
    alive = run(endpoint, tmp_path)
    assert alive.summary().overall.passed == PROBLEMS
    assert "gave_up" not in alive.config
    assert "gave_up" not in load_run(tmp_path).config


def test_one_answer_among_the_outages_is_enough_to_go_on(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda request: RIGHT if asked_for(request) == "p3" else OUTAGE
    assert len(run(endpoint, tmp_path).records) == PROBLEMS


def test_a_batch_of_no_more_than_that_ends_as_any_other(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda _request: OUTAGE
    few = run(endpoint, tmp_path, GIVE_UP_AFTER)
    assert len(few.records) == GIVE_UP_AFTER
    assert "gave_up" not in few.config
