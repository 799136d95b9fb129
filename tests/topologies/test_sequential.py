from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.prompts import build_prompt
from lcbkit.topologies.events import Handoff
from lcbkit.topologies.team import Team, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

LINES = {
    2: ["coder", "debugger"],
    4: ["analyzer", "coder", "tester", "debugger"],
    8: [
        *("requirements_parser", "analyzer", "algorithm_designer", "coder", "edge_case_thinker", "tester"),
        *("debugger", "code_reviewer"),
    ],
    10: [
        *("requirements_parser", "analyzer", "algorithm_designer", "coder", "complexity_analyzer"),
        *("edge_case_thinker", "tester", "debugger", "optimizer", "code_reviewer"),
    ],
}
WITH_TOOL = {"tester", "debugger", "optimizer"}


def sequential(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("sequential", model=get_model("scripted", base_url=endpoint.url), **options)


@pytest.mark.parametrize("size", LINES)
def test_the_stages_work_in_order_and_each_reads_the_task_and_all_before_it(
    endpoint: ScriptedEndpoint, problem: Problem, size: int
) -> None:
    endpoint.script = lambda request: f"words of stage {request.index}"
    team = sequential(endpoint, team_size=size)
    answer = team.solve(problem, seed=7)
    assert [run.role for run in answer.trajectory] == LINES[size]
    assert [request.seed for request in endpoint.requests] == [7 + number for number in range(size)]
    for place, request in enumerate(endpoint.requests):
        role = LINES[size][place]
        assert request.system == team.sent_prompts[role]
        assert request.tools == (["python_exec"] if role in WITH_TOOL else [])
        assert len(request.messages) == 2
        assert build_prompt(problem).strip() in request.last
        read = [number for number in range(size) if f"words of stage {number}" in request.last]
        assert read == list(range(place))
        headings = [request.last.index(f"### {name}\n") for name in LINES[size][:place]]
        assert headings == sorted(headings)


@pytest.mark.parametrize("size", LINES)
def test_the_contract_is_the_last_stages_alone(endpoint: ScriptedEndpoint, size: int) -> None:
    sent = sequential(endpoint, team_size=size).sent_prompts
    holders = [role for role, text in sent.items() if "How your reply must end" in text]
    assert holders == LINES[size][-1:]


def by_role(answers: dict[str, Reply | str]) -> Any:
    """A script that knows a stage by the last line of its message."""

    def script(request: Request) -> Reply | str:
        role = request.messages[1]["content"].rpartition("that of the ")[2].rstrip(".").replace(" ", "_")
        return answers.get(role, "nothing to say")

    return script


def test_the_last_stages_program_is_submitted(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.script = by_role({"debugger": "```python\nprint(1)\n```", "code_reviewer": ANSWER})
    assert sequential(endpoint, team_size=8).solve(problem).code == DOUBLE


def test_without_one_the_newest_of_a_stage_that_writes_programs_is(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = by_role({"coder": ANSWER, "tester": "```python\nassert solve() == 3\n```"})
    answer = sequential(endpoint).solve(problem)
    assert (answer.code, answer.stop_reason) == (DOUBLE, "end")


@pytest.mark.parametrize("last", ["optimizer", "debugger", "coder"])
def test_of_several_earlier_programs_the_newest_counts(
    endpoint: ScriptedEndpoint, problem: Problem, last: str
) -> None:
    writers = ["coder", "debugger", "optimizer"]
    wrote = writers[: writers.index(last) + 1]
    programs = {role: f"```python\nprint('{role}')\n```" for role in [*wrote, "tester", "algorithm_designer"]}
    endpoint.script = by_role(dict(programs))
    assert sequential(endpoint, team_size=10).solve(problem).code == f"print('{last}')"


def test_a_stage_that_fails_hands_on_a_word_that_says_so(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = by_role({"analyzer": Reply(status=400, error="secret words"), "debugger": ANSWER})
    answer = sequential(endpoint).solve(problem)
    assert (answer.status, answer.code) == ("ok", DOUBLE)
    assert "(no report: the analyzer failed)" in endpoint.requests[-1].last
    assert "secret words" not in endpoint.requests[-1].text


def test_a_last_stage_that_the_endpoint_broke_off_is_no_answer(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    gone = Reply(status=503, headers={"Retry-After": "0"})
    endpoint.script = by_role({"coder": ANSWER, "debugger": gone})
    answer = sequential(endpoint, team_size=2).solve(problem)
    assert (answer.status, answer.code) == ("infra_error", None)


def test_reasoning_is_not_handed_on(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.script = by_role({"coder": f"<think>secret</think>{ANSWER}"})
    sequential(endpoint, team_size=2).solve(problem)
    assert "secret" not in endpoint.requests[-1].text
    assert DOUBLE in endpoint.requests[-1].last


async def test_each_reading_of_an_earlier_stage_is_a_hand_off(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    events = [event async for event in sequential(endpoint).astream(problem)]
    told = [event.record for event in events if isinstance(event, Handoff)]
    pairs = [(record.role, record.target) for record in told]
    assert pairs == [(a, b) for place, b in enumerate(LINES[4]) for a in LINES[4][:place]]
    assert events[-1].answer.handoffs == tuple(told)  # type: ignore[union-attr]
