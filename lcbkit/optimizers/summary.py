"""What `result.json` says of a job, and whether the sealed files beside it are of one piece."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from lcbkit.optimizers.job import JobError, JobFolder

__all__ = ["check_chain", "check_result", "summary_of"]

_OF_SELECTION = (
    *("selection_id", "selected_candidate", "fallback_reason"),
    *("baseline_validation_score", "incumbent_validation_score", "validation_delta"),
)
_OF_TEST = (
    *("example_ids", "baseline_scores", "deployed_scores", "baseline_mean", "deployed_mean"),
    *("delta_pp", "valid_for_aggregation"),
)


def check_chain(files: JobFolder, parts: Mapping[str, Mapping[str, Any] | None]) -> None:
    """Make sure that each sealed part of a job names the one before it.

    Args:
        files: where the parts lie.
        parts: `job`, `optimization`, `selection` and `test`, as far as they are there.

    Raises:
        JobError: a part is another job's.
    """
    for before, after in pairwise(("job", "optimization", "selection", "test")):
        first, second = parts.get(before), parts.get(after)
        if second is not None and (first is None or second[f"{before}_sha256"] != first["sha256"]):
            raise JobError(f"{files.file(after)} does not go with the {before}.json beside it; restore it")


def check_result(
    files: JobFolder,
    job: Mapping[str, Any],
    test: Mapping[str, Any] | None,
    result: Mapping[str, Any] | None,
) -> None:
    """Make sure that a result is of this job and this test.

    Raises:
        JobError: it is not.
    """
    if result is None:
        return
    kept = {name: (test or {}).get(name) for name in result["test"]}
    if result["job_sha256"] != job["sha256"] or kept != result["test"]:
        raise JobError(
            f"{files.file('result')} does not go with job.json and test.json beside it; restore it"
        )


def summary_of(
    job: Mapping[str, Any],
    optimization: Mapping[str, Any],
    selection: Mapping[str, Any] | None,
    test: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """What `result.json` says of a job, as far as it came."""
    summary: dict[str, Any] = {
        "status": "completed" if test else "validated" if selection else "optimized",
        **{
            name: job[name]
            for name in ("protocol_id", "protocol_conformant", "departures", "cell", "cell_id", "grid_cell")
        },
        "optimizer_seed": job["optimizer_seed"],
        "condition_id": job["condition_id"],
        "job_sha256": job["sha256"],
        "optimization": {
            name: optimization[name]
            for name in ("status", "failure_kind", "stop_reason", "budget", "usage", "elapsed_seconds")
        },
    }
    if selection:
        summary["selection"] = {name: selection[name] for name in _OF_SELECTION}
    if test:
        summary["test"] = {name: test[name] for name in _OF_TEST}
    return summary
