from typing import Any

import pytest

from lcbkit.optimizers.deciding import decide

IDS = [str(number) for number in range(50)]


def records(passed: int, **changes: Any) -> list[dict[str, Any]]:
    return [
        {
            "row_id": row_id,
            "status": "success" if place < passed else "semantic_failure",
            "score": float(place < passed),
        }
        | (changes if place == 7 else {})
        for place, row_id in enumerate(IDS)
    ]


@pytest.mark.parametrize(
    ("incumbent", "selected", "reason"),
    [(25, "seed", "validation_tie"), (24, "seed", "validation_regression"), (26, "incumbent", None)],
)
def test_c7_only_what_is_strictly_better_is_deployed(
    incumbent: int, selected: str, reason: str | None
) -> None:
    decision = decide(IDS, records(25), records(incumbent))
    assert (decision.selected, decision.fallback_reason) == (selected, reason)
    assert decision.delta == pytest.approx((incumbent - 25) / 50)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "infrastructure_failure", "score": 0.0}, "invalid_record:7:infrastructure_failure"),
        ({"score": 1.5}, "score_out_of_range:7"),
        ({"row_id": "6"}, "duplicate_example:6"),
        ({"row_id": "999"}, "unpaired_validation_ids"),
    ],
)
@pytest.mark.parametrize("side", ["baseline", "incumbent"])
def test_what_is_no_score_keeps_the_seed(changes: dict[str, Any], reason: str, side: str) -> None:
    sides = {"baseline": records(10), "incumbent": records(40), side: records(40, **changes)}
    decision = decide(IDS, sides["baseline"], sides["incumbent"])
    assert (decision.selected, decision.fallback_reason, decision.delta) == ("seed", reason, None)


def test_no_rows_decide_nothing() -> None:
    assert decide([], [], []).fallback_reason == "empty_validation"
    assert decide(IDS, records(1), records(2)[:49]).fallback_reason == "unpaired_validation_ids"


def test_a_broken_search_keeps_the_seed_whatever_the_scores() -> None:
    decision = decide(IDS, records(1), records(2), broken="infrastructure_invalid_optimization")
    assert (decision.selected, decision.fallback_reason) == ("seed", "infrastructure_invalid_optimization")
