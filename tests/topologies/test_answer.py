import json
from typing import Any

import pytest

from lcbkit.topologies.answer import AgentRun, TeamAnswer, Usage, Votes


def agent_run(
    agent: int = 0,
    *,
    code: str | None = None,
    stop_reason: str = "end",
    error: str | None = None,
    infra: bool = False,
) -> AgentRun:
    return AgentRun(
        agent=agent,
        role="solver",
        round=0,
        seed=agent,
        text=f"text of {agent}",
        code=code,
        stop_reason=stop_reason,
        error=error,
        infra=infra,
        usage=Usage(prompt_tokens=2, completion_tokens=1, n_llm_calls=1),
        latency_s=0.5,
        messages=({"role": "user", "content": "task"},),
    )


def answer(*runs: AgentRun, code: str | None = None, votes: Votes | None = None) -> TeamAnswer:
    return TeamAnswer.of(code=code, raw="raw", trajectory=runs, votes=votes)


def test_usages_add_up_field_by_field() -> None:
    one = Usage(prompt_tokens=1, completion_tokens=2, reasoning_tokens=3, cached_tokens=4, n_llm_calls=5)
    other = Usage(prompt_tokens=10, completion_tokens=20, n_tool_calls=6, calls_without_usage=7)
    assert one + other == Usage(
        prompt_tokens=11,
        completion_tokens=22,
        reasoning_tokens=3,
        cached_tokens=4,
        n_llm_calls=5,
        n_tool_calls=6,
        calls_without_usage=7,
    )
    assert (one + other).total_tokens == 33


def test_the_usage_of_a_call_has_its_reasoning_and_cached_tokens() -> None:
    metadata = {
        "input_tokens": 30,
        "output_tokens": 12,
        "total_tokens": 42,
        "input_token_details": {"cache_read": 20},
        "output_token_details": {"reasoning": 8},
    }
    assert Usage.of_call(metadata) == Usage(
        prompt_tokens=30, completion_tokens=12, reasoning_tokens=8, cached_tokens=20, n_llm_calls=1
    )


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {},
        {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
        {"input_tokens": -3, "output_tokens": 1.5, "total_tokens": "7"},
        {"input_tokens": float("nan"), "output_tokens": True, "total_tokens": None},
    ],
)
def test_a_call_that_reports_no_tokens_is_counted_as_such(metadata: dict[str, Any] | None) -> None:
    assert Usage.of_call(metadata) == Usage(n_llm_calls=1, calls_without_usage=1)


def test_the_usage_of_a_team_is_the_sum_over_its_agents() -> None:
    assert answer(agent_run(0), agent_run(1)).usage == Usage(
        prompt_tokens=4, completion_tokens=2, n_llm_calls=2
    )


@pytest.mark.parametrize(
    ("runs", "code", "status"),
    [
        ([agent_run(code="print(1)")], "print(1)", "ok"),
        ([agent_run()], None, "no_code"),
        ([agent_run(stop_reason="recursion_limit")], None, "no_code"),
        ([agent_run(stop_reason="error", error="ValueError: x")], None, "agent_error"),
        ([agent_run(stop_reason="error", error="ValueError: x")], "print(1)", "ok"),
        ([agent_run(stop_reason="error", error="ConnectionError: x", infra=True)], None, "infra_error"),
        (
            [agent_run(0, stop_reason="error", error="ConnectionError: x", infra=True), agent_run(1)],
            None,
            "infra_error",
        ),
        (
            [agent_run(0, error="ConnectionError: x", infra=True), agent_run(1, code="print(1)")],
            "print(1)",
            "ok",
        ),
    ],
)
def test_status_tells_an_answer_from_its_absence_and_the_reason(
    runs: list[AgentRun], code: str | None, status: str
) -> None:
    assert answer(*runs, code=code).status == status


def test_stop_reason_and_error_are_those_of_the_votes_winner() -> None:
    runs = [agent_run(0, stop_reason="truncated"), agent_run(1, stop_reason="error", error="ValueError: x")]
    voted = answer(*runs, code="print(1)", votes=Votes(winner=0, sizes=(1,)))
    assert (voted.winner, voted.stop_reason, voted.error) == (0, "truncated", None)


def test_without_a_program_the_first_failure_is_the_error() -> None:
    runs = [agent_run(0, stop_reason="error", error="ValueError: x"), agent_run(1)]
    assert answer(*runs).error == "ValueError: x"


def test_an_answer_survives_json() -> None:
    full = answer(agent_run(code="print(1)"), code="print(1)", votes=Votes(winner=0, sizes=(1,)))
    value = json.loads(json.dumps(full.to_dict()))
    assert value["status"] == "ok"
    assert value["usage"]["total_tokens"] == 3
    assert value["trajectory"][0]["messages"] == [{"role": "user", "content": "task"}]
    assert value["votes"] == {"winner": 0, "sizes": [1]}


def test_an_answer_shows_what_each_agent_did_and_how_the_vote_went() -> None:
    runs = [agent_run(0, code="print(1)"), agent_run(1, stop_reason="truncated")]
    voted = answer(*runs, code="print(1)\n", votes=Votes(winner=0, sizes=(1,)))
    headline = "ok: a program of 1 line; 2 model calls, 6 tokens"
    assert repr(voted) == f"<TeamAnswer {headline}>"
    lines = str(voted).splitlines()
    assert lines[0] == headline
    assert lines[1].split() == ["0", "solver", "end", "program", "3", "tokens"]
    assert lines[2].split() == ["1", "solver", "truncated", "no", "program", "3", "tokens"]
    assert lines[3] == "  vote: groups of equal programs 1; winner 0"
    assert "solver" in voted._repr_html_()


def test_an_answer_without_a_program_says_so() -> None:
    assert repr(answer(agent_run())) == "<TeamAnswer no_code: no program; 1 model call, 3 tokens>"
