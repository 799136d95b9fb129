import asyncio
import copy
import gc
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_openai import ChatOpenAI
from scripted_endpoint import Reply, ScriptedEndpoint, tool_call

from lcbkit.errors import BadValueError, ModelError, RecordingError
from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.topologies.events import AgentFinished, AgentStarted, RolloutFinished, RolloutStarted, ToolCalled
from lcbkit.topologies.team import Team, _in_one_row, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

CALL = Reply(tool_calls=[tool_call("python_exec", code=DOUBLE, stdin="3")])


def single(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("single", model=get_model("scripted", base_url=endpoint.url), **options)


@pytest.mark.parametrize(
    ("topology", "options", "said"),
    [
        ("ring", {}, "no topology 'ring'"),
        ("single", {"team_size": 3}, "size 3"),
        ("single", {"message_format": "xml"}, "no message format 'xml'"),
        ("single", {"prompts": {"coder": "Write."}}, "no role 'coder'"),
        ("single", {"prompts": {"solver": " "}}, "prompt of role 'solver'"),
        ("single", {"prompts": ["Write."]}, "prompts is a list; it must map roles, such as solver"),
        ("single", {"prompts": "Write."}, "prompts is a str"),
        ("single", {"python_exec": "no"}, "python_exec is 'no'"),
        (["single"], {}, "no topology"),
        *(
            ("independent", {"team_size": size}, "no team has the size")
            for size in (4.0, "ten", True, None, [4])
        ),
    ],
)
def test_a_team_that_cannot_be_built_is_refused_before_any_model_call(
    endpoint: ScriptedEndpoint, topology: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadValueError, match=said):
        build_team(topology, model=get_model("scripted", base_url=endpoint.url), **options)
    assert not endpoint.requests


def test_a_model_that_cannot_call_tools_is_refused_with_the_way_out(problem: Problem) -> None:
    model = GenericFakeChatModel(messages=iter([ANSWER]))
    with pytest.raises(ModelError, match=r"python_exec=False.*--no-python-exec"):
        build_team("single", model=model)
    assert build_team("single", model=model, python_exec=False).solve(problem).code == DOUBLE


def test_without_the_tool_neither_the_request_nor_the_prompt_knows_of_it(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    single(endpoint, python_exec=False).solve(problem)
    assert endpoint.requests[0].tools == []
    assert "python_exec" not in json.dumps(endpoint.requests[0].body)


def test_a_live_model_gets_the_tool_unless_told_otherwise(endpoint: ScriptedEndpoint) -> None:
    assert single(endpoint).python_exec
    assert not single(endpoint, python_exec=False).python_exec


def test_a_recorded_team_has_the_tool_that_its_recording_had(
    endpoint: ScriptedEndpoint, problem: Problem, tmp_path: Path
) -> None:
    endpoint.replies(ANSWER)
    recording = tmp_path / "answers.jsonl"
    live = get_model("scripted", base_url=endpoint.url, record=recording)
    build_team("single", model=live, python_exec=False).solve(problem)
    assert not build_team("single", model=f"recorded:{recording}").python_exec


def test_a_recorded_conversation_with_the_tool_replays_without_the_endpoint(
    endpoint: ScriptedEndpoint, problem: Problem, tmp_path: Path
) -> None:
    endpoint.replies(CALL, ANSWER)
    recording = tmp_path / "answers.jsonl"
    live = build_team("single", model=get_model("scripted", base_url=endpoint.url, record=recording))
    first = live.solve(problem, seed=3)
    endpoint.close()
    again = build_team("single", model=f"recorded:{recording}").solve(problem, seed=3)
    assert again.status == "ok"
    assert (again.code, again.raw, again.usage) == (first.code, first.raw, first.usage)
    assert again.trajectory[0].messages == first.trajectory[0].messages


def test_a_request_that_the_recording_does_not_hold_is_raised(
    endpoint: ScriptedEndpoint, problem: Problem, tmp_path: Path
) -> None:
    endpoint.replies(ANSWER)
    recording = tmp_path / "answers.jsonl"
    build_team("single", model=get_model("scripted", base_url=endpoint.url, record=recording)).solve(problem)
    with pytest.raises(RecordingError):
        build_team("single", model=f"recorded:{recording}").solve(problem, seed=1)


def test_a_given_prompt_is_sent_inside_the_contract(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(ANSWER)
    team = single(endpoint, prompts={"solver": "Mind the {braces}."})
    team.solve(problem)
    assert dict(team.prompts) == {"solver": "Mind the {braces}."}
    assert "Mind the {braces}." in endpoint.requests[0].system
    assert endpoint.requests[0].system != "Mind the {braces}."


def test_the_description_is_plain_json_that_tells_teams_apart(endpoint: ScriptedEndpoint) -> None:
    described = single(endpoint).describe()
    assert json.loads(json.dumps(described)) == described
    assert described == single(endpoint).describe()
    assert described["topology"] == "single"
    assert described["team_size"] is None
    others = [single(endpoint, python_exec=False), single(endpoint, prompts={"solver": "Mine."})]
    assert described["prompts_sha256"] not in [other.describe()["prompts_sha256"] for other in others]


def test_a_drawing_joins_two_arrows_only_between_a_peer_and_what_is_none() -> None:
    starts = "\t__start__ --> a;\n\t__start__ --> b;\n"
    among_peers, behind = "\ta --> b;\n\tb --> a;\n", "\tx --> y;\n\ty --> x;\n"
    drawn = f"{starts}\ta -.-> x;\n{among_peers}{behind}\tx -.-> a;\n"
    assert _in_one_row(drawn) == f"{starts}\ta <-.-> x;\n{among_peers}{behind}"


def test_a_team_shows_as_mermaid_and_as_text_and_never_asks_the_web(endpoint: ScriptedEndpoint) -> None:
    team = single(endpoint)
    bundle = team._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/vnd.mermaid", "text/plain"}
    assert "solver --> __end__;" in bundle["text/vnd.mermaid"]
    assert bundle["text/plain"].startswith("Team('single'")
    assert team.show()._repr_mimebundle_() == bundle
    assert "solver --> __end__;" in repr(team.show())


def test_solving_works_many_times_in_a_script(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(ANSWER)
    team = single(endpoint)
    assert [team.solve(problem).status for _ in range(3)] == ["ok"] * 3


async def test_solving_works_inside_a_running_loop_and_beside_asolve(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    team = single(endpoint)
    assert team.solve(problem).status == "ok"
    assert (await team.asolve(problem)).status == "ok"
    assert team.solve(problem).status == "ok"


def test_solving_works_in_several_threads_at_once(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.script = lambda request: Reply(ANSWER, delay=0.05, prompt_tokens=1 + (request.seed or 0))
    team = single(endpoint)
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda sample: team.solve(problem, sample=sample), range(6)))
    assert [answer.usage.prompt_tokens for answer in answers] == [1 + 1000 * sample for sample in range(6)]
    assert endpoint.peak > 1


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_model_object_of_the_users_own_may_solve_many_times(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    """Its pooled connection belongs to the event loop of the call before, which is closed by then."""
    endpoint.replies(ANSWER)
    model = ChatOpenAI(
        model="scripted",
        base_url=endpoint.url,
        api_key="EMPTY",  # type: ignore[arg-type]
        max_retries=0,
        http_async_client=httpx.AsyncClient(),
    )
    team = build_team("single", model=model)
    assert [team.solve(problem).status for _ in range(3)] == ["ok"] * 3
    del model, team
    gc.collect()


async def test_a_stream_tells_what_happens_in_order_and_ends_with_the_answer(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(CALL, ANSWER)
    events = [event async for event in single(endpoint).astream(problem, seed=3)]
    kinds = [type(event) for event in events]
    assert kinds == [RolloutStarted, AgentStarted, ToolCalled, AgentFinished, RolloutFinished]
    _, _, called, finished, last = events
    assert isinstance(called, ToolCalled)
    assert json.loads(called.arguments) == {"code": DOUBLE, "stdin": "3"}
    assert called.result.startswith("stdout:\n6")
    assert isinstance(finished, AgentFinished)
    assert isinstance(last, RolloutFinished)
    assert last.answer.trajectory == (finished.run,)
    assert finished.run.seed == 3


async def test_a_stream_that_is_left_early_stops_asking(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(CALL, ANSWER)
    stream = single(endpoint).astream(problem)
    async for event in stream:
        if isinstance(event, ToolCalled):
            break
    await stream.aclose()
    await asyncio.sleep(0.1)
    assert len(endpoint.requests) == 1


async def test_a_stream_that_is_left_early_leaves_no_task_behind(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.script = lambda _request: Reply(ANSWER, delay=30.0)
    team = build_team("independent", model=get_model("scripted", base_url=endpoint.url))
    before = asyncio.all_tasks()
    stream = team.astream(problem)
    async for event in stream:
        if isinstance(event, AgentStarted):
            break
    await stream.aclose()
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"problem": "double"}, "a team solves a Problem, not 'double'"),
        ({"problem": None}, "not None"),
        ({"seed": "1"}, "seed is '1'"),
        ({"sample": 0.5}, "sample is 0.5"),
    ],
)
def test_what_no_team_can_solve_is_one_sentence(
    endpoint: ScriptedEndpoint, problem: Problem, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadValueError, match=said):
        single(endpoint).solve(**{"problem": problem, **arguments})
    assert not endpoint.requests


def test_a_team_is_its_own_copy_and_says_why_it_cannot_be_stored(endpoint: ScriptedEndpoint) -> None:
    team = single(endpoint)
    assert copy.copy(team) is team
    assert copy.deepcopy(team) is team
    with pytest.raises(TypeError, match=r"Team\('single'.*live model.*build_team"):
        pickle.dumps(team)


async def test_one_team_works_on_many_problems_at_once(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.script = lambda request: Reply(ANSWER, delay=0.05, prompt_tokens=request.seed)
    team = single(endpoint)
    answers = await asyncio.gather(*(team.asolve(problem, sample=sample) for sample in range(10)))
    assert [answer.usage.prompt_tokens for answer in answers] == [1000 * sample for sample in range(10)]


async def test_the_graph_streams_its_words_to_who_asks_for_them(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies("one\ntwo\n")
    graph = single(endpoint, python_exec=False).graph
    stream = graph.astream({"task": "Double."}, stream_mode="messages", subgraphs=True)
    assert [piece.text async for _, (piece, _) in stream if piece.text] == ["one\n", "two\n"]
    assert endpoint.requests[0].body["stream"] is True
