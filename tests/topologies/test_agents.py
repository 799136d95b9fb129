import asyncio
import json
import time
from typing import Any

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint, tool_call

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.topologies import agents, rollout
from lcbkit.topologies.team import Team, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

ONE = tool_call("python_exec", code="print(1)")
DRAFT = Reply(ANSWER, tool_calls=[ONE])


def single(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("single", model=get_model("scripted", base_url=endpoint.url), **options)


def test_an_agent_that_never_answers_stops_after_its_tool_rounds_and_keeps_its_draft(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(DRAFT, Reply(tool_calls=[tool_call("python_exec", code=1)]))
    team = single(endpoint)
    answer = team.solve(problem)
    assert (answer.status, answer.stop_reason, answer.code) == ("ok", "recursion_limit", DOUBLE)
    assert answer.raw == ANSWER
    assert len(endpoint.requests) == team.plan.max_tool_rounds + 1


def test_an_agent_may_answer_after_its_last_tool_round(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    rounds = [Reply(tool_calls=[tool_call("python_exec", code=1)])] * 12
    endpoint.replies(*rounds, ANSWER)
    assert single(endpoint).solve(problem).stop_reason == "end"


def test_out_of_time_an_agent_keeps_its_draft(
    endpoint: ScriptedEndpoint, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "AGENT_SECONDS", 4.0)
    endpoint.replies(DRAFT, Reply("too late", delay=60))
    answer = single(endpoint).solve(problem)
    assert (answer.status, answer.stop_reason, answer.code) == ("ok", "timeout", DOUBLE)
    assert answer.usage.n_llm_calls == 2
    assert answer.usage.calls_without_usage == 1


def test_out_of_the_rollouts_time_an_agent_stops(
    endpoint: ScriptedEndpoint, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollout, "ROLLOUT_SECONDS", 4.0)
    endpoint.replies(DRAFT, Reply("too late", delay=60))
    assert single(endpoint).solve(problem).stop_reason == "timeout"


def test_an_endpoint_that_never_answers_is_no_wrong_answer(
    endpoint: ScriptedEndpoint, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "AGENT_SECONDS", 0.5)
    endpoint.replies(Reply("too late", delay=60))
    answer = single(endpoint).solve(problem)
    assert (answer.status, answer.stop_reason) == ("infra_error", "timeout")
    assert answer.error is not None
    assert "no answer" in answer.error


async def test_the_wait_for_a_place_is_not_the_agents_time(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    gate = asyncio.Semaphore(1)
    await gate.acquire()
    asyncio.get_running_loop().call_later(0.3, gate.release)
    started = time.monotonic()
    answer = await single(endpoint).asolve(problem, gate=gate)
    assert answer.status == "ok"
    assert answer.trajectory[0].latency_s < time.monotonic() - started - 0.25


async def test_a_cancel_passes_through_and_gives_the_place_back(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(Reply(ANSWER, delay=60))
    gate = asyncio.Semaphore(1)
    task = asyncio.create_task(single(endpoint).asolve(problem, gate=gate))
    while not endpoint.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not gate.locked()


def test_a_dead_endpoint_is_an_infrastructure_error(problem: Problem) -> None:
    with ScriptedEndpoint() as gone:
        team = single(gone)
    answer = team.solve(problem)
    assert (answer.status, answer.stop_reason, answer.code) == ("infra_error", "error", None)
    assert answer.trajectory[0].infra


def test_a_draft_does_not_stand_in_for_an_answer_that_the_endpoint_broke_off(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(DRAFT, Reply(status=503, headers={"Retry-After": "0"}))
    answer = single(endpoint).solve(problem)
    assert (answer.status, answer.code) == ("infra_error", None)
    assert answer.trajectory[0].code == DOUBLE


def test_a_request_that_the_endpoint_refuses_is_the_agents_error(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(Reply(status=400, error="the context is too long"))
    answer = single(endpoint).solve(problem)
    assert answer.status == "agent_error"
    assert answer.error is not None
    assert "the context is too long" in answer.error
    assert "python_exec=False" not in answer.error


def test_after_a_refused_request_the_draft_is_the_answer(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(DRAFT, Reply(status=400, error="the context is too long"))
    answer = single(endpoint).solve(problem)
    assert (answer.status, answer.stop_reason, answer.code) == ("ok", "error", DOUBLE)


def test_an_endpoint_that_refuses_tools_is_told_apart_with_the_way_out(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(Reply(status=400, error="auto tool choice is not enabled"))
    error = single(endpoint).solve(problem).error
    assert error is not None
    assert "python_exec=False" in error
    assert "--no-python-exec" in error


@pytest.mark.parametrize(
    ("reply", "code", "stop_reason"),
    [
        (Reply(f"<think>{ANSWER}"), None, "truncated"),
        (Reply(f"<think>hm</think>{ANSWER}"), DOUBLE, "end"),
        (Reply(ANSWER, finish_reason="length"), DOUBLE, "truncated"),
        (Reply(ANSWER, reasoning="```python\nprint('a thought')\n```"), DOUBLE, "end"),
        (Reply("I cannot.", reasoning=ANSWER), None, "end"),
        (Reply("I cannot."), None, "end"),
        (Reply("```python\n# YOUR CODE HERE\n```"), None, "end"),
    ],
)
def test_what_an_answer_ends_in(
    endpoint: ScriptedEndpoint, problem: Problem, reply: Reply, code: str | None, stop_reason: str
) -> None:
    endpoint.replies(reply)
    answer = single(endpoint).solve(problem)
    assert (answer.code, answer.stop_reason) == (code, stop_reason)
    assert "think" not in answer.raw
    assert answer.status == ("ok" if code else "no_code")


def test_a_last_message_without_a_program_falls_back_on_an_earlier_one(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(DRAFT, "The program above is right.")
    answer = single(endpoint).solve(problem)
    assert (answer.code, answer.raw) == (DOUBLE, "The program above is right.")


def test_the_starter_code_alone_is_no_program(
    endpoint: ScriptedEndpoint, functional_problem: Problem
) -> None:
    team = single(endpoint)
    endpoint.replies(f"```python\n{functional_problem.starter_code}return 2 * n\n```")
    assert team.solve(functional_problem).status == "ok"
    endpoint.replies(f"```python\n{functional_problem.starter_code}pass\n```")
    assert team.solve(functional_problem).status == "no_code"


def test_the_record_holds_the_whole_conversation_as_plain_values(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(Reply("<think>hm</think>Test it.", tool_calls=[ONE]), ANSWER)
    team = single(endpoint)
    (run,) = team.solve(problem).trajectory
    assert [message["role"] for message in run.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert run.messages[0]["content"] == team.sent_prompts["solver"] == endpoint.requests[0].system
    assert run.messages[2]["content"] == "Test it."
    assert json.loads(json.dumps(run.to_dict())) == run.to_dict()
