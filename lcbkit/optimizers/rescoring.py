"""A second look at the test records: their stored programs on every hidden test, without running a team."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from lcbkit.judging.many import judge_many
from lcbkit.problems import Problem

__all__ = ["full_pass_at_1"]

TIME_LIMIT = 6.0


def full_pass_at_1(
    baseline: Sequence[Mapping[str, Any]],
    deployed: Sequence[Mapping[str, Any]],
    problems: Mapping[str, Problem],
) -> dict[str, Any]:
    """Judge the programs of both sides on all hidden tests, as the evaluation of a run does.

    Args:
        baseline: test records of the seed.
        deployed: test records of the deployed prompts.
        problems: by id.

    Returns:
        Scores in the records' order, their means, and the difference in percentage points.
    """
    programs = {
        (record["row_id"], code)
        for record in (*baseline, *deployed)
        if (code := record["scorer"].get("code")) is not None
    }
    pairs = sorted(programs)
    reports = judge_many(
        [(code, problems[row_id]) for row_id, code in pairs], time_limit=TIME_LIMIT, progress=False
    )
    passed = {pair: float(report.passed) for pair, report in zip(pairs, reports, strict=True)}

    def scores(records: Sequence[Mapping[str, Any]]) -> list[float]:
        return [passed.get((record["row_id"], record["scorer"].get("code")), 0.0) for record in records]

    before, after = scores(baseline), scores(deployed)
    return {
        "baseline_scores": before,
        "deployed_scores": after,
        "baseline_mean": fmean(before),
        "deployed_mean": fmean(after),
        "delta_pp": 100 * (fmean(after) - fmean(before)),
        "time_limit": TIME_LIMIT,
    }
