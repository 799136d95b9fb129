import pytest

from lcbkit.errors import BadValueError
from lcbkit.optimizers.seeds import Repeats, evaluation_seed, logical_seed


@pytest.mark.parametrize(("seed", "expected"), [(0, 2057056738), (1, 998405750), (2, 1337728297)])
def test_c6_the_page_seeds_come_out(seed: int, expected: int) -> None:
    assert expected == logical_seed(
        optimizer_seed=seed,
        cell_id="cellX",
        phase="optimization/gepa",
        iteration=1,
        row_id="2887",
        key="b0",
        position=0,
    )


def test_a_row_has_one_evaluation_seed_per_condition_seed_and_split() -> None:
    def seed(condition: str, optimizer_seed: int, split: str, row: str) -> int:
        return evaluation_seed(condition_id=condition, optimizer_seed=optimizer_seed, split=split, row_id=row)

    base = seed("c", 0, "validation", "1")
    others = [
        seed("d", 0, "validation", "1"),
        seed("c", 1, "validation", "1"),
        seed("c", 0, "test", "1"),
        seed("c", 0, "validation", "2"),
    ]
    assert base == seed("c", 0, "validation", "1")
    assert len({base, *others}) == 5
    assert all(0 <= value < 2**31 - 1 for value in (base, *others))


def test_other_optimizer_seeds_are_refused() -> None:
    with pytest.raises(BadValueError, match="0, 1 and 2"):
        evaluation_seed(condition_id="c", optimizer_seed=3, split="test", row_id="1")


def test_repeats_are_numbered_by_their_request() -> None:
    repeats = Repeats()
    assert [repeats.position("a", "x"), repeats.position("a", "x"), repeats.position("b", "x")] == [0, 1, 0]
