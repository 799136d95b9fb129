"""The joint reward of a prompt against its parent: the worked example and the judge's letters."""

import pytest

from lcbkit.optimizers.pairwise import Weights, joint_reward, misaligned, score_credit, verdict

LOCAL = {"row0": 1.0, "row1": 1.0, "row2": 0.0, "row3": 0.5}
LOOKAHEAD = {"row0": 1.0, "row1": 0.0, "row3": 0.5}
WHOLE = {"row0": 1.0, "row1": 0.5, "row2": 0.0, "row3": 0.5}


def test_the_worked_reward_with_a_successor() -> None:
    rewarded = joint_reward(
        local=list(LOCAL.values()), lookahead=list(LOOKAHEAD.values()), whole=list(WHOLE.values())
    )
    assert (rewarded.local, rewarded.lookahead, rewarded.whole) == (0.625, 0.5, 0.5)
    assert rewarded.reward == pytest.approx(0.05)


def test_the_worked_reward_without_a_successor_and_of_the_last_role() -> None:
    whole = list(WHOLE.values())
    without = joint_reward(local=list(LOCAL.values()), lookahead=[], whole=whole)
    assert without.reward == pytest.approx(0.0875)
    last = joint_reward(local=[], lookahead=[], whole=whole)
    assert last.reward == 0.0
    assert last.local is None


def test_other_weights_count_as_they_say() -> None:
    weights = Weights(local=1.0, lookahead=0.0, whole=0.0, offset=0.0)
    assert joint_reward(local=[1.0, 0.0], lookahead=[0.5], whole=[0.0], weights=weights).reward == 0.5


def test_the_worked_example_has_one_misaligned_row() -> None:
    assert misaligned(LOCAL, LOOKAHEAD, WHOLE) == [("row1", 1)]


def test_the_gravest_misaligned_rows_are_kept() -> None:
    local = dict.fromkeys("abcde", 1.0)
    lookahead = {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.5}
    whole = {"a": 0.0, "b": 0.5, "c": 0.0, "d": 1.0, "e": 0.0}
    assert misaligned(local, lookahead, whole) == [("c", 0), ("b", 1), ("a", 2)]


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("A", "A"),
        (" a.\n", "A"),
        ("**A**", "A"),
        ("B", "B"),
        ("(b)", "B"),
        ("a or b", None),
        ("AB", None),
        ("", None),
        ("Answer: A, since it is complete", None),
        ("C", None),
        ("A" * 100_000, None),
    ],
)
def test_a_verdict_is_exactly_one_letter(answer: str, letter: str | None) -> None:
    assert verdict(answer) == letter


def test_scores_give_credit_by_order_alone() -> None:
    assert [score_credit(1, 0), score_credit(0, 0), score_credit(1, 1), score_credit(0, 1)] == [
        1,
        0.5,
        0.5,
        0,
    ]
