import random
from itertools import combinations, product
from statistics import NormalDist, fmean

import pytest

from lcbkit.scoring.estimates import bootstrap_interval, mcnemar_p, pass_at_k, wilson_interval


@pytest.mark.parametrize(("n", "c", "k"), [(5, 0, 3), (5, 2, 1), (6, 2, 3), (4, 4, 4), (7, 1, 5)])
def test_pass_at_k_is_the_share_of_draws_with_a_success(n: int, c: int, k: int) -> None:
    draws = combinations([True] * c + [False] * (n - c), k)
    assert pass_at_k(n, c, k=k) == pytest.approx(fmean(map(any, draws)))


@pytest.mark.parametrize(("k", "expected"), [(1, 0.3), (5, 0.916667), (10, 1.0)])
def test_ten_samples_of_which_three_are_right(k: int, expected: float) -> None:
    assert pass_at_k(10, 3, k) == pass_at_k(10, 3, k=k) == pytest.approx(expected, abs=1e-6)


def test_pass_at_k_stays_exact_for_huge_samples() -> None:
    assert pass_at_k(100_000, 1, k=1) == 1e-5
    assert pass_at_k(100_000, 99_999, k=50_000) == 1.0
    assert 0 < pass_at_k(10_000, 5_000, k=9_000) <= 1


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4), (0, 0, 1)])
def test_pass_at_k_refuses_what_cannot_be(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"n={n}, c={c}, k={k}"):
        pass_at_k(n, c, k=k)


# Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3.
@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_equals_the_published_table(passed: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(passed, n) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize("n", [1, 7, 50, 100_000])
def test_wilson_touches_the_ends_exactly_and_mirrors(n: int) -> None:
    assert wilson_interval(0, n)[0] == 0.0
    assert wilson_interval(n, n)[1] == 1.0
    low, high = wilson_interval(n // 3, n)
    assert wilson_interval(n - n // 3, n) == pytest.approx((1 - high, 1 - low))
    assert 0 <= low <= (n // 3) / n <= high <= 1


@pytest.mark.parametrize(("passed", "n"), [(0, 0), (2, 1), (-1, 5)])
def test_wilson_refuses_what_cannot_be(passed: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"n={n}"):
        wilson_interval(passed, n)


def test_bootstrap_agrees_with_drawing_the_problems_one_by_one() -> None:
    rng = random.Random(7)
    counts = [(rng.randint(0, 4), 4) for _ in range(40)] + [(1, 1), (0, 2), (2, 3)]
    values = []
    for _ in range(4_000):
        drawn = rng.choices(counts, k=len(counts))
        values.append(sum(a for a, _ in drawn) / sum(b for _, b in drawn))
    values.sort()
    slow = values[100], values[3_899]
    assert bootstrap_interval(counts) == pytest.approx(slow, abs=0.015)


def test_bootstrap_repeats_itself_and_follows_its_seed() -> None:
    counts = [(passed, 3) for passed in (0, 1, 2, 3, 3, 0, 1)]
    assert bootstrap_interval(counts) == bootstrap_interval(list(reversed(counts)))
    wide = bootstrap_interval(counts, replicates=50, seed=1)
    assert wide != bootstrap_interval(counts, replicates=50, seed=2)


def test_bootstrap_of_equal_problems_is_a_point_and_of_none_an_error() -> None:
    assert bootstrap_interval([(2, 4)] * 9) == (0.5, 0.5)
    with pytest.raises(ValueError, match="at least one problem"):
        bootstrap_interval([])


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (1, 0), (0, 5), (2, 6), (4, 4), (7, 2)])
def test_mcnemar_is_the_chance_of_a_split_at_least_as_uneven(only_a: int, only_b: int) -> None:
    n, gap = only_a + only_b, abs(only_a - only_b)
    flips = [sum(flip) for flip in product((1, -1), repeat=n)]
    assert mcnemar_p(only_a, only_b) == pytest.approx(fmean(abs(total) >= gap for total in flips))


def test_mcnemar_of_thousands_is_the_normal_tail_with_its_correction() -> None:
    z = (abs(5_100 - 4_900) - 1) / 10_000**0.5
    assert mcnemar_p(5_100, 4_900) == pytest.approx(2 * NormalDist().cdf(-z), rel=1e-3)
