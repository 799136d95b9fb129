"""Batches of teams of several agents: what their records say of agents, rounds, turns, seeds and tokens."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call
from twice_problems import RIGHT, WRONG, problem_set

from lcbkit.evaluation import evaluate
from lcbkit.models import get_model
from lcbkit.results import Run
from lcbkit.topologies.team import build_team

Go = Callable[..., Run]


@pytest.fixture
def go(endpoint: ScriptedEndpoint, tmp_path: Path) -> Go:
    """Evaluate a team of the scripted model, silently."""

    def call(count: int, topology: str, *, samples: int = 1, seed: int = 0, **team: Any) -> Run:
        chat = get_model("scripted", base_url=endpoint.url)
        built = build_team(topology, model=chat, **team)
        return evaluate(
            built, problem_set(count), out_dir=tmp_path, samples=samples, seed=seed, progress=False
        )

    return call


def test_several_samples_of_a_team_have_keys_and_seeds_of_their_own(
    go: Go, endpoint: ScriptedEndpoint
) -> None:
    endpoint.script = lambda request: RIGHT if (request.seed or 0) >= 1000 else WRONG
    run = go(1, "decentralized", team_size=2, rounds=3, python_exec=False, samples=2, seed=7)
    assert [(record.key, record.passed) for record in run.records] == [(("p0", 0), False), (("p0", 1), True)]
    assert Counter(request.seed for request in endpoint.requests) == dict.fromkeys((7, 8, 1007, 1008), 3)
    record = run.records[1]
    assert (record.topology, record.size, record.rounds, record.seed) == ("decentralized", 2, 3, 7)
    assert [(agent["agent"], agent["round"], agent["seed"]) for agent in record.agents] == [
        (agent, round, 1007 + agent) for round in range(3) for agent in range(2)
    ]
    assert (record.winner, record.votes) == (0, {"winner": 0, "sizes": [2]})
    assert run.trajectory("p0", 1)["handoffs"][0]["target"] == "peer_0"


@pytest.mark.parametrize("topology", ["single", "independent", "sequential", "centralized", "decentralized"])
def test_every_team_is_judged_under_the_limits_of_the_batch(
    endpoint: ScriptedEndpoint, tmp_path: Path, topology: str
) -> None:
    endpoint.script = lambda _request: "```python\nwhile True: pass\n```"
    team = build_team(topology, team_size=2, model=get_model("scripted", base_url=endpoint.url))
    limits = {"time_limit": 0.2, "tests": "all", "stop_on_failure": True}
    run = evaluate(team, problem_set(1), out_dir=tmp_path, progress=False, judge_workers=1, **limits)
    (record,) = run.records
    assert (record.first_failure or {})["kind"] == "time_limit"
    assert (record.total, record.test_verdicts) == (3, "T--")
    assert run.config["settings"]["judging"] | limits == run.config["settings"]["judging"]


def test_a_record_tells_who_worked_in_which_turn_where_jobs_are_given_by_lines(
    go: Go, endpoint: ScriptedEndpoint
) -> None:
    def script(request: Request) -> str:
        if "## Your workers" not in request.system:
            return "It doubles."
        first = len(request.messages) == 2
        return "DELEGATE analyzer_worker: think\nDELEGATE tester_worker: test" if first else RIGHT

    endpoint.script = script
    run = go(1, "centralized", python_exec=False)
    (record,) = run.records
    assert (record.passed, record.size, record.rounds, record.n_tool_calls) == (True, 4, None, 0)
    assert [(agent["role"], agent["round"]) for agent in record.agents] == [
        *(("manager", 0), ("analyzer_worker", 0), ("tester_worker", 0), ("manager", 1))
    ]
    told = [(handoff["role"], handoff["target"]) for handoff in run.trajectory("p0")["handoffs"]]
    assert told == [
        *(("manager", "analyzer_worker"), ("analyzer_worker", "manager")),
        *(("manager", "tester_worker"), ("tester_worker", "manager")),
    ]
    assert record.communication is not None
    assert record.communication["inflight_handoff_count"] == 4


def test_the_sums_of_a_team_are_what_the_endpoint_reported(go: Go, endpoint: ScriptedEndpoint) -> None:
    def script(request: Request) -> Reply:
        tries = request.messages[-1]["role"] != "tool"
        calls = [tool_call("python_exec", code="print(1)")] * (2 if tries else 0)
        tokens = {"prompt_tokens": 100 + request.index, "completion_tokens": 10 + request.index % 7}
        return Reply(RIGHT, tool_calls=calls, cached_tokens=3, reasoning_tokens=request.index % 5, **tokens)

    endpoint.script = script
    run = go(3, "independent", team_size=2)
    indexes = range(len(endpoint.requests))
    assert len(indexes) == 3 * 2 * 2
    for field, told in {
        "prompt_tokens": sum(100 + index for index in indexes),
        "completion_tokens": sum(10 + index % 7 for index in indexes),
        "reasoning_tokens": sum(index % 5 for index in indexes),
        "cached_tokens": 3 * len(indexes),
        "n_llm_calls": len(indexes),
        "n_tool_calls": 3 * 2 * 2,
        "calls_without_usage": 0,
    }.items():
        assert sum(getattr(record, field) for record in run.records) == told, field
    assert run.summary().to_dict()["tokens"]["prompt_tokens"] == sum(100 + index for index in indexes)
