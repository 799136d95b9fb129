"""Teams without some of their players: who acts, who answers, and what nobody can reach any more."""

from itertools import combinations
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.errors import BadValueError
from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.topologies.roles import SIZES, plan_team
from lcbkit.topologies.team import Team, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

FINAL = f"{ANSWER}\nTERMINATE"
STAGES = ("analyzer", "coder", "tester", "debugger")
WORKERS = ("analyzer_worker", "coder_worker", "tester_worker")


def team(endpoint: ScriptedEndpoint, topology: str, **options: Any) -> Team:
    return build_team(topology, model=get_model("scripted", base_url=endpoint.url), **options)


def coalitions(players: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [chosen for size in range(len(players) + 1) for chosen in combinations(players, size)]


@pytest.mark.parametrize("size", SIZES)
def test_the_players_are_stages_workers_or_numbered_replicas(size: int) -> None:
    assert list(plan_team("independent", size).players) == [f"coder::{n}" for n in range(size)]
    assert list(plan_team("decentralized", size).players) == [f"debater::{n}" for n in range(size)]
    line, hub = plan_team("sequential", size), plan_team("centralized", size)
    assert list(line.players) == [role.name for role in line.roles]
    assert tuple(hub.players) == hub.roles[0].workers
    assert plan_team("single", size).players == {}


def test_independent_replicas_keep_their_numbers_and_seeds(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    whole = team(endpoint, "independent")
    for acting in coalitions(whole.players):
        endpoint.requests.clear()
        answer = whole.without(*set(whole.players) - set(acting)).solve(problem, seed=5)
        numbers = [int(name[-1]) for name in acting]
        assert [run.agent for run in answer.trajectory] == numbers
        assert sorted(request.seed or 0 for request in endpoint.requests) == [5 + n for n in numbers]
        assert answer.winner == (numbers[0] if numbers else None)
        assert answer.code == (DOUBLE if numbers else None)


def test_peers_read_active_peers_alone_and_keep_their_names(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda request: f"answer with seed {request.seed}"
    whole = team(endpoint, "decentralized")
    for acting in coalitions(whole.players):
        endpoint.requests.clear()
        answer = whole.without(*set(whole.players) - set(acting)).solve(problem)
        numbers = [int(name[-1]) for name in acting]
        assert [(run.round, run.agent) for run in answer.trajectory] == [
            (r, n) for r in (0, 1) for n in numbers
        ]
        for request in endpoint.requests[len(numbers) :]:
            others = [n for n in range(4) if f"### peer_{n}\n" in request.last]
            assert others == [n for n in numbers if n != request.seed]
            assert f"You are peer_{request.seed}." in request.last
            assert ("No other peer works on this task." in request.last) == (len(numbers) == 1)


def test_the_vote_is_won_under_a_number_that_masking_does_not_shift(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda request: "```python\nprint(1)\n```" if request.seed == 1 else ANSWER
    whole = team(endpoint, "decentralized")
    answer = whole.without("debater::0").solve(problem)
    assert (answer.winner, answer.code, answer.votes and answer.votes.sizes) == (2, DOUBLE, (2, 1))
    silent = whole.without("debater::0", "debater::1")
    endpoint.replies("no program")
    assert silent.solve(problem).raw == "no program"


def test_a_masked_stage_writes_nothing_and_the_last_active_one_answers(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda request: f"words of {_stage(request)}\n```python\nprint({request.seed})\n```"
    whole = team(endpoint, "sequential")
    for acting in coalitions(STAGES):
        endpoint.requests.clear()
        answer = whole.without(*set(STAGES) - set(acting)).solve(problem)
        assert [run.role for run in answer.trajectory] == list(acting)
        assert [_stage(request) for request in endpoint.requests] == list(acting)
        for place, request in enumerate(endpoint.requests):
            assert request.system == whole.sent_prompts[acting[place]]
            assert [stage for stage in STAGES if f"words of {stage}" in request.last] == list(acting[:place])
        assert answer.code == (f"print({STAGES.index(acting[-1])})" if acting else None)


def _stage(request: Request) -> str:
    return str(request.messages[1]["content"]).rpartition("that of the ")[2].rstrip(".")


def test_a_masked_worker_has_no_tool_no_mention_and_no_way_to_be_reached(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    calls = [tool_call(f"delegate_to_{name}", instructions="do it") for name in WORKERS]

    def script(request: Request) -> Reply | str:
        if "## Your workers" not in request.system:
            return "report"
        return FINAL if any(m["role"] == "tool" for m in request.messages) else Reply(tool_calls=calls)

    endpoint.script = script
    whole = team(endpoint, "centralized")
    for acting in coalitions(WORKERS):
        endpoint.requests.clear()
        answer = whole.without(*set(WORKERS) - set(acting)).solve(problem)
        asked, *_, last = [request for request in endpoint.requests if "## Your workers" in request.system]
        assert asked.tools == ["python_exec", *(f"delegate_to_{name}" for name in acting)]
        # The role prompt may speak of kinds of workers; the list of those that exist is the note's.
        note = asked.system.partition("## Your workers")[2]
        assert [name for name in WORKERS if name in note] == list(acting)
        assert ("There are none this time" in note) == (not acting)
        replies = {m["tool_call_id"]: m["content"] for m in last.messages if m["role"] == "tool"}
        assert len(replies) == len(WORKERS)
        assert sum("there is no" in text for text in replies.values()) == len(WORKERS) - len(acting)
        assert sorted(run.role for run in answer.trajectory if run.agent) == list(acting)
        assert [run.agent for run in answer.trajectory if run.agent] == [
            1 + WORKERS.index(name) for name in acting
        ]
        assert answer.code == DOUBLE


def test_a_manager_that_gives_jobs_by_lines_cannot_reach_a_masked_worker_either(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    lines = "\n".join(f"DELEGATE {name}: do it" for name in WORKERS)

    def script(request: Request) -> Reply | str:
        if "## Your workers" not in request.system:
            return "report"
        return FINAL if len(request.messages) > 2 else lines

    endpoint.script = script
    whole = team(endpoint, "centralized", python_exec=False)
    for acting in coalitions(WORKERS):
        endpoint.requests.clear()
        answer = whole.without(*set(WORKERS) - set(acting)).solve(problem)
        opening = endpoint.requests[0].last
        named = [name for name in WORKERS if f"DELEGATE {name}" in opening]
        assert named == (["coder_worker"] if "coder_worker" in acting else list(acting[:1]))
        assert sorted(run.role for run in answer.trajectory if run.agent) == list(acting)
        assert answer.code == DOUBLE


def test_a_manager_without_workers_is_told_what_is_missing_in_words_that_fit(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies("Hm.", FINAL)
    answer = team(endpoint, "centralized").without(*WORKERS).solve(problem)
    assert answer.code == DOUBLE
    assert endpoint.requests[1].last.startswith("Your reply held no program.")
    assert endpoint.requests[1].tools == ["python_exec"]


@pytest.mark.parametrize("topology", ["independent", "sequential", "decentralized"])
def test_a_team_in_which_nobody_acts_abstains_without_a_model_call(
    endpoint: ScriptedEndpoint, problem: Problem, topology: str
) -> None:
    whole = team(endpoint, topology)
    answer = whole.without(*whole.players).solve(problem)
    assert (answer.code, answer.raw, answer.trajectory) == (None, "", ())
    assert (answer.status, answer.stop_reason, answer.error) == ("no_code", "masked", None)
    assert answer.usage.n_llm_calls == 0
    assert endpoint.requests == []
    assert repr(answer).startswith("<TeamAnswer no_code")


def test_the_team_itself_is_left_as_it_was_and_masks_do_not_add_up(endpoint: ScriptedEndpoint) -> None:
    whole = team(endpoint, "sequential")
    before = whole.describe()
    fewer = whole.without("coder").without("tester")
    assert fewer.masked == {"tester"}
    assert whole.describe() == before
    assert "masked" not in before
    assert fewer.describe()["masked"] == ["tester"]
    assert fewer.without().describe() == before
    assert "without tester" in repr(fewer)
    assert "tester" not in fewer.show().mermaid


@pytest.mark.parametrize(
    ("topology", "name"),
    [("single", "solver"), ("centralized", "manager"), ("independent", "coder"), ("sequential", "coder::0")],
)
def test_a_player_that_the_team_does_not_have_is_refused(
    endpoint: ScriptedEndpoint, topology: str, name: str
) -> None:
    with pytest.raises(BadValueError, match=f"{topology} team has no player '{name}'; it has"):
        team(endpoint, topology).without(name)
