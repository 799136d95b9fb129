from typing import Any

from scripted_endpoint import Reply, ScriptedEndpoint, tool_call

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.prompts import build_prompt
from lcbkit.topologies.team import Team, TeamAnswer, build_team
from tests.topologies.conftest import ANSWER, DOUBLE


def single(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("single", model=get_model("scripted", base_url=endpoint.url), **options)


def test_the_solver_reads_its_prompt_and_the_task_and_nothing_else(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    endpoint.replies(ANSWER)
    team = single(endpoint)
    team.solve(problem)
    (request,) = endpoint.requests
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.system == team.sent_prompts["solver"]
    assert request.last == build_prompt(problem)
    assert "8888" not in request.text


def test_the_solver_tests_its_program_and_answers(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(Reply(tool_calls=[tool_call("python_exec", code=DOUBLE, stdin="3")]), ANSWER)
    answer = single(endpoint).solve(problem)
    assert "stdout:\n6\n" in endpoint.requests[1].last
    assert (answer.code, answer.status, answer.votes, answer.winner) == (DOUBLE, "ok", None, None)
    assert len(answer.trajectory) == 1


def test_the_compiled_graph_can_be_invoked_with_a_task_alone(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(ANSWER)
    state = single(endpoint).graph.invoke({"task": "Double the number."})
    assert isinstance(state["result"], TeamAnswer)
    assert state["result"].code == DOUBLE
    assert list(state["answers"]) == list(state["result"].trajectory)


async def test_the_compiled_graph_can_be_invoked_inside_a_running_loop(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(ANSWER)
    graph = single(endpoint).graph
    assert graph.invoke({"task": "Double the number."})["result"].code == DOUBLE
    assert (await graph.ainvoke({"task": "Double the number."}))["result"].code == DOUBLE


def test_the_graph_draws_as_one_role_between_start_and_end(endpoint: ScriptedEndpoint) -> None:
    drawing = single(endpoint).graph.get_graph().draw_mermaid()
    edges = [line.strip() for line in drawing.splitlines() if "-->" in line]
    assert edges == ["__start__ --> solver;", "solver --> __end__;"]
