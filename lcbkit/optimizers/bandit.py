"""A linear confidence width over combinations of prompts, and the coordinate sweep that climbs it; pure.

With x(z) the features of a combination z: `w(z) = sqrt(x' A^-1 x)`, `A <- A + c x x'` after each pull, and
the sweep picks what maximizes `mu(z) + alpha w(z)` in one role after the other.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Width", "features", "sweep", "warmup_pulls"]

Vector = npt.NDArray[np.floating[Any]]

_REFRESH_EVERY = 50  # pulls; rounding errors of the rank-one updates add up


class Width:
    """How little is known of a direction: the width of its confidence interval, before any factor.

    Args:
        dimension: of the features.
        ridge: lambda; the information matrix begins as `lambda I`.
        weight: c, how much one pull counts.
    """

    def __init__(self, dimension: int, *, ridge: float = 1.0, weight: float = 10.0) -> None:
        if dimension < 1 or ridge <= 0 or weight <= 0:
            raise ValueError(f"dimension, ridge and weight must be positive: {dimension}, {ridge}, {weight}")
        self._weight = weight
        self._information = ridge * np.eye(dimension)
        self._inverse: Vector = np.eye(dimension) / ridge
        self._pulls = 0

    def of(self, x: npt.ArrayLike) -> Vector:
        """The width at one or several feature vectors, the last axis being the features."""
        at = np.asarray(x, dtype=np.float64)
        # Rounding may leave a tiny negative square.
        squared = np.einsum("...i,ij,...j->...", at, self._inverse, at, optimize=True)
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))

    def update(self, x: npt.ArrayLike) -> None:
        """Take in one pull at a feature vector.

        Source:
            The inverse follows by Sherman and Morrison's formula, and is solved anew every 50 pulls.
        """
        at = np.asarray(x, dtype=np.float64)
        self._information += self._weight * np.outer(at, at)
        self._pulls += 1
        if self._pulls % _REFRESH_EVERY == 0:
            self._inverse = np.linalg.inv(self._information)
            return
        seen = self._inverse @ at
        self._inverse -= self._weight * np.outer(seen, seen) / (1.0 + self._weight * float(at @ seen))


def features(embeddings: Sequence[Vector], combination: Sequence[int]) -> Vector:
    """The features of a combination: the embeddings of its variants, one role after the other.

    Args:
        embeddings: of each role's variants, as (variants, dimension).
        combination: number of the variant of each role.
    """
    parts = [role[number] for role, number in zip(embeddings, combination, strict=True)]
    return np.concatenate(parts).astype(np.float64)


def sweep(
    start: Sequence[int],
    variants: Sequence[int],
    upper: Callable[[Sequence[tuple[int, ...]]], npt.ArrayLike],
) -> tuple[int, ...]:
    """Set one role after the other to its best variant while the others stay; one pass.

    Args:
        start: the combination to begin with.
        variants: how many each role has.
        upper: the upper confidence bounds of several combinations.

    Returns:
        The combination at the end; of equal variants the one with the lowest number.
    """
    chosen = tuple(start)
    for role, count in enumerate(variants):
        options = [(*chosen[:role], number, *chosen[role + 1 :]) for number in range(count)]
        chosen = options[int(np.argmax(np.asarray(upper(options))))]
    return chosen


def warmup_pulls(budget: int, *, batch: int = 5, most: int = 5) -> int:
    """How many random pulls come before the first chosen one.

    Args:
        budget: rollouts.
        batch: rollouts of a pull.
        most: pulls, if the budget allows.
    """
    return min(most, max(1, budget // batch - 1))
