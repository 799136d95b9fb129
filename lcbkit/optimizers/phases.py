"""The second and third phase: seed against incumbent on validation, and what was sealed then on test."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from lcbkit.optimizers.bundle import Bundle, BundleError
from lcbkit.optimizers.canonical import digest
from lcbkit.optimizers.deciding import decide
from lcbkit.optimizers.evaluations import Evaluation, Evaluations
from lcbkit.optimizers.interface import Row
from lcbkit.optimizers.job import JobError, JobFolder
from lcbkit.optimizers.ledger import INFRASTRUCTURE_FAILURE
from lcbkit.search_events import EvaluationAdvanced, SearchEvent

__all__ = ["SplitRows", "run_test", "validate"]

Tell = Callable[[SearchEvent], None]


class SplitRows:
    """The rows of a job; those of test cannot be had before a selection is sealed.

    Args:
        rows: by split, in their order.
    """

    def __init__(self, rows: Mapping[str, Sequence[Row]]) -> None:
        self._rows = rows
        self._unlocked = False

    def unlock(self, selection: Mapping[str, Any], job: Mapping[str, Any]) -> None:
        """Open the test split.

        Raises:
            JobError: without a sealed selection of the same condition.
        """
        content = {name: value for name, value in selection.items() if name != "sha256"}
        if digest(content) != selection.get("sha256"):
            raise JobError("the test rows need a sealed selection")
        if selection["condition_id"] != job["condition_id"]:
            raise JobError("the selection was made under another condition")
        self._unlocked = True

    def rows(self, split: str) -> Sequence[Row]:
        """The rows of a split.

        Raises:
            JobError: for test rows that are still locked.
        """
        if split == "test" and not self._unlocked:
            raise JobError("the test rows are locked until a selection is sealed")
        return self._rows[split]


def validate(
    folder: JobFolder,
    job: Mapping[str, Any],
    optimization: Mapping[str, Any],
    evaluations: Evaluations,
    data: SplitRows,
    tell: Tell,
) -> dict[str, Any]:
    """Decide which prompts are deployed, or take the sealed decision.

    Returns:
        The sealed `selection.json`.

    Raises:
        JobError: a sealed file does not belong to the others.
        InfrastructureExhausted: the endpoint is dead; the same call goes on from what is kept.
    """
    sealed = folder.read("selection")
    if sealed is not None:
        if sealed["optimization_sha256"] != optimization["sha256"]:
            raise JobError(f"{folder.file('selection')} belongs to another optimization.json; restore it")
        return sealed
    seed = Bundle.from_dict(job["seed_bundle"])
    incumbent, broken = _incumbent(job, optimization, seed)
    ids = [row.id for row in data.rows("validation")]
    before = evaluations.run(seed, "validation", ids, _teller(tell, "validation", "seed", len(ids)))
    after = before
    if incumbent.sha256 != seed.sha256:
        after = evaluations.run(
            incumbent, "validation", ids, _teller(tell, "validation", "incumbent", len(ids))
        )
    decision = decide(ids, before.records, after.records, broken=broken)
    deployed = incumbent if decision.selected == "incumbent" else seed
    content = {
        "condition_id": job["condition_id"],
        "job_sha256": job["sha256"],
        "optimization_sha256": optimization["sha256"],
        "selected_candidate": decision.selected,
        "fallback_reason": decision.fallback_reason,
        "baseline_validation_score": decision.baseline,
        "incumbent_validation_score": decision.incumbent,
        "validation_delta": decision.delta,
        "validation_ids": ids,
        "evaluations": _named(before, after),
        "seed_bundle_sha256": seed.sha256,
        "deployed_bundle_sha256": deployed.sha256,
        "deployed_bundle": deployed.to_dict(),
        "test_exposed": False,
    }
    return folder.write("selection", {"selection_id": digest(content)[:32], **content})


def run_test(
    folder: JobFolder,
    job: Mapping[str, Any],
    optimization: Mapping[str, Any],
    selection: Mapping[str, Any],
    evaluations: Evaluations,
    data: SplitRows,
    tell: Tell,
) -> dict[str, Any]:
    """Run the seed and the deployed prompts on the test rows, or take what is sealed.

    Returns:
        The sealed `test.json`.

    Raises:
        JobError: the chain job, optimization, selection does not hold.
        InfrastructureExhausted: the endpoint is dead; the same call goes on from what is kept.
    """
    if selection["optimization_sha256"] != optimization["sha256"] or selection["job_sha256"] != job["sha256"]:
        raise JobError(f"the sealed files of {folder.path} do not belong together; restore them")
    sealed = folder.read("test")
    if sealed is not None:
        if sealed["selection_sha256"] != selection["sha256"]:
            raise JobError(f"{folder.file('test')} belongs to another selection.json; restore it")
        return sealed
    data.unlock(selection, job)
    seed, deployed = (Bundle.from_dict(part) for part in (job["seed_bundle"], selection["deployed_bundle"]))
    if deployed.sha256 != selection["deployed_bundle_sha256"]:
        raise JobError(f"{folder.file('selection')} deploys other prompts than it names")
    ids = [row.id for row in data.rows("test")]
    before = evaluations.run(seed, "test", ids, _teller(tell, "test", "seed", len(ids)))
    after = before
    if deployed.sha256 != seed.sha256:
        after = evaluations.run(deployed, "test", ids, _teller(tell, "test", "deployed", len(ids)))
    valid = all(
        record["status"] != INFRASTRUCTURE_FAILURE
        for evaluation in (before, after)
        for record in evaluation.records
    )
    means = [fmean(evaluation.scores) if valid and ids else None for evaluation in (before, after)]
    return folder.write(
        "test",
        {
            "selection_sha256": selection["sha256"],
            "selection_id": selection["selection_id"],
            "example_ids": ids,
            "baseline_scores": before.scores,
            "deployed_scores": after.scores,
            "baseline_statuses": [record["status"] for record in before.records],
            "deployed_statuses": [record["status"] for record in after.records],
            "baseline_mean": means[0],
            "deployed_mean": means[1],
            "delta_pp": None if means[0] is None or means[1] is None else 100 * (means[1] - means[0]),
            "valid_for_aggregation": valid,
            "usage": {"baseline": before.usage, "deployed": after.usage},
            "evaluations": _named(before, after),
        },
    )


def _incumbent(
    job: Mapping[str, Any], optimization: Mapping[str, Any], seed: Bundle
) -> tuple[Bundle, str | None]:
    """What the search found, and why it cannot be deployed, if it cannot."""
    if optimization["failure_kind"]:
        return seed, f"{optimization['failure_kind'].removesuffix('_invalid')}_invalid_optimization"
    try:
        incumbent = Bundle.from_dict(optimization["incumbent_bundle"])
        incumbent.check(seed, job["splits"]["test"])
    except BundleError:
        return seed, "invalid_incumbent_bundle"
    return incumbent, None


def _named(baseline: Evaluation, other: Evaluation) -> dict[str, dict[str, str]]:
    return {
        name: {"id": evaluation.id, "sha256": evaluation.seal}
        for name, evaluation in (("baseline", baseline), ("candidate", other))
    }


def _teller(tell: Tell, split: str, candidate: str, total: int) -> Callable[[Mapping[str, Any], int], None]:
    passed = 0

    def advanced(record: Mapping[str, Any], done: int) -> None:
        nonlocal passed
        passed += record["score"] >= 1
        tell(EvaluationAdvanced(split=split, candidate=candidate, done=done, total=total, passed=passed))

    return advanced
