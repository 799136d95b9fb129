import random
from statistics import fmean, stdev

import pytest

from lcbkit.optimizers.statistics import holm, paired_counts, paired_p, stratified_interval


def rows(wins: int, losses: int, ties: int = 3) -> tuple[list[float], list[float]]:
    baseline = [0.0] * wins + [1.0] * losses + [1.0] * ties
    deployed = [1.0] * wins + [0.0] * losses + [1.0] * ties
    return baseline, deployed


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(8, 2, 0.109375), (12, 3, 0.03515625), (6, 1, 0.125), (5, 0, 0.0625), (3, 3, 1.0), (0, 0, 1.0)],
)
def test_c1_mcnemar(wins: int, losses: int, p: float) -> None:
    assert paired_counts(*rows(wins, losses)) == (wins, losses)
    assert paired_p(*rows(wins, losses)) == p


@pytest.mark.parametrize(
    ("given", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.0625, 0.109375, 0.03515625], [0.125, 0.125, 0.10546875]),
        ([0.02, 0.02, 0.9], [0.06, 0.06, 0.9]),
        ([], []),
    ],
)
def test_c2_holm(given: list[float], adjusted: list[float]) -> None:
    assert holm(given) == pytest.approx(adjusted)


def c3() -> list[list[float]]:
    seeds = [[0.0] * 10 for _ in range(3)]
    seeds[0][1] = seeds[0][4] = seeds[1][1] = seeds[1][5] = 1.0
    seeds[1][8] = -1.0
    return seeds


@pytest.mark.parametrize("seed", range(6))
def test_c3_interval(seed: int) -> None:
    interval = stratified_interval(c3(), seed=seed)
    assert [100 * bound for bound in interval] == pytest.approx([-10 / 3, 80 / 3])


def test_c3_interval_by_an_independent_draw_of_many_replicates() -> None:
    """All draws at once with numpy: other random numbers, the same question."""
    import numpy as np

    rng, n, rows = np.random.default_rng(0), 200_000, np.array(c3())
    picks = rows[rng.integers(0, 3, (n, 3))[:, :, None], rng.integers(0, 10, (n, 3, 10))]
    estimates = np.sort(100 * picks.mean(axis=(1, 2)))
    there = [estimates[int(0.025 * n)], estimates[int(np.ceil(0.975 * n)) - 1]]
    assert there == pytest.approx([100 * bound for bound in stratified_interval(c3())])


def test_c3_deltas_and_tests() -> None:
    deltas = [100 * fmean(seed) for seed in c3()]
    assert deltas == pytest.approx([20, 10, 0])
    assert (fmean(deltas), stdev(deltas)) == pytest.approx((10, 10))
    base = [0.0] * 10
    base[8] = 1.0
    p = [paired_p(base, [b + d for b, d in zip(base, seed, strict=True)]) for seed in c3()]
    assert p == [0.5, 1.0, 1.0]


def test_c4_constant_differences_have_no_width() -> None:
    assert stratified_interval([[1.0] * 7] * 3) == (1.0, 1.0)
    assert stratified_interval([[0.0] * 7] * 3) == (0.0, 0.0)


@pytest.mark.parametrize("bad", [[], [[], [1.0]]])
def test_an_interval_needs_rows(bad: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="needs at least one"):
        stratified_interval(bad)


def test_an_interval_needs_a_hundred_replicates() -> None:
    with pytest.raises(ValueError, match="at least 100"):
        stratified_interval(c3(), replicates=99)


def test_scipy_and_statsmodels_find_the_same_p_values() -> None:
    from scipy.stats import binomtest
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    rng = random.Random(5)
    tables = [(rng.randint(0, 30), rng.randint(0, 30)) for _ in range(60)]
    ours = [paired_p(*rows(wins, losses)) for wins, losses in tables]
    for (wins, losses), p in zip(tables, ours, strict=True):
        by_statsmodels = mcnemar([[3, losses], [wins, 0]], exact=True).pvalue
        by_scipy = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert p == pytest.approx(by_statsmodels)
        assert p == pytest.approx(by_scipy)
    assert holm(ours) == pytest.approx(list(multipletests(ours, method="holm")[1]))


def test_scipy_finds_the_same_interval_within_a_seed() -> None:
    """With equal strata the seeds' draw drops out, so scipy's bootstrap of one mean is the same question."""
    import numpy as np
    from scipy.stats import bootstrap

    rng = np.random.default_rng(3)
    sample = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=50)
    ours = stratified_interval([list(map(float, sample))], replicates=20_000)
    theirs = bootstrap((sample,), np.mean, method="percentile", n_resamples=20_000, rng=rng)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.021)  # the grid step is 0.02
