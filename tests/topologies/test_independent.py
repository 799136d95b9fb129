from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.prompts import build_prompt
from lcbkit.topologies import agents
from lcbkit.topologies.events import AgentFinished, Voted
from lcbkit.topologies.team import Team, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

OTHER = "```python\nprint(int(input()) * 2)\n```"


def independent(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("independent", model=get_model("scripted", base_url=endpoint.url), **options)


def test_every_replica_reads_the_task_alone_under_a_seed_of_its_own(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    team = independent(endpoint, team_size=8)
    team.solve(problem, seed=5, sample=2)
    assert sorted(request.seed or 0 for request in endpoint.requests) == [
        2005 + number for number in range(8)
    ]
    for request in endpoint.requests:
        assert request.system == team.sent_prompts["coder"]
        assert [message["content"] for message in request.messages[1:]] == [build_prompt(problem)]
        assert request.tools == ["python_exec"]


def test_the_most_frequent_program_wins_and_is_the_only_answer(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda request: OTHER if request.seed == 0 else ANSWER
    answer = independent(endpoint).solve(problem)
    assert (answer.code, answer.winner, answer.raw) == (DOUBLE, 1, ANSWER)
    assert answer.votes is not None
    assert answer.votes.sizes == (3, 1)
    assert [run.agent for run in answer.trajectory] == [0, 1, 2, 3]


def test_a_replica_that_fails_abstains(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    def script(request: Request) -> Reply | str:
        return Reply(status=503, headers={"Retry-After": "0"}) if request.seed == 0 else ANSWER

    endpoint.script = script
    answer = independent(endpoint).solve(problem)
    assert (answer.status, answer.code, answer.winner, answer.error) == ("ok", DOUBLE, 1, None)
    assert answer.trajectory[0].infra


def test_a_replica_that_hangs_abstains_and_the_others_vote(
    endpoint: ScriptedEndpoint, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "AGENT_SECONDS", 5.0)
    endpoint.script = lambda request: Reply(ANSWER, delay=60 if request.seed == 1 else 0)
    answer = independent(endpoint).solve(problem)
    assert (answer.code, answer.votes and answer.votes.sizes) == (DOUBLE, (3,))


def test_a_team_in_which_all_abstain_has_no_winner(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies("I do not know.")
    answer = independent(endpoint).solve(problem)
    assert (answer.status, answer.code, answer.winner) == ("no_code", None, None)


def test_a_dead_endpoint_is_an_infrastructure_error(problem: Problem) -> None:
    with ScriptedEndpoint() as gone:
        team = independent(gone, team_size=2)
    assert team.solve(problem).status == "infra_error"


def test_the_placeholder_never_wins(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    placeholder = "```python\n# YOUR CODE HERE\n```"
    endpoint.script = lambda request: ANSWER if request.seed == 3 else placeholder
    assert independent(endpoint).solve(problem).winner == 3


def test_usage_is_the_sum_over_all_replicas(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    def script(request: Request) -> Reply:
        asked = request.messages[-1]["role"] == "tool"
        calls = () if asked else (tool_call("python_exec", code="pass"),)
        return Reply(ANSWER, tool_calls=calls, prompt_tokens=100 + (request.seed or 0), completion_tokens=1)

    endpoint.script = script
    usage = independent(endpoint).solve(problem).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (2 * (400 + 0 + 1 + 2 + 3), 8)
    assert (usage.n_llm_calls, usage.n_tool_calls) == (8, 4)


async def test_the_vote_is_told_after_every_replica(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(ANSWER)
    events = [event async for event in independent(endpoint, team_size=2).astream(problem)]
    kinds = [type(event) for event in events if isinstance(event, AgentFinished | Voted)]
    assert kinds == [AgentFinished, AgentFinished, Voted]


def test_replicas_work_side_by_side(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.script = lambda _request: Reply(ANSWER, delay=0.3)
    independent(endpoint).solve(problem)
    assert endpoint.peak == 4
