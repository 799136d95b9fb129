"""From what a team answered and what the judge found to the record of one instance (pure functions)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lcbkit.chat.failures import is_infrastructure_error
from lcbkit.extract import has_statement
from lcbkit.html import clip
from lcbkit.judging.report import Report, TestResult, Verdict
from lcbkit.problems import Problem
from lcbkit.records import Record, Status
from lcbkit.topologies.answer import AgentRun, TeamAnswer

__all__ = [
    "failed_record",
    "judged_record",
    "kept_report",
    "new_record",
    "solved_record",
    "unjudged_record",
]

_MESSAGE_LENGTH = 500
_KEPT_FAILURES = 11
_KEPT_TEXT = 4_000


def new_record(problem: Problem, sample: int, settings: Mapping[str, Any]) -> Record:
    """What is known of an instance before a team saw it."""
    team, tests = settings["team"], settings["judging"]["tests"]
    return Record(
        problem_id=problem.id,
        sample=sample,
        total=problem.hidden_test_count + (len(problem.public_tests) if tests == "all" else 0),
        title=problem.title,
        difficulty=problem.difficulty,
        platform=problem.platform,
        mode=problem.mode,
        contest_date=str(problem.contest_date.date()),
        erratum=problem.erratum,
        topology=team["topology"],
        size=team.get("team_size"),
        rounds=team.get("rounds"),
        format=team["message_format"],
        model=team["model"],
        seed=settings["seed"],
    )


def solved_record(record: Record, answer: TeamAnswer, seconds: float) -> Record:
    """The record with the team's answer; a program that holds no statement is none."""
    code, status = answer.code, Status(answer.status)
    if code is not None and not has_statement(code):
        code, status = None, Status.NO_CODE
    usage: dict[str, Any] = answer.usage.to_dict()
    del usage["total_tokens"]
    return replace(
        record,
        status=status,
        code=code,
        stop_reason=answer.stop_reason,
        winner=answer.winner,
        votes=answer.votes.to_dict() if answer.votes else None,
        agents=tuple(_agent(run) for run in answer.trajectory),
        communication=answer.communication,
        solve_s=round(seconds, 3),
        error=answer.error,
        **usage,
    )


def failed_record(record: Record, error: Exception, seconds: float) -> Record:
    """The record of a team that raised instead of answering."""
    status = Status.INFRA_ERROR if is_infrastructure_error(error) else Status.AGENT_ERROR
    return replace(record, status=status, stop_reason="error", solve_s=round(seconds, 3), error=_named(error))


def judged_record(record: Record, report: Report, seconds: float) -> Record:
    """The record with the judge's verdicts."""
    kinds = Counter(result.verdict for result in report.results)
    failure = _telling_failure(report)
    if report.passed or (failure and failure.verdict not in _NOT_THE_PROGRAM):
        status = Status.OK
    else:
        status = Status.BAD_TEST if failure and failure.verdict is Verdict.BAD_TEST else Status.JUDGE_ERROR
    error = None
    if status is Status.JUDGE_ERROR:
        error = f"judge: {failure.reason}" if failure else "judge: no test was run"
    return replace(
        record,
        status=status,
        passed=report.passed,
        pass_count=report.pass_count,
        total=report.total,
        first_failure=_failure(failure) if failure else None,
        verdicts={str(verdict): number for verdict, number in sorted(kinds.items())},
        test_verdicts=report.letters,
        judge_s=round(seconds, 3),
        error=error or record.error,
    )


def kept_report(report: Report) -> Report:
    """The report as it is kept beside the texts: what tests were given and gave only of the first failures.

    Passed tests need no evidence, and hundreds of long failures tell no more than a few; the first keeps its
    texts as the judge does, so that the place of its difference can be shown.
    """
    failures = [result.index for result in report.results if not result.passed][:_KEPT_FAILURES]

    limits = dict.fromkeys(failures, _KEPT_TEXT) | dict.fromkeys(failures[:1], 1 << 20)

    def kept(result: TestResult) -> TestResult:
        limit = limits.get(result.index)

        def cut(text: str) -> str:
            return clip(text, limit) if limit else ""

        return replace(
            result,
            input=cut(result.input),
            expected=cut(result.expected),
            actual=cut(result.actual),
            stderr=cut(result.stderr),
        )

    return replace(report, results=tuple(map(kept, report.results)))


def unjudged_record(record: Record, error: Exception, seconds: float) -> Record:
    """The record of a program that the judge broke on; the program stays for another try."""
    return replace(
        record, status=Status.JUDGE_ERROR, judge_s=round(seconds, 3), error=f"judge: {_named(error)}"
    )


_NOT_THE_PROGRAM = (Verdict.BAD_TEST, Verdict.INTERNAL_ERROR)


def _telling_failure(report: Report) -> TestResult | None:
    """The first failure that is the program's, else one that leaves the verdict open, else a bad test."""
    failures = [result for result in report.results if not result.passed]
    own = (result for result in failures if result.verdict not in _NOT_THE_PROGRAM)
    open_ = (result for result in failures if result.verdict is Verdict.INTERNAL_ERROR)
    return next(own, None) or next(open_, None) or next(iter(failures), None)


def _failure(result: TestResult) -> dict[str, Any]:
    return {
        "test": result.index,
        "mode": result.mode,
        "kind": str(result.verdict),
        "message": result.reason[:_MESSAGE_LENGTH],
    }


def _agent(run: AgentRun) -> dict[str, Any]:
    return {
        "agent": run.agent,
        "role": run.role,
        "round": run.round,
        "seed": run.seed,
        "has_code": run.code is not None,
        "stop_reason": run.stop_reason,
        "error": run.error,
        "n_llm_calls": run.usage.n_llm_calls,
        "n_tool_calls": run.usage.n_tool_calls,
        "tokens": run.usage.total_tokens,
    }


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
