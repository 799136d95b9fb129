"""The arithmetic behind a score: pass@k, intervals, and the test for two paired runs (pure functions)."""

import math
from collections import Counter
from collections.abc import Sequence

__all__ = ["bootstrap_interval", "mcnemar_p", "pass_at_k", "wilson_interval"]

_Z_95 = 1.959963984540054  # the standard normal's 97.5 % point

REPLICATES = 10_000


def pass_at_k(n: int, c: int, k: int) -> float:
    """Estimate the chance that at least one of k submissions to a problem passes.

    Args:
        n: submissions judged for the problem.
        c: how many of them passed.
        k: submissions drawn, without replacement.

    Returns:
        A probability in [0, 1]; unbiased over the draw.

    Raises:
        ValueError: unless 0 <= c <= n and 1 <= k <= n.

    Source:
        Chen et al. 2021, arXiv:2107.03374, equation 1.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass_at_k needs 0 <= c <= n and 1 <= k <= n, not n={n}, c={c}, k={k}")
    draws = math.comb(n, k)  # whole numbers up to the one division: no rounding, no overflow
    return (draws - math.comb(n - c, k)) / draws


def wilson_interval(passed: int, n: int) -> tuple[float, float]:
    """The 95 % score interval for a share of independent successes.

    Args:
        passed: successes.
        n: trials.

    Returns:
        Lower and upper bound in [0, 1]; exactly 0 below no success and exactly 1 above no failure.

    Raises:
        ValueError: unless 0 <= passed <= n and n >= 1.

    Source:
        Wilson 1927, doi:10.1080/01621459.1927.10502953; without continuity correction.
    """
    if not 0 <= passed <= n or n < 1:
        raise ValueError(f"wilson_interval needs 0 <= passed <= n and n >= 1, not passed={passed}, n={n}")
    share, spread = passed / n, _Z_95**2 / n
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * share * (1 - share) + spread**2 / 4) / (1 + spread)
    return (0.0 if passed == 0 else centre - half), (1.0 if passed == n else centre + half)


def bootstrap_interval(
    counts: Sequence[tuple[float, int]], *, replicates: int = REPLICATES, seed: int = 0
) -> tuple[float, float]:
    """The 95 % percentile interval of sum(a) / sum(b) over problems drawn with replacement.

    Args:
        counts: (a, b) per problem; (passed, judged) for pass@1, b = 1 for a mean. Every b is at least 1.
        replicates: how many times the problems are drawn anew.
        seed: of the draws.

    Returns:
        The 2.5 % and the 97.5 % quantile.

    Raises:
        ValueError: without a problem.
    """
    import numpy as np

    if not counts:
        raise ValueError("bootstrap_interval needs at least one problem")
    # Problems with equal counts are interchangeable, so drawing how many of each kind is drawing problems.
    kinds = sorted(Counter(counts).items())
    shares = np.array([number for _, number in kinds]) / len(counts)
    drawn = np.random.default_rng(seed).multinomial(len(counts), shares, size=replicates)
    tops, bottoms = (drawn @ np.array([pair for pair, _ in kinds])).T
    low, high = np.quantile(tops / bottoms, [0.025, 0.975])
    return float(low), float(high)


def mcnemar_p(only_a: int, only_b: int) -> float:
    """The exact two-sided p-value that two runs pass the same share, from the problems that one alone passed.

    Args:
        only_a: problems that the first run passed and the second did not.
        only_b: the other way round.

    Returns:
        A probability; 1 when they never differ, 0 only when it is smaller than any float.

    Source:
        McNemar 1947, doi:10.1007/BF02295996; the binomial form, doubled smaller tail.
    """
    n, fewer = only_a + only_b, min(only_a, only_b)
    tail = ways = 1
    for i in range(1, fewer + 1):  # each binomial from the one before: thousands of problems take no time
        ways = ways * (n - i + 1) // i
        tail += ways
    return min(1.0, float(2 * tail / 2**n))
