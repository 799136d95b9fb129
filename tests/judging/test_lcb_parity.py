"""Verdicts are those of LiveCodeBench's checker, on programs whose verdict by it is known."""

import json
from pathlib import Path
from typing import Any

import pytest

from lcbkit import Problem, Report, Verdict, judge_many, load_problems
from lcbkit.problems import ProblemSet


@pytest.fixture(scope="module")
def problems(shared: Path) -> ProblemSet:
    return load_problems(shared / "data/lcb50/test.jsonl")


@pytest.fixture(scope="module")
def programs(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "data/lcb50/solutions.jsonl").read_text().splitlines()
    return [
        solution | {"id": row["question_id"]}
        for row in map(json.loads, lines)
        for solution in row["solutions"]
    ]


@pytest.mark.parametrize("tests", ["hidden", "all"])
def test_every_program_gets_the_known_verdict(
    problems: ProblemSet, programs: list[dict[str, Any]], tests: str
) -> None:
    pairs = [(program["code"], problems[program["id"]]) for program in programs]
    # Only the verdict over all tests is known. No program needs between 2 s and the 6 s of the known verdicts
    # (the slow ones need twice 6 s or never end), so the second round waits less for them.
    limit = 6.0 if tests == "all" else 2.0
    reports = judge_many(
        pairs, tests=tests, time_limit=limit, stop_on_failure=True, workers=4, progress=False
    )
    wrong = [
        f"{program['id']} {program['source']}: known {program['passes']}, judged\n{report}"
        for program, report in zip(programs, reports, strict=True)
        if report.passed is not program["passes"]
    ]
    assert len(reports) == 100
    assert not wrong, "\n\n".join(wrong)


def test_every_starter_runs_as_it_stands(problems: ProblemSet) -> None:
    functional = [problem for problem in problems if problem.mode == "functional"]
    assert len(functional) == 41
    reports = judge_many([(f"{p.starter_code}pass\n", p) for p in functional], progress=False)
    assert {result.verdict for report in reports for result in report.results} <= {
        Verdict.WRONG_ANSWER,
        Verdict.PASSED,
    }, first_other(functional, reports)


def first_other(problems: list[Problem], reports: list[Report]) -> str:
    """The first starter that neither passed nor gave a wrong answer, with its report."""
    for problem, report in zip(problems, reports, strict=True):
        if any(result.verdict not in (Verdict.PASSED, Verdict.WRONG_ANSWER) for result in report.results):
            return f"{problem.starter_code}\n{report}"
    return ""
