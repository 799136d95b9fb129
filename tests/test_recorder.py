from pathlib import Path

import pytest

from lcbkit.dataset import demo_problems, load_problems
from lcbkit.errors import ModelError
from lcbkit.models import get_model
from lcbkit.recorder import SHIPPED, ShippedTeam, record_shipped
from lcbkit.storage import shipped_folder
from lcbkit.topologies.team import build_team
from tests.scripted_endpoint import Reply, ScriptedEndpoint

FEW = ("lkc1_A", "lk104")
TEAMS = [
    ShippedTeam(topology="independent", team_size=2, only=FEW),
    ShippedTeam(topology="independent", team_size=4, only=FEW[:1]),
]


def record(endpoint: ScriptedEndpoint, folder: Path, *, missing: bool = False) -> int:
    return record_shipped(
        model="tiny",
        base_url=endpoint.url,
        missing=missing,
        folder=folder,
        teams=TEAMS,
        concurrency=4,
        progress=False,
    )


@pytest.fixture
def answering(endpoint: ScriptedEndpoint) -> ScriptedEndpoint:
    endpoint.script = lambda request: f"```python\nprint({request.seed})\n```"
    return endpoint


def test_teams_of_several_sizes_share_their_questions(answering: ScriptedEndpoint, tmp_path: Path) -> None:
    # Two replicas on two problems; of the four on one of them, two have answered before.
    assert record(answering, tmp_path) == 4 + 2
    assert len(answering.requests) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "independent-r2-freeform.jsonl",
        "independent-r4-freeform.jsonl",
    ]
    for team in TEAMS:
        model = get_model(f"recorded:{tmp_path / team.file}")
        for problem in load_problems("sample", only=team.only):
            assert build_team(team.topology, team_size=team.team_size, model=model).solve(problem).code


def test_only_what_is_missing_is_asked_again(answering: ScriptedEndpoint, tmp_path: Path) -> None:
    record(answering, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert record(answering, tmp_path, missing=True) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    lines = (tmp_path / TEAMS[0].file).read_text().splitlines(keepends=True)
    (tmp_path / TEAMS[0].file).write_text("".join(lines[:-1]))
    (tmp_path / TEAMS[1].file).unlink()
    asked = len(answering.requests)
    assert record(answering, tmp_path, missing=True) == len(answering.requests) - asked > 0
    assert {path.name for path in tmp_path.iterdir()} == set(before)


def test_a_recording_that_stops_half_way_goes_on_and_replaces_the_old_one_at_its_end(
    answering: ScriptedEndpoint, tmp_path: Path
) -> None:
    record(answering, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    asked = len(answering.requests)
    answering.script = lambda request: Reply(
        f"```python\nprint({request.seed}, 'new')\n```", status=200 if request.index < asked + 4 else 400
    )
    with pytest.raises(ModelError, match=r"scripted failure.*the same command, which goes on from here"):
        record(answering, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")} == before
    answered = sum(len(path.read_text().splitlines()) - 1 for path in tmp_path.glob("*.new"))
    assert answered
    answering.script = lambda request: f"```python\nprint({request.seed}, 'new')\n```"
    assert record(answering, tmp_path) == 6 - answered
    assert {path.name for path in tmp_path.iterdir()} == set(before)
    assert all("'new'" in line for path in tmp_path.iterdir() for line in path.read_text().splitlines()[1:])


def test_an_agent_that_runs_out_of_time_is_no_recording(
    answering: ScriptedEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lcbkit.topologies.agents.AGENT_SECONDS", 0.0)
    with pytest.raises(ModelError, match=r"out of time|no answer in 0 seconds"):
        record(answering, tmp_path)
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize("team", SHIPPED, ids=lambda team: team.file)
def test_every_shipped_recording_holds_all_that_its_team_asks(team: ShippedTeam) -> None:
    model = get_model(f"recorded:{shipped_folder('recordings') / team.file}")
    built = build_team(
        team.topology, team_size=team.team_size, message_format=team.message_format, model=model
    )
    everything = [*demo_problems(), *load_problems("sample")]
    chosen = [problem for problem in everything if not team.only or problem.id in team.only]
    answers = [built.solve(problem) for problem in chosen]
    assert {answer.status for answer in answers} <= {"ok", "no_code"}


def test_the_shipped_recordings_stay_small() -> None:
    assert sum(path.stat().st_size for path in shipped_folder("recordings").iterdir()) < 10_000_000
