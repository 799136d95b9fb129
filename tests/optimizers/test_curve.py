from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.curve import Curve
from lcbkit.optimizers.interface import Event

SEED, BETTER, BEST = (Bundle(roles={"a": text}) for text in ("seed", "better", "best"))


def test_each_point_carries_the_last_state_at_or_below_it() -> None:
    charged = 0
    curve = Curve(SEED, lambda: charged)
    for charged, bundle, score in ((10, SEED, 0.2), (17, BETTER, 0.4), (30, BEST, 0.5)):  # noqa: B007
        curve.take(Event(iteration=1, incumbent=bundle, score=score))
    rows = curve.rows(budget=45, final=BEST, charged=33)
    assert [row["point"] for row in rows] == [0, 10, 20, 30, 40, 45]
    assert [row["score"] for row in rows] == [None, 0.2, 0.4, 0.5, 0.5, 0.5]
    assert [row["incumbent_sha256"] for row in rows][2:] == [BETTER.sha256] + [BEST.sha256] * 3
    assert [row["carried_forward"] for row in rows] == [False] * 4 + [True] * 2


def test_the_final_incumbent_is_what_the_search_returned_even_if_it_never_said_so() -> None:
    curve = Curve(SEED, lambda: 10)
    curve.take(Event(iteration=0, score=0.3))
    rows = curve.rows(budget=20, final=BEST, charged=20)
    assert rows[1]["incumbent_sha256"] == SEED.sha256
    assert (rows[2]["incumbent_sha256"], rows[2]["score"], rows[2]["carried_forward"]) == (
        BEST.sha256,
        None,
        False,
    )


def test_events_without_an_incumbent_keep_it_and_its_score() -> None:
    curve = Curve(SEED, lambda: 5)
    curve.take(Event(iteration=0, incumbent=BETTER, score=0.4))
    state = curve.take(Event(iteration=1, note="nothing new"))
    assert (state["incumbent_sha256"], state["score"], state["note"]) == (BETTER.sha256, 0.4, "nothing new")
    assert set(curve.bundles) == {SEED.sha256, BETTER.sha256}
