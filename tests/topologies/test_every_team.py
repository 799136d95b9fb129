"""All 17 teams in all three message formats, at a real endpoint, every other one with answers in a stream.

Every answer of the scripted model holds a mark of its own, so the marks in a request are what its agent could
read. They are compared with what the table below says that it reads, and with nothing that the library says.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.prompts import build_prompt
from lcbkit.topologies.answer import AgentRun
from lcbkit.topologies.roles import TOPOLOGIES
from lcbkit.topologies.team import Team, TeamAnswer, build_team
from tests.topologies.conftest import DOUBLE

LINES = {
    2: ("coder", "debugger"),
    4: ("analyzer", "coder", "tester", "debugger"),
    8: (
        *("requirements_parser", "analyzer", "algorithm_designer", "coder", "edge_case_thinker", "tester"),
        *("debugger", "code_reviewer"),
    ),
    10: (
        *("requirements_parser", "analyzer", "algorithm_designer", "coder", "complexity_analyzer"),
        *("edge_case_thinker", "tester", "debugger", "optimizer", "code_reviewer"),
    ),
}
WORKERS = {
    2: ("coder_worker",),
    4: ("analyzer_worker", "coder_worker", "tester_worker"),
    8: (
        *("analyzer_worker", "coder_worker", "tester_worker", "design_worker", "edge_case_worker"),
        *("debug_worker", "review_worker"),
    ),
    10: (
        *("analyzer_worker", "coder_worker", "tester_worker", "design_worker", "edge_case_worker"),
        *("debug_worker", "review_worker", "complexity_analyzer_worker", "optimizer_worker"),
    ),
}
STAGES_WITH_THE_TOOL = {"tester", "debugger", "optimizer"}
TEAMS = [
    ("single", None),
    *(
        (topology, size)
        for topology in ("independent", "sequential", "centralized", "decentralized")
        for size in (2, 4, 8, 10)
    ),
]
FORMATS = ("freeform", "semi_structured", "structured_soft")
REPORTS = {
    "freeform": "{words}",
    "semi_structured": "[STATUS]\ncompleted\n[SUMMARY]\n{words}\n[EVIDENCE_OR_TESTS]\n3 -> 6\n"
    "[CONFIDENCE]\nhigh, tried\n[NEXT]\nuse it",
    "structured_soft": 'JSON_REPORT:\n{{"status": "completed", "summary": "{words}", "confidence": "high", '
    '"next": "use it", "payload": {{}}}}\nEND_JSON_REPORT',
}
SEEDS = 100_000
"""Each team has a stretch of seeds of its own, by which its requests are known."""


def test_every_topology_stands_in_the_tables_of_this_file() -> None:
    assert {topology for topology, _ in TEAMS} == set(TOPOLOGIES)


def roles(topology: str, size: int | None) -> Sequence[str]:
    names: dict[str, Sequence[str]] = {
        "single": ("solver",),
        "independent": ("coder",) * (size or 1),
        "decentralized": ("debater",) * (size or 1),
        "sequential": LINES.get(size or 0, ()),
        "centralized": ("manager", *WORKERS.get(size or 0, ())),
    }
    return names[topology]


@dataclass(frozen=True)
class Model:
    """The scripted model; each agent of number 1, or one that is alone, or repairs, tries the tool first."""

    message_format: str

    def __call__(self, request: Request) -> Reply:
        place, agent = divmod(request.seed or 0, SEEDS)
        topology, size = TEAMS[place]
        mark = f"mark{request.index}x"
        tokens = {"prompt_tokens": 1_000 + request.index, "completion_tokens": 1 + request.index % 50}
        run = tool_call("python_exec", code=f"print('out-of-' + '{mark}')")
        if any(name.startswith("delegate_to_") for name in request.tools):
            calls = self._turn(request, size or 0, mark, run)
            if calls:
                return Reply(f"A plan, {mark}.", tool_calls=calls, **tokens)
        elif (
            (roles(topology, size)[agent] in ("solver", "debugger") or agent == 1)
            and "python_exec" in request.tools
            and request.messages[-1]["role"] != "tool"
        ):
            return Reply(f"I try it, {mark}.", tool_calls=[run], **tokens)
        report = REPORTS[self.message_format].format(words=f"done, {mark}")
        return Reply(f"{report}\n```python\n{DOUBLE}  # {mark}\n```", cached_tokens=7, **tokens)

    def _turn(self, request: Request, size: int, mark: str, run: dict[str, Any]) -> list[dict[str, Any]]:
        """A manager tries something and lets the coder write; then all others work; then it answers."""
        turn = sum(message["role"] == "assistant" for message in request.messages)
        others = [worker for worker in WORKERS[size] if worker != "coder_worker"]
        wanted = {0: ["coder_worker"], 1: others}.get(turn, [])
        jobs = [tool_call(f"delegate_to_{name}", instructions=f"{name}, see {mark}") for name in wanted]
        return [*jobs, run] if turn == 0 else jobs


def marks(value: Any) -> set[int]:
    return {int(number) for number in re.findall(r"mark(\d+)x", json.dumps(value))}


def calls_of_runs(answer: TeamAnswer, requests: Sequence[Request]) -> list[tuple[AgentRun, list[Request]]]:
    """Each agent run with the requests that it made, told by the seeds and by how many it says it made."""
    queues: dict[int, Iterator[Request]] = {
        run.seed: iter([request for request in requests if request.seed == run.seed])
        for run in answer.trajectory
    }
    return [
        (run, [next(queues[run.seed]) for _ in range(run.usage.n_llm_calls)]) for run in answer.trajectory
    ]


def readable(topology: str, place: int, runs: Sequence[tuple[AgentRun, list[Request]]]) -> set[int]:
    """The marks of other runs that the run at a place may read, by the rules of its topology."""
    run = runs[place][0]
    before = runs[:place]
    last = [asked[-1].index for _, asked in before]
    every = [{request.index for request in asked} for _, asked in before]
    if topology == "sequential":
        return set(last)
    if topology == "decentralized" and run.round:
        earlier = [(other, all_, end) for (other, _), all_, end in zip(before, every, last, strict=True)]
        own = [all_ for other, all_, _ in earlier if other.agent == run.agent]
        others = {end for other, _, end in earlier if other.agent != run.agent and other.round == 0}
        return set().union(*own) | others
    if topology == "centralized" and run.agent == 0:
        own = [all_ for (other, _), all_ in zip(before, every, strict=True) if other.agent == 0]
        reports = {end for (other, _), end in zip(before, last, strict=True) if other.agent}
        return set().union(*own) | reports
    if topology == "centralized":
        order = next(
            end for (other, _), end in reversed(list(zip(before, last, strict=True))) if not other.agent
        )
        programs = {end for (other, _), end in zip(before, last, strict=True) if other.role == "coder_worker"}
        return {order} | programs
    return set()


def expected_runs(topology: str, size: int | None) -> list[tuple[int, int]]:
    """Number and round (or turn) of each agent run, in order."""
    count = size or 1
    if topology == "decentralized":
        return [(agent, round) for round in (0, 1) for agent in range(count)]
    if topology == "centralized":
        coder = 1 + WORKERS[count].index("coder_worker")
        others = [(agent, 1) for agent in range(1, count) if agent != coder]
        return [(0, 0), (coder, 0), (0, 1), *others, *([(0, 2)] if others else [])]
    return [(agent, 0) for agent in range(count)]


def check_request(team: Team, run: AgentRun, request: Request, problem: Problem, streaming: bool) -> None:
    """What each request holds, whoever makes it."""
    role = team.plan.roles[run.agent].name
    assert request.system == team.sent_prompts[role]
    assert request.messages[0]["role"] == "system"
    assert bool(request.body.get("stream")) is streaming
    assert build_prompt(problem).strip() in request.text
    assert "8888" not in json.dumps(request.body)  # the answer to the hidden test
    has_tool = team.topology != "sequential" or role in STAGES_WITH_THE_TOOL
    delegates = [f"delegate_to_{name}" for name in team.plan.roles[run.agent].workers]
    assert request.tools == ([*["python_exec"] * has_tool, *delegates])
    answering = role in ("solver", "debater", "manager") or (team.topology, role) == ("independent", "coder")
    if team.topology == "sequential":
        answering = role == LINES[team.team_size or 0][-1]
    assert ("How your reply must end" in request.system) is answering
    assert ("## Report" in request.system) is (team.message_format != "freeform")


def check_answer(
    team: Team, answer: TeamAnswer, requests: Sequence[Request], problem: Problem, streaming: bool
) -> None:
    """What a team did, against the tables of this file."""
    runs = calls_of_runs(answer, requests)
    assert sum(len(asked) for _, asked in runs) == len(requests)
    assert [(run.agent, run.round) for run, _ in runs] == expected_runs(team.topology, team.team_size)
    for place, (run, asked) in enumerate(runs):
        others = readable(team.topology, place, runs)
        for number, request in enumerate(asked):
            own = {earlier.index for earlier in asked[:number]}
            assert marks(request.messages) == others | own, (team, run.role, run.round, number)
            check_request(team, run, request, problem, streaming)
        assert run.code == f"{DOUBLE}  # mark{asked[-1].index}x" or run.stop_reason == "end"
    indexes = [request.index for request in requests]
    assert answer.usage.prompt_tokens == sum(1_000 + index for index in indexes)
    assert answer.usage.completion_tokens == sum(1 + index % 50 for index in indexes)
    assert (answer.usage.n_llm_calls, answer.usage.calls_without_usage) == (len(requests), 0)
    tried = [request for request in requests if any("out-of-" in str(m["content"]) for m in request.messages)]
    assert tried
    speaker = answer.votes.winner if answer.votes else None
    last = next(asked[-1] for run, asked in reversed(runs) if speaker in (None, run.agent))
    assert answer.code == f"{DOUBLE}  # mark{last.index}x"
    assert answer.status == "ok"
    check_communication(team, answer, len(runs))


def check_communication(team: Team, answer: TeamAnswer, runs: int) -> None:
    measured = answer.communication
    assert measured is not None
    assert measured["format"] == team.message_format
    assert measured["render_parse_rate"] == 1.0
    assert measured["report_total"] == measured["required_report_count"] == runs
    size = team.team_size or 1
    jobs = size - 1
    reads = {
        "sequential": size * (size - 1) // 2,
        "centralized": 2 * jobs,
        "decentralized": size * (size - 1),
    }
    assert len(answer.handoffs) == reads.get(team.topology, 0)
    assert all(record.rendered_ok and record.format == team.message_format for record in answer.handoffs)
    assert json.loads(json.dumps(answer.to_dict()))["usage"]["n_llm_calls"] == answer.usage.n_llm_calls


@pytest.mark.parametrize("message_format", FORMATS)
async def test_every_team_asks_for_what_its_topology_says_and_reads_nothing_else(
    endpoint: ScriptedEndpoint, problem: Problem, message_format: str
) -> None:
    """From one format to the next a team changes between whole and streamed answers, so it meets both."""
    endpoint.script = Model(message_format)
    models = [
        get_model("scripted", base_url=endpoint.url, streaming=streaming) for streaming in (False, True)
    ]
    streamed = [(place + FORMATS.index(message_format)) % 2 == 1 for place in range(len(TEAMS))]
    teams = [
        build_team(topology, team_size=size or 4, message_format=message_format, model=models[streaming])
        for (topology, size), streaming in zip(TEAMS, streamed, strict=True)
    ]
    gate = asyncio.Semaphore(12)
    answers = await asyncio.gather(
        *(team.asolve(problem, seed=SEEDS * place, gate=gate) for place, team in enumerate(teams))
    )
    for place, (team, answer) in enumerate(zip(teams, answers, strict=True)):
        own = [request for request in endpoint.requests if (request.seed or 0) // SEEDS == place]
        check_answer(team, answer, own, problem, streamed[place])


@pytest.mark.parametrize(("topology", "size"), TEAMS)
def test_every_team_draws_as_its_wiring(endpoint: ScriptedEndpoint, topology: str, size: int | None) -> None:
    names = roles(topology, size)
    numbered = [f"{name}_{number}" for number, name in enumerate(names)]
    peers = [f"peer_{number}" for number in range(len(names))]
    line = ["__start__", *names, "__end__"]
    edges = {
        "single": [*pairwise(line)],
        "sequential": [*pairwise(line)],
        "independent": [("vote", "__end__")]
        + [pair for name in numbered for pair in (("__start__", name), (name, "vote"))],
        "decentralized": [("vote", "__end__"), ("gather", "vote")]
        + [pair for name in peers for pair in (("__start__", name), (name, "gather"))],
        "centralized": [("__start__", "manager"), ("manager", "finish"), ("finish", "__end__")]
        + [("manager", "manager")]
        + [pair for name in names[1:] for pair in (("manager", name), (name, "manager"))],
    }[topology]
    team = build_team(topology, team_size=size or 4, model=get_model("scripted", base_url=endpoint.url))
    assert team.team_size == size
    drawn = re.findall(r"^\t(\w+) (<?-(?:-|\.-)>) (\w+);$", team.show().mermaid, re.MULTILINE)
    assert sorted((source, target) for source, _, target in drawn) == sorted(edges)
    # Of two arrows Mermaid makes a circle, and sets all peers but the first below `gather`.
    both_ways = sorted((source, target) for source, arrow, target in drawn if arrow == "<-.->")
    assert both_ways == sorted((name, "gather") for name in peers if topology == "decentralized")
