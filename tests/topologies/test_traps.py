"""Mistakes that teams of agents are prone to, tried on every team that could make them."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.extract import extract_code
from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.topologies import agents, rollout
from lcbkit.topologies.events import AgentFinished, AgentStarted, Event, Handoff, Judged, ToolCalled, Voted
from lcbkit.topologies.events import RolloutFinished as Finished
from lcbkit.topologies.team import Team, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

TOPOLOGIES = ["single", "independent", "sequential", "centralized", "decentralized"]
READING = ["sequential", "centralized", "decentralized"]
FORMATS = ["freeform", "semi_structured", "structured_soft"]
LONG = '"""\n```\n[STATUS]\nJSON_REPORT:\n```\n"""\n' + "\n".join(
    f"if True:\n\tx{number} = {{'k': [{number}]}}  # é\n" for number in range(200)
)


def team_of(endpoint: ScriptedEndpoint, topology: str, **options: Any) -> Team:
    return build_team(topology, model=get_model("scripted", base_url=endpoint.url), **options)


def role_of(request: Request, team: Team) -> str:
    return next(role for role, prompt in team.sent_prompts.items() if prompt == request.system)


def job(worker: str, words: str) -> dict[str, Any]:
    return tool_call(f"delegate_to_{worker}", instructions=words)


def managed(
    team: Team, turns: list[Reply | str], others: Callable[[Request], Reply | str]
) -> Callable[[Request], Reply | str]:
    """Scripts the manager's turns, told by its own messages; everybody else is asked for an answer."""

    def script(request: Request) -> Reply | str:
        if role_of(request, team) != "manager":
            return others(request)
        turn = sum(message["role"] == "assistant" for message in request.messages)
        return turns[min(turn, len(turns) - 1)]

    return script


@pytest.mark.parametrize("message_format", FORMATS)
@pytest.mark.parametrize("topology", READING)
def test_a_long_program_is_read_byte_for_byte_by_every_agent_that_should_read_it(
    endpoint: ScriptedEndpoint, problem: Problem, topology: str, message_format: str
) -> None:
    def program(number: int) -> str:
        return f"{LONG}\nprint({number})"

    def written(number: int) -> str:
        return f"Words before.\n````python\n{program(number)}\n````\nWords after."

    assert len(program(0).encode()) > 5_000
    assert extract_code(written(0)) == program(0)
    team = team_of(endpoint, topology, message_format=message_format)
    if topology == "centralized":
        turns = [
            Reply(tool_calls=[job("coder_worker", written(100))]),
            Reply(tool_calls=[job("tester_worker", "Test it.")]),
            Reply(ANSWER),
        ]
        endpoint.script = managed(team, turns, lambda request: written(request.seed or 0))
    else:
        endpoint.script = lambda request: written(request.seed or 0)
    answer = team.solve(problem)
    readers = [(request, role_of(request, team)) for request in endpoint.requests]
    if topology == "sequential":
        for place, (request, _) in enumerate(readers):
            assert all(program(earlier) in request.last for earlier in range(place))
    elif topology == "decentralized":
        for request, _ in readers[4:]:
            assert all(program(peer) in request.text for peer in range(4))
    else:
        coder, tester = (
            next(request for request, role in readers if role == name)
            for name in ("coder_worker", "tester_worker")
        )
        assert program(100) in coder.last
        assert program(2) in tester.last  # the coder's, as the newest program
        manager = [request for request, role in readers if role == "manager"]
        assert program(2) in manager[1].last
        assert program(3) in manager[2].last
    assert sum(record.has_code for record in answer.handoffs) >= 3


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("mode", ["stdin", "functional"])
def test_a_team_that_writes_nothing_submits_neither_the_placeholder_nor_the_starter_code(
    endpoint: ScriptedEndpoint, problem: Problem, functional_problem: Problem, topology: str, mode: str
) -> None:
    endpoint.replies("I do not know.")
    asked = problem if mode == "stdin" else functional_problem
    answer = team_of(endpoint, topology, team_size=2).solve(asked)
    assert (answer.status, answer.code, answer.winner) == ("no_code", None, None)
    shown = "# YOUR CODE HERE" if mode == "stdin" else asked.starter_code.strip()
    assert shown in endpoint.requests[0].text
    endpoint.replies(f"```python\n{shown}\n```")
    assert team_of(endpoint, topology, team_size=2).solve(asked).status == "no_code"


@pytest.mark.parametrize("topology", READING)
def test_reasoning_never_reaches_another_agent(
    endpoint: ScriptedEndpoint, problem: Problem, topology: str
) -> None:
    team = team_of(endpoint, topology, team_size=2)
    thought = f"<think>secret {ANSWER}</think>Here it is.\n{ANSWER}"
    turns: list[Reply | str] = [
        Reply("<think>secret</think>", tool_calls=[job("coder_worker", "<think>secret</think>Write.")]),
        Reply(ANSWER),
    ]
    endpoint.script = managed(team, turns, lambda _request: thought)
    assert team.solve(problem).code == DOUBLE
    readers = [r for r in endpoint.requests if role_of(r, team) not in ("manager", "coder_worker")]
    if topology == "centralized":
        manager = [request for request in endpoint.requests if role_of(request, team) == "manager"]
        readers = [Request(0, {"messages": [manager[1].messages[-1]]}, {})]
    assert len(readers) >= 1
    assert not [request for request in readers if "secret" in request.text]


@pytest.mark.parametrize("message_format", FORMATS)
def test_turns_are_counted_alike_in_every_format_however_often_a_worker_asks_its_model(
    endpoint: ScriptedEndpoint, problem: Problem, message_format: str
) -> None:
    team = team_of(endpoint, "centralized", team_size=2, message_format=message_format)

    def work(request: Request) -> Reply | str:
        tried = sum(message["role"] == "tool" for message in request.messages)
        return "A report." if tried == 3 else Reply(tool_calls=[tool_call("python_exec", code=1)])

    def manage(request: Request) -> Reply | str:
        return Reply(tool_calls=[job("coder_worker", f"Go on {request.index}.")]) if request.tools else ANSWER

    endpoint.script = lambda r: manage(r) if role_of(r, team) == "manager" else work(r)
    answer = team.solve(problem)
    assert [run.role for run in answer.trajectory] == [*["manager", "coder_worker"] * 6, "manager", "manager"]
    assert [run.round for run in answer.trajectory if run.role == "manager"] == list(range(8))
    assert answer.usage.n_llm_calls == 8 + 4 * 6
    assert answer.code == DOUBLE


async def test_a_team_out_of_time_answers_with_what_it_has(
    endpoint: ScriptedEndpoint, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tester, the second round and a worker hang; coder, first round and manager had a program."""
    monkeypatch.setattr(rollout, "ROLLOUT_SECONDS", 8.0)
    monkeypatch.setattr(agents, "AGENT_SECONDS", 60.0)
    line, debate = (team_of(endpoint, name) for name in ("sequential", "decentralized"))
    hub = team_of(endpoint, "centralized")

    def script(request: Request) -> Reply | str:
        if request.system == hub.sent_prompts["manager"]:
            return Reply(ANSWER, tool_calls=[job("tester_worker", "Test it.")])
        hangs = request.system in (line.sent_prompts["tester"], hub.sent_prompts["tester_worker"])
        return Reply(ANSWER, delay=60 if hangs or "The task again" in request.text else 0)

    endpoint.script = script
    answers = await asyncio.gather(*(team.asolve(problem) for team in (line, debate, hub)))
    assert [(answer.status, answer.code) for answer in answers] == [("ok", DOUBLE)] * 3
    stops = [[run.stop_reason for run in answer.trajectory] for answer in answers]
    assert stops[0] == ["end", "end", "timeout", "timeout"]
    assert stops[1] == ["end"] * 4 + ["timeout"] * 4
    assert stops[2] == ["end", "timeout", "timeout"]
    assert "ran out of time" in str(answers[2].trajectory[2].messages)
    assert answers[1].votes is not None
    assert answers[1].votes.sizes == (4,)


async def events_of(team: Team, problem: Problem) -> list[Event]:
    return [event async for event in team.astream(problem, judged=True)]


@pytest.mark.parametrize("topology", TOPOLOGIES)
async def test_a_stream_tells_of_agents_tools_hand_offs_votes_and_the_verdict(
    endpoint: ScriptedEndpoint, problem: Problem, topology: str
) -> None:
    team = team_of(endpoint, topology, team_size=2)

    def work(request: Request) -> Reply | str:
        tries = "python_exec" in request.tools and request.messages[-1]["role"] != "tool"
        return Reply(tool_calls=[tool_call("python_exec", code="print(41 + 1)")]) if tries else ANSWER

    turns: list[Reply | str] = [Reply(tool_calls=[job("coder_worker", "Write it.")]), ANSWER]
    endpoint.script = managed(team, turns, work)
    events = await events_of(team, problem)
    *_, verdict, last = events
    assert isinstance(last, Finished)
    assert isinstance(verdict, Judged)
    assert (verdict.problem_id, verdict.report.passed) == (problem.id, True)
    runs = [event.run for event in events if isinstance(event, AgentFinished)]
    started = [(event.agent, event.role, event.round) for event in events if isinstance(event, AgentStarted)]
    assert sorted(started) == sorted((run.agent, run.role, run.round) for run in runs)
    told = [(run.agent, run.round, run.text, run.usage) for run in runs]
    kept = [(run.agent, run.round, run.text, run.usage) for run in last.answer.trajectory]
    assert sorted(map(str, told)) == sorted(map(str, kept))
    tools = [event for event in events if isinstance(event, ToolCalled)]
    assert len(tools) == last.answer.usage.n_tool_calls - (topology == "centralized")
    assert all("42" in event.result for event in tools)
    assert [event.record for event in events if isinstance(event, Handoff)] == list(last.answer.handoffs)
    assert bool(last.answer.handoffs) is (topology in READING)
    votes = [event.votes for event in events if isinstance(event, Voted)]
    assert votes == ([last.answer.votes] if last.answer.votes else [])
    assert bool(votes) is (topology in ("independent", "decentralized"))


async def test_without_a_program_there_is_no_verdict(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies("I do not know.")
    assert not [e for e in await events_of(team_of(endpoint, "single"), problem) if isinstance(e, Judged)]


async def test_hidden_tests_are_in_no_request_and_in_no_answer(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    team = team_of(endpoint, "decentralized", team_size=2)
    last = (await events_of(team, problem))[-1]
    assert isinstance(last, Finished)
    assert "8888" in str(problem.hidden_tests)
    assert "8888" not in json.dumps([request.body for request in endpoint.requests])
    assert "8888" not in json.dumps(last.answer.to_dict())


def test_the_manager_runs_of_a_record_hold_together_what_the_manager_read_and_wrote(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    team = team_of(endpoint, "centralized", team_size=4)
    turns = [
        Reply(
            "First.", tool_calls=[tool_call("python_exec", code="print(1)"), job("coder_worker", "Write.")]
        ),
        Reply(tool_calls=[tool_call("python_exec", code="print(2)")]),
        Reply(tool_calls=[job("analyzer_worker", "Think."), job("tester_worker", "Test.")]),
        "Hm.",
        Reply(ANSWER),
    ]
    endpoint.script = managed(team, turns, lambda request: f"report of {request.seed}")
    answer = team.solve(problem)
    read = [request for request in endpoint.requests if role_of(request, team) == "manager"][-1].messages
    kept = [message for run in answer.trajectory if run.agent == 0 for message in run.messages]
    assert [message["role"] for message in kept] == [*(message["role"] for message in read), "assistant"]
    assert [message["content"] for message in kept[:-1]] == [message["content"] or "" for message in read]
    assert kept[-1]["content"] == ANSWER
