"""Whether the prompts that a search found are deployed: only if they are strictly better on validation."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lcbkit.optimizers.ledger import INFRASTRUCTURE_FAILURE

__all__ = ["Decision", "decide"]

Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is deployed, and why not the incumbent.

    Attributes:
        selected: `seed` or `incumbent`.
        fallback_reason: None if the incumbent is deployed.
        baseline: mean validation score of the seed; None if it is not known.
        incumbent: the same of the incumbent.
    """

    selected: str
    fallback_reason: str | None
    baseline: float | None
    incumbent: float | None

    @property
    def delta(self) -> float | None:
        """Incumbent minus baseline."""
        if self.baseline is None or self.incumbent is None:
            return None
        return self.incumbent - self.baseline


def decide(
    row_ids: Sequence[str], baseline: Records, incumbent: Records, *, broken: str | None = None
) -> Decision:
    """Compare seed and incumbent on the validation rows.

    Args:
        row_ids: the split's problems.
        baseline: the seed's records, each with `row_id`, `status` and `score`.
        incumbent: the incumbent's records.
        broken: why the incumbent may not be deployed whatever its score, if there is such a reason.
    """
    complaint = {"baseline": _complaint(row_ids, baseline), "incumbent": _complaint(row_ids, incumbent)}
    means = {
        name: None if complaint[name] else fmean(record["score"] for record in records)
        for name, records in (("baseline", baseline), ("incumbent", incumbent))
    }
    before, after = means["baseline"], means["incumbent"]
    reason = broken or complaint["baseline"] or complaint["incumbent"]
    if reason is None and before is not None and after is not None:
        if after == before:
            reason = "validation_tie"
        elif after < before:
            reason = "validation_regression"
    return Decision(
        selected="seed" if reason else "incumbent", fallback_reason=reason, baseline=before, incumbent=after
    )


def _complaint(row_ids: Sequence[str], records: Records) -> str | None:
    """What keeps records from being a score of the split, None if nothing does."""
    if not row_ids or not records:
        return "empty_validation"
    found = [record["row_id"] for record in records]
    repeated = [row_id for row_id, number in Counter(found).items() if number > 1]
    if repeated:
        return f"duplicate_example:{repeated[0]}"
    if found != list(row_ids):
        return "unpaired_validation_ids"
    for record in records:
        if record["status"] == INFRASTRUCTURE_FAILURE:
            return f"invalid_record:{record['row_id']}:{record['status']}"
        if not 0 <= record["score"] <= 1:
            return f"score_out_of_range:{record['row_id']}"
    return None
