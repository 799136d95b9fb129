import asyncio
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.topologies.calls import MAX_CALLS_PER_MESSAGE, MAX_CALLS_PER_RUN
from lcbkit.topologies.team import Team, Usage, build_team
from tests.topologies.conftest import ANSWER

ONE = tool_call("python_exec", code="print(1)")


def single(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("single", model=get_model("scripted", base_url=endpoint.url), **options)


def tool_results(request: Request) -> list[str]:
    return [message["content"] for message in request.messages if message["role"] == "tool"]


@pytest.mark.parametrize("python_exec", [True, False])
def test_the_seed_reaches_each_request_with_and_without_tools(
    endpoint: ScriptedEndpoint, problem: Problem, python_exec: bool
) -> None:
    endpoint.replies(Reply(tool_calls=[ONE]) if python_exec else ANSWER, ANSWER)
    single(endpoint, python_exec=python_exec).solve(problem, seed=7, sample=2)
    assert {request.seed for request in endpoint.requests} == {2007}
    assert endpoint.requests[-1].tools == (["python_exec"] if python_exec else [])


async def test_the_gate_bounds_model_calls_over_several_rollouts(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda _request: Reply(ANSWER, delay=0.05)
    team, gate = single(endpoint), asyncio.Semaphore(2)
    answers = await asyncio.gather(*(team.asolve(problem, gate=gate) for _ in range(8)))
    assert [answer.status for answer in answers] == ["ok"] * 8
    assert endpoint.peak == 2


def test_an_empty_answer_is_asked_for_once_more_with_the_same_seed(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(" \n", ANSWER)
    answer = single(endpoint).solve(problem, seed=5)
    assert (answer.status, answer.stop_reason) == ("ok", "end")
    assert [request.seed for request in endpoint.requests] == [5, 5]
    assert endpoint.requests[0].messages == endpoint.requests[1].messages
    assert answer.usage.n_llm_calls == 2
    assert answer.usage.total_tokens == 30


def test_a_second_empty_answer_ends_the_agent(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies("<think>all of it</think>")
    answer = single(endpoint).solve(problem)
    assert (answer.status, answer.stop_reason, answer.error) == ("no_code", "empty", None)
    assert len(endpoint.requests) == 2


def test_an_answer_cut_before_its_first_word_is_not_asked_for_again(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(Reply("", finish_reason="length"))
    answer = single(endpoint).solve(problem)
    assert (answer.status, answer.stop_reason) == ("no_code", "truncated")
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"name": "python_exec", "arguments": '{"code": "print('}, "not valid JSON"),
        (tool_call("python_exec", stdin="3"), "code"),
        (tool_call("python_exec", code=["print(1)"]), "code"),
        (tool_call("search", query="x"), "python_exec"),
    ],
)
def test_a_wrong_tool_call_is_told_to_the_model_and_the_agent_goes_on(
    endpoint: ScriptedEndpoint, problem: Problem, call: dict[str, Any], told: str
) -> None:
    endpoint.replies(Reply(tool_calls=[call]), ANSWER)
    answer = single(endpoint).solve(problem)
    assert answer.status == "ok"
    (result,) = tool_results(endpoint.requests[-1])
    assert result.startswith(("ERROR", "Error"))
    assert told in result
    assert answer.usage.n_tool_calls == 1


def test_calls_over_the_budget_of_a_message_are_refused_and_each_is_answered(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(Reply(tool_calls=[ONE] * (MAX_CALLS_PER_MESSAGE + 2)), ANSWER)
    answer = single(endpoint).solve(problem)
    results = tool_results(endpoint.requests[-1])
    assert ["exit_code: 0" in result for result in results] == [True] * MAX_CALLS_PER_MESSAGE + [False] * 2
    assert "at most 8 calls" in results[-1]
    assert answer.usage.n_tool_calls == MAX_CALLS_PER_MESSAGE + 2


def test_calls_over_the_budget_of_a_run_are_refused(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    rounds = MAX_CALLS_PER_RUN // 6 + 1
    endpoint.replies(*[Reply(tool_calls=[tool_call("python_exec", code=1)] * 6)] * rounds, ANSWER)
    answer = single(endpoint).solve(problem)
    results = tool_results(endpoint.requests[-1])
    refused = ["used up" in result for result in results]
    assert refused == [False] * MAX_CALLS_PER_RUN + [True] * 6
    assert answer.status == "ok"


def test_usage_is_what_the_endpoint_reported(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(
        Reply(tool_calls=[ONE, ONE], prompt_tokens=100, completion_tokens=20, reasoning_tokens=8),
        Reply(ANSWER, prompt_tokens=150, completion_tokens=30, cached_tokens=90),
    )
    answer = single(endpoint).solve(problem)
    assert answer.usage == Usage(
        prompt_tokens=250,
        completion_tokens=50,
        reasoning_tokens=8,
        cached_tokens=90,
        n_llm_calls=2,
        n_tool_calls=2,
    )


def test_usage_is_counted_up_to_a_failure(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(
        Reply(tool_calls=[ONE]), Reply("a plan", tool_calls=[ONE], prompt_tokens=None), Reply(status=400)
    )
    answer = single(endpoint).solve(problem)
    assert answer.status == "agent_error"
    assert answer.usage == Usage(
        prompt_tokens=10, completion_tokens=5, n_llm_calls=3, n_tool_calls=2, calls_without_usage=2
    )
