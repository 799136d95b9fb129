from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.prompts import build_prompt
from lcbkit.topologies.team import Team, build_team
from tests.topologies.conftest import ANSWER, DOUBLE

FINAL = f"{ANSWER}\nTERMINATE"


def job(worker: str, words: str) -> dict[str, Any]:
    return tool_call(f"delegate_to_{worker}", instructions=words)


def centralized(endpoint: ScriptedEndpoint, **options: Any) -> Team:
    return build_team("centralized", model=get_model("scripted", base_url=endpoint.url), **options)


def is_manager(request: Request) -> bool:
    return "## Your workers" in request.system


class Manager:
    """Scripts the manager's turns; workers answer with their seed."""

    def __init__(
        self, endpoint: ScriptedEndpoint, *turns: Reply | str, worker: Reply | str | None = None
    ) -> None:
        self.requests: list[Request] = []
        self.jobs: list[Request] = []
        self._turns, self._worker = turns, worker
        endpoint.script = self._script

    def _script(self, request: Request) -> Reply | str:
        if not is_manager(request):
            self.jobs.append(request)
            return self._worker or f"report of worker {request.seed}"
        self.requests.append(request)
        return self._turns[min(len(self.requests), len(self._turns)) - 1]


def test_an_easy_problem_takes_one_turn(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    manager = Manager(endpoint, FINAL)
    answer = centralized(endpoint).solve(problem)
    assert (answer.code, answer.status, len(manager.requests)) == (DOUBLE, "ok", 1)
    (request,) = manager.requests
    assert request.last == build_prompt(problem)
    assert request.tools == [
        "python_exec",
        "delegate_to_analyzer_worker",
        "delegate_to_coder_worker",
        "delegate_to_tester_worker",
    ]


def test_several_jobs_of_one_message_all_run_and_every_call_is_answered_in_order(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    calls = [
        job("tester_worker", "try three"),
        job("analyzer_worker", "think"),
        job("tester_worker", "try four"),
    ]
    manager = Manager(endpoint, Reply(tool_calls=calls), FINAL)
    answer = centralized(endpoint).solve(problem, seed=10)
    assert [run.role for run in answer.trajectory] == [
        *("manager", "tester_worker", "analyzer_worker", "tester_worker", "manager")
    ]
    results = manager.requests[1].messages[-3:]
    assert [message["role"] for message in results] == ["tool"] * 3
    assert [
        worker in str(message["content"]) for message, worker in zip(results, ("13", "11", "13"), strict=True)
    ]
    assert [m["tool_call_id"] for m in results] == [
        c["id"] for c in manager.requests[1].messages[2]["tool_calls"]
    ]


def test_a_worker_reads_the_task_and_its_own_job_and_nothing_of_other_workers(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    turns = [Reply("secret plan", tool_calls=[job("analyzer_worker", "think hard")])]
    turns.append(Reply(tool_calls=[job("coder_worker", "write it")]))
    manager = Manager(endpoint, *turns, FINAL)
    team = centralized(endpoint)
    team.solve(problem)
    second = manager.jobs[1]
    assert second.system == team.sent_prompts["coder_worker"]
    assert build_prompt(problem).strip() in second.last
    assert "write it" in second.last
    assert "think hard" not in second.text
    assert "secret plan" not in second.text
    assert "report of worker" not in second.text
    assert second.tools == ["python_exec"]


def test_a_worker_reads_the_newest_program(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    turns = [
        Reply(tool_calls=[job("coder_worker", "write")]),
        Reply(tool_calls=[job("tester_worker", "test")]),
    ]
    manager = Manager(endpoint, *turns, FINAL, worker=ANSWER)
    centralized(endpoint).solve(problem)
    assert "The newest program" not in manager.jobs[0].last
    assert f"```python\n{DOUBLE}\n```" in manager.jobs[1].last


def test_the_managers_own_code_runs_before_its_jobs(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    calls = [job("coder_worker", "write"), tool_call("python_exec", code="print(40 + 2)")]
    manager = Manager(endpoint, Reply(tool_calls=calls), FINAL)
    centralized(endpoint, team_size=2).solve(problem)
    results = [m for m in manager.requests[1].messages if m["role"] == "tool"]
    assert "42" in results[0]["content"]
    assert "report of worker 1" in results[1]["content"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (job("review_worker", "check"), "there is no review_worker"),
        (tool_call("delegate_to_coder_worker", words="x"), "no instructions"),
        (tool_call("search", query="x"), "there is no tool search"),
        ({"name": "delegate_to_coder_worker", "arguments": '{"instr'}, "no instructions"),
    ],
)
def test_a_call_that_cannot_be_done_is_answered_with_the_reason(
    endpoint: ScriptedEndpoint, problem: Problem, call: dict[str, Any], said: str
) -> None:
    manager = Manager(endpoint, Reply(tool_calls=[call]), FINAL)
    assert centralized(endpoint).solve(problem).code == DOUBLE
    assert said in manager.requests[1].last
    assert not manager.jobs


def test_the_stop_word_in_a_sentence_stops_nothing(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    turn = Reply("Do not TERMINATE yet.", tool_calls=[job("coder_worker", "write")])
    manager = Manager(endpoint, turn, FINAL)
    centralized(endpoint).solve(problem)
    assert len(manager.requests) == 2


def test_the_stop_word_in_a_sentence_does_not_submit_a_workers_program(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    job_first = Reply(tool_calls=[job("coder_worker", "write")])
    manager = Manager(
        endpoint, job_first, "We do not TERMINATE yet.", FINAL, worker="```python\nprint(0)\n```"
    )
    assert centralized(endpoint).solve(problem).code == DOUBLE
    assert len(manager.requests) == 3


def test_the_stop_word_ends_the_work_with_a_workers_program(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    turns = [Reply(tool_calls=[job("coder_worker", "write")]), "The coder is right.\nTERMINATE"]
    manager = Manager(endpoint, *turns, worker=ANSWER)
    assert centralized(endpoint).solve(problem).code == DOUBLE
    assert len(manager.requests) == 2


def test_of_several_worker_programs_the_newest_is_submitted(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    jobs = [Reply(tool_calls=[job("coder_worker", words)]) for words in ("write", "write anew")]
    jobs.append(Reply(tool_calls=[job("tester_worker", "test")]))

    def script(request: Request) -> Reply | str:
        if is_manager(request):
            return jobs.pop(0) if jobs else "The coder is right.\nTERMINATE"
        return f"```python\nprint({request.index})\n```"

    endpoint.script = script
    answer = centralized(endpoint).solve(problem)
    coders = [run.code for run in answer.trajectory if run.role == "coder_worker"]
    assert len(set(coders)) == 2
    assert answer.code == coders[-1]


def test_a_turn_without_job_or_program_is_nudged_twice_and_no_more(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    manager = Manager(endpoint, "Hm.\nTERMINATE")
    team = centralized(endpoint)
    answer = team.solve(problem)
    assert (answer.status, len(manager.requests)) == ("no_code", 3)
    assert manager.requests[1].last == team.plan.texts["nudge"]


def test_a_job_is_not_done_twice_on_the_same_program(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    def script(request: Request) -> Reply | str:
        if not is_manager(request):
            return "report"
        return Reply(tool_calls=[job("coder_worker", "again")]) if request.tools else ANSWER

    endpoint.script = script
    answer = centralized(endpoint).solve(problem)
    assert answer.code == DOUBLE
    managers = [request for request in endpoint.requests if is_manager(request)]
    # One job, three refusals, and a last turn without tools.
    assert len(managers) == 5
    assert len(endpoint.requests) == 6
    assert "has done this very job" in managers[2].last


def test_a_job_may_be_done_again_on_a_new_program(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    jobs = ["write", "test", "write anew", "test"]

    def script(request: Request) -> Reply | str:
        if not is_manager(request):
            if "write" in request.last.rpartition("## Your job")[2]:
                return f"```python\nprint({request.index})\n```"
            return "it failed"
        if not jobs:
            return ANSWER
        words = jobs.pop(0)
        return Reply(tool_calls=[job("tester_worker" if words == "test" else "coder_worker", words)])

    endpoint.script = script
    assert centralized(endpoint).solve(problem).code == DOUBLE
    assert not [request for request in endpoint.requests if "this very job" in request.text]


@pytest.mark.parametrize(("size", "cap"), [(2, 13), (4, 26), (8, 26), (10, 26)])
def test_at_the_cap_the_manager_must_answer_without_tools(
    endpoint: ScriptedEndpoint, problem: Problem, size: int, cap: int
) -> None:
    def script(request: Request) -> Reply | str:
        if not is_manager(request):
            return "report"
        return Reply(tool_calls=[job("coder_worker", f"try {request.index}")]) if request.tools else ANSWER

    endpoint.script = script
    team = centralized(endpoint, team_size=size)
    answer = team.solve(problem)
    assert answer.code == DOUBLE
    assert len(answer.trajectory) == cap + 1
    assert endpoint.requests[-1].last == team.plan.texts["close"] or "no turns" in endpoint.requests[-1].text
    ids = [call["id"] for m in endpoint.requests[-1].messages for call in m.get("tool_calls") or ()]
    assert ids == [m["tool_call_id"] for m in endpoint.requests[-1].messages if m["role"] == "tool"]


def test_without_tools_jobs_are_given_by_lines(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    words = "DELEGATE analyzer_worker: think\nabout it\nDELEGATE nobody: x\nDELEGATE coder_worker: write"
    manager = Manager(endpoint, words, FINAL)
    team = centralized(endpoint, python_exec=False)
    answer = team.solve(problem)
    assert answer.code == DOUBLE
    assert len(manager.jobs) == 2
    assert any("think\nabout it" in request.last for request in manager.jobs)
    assert [message["role"] for message in manager.requests[1].messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    said = manager.requests[1].last
    assert said.index("report of worker 1") < said.index("no nobody") < said.index("report of worker 2")
    assert not any(request.tools for request in endpoint.requests)
    assert "DELEGATE <worker>: <job>" in team.sent_prompts["manager"]
    assert "delegate_to_" not in team.sent_prompts["manager"]


def test_a_worker_that_fails_says_so_and_the_manager_goes_on(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    turn = Reply(tool_calls=[job("coder_worker", "write")])
    manager = Manager(endpoint, turn, FINAL, worker=Reply(status=400, error="too long"))
    assert centralized(endpoint).solve(problem).status == "ok"
    assert "(no report: the coder_worker failed)" in manager.requests[1].last


def test_a_manager_that_the_endpoint_broke_off_is_no_answer(
    endpoint: ScriptedEndpoint, problem: Problem
) -> None:
    turns = [
        Reply(tool_calls=[job("coder_worker", "write")]),
        Reply(status=503, headers={"Retry-After": "0"}),
    ]
    Manager(endpoint, *turns, worker=ANSWER)
    answer = centralized(endpoint).solve(problem)
    assert (answer.status, answer.code) == ("infra_error", None)


@pytest.mark.parametrize("size", [2, 4, 8, 10])
def test_the_contract_is_the_managers_alone(endpoint: ScriptedEndpoint, size: int) -> None:
    sent = centralized(endpoint, team_size=size).sent_prompts
    assert [role for role, text in sent.items() if "How your reply must end" in text] == ["manager"]
    listed = [role for role in sent if f"- {role}: " in sent["manager"]]
    assert listed == list(sent)[1:]


def test_each_agent_run_is_counted_once(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    Manager(endpoint, Reply(tool_calls=[job("coder_worker", "write")]), FINAL)
    usage = centralized(endpoint).solve(problem).usage
    assert (usage.n_llm_calls, usage.n_tool_calls, usage.prompt_tokens) == (3, 1, 30)
