from dataclasses import replace

import pytest
from finished_tests import PASSED
from twice_problems import problem_set

from lcbkit.judging.report import Report, Verdict
from lcbkit.records import Record, Status
from lcbkit.runs.instances import (
    failed_record,
    judged_record,
    kept_report,
    new_record,
    solved_record,
    unjudged_record,
)
from lcbkit.topologies.answer import AgentRun, TeamAnswer, Usage, Votes

SETTINGS = {
    "team": {"topology": "independent", "team_size": 2, "message_format": "freeform", "model": "m"},
    "seed": 7,
    "judging": {"tests": "hidden"},
}


def fresh(tests: str = "hidden") -> Record:
    return new_record(problem_set(1)[0], 3, SETTINGS | {"judging": {"tests": tests}})


def agent_run(number: int, code: str | None, error: str | None = None, infra: bool = False) -> AgentRun:
    return AgentRun(
        agent=number,
        role="solver",
        round=0,
        seed=7 + number,
        text="text",
        code=code,
        stop_reason="error" if error else "end",
        error=error,
        infra=infra,
        usage=Usage(prompt_tokens=10, completion_tokens=5, n_llm_calls=1, n_tool_calls=2),
        latency_s=1.0,
        messages=(),
    )


def report(*verdicts: Verdict, total: int | None = None) -> Report:
    results = tuple(
        replace(PASSED, index=index, verdict=verdict, input="3\n", actual="9\n", wall_seconds=0.1)
        for index, verdict in enumerate(verdicts)
    )
    return Report(problem_id="p0", total=len(verdicts) if total is None else total, results=results)


def test_a_new_record_knows_the_problem_and_the_team() -> None:
    record = fresh()
    assert (record.problem_id, record.sample, record.total, record.mode) == ("p0", 3, 2, "stdin")
    assert (record.topology, record.size, record.format, record.model) == ("independent", 2, "freeform", "m")
    assert fresh("all").total == 3


def test_an_answer_brings_its_cost_its_vote_and_a_line_per_agent() -> None:
    runs = [agent_run(0, "print(1)"), agent_run(1, None, "Boom: x", infra=True)]
    answer = TeamAnswer.of(code="print(1)", raw="text", trajectory=runs, votes=Votes(winner=0, sizes=(1,)))
    record = solved_record(fresh(), answer, 2.34567)
    assert (record.status, record.code, record.winner, record.solve_s) == (Status.OK, "print(1)", 0, 2.346)
    assert (record.total_tokens, record.n_llm_calls, record.n_tool_calls) == (30, 2, 4)
    assert [agent["has_code"] for agent in record.agents] == [True, False]
    assert record.agents[1]["error"] == "Boom: x"


@pytest.mark.parametrize("code", ["# only words", '"""doc"""', "x ="])
def test_a_program_without_a_statement_is_none(code: str) -> None:
    answer = TeamAnswer.of(code=code, raw="", trajectory=[agent_run(0, code)])
    record = solved_record(fresh(), answer, 1.0)
    assert (record.status, record.code) == (Status.NO_CODE, None)


@pytest.mark.parametrize(
    ("error", "status"),
    [(ConnectionError("down"), Status.INFRA_ERROR), (ValueError("odd"), Status.AGENT_ERROR)],
)
def test_a_team_that_raises_is_told_from_an_outage(error: Exception, status: Status) -> None:
    record = failed_record(fresh(), error, 1.0)
    assert (record.status, record.error) == (status, f"{type(error).__name__}: {error}")


P, W, B, X = Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.BAD_TEST, Verdict.INTERNAL_ERROR


@pytest.mark.parametrize(
    ("verdicts", "status", "passed", "failed_test"),
    [
        ([P, P], Status.OK, True, None),
        ([P, W], Status.OK, False, 1),
        ([P, B], Status.BAD_TEST, False, 1),
        ([B, P, W], Status.OK, False, 2),
        ([P, X], Status.JUDGE_ERROR, False, 1),
        ([B, X], Status.JUDGE_ERROR, False, 1),
        ([X, W], Status.OK, False, 1),
        ([], Status.JUDGE_ERROR, False, None),
    ],
)
def test_only_a_failure_of_the_program_makes_it_wrong(
    verdicts: list[Verdict], status: Status, passed: bool, failed_test: int | None
) -> None:
    record = judged_record(fresh(), report(*verdicts), 0.5)
    assert (record.status, record.passed) == (status, passed)
    assert (record.first_failure and record.first_failure["test"]) == failed_test
    assert (record.error is not None) is (status is Status.JUDGE_ERROR)
    assert sum((record.verdicts or {}).values()) == len(verdicts)


def test_tests_that_were_left_out_still_count() -> None:
    record = judged_record(fresh(), report(P, W, total=10), 0.5)
    assert (record.pass_count, record.total, record.status) == (1, 10, Status.OK)
    assert record.test_verdicts == "PW--------"


def test_a_kept_report_holds_the_evidence_of_its_first_failures_only() -> None:
    long = [replace(result, actual="9" * 10_000) for result in report(P, *[W] * 20).results]
    stored = Report.from_dict(kept_report(replace(report(P, *[W] * 20), results=tuple(long))).to_dict())
    assert stored.letters == "P" + "W" * 20
    lengths = [len(result.actual) for result in stored.results]
    assert lengths[:2] == [0, 10_000], "none of a passed test, all of the first failure"
    assert all(4_000 <= length < 4_100 for length in lengths[2:12])
    assert not any(lengths[12:])


def test_a_broken_judge_leaves_program_and_cost() -> None:
    solved = replace(fresh(), code="print(1)", prompt_tokens=10)
    record = unjudged_record(solved, OSError("gone"), 0.5)
    assert (record.status, record.error) == (Status.JUDGE_ERROR, "judge: OSError: gone")
    assert (record.code, record.prompt_tokens, record.scored) == ("print(1)", 10, False)
