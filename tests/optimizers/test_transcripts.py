"""What methods read of a team's work."""

from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.models import get_model
from lcbkit.optimizers.interface import Message
from lcbkit.optimizers.transcripts import messages_of
from lcbkit.optimizers.wiring import team_spec
from lcbkit.topologies.answer import AgentRun, TeamAnswer, Usage
from lcbkit.topologies.roles import Plan, Role
from lcbkit.topologies.team import build_team
from tests.optimizers.bench import spec
from tests.optimizers.world import problems


def worked(endpoint: ScriptedEndpoint, topology: str, **options: Any) -> list[Message]:
    model = get_model("scripted", base_url=endpoint.url)
    team = build_team(topology, team_size=2, model=model, **options)
    answer = team.solve(next(iter(problems().values())))
    return list(messages_of(answer, "the task", spec(topology, 2)))


def test_the_task_comes_first_and_every_stage_is_heard_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda request: f"text {request.index}"
    heard = worked(endpoint, "sequential")
    assert [(message.source, message.content) for message in heard] == [
        ("user", "the task"),
        ("coder", "text 0"),
        ("debugger", "text 1"),
    ]


@pytest.mark.parametrize("rounds", [2, 3])
def test_a_debater_is_heard_once_a_round_though_it_goes_on_in_its_own_conversation(
    endpoint: ScriptedEndpoint, rounds: int
) -> None:
    endpoint.script = lambda request: f"text {request.index}"
    _, *heard = worked(endpoint, "decentralized", rounds=rounds)
    assert [message.source for message in heard] == ["debater::0", "debater::1"] * rounds
    assert len({message.content for message in heard}) == 2 * rounds


@pytest.mark.parametrize("python_exec", [True, False])
def test_a_report_is_heard_from_its_worker_and_not_again_from_the_manager(
    endpoint: ScriptedEndpoint, python_exec: bool
) -> None:
    def script(request: Request) -> Reply:
        if "Your job" in request.text and "reported" not in request.text:
            return Reply("The worker reported.")
        if "reported" in request.text:
            return Reply("Done.\n\n```python\nprint(1)\n```\nTERMINATE")
        call = [tool_call("delegate_to_coder_worker", instructions="Write it.")] if python_exec else []
        return Reply("" if call else "DELEGATE coder_worker: Write it.", tool_calls=call)

    endpoint.script = script
    _, *heard = worked(endpoint, "centralized", python_exec=python_exec)
    assert [message.source for message in heard] == ["manager", "coder_worker", "manager"]
    assert sum("reported" in message.content for message in heard) == 1
    assert [call["name"] for call in heard[0].tool_calls] == ["delegate_to_coder_worker"] * python_exec


def test_results_of_running_code_are_kept(endpoint: ScriptedEndpoint) -> None:
    call = tool_call("python_exec", code="print(6 * 7)", stdin="")
    endpoint.script = lambda request: Reply("", tool_calls=[call]) if request.index == 0 else Reply("Good.")
    _, *heard = worked(endpoint, "single")
    assert [message.source for message in heard] == ["solver", "tool", "solver"]
    assert "42" in heard[1].content


def test_where_some_share_a_role_every_agent_goes_by_its_number() -> None:
    roles = (Role(name="reader"), Role(name="reader"), Role(name="author", answers=True))
    team = team_spec(Plan(topology="readers", size=3, max_tool_rounds=1, roles=roles))
    answer = TeamAnswer.of(code=None, raw="", trajectory=[said(1, "reader"), said(2, "author")])
    heard = messages_of(answer, "task", team)
    assert [message.source for message in heard] == ["user", "reader::1", "author::2"]


def said(agent: int, role: str) -> AgentRun:
    return AgentRun(
        agent=agent,
        role=role,
        round=0,
        seed=0,
        text="words",
        code=None,
        stop_reason="end",
        error=None,
        infra=False,
        usage=Usage(),
        latency_s=0.0,
        messages=({"role": "assistant", "content": "words"},),
    )
