from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.errors import BadValueError
from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.prompts import build_prompt
from lcbkit.topologies.events import RoundFinished, Voted
from lcbkit.topologies.team import Team, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

OTHER = "```python\nprint(int(input()) * 2)\n```"


def decentralized(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("decentralized", model=get_model("scripted", base_url=endpoint.url), **options)


def turn(request: Request) -> int:
    """The round of a request, told by the peer's own messages."""
    return sum("The task again" in str(message["content"]) for message in request.messages)


@pytest.mark.parametrize("size", [2, 4, 8, 10])
def test_each_peer_continues_its_own_words_with_the_others_last_answers(
    endpoint: ScriptedEndpoint, problem: Problem, size: int
) -> None:
    endpoint.script = lambda request: f"peer {request.seed} in round {turn(request)}"
    team = decentralized(endpoint, team_size=size)
    answer = team.solve(problem)
    first, second = endpoint.requests[:size], endpoint.requests[size:]
    assert [run.round for run in answer.trajectory] == [0] * size + [1] * size
    assert sorted(request.seed or 0 for request in second) == list(range(size))
    for request in first:
        assert [message["content"] for message in request.messages[1:]] == [build_prompt(problem)]
    for request in second:
        roles = [message["role"] for message in request.messages]
        assert roles == ["system", "user", "assistant", "user"]
        assert request.messages[2]["content"] == f"peer {request.seed} in round 0"
        for other in range(size):
            shown = f"### peer_{other}\n```text\npeer {other} in round 0\n```"
            assert (shown in request.last) is (other != request.seed)
        assert "in round 1" not in request.text
        assert request.last.index(team.plan.texts["revise"]) < request.last.index("The task again")
        assert request.last.endswith(build_prompt(problem).strip())


def test_in_a_third_round_a_peer_reads_the_second_and_continues_both_of_its_own(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda request: f"peer {request.seed} in round {turn(request)}"
    decentralized(endpoint, team_size=2, rounds=3).solve(problem)
    third = [request for request in endpoint.requests if turn(request) == 2]
    assert sorted(request.seed or 0 for request in third) == [0, 1]
    for request in third:
        own = [message["content"] for message in request.messages if message["role"] == "assistant"]
        assert own == [f"peer {request.seed} in round {round}" for round in (0, 1)]
        assert f"peer {1 - (request.seed or 0)} in round 1" in request.last
        assert "in round 0" not in request.last


def test_peers_vote_with_their_last_programs(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    def script(request: Request) -> str:
        return ANSWER if turn(request) and request.seed != 0 else OTHER

    endpoint.script = script
    answer = decentralized(endpoint).solve(problem)
    assert (answer.code, answer.winner, answer.raw) == (DOUBLE, 1, ANSWER)
    assert answer.votes is not None
    assert answer.votes.sizes == (3, 1)


def test_a_peer_without_a_program_in_its_last_answer_keeps_its_earlier_one_never_anothers(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    def script(request: Request) -> str:
        if request.seed == 0:
            return "I have nothing."
        return "I keep mine." if turn(request) else ANSWER

    endpoint.script = script
    answer = decentralized(endpoint, team_size=2).solve(problem)
    assert (answer.code, answer.winner) == (DOUBLE, 1)
    assert answer.votes is not None
    assert answer.votes.sizes == (1,)


def test_of_a_peers_earlier_programs_the_newest_counts(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    texts = [OTHER, ANSWER, "I keep mine."]
    endpoint.script = lambda request: texts[turn(request)] if request.seed else "I have nothing."
    assert decentralized(endpoint, team_size=2, rounds=3).solve(problem).code == DOUBLE


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_debate_has_as_many_rounds_as_asked_for(
    endpoint: ScriptedEndpoint, problem: Problem, rounds: int
) -> None:
    endpoint.replies(ANSWER)
    team = decentralized(endpoint, team_size=2, rounds=rounds)
    team.solve(problem)
    assert len(endpoint.requests) == 2 * rounds
    assert team.describe()["rounds"] == rounds
    assert f"rounds={rounds}" in repr(team)


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True])
def test_rounds_that_are_no_number_of_rounds_are_refused(endpoint: ScriptedEndpoint, rounds: Any) -> None:
    with pytest.raises(BadValueError, match="rounds is"):
        decentralized(endpoint, rounds=rounds)


def test_rounds_of_a_team_that_does_not_debate_are_refused(endpoint: ScriptedEndpoint) -> None:
    with pytest.raises(BadValueError, match=r"independent team has no rounds"):
        build_team("independent", rounds=2, model=get_model("scripted", base_url=endpoint.url))


def test_a_peer_that_was_broken_off_in_the_first_round_takes_part_in_the_second(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    def script(request: Request) -> Reply | str:
        failing = request.seed == 0 and not turn(request)
        return Reply(status=503, headers={"Retry-After": "0"}) if failing else ANSWER

    endpoint.script = script
    answer = decentralized(endpoint, team_size=2).solve(problem)
    late = next(r for r in endpoint.requests if r.seed == 0 and turn(r))
    assert [message["role"] for message in late.messages] == ["system", "user", "assistant", "user"]
    assert late.messages[2]["content"] == "(no answer)"
    assert (
        "(no report: the debater failed)"
        in next(r for r in endpoint.requests if r.seed == 1 and turn(r)).last
    )
    assert (answer.status, answer.votes and answer.votes.sizes) == ("ok", (2,))


def test_an_endpoint_that_failed_every_peer_is_not_asked_for_another_round(problem: Problem) -> None:
    with ScriptedEndpoint() as gone:
        team = decentralized(gone, team_size=2)
    answer = team.solve(problem)
    assert (answer.status, len(answer.trajectory)) == ("infra_error", 2)


def test_a_call_without_a_result_is_not_replayed(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    def script(request: Request) -> Reply | str:
        if request.seed == 0 and not turn(request):
            return Reply("draft", tool_calls=[tool_call("python_exec", code=1)])
        return ANSWER

    endpoint.script = script
    decentralized(endpoint, team_size=2).solve(problem)
    late = next(r for r in endpoint.requests if r.seed == 0 and turn(r))
    calls = [call["id"] for m in late.messages for call in m.get("tool_calls") or ()]
    results = [m["tool_call_id"] for m in late.messages if m["role"] == "tool"]
    assert calls == results
    assert calls


async def test_the_end_of_each_round_and_the_vote_are_told(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda request: ANSWER if turn(request) or request.seed else "no program"
    events = [event async for event in decentralized(endpoint, team_size=2).astream(problem)]
    told = [event for event in events if isinstance(event, RoundFinished | Voted)]
    assert told[:2] == [RoundFinished(round=0, programs=1), RoundFinished(round=1, programs=2)]
    assert isinstance(told[2], Voted)
