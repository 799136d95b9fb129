"""What paired scores of several seeds say: intervals, exact tests, and their correction (pure functions)."""

import math
import random
from collections.abc import Sequence
from statistics import fmean

from lcbkit.scoring.estimates import mcnemar_p

__all__ = ["REPLICATES", "holm", "paired_counts", "paired_p", "stratified_interval"]

REPLICATES = 10_000


def paired_counts(baseline: Sequence[float], deployed: Sequence[float]) -> tuple[int, int]:
    """How many rows the deployed prompts win and lose.

    Raises:
        ValueError: when the sides are not equally long.
    """
    pairs = list(zip(baseline, deployed, strict=True))
    return sum(b < d for b, d in pairs), sum(b > d for b, d in pairs)


def paired_p(baseline: Sequence[float], deployed: Sequence[float]) -> float:
    """The exact two-sided McNemar test on paired scores of 0 and 1; 1 when no row differs.

    Source:
        McNemar 1947, doi:10.1007/BF02295996, in its binomial form.
    """
    return mcnemar_p(*paired_counts(baseline, deployed))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of one family so that the chance of any false claim stays bounded.

    Returns:
        The adjusted values in the given order, each at most 1.

    Source:
        Holm 1979, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def stratified_interval(
    differences: Sequence[Sequence[float]], *, replicates: int = REPLICATES, seed: int = 0
) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean difference, over seeds and over rows within each seed.

    A replicate draws as many seeds as there are, with replacement, then for each drawn seed its rows with
    replacement, and takes the mean of the seeds' means.

    Args:
        differences: per optimizer seed the row differences, deployed minus baseline.
        replicates: how many, at least 100.
        seed: of the draws.

    Returns:
        Two order statistics of the replicates, in the unit of the differences.

    Raises:
        ValueError: without rows, or with fewer than 100 replicates.
    """
    if not differences or not all(differences):
        raise ValueError("an interval needs at least one seed, and a row for each seed")
    if replicates < 100:
        raise ValueError(f"{replicates} replicates; an interval needs at least 100")
    strata = [list(rows) for rows in differences]
    rng = random.Random(seed)
    estimates = sorted(
        fmean(sum(rng.choices(rows, k=len(rows))) / len(rows) for rows in rng.choices(strata, k=len(strata)))
        for _ in range(replicates)
    )
    low, high = math.floor(0.025 * replicates), math.ceil(0.975 * replicates) - 1
    return estimates[low], estimates[high]
