from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from lcbkit.optimizers.bandit import Width, features, sweep, warmup_pulls


def test_the_width_shrinks_where_it_was_pulled_and_nowhere_else() -> None:
    width = Width(2, ridge=1, weight=10)
    assert width.of([1, 0]) == pytest.approx(1)
    width.update([1, 0])
    assert width.of([1, 0]) == pytest.approx(0.301511, abs=1e-6)
    assert width.of([0, 1]) == pytest.approx(1)
    assert width.of(np.array([1, 1]) / np.sqrt(2)) == pytest.approx(0.738549, abs=1e-6)
    width.update([1, 0])
    assert width.of([1, 0]) == pytest.approx(0.218218, abs=1e-6)
    assert width.of([0, 1]) == pytest.approx(1)


def test_what_is_pulled_loses_its_bonus_until_another_is_better() -> None:
    width, arms, mean = Width(2), np.eye(2), np.array([0.60, 0.45])
    seen = []
    for _ in range(3):
        bounds = mean + 0.2 * width.of(arms)
        seen.append(bounds)
        width.update(arms[int(np.argmax(bounds))])
    expected = [[0.8, 0.65], [0.660302, 0.65], [0.643644, 0.65]]
    assert np.allclose(seen, expected, atol=1e-6)


def test_a_sweep_changes_one_role_after_the_other() -> None:
    embeddings = [np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 0], [0.6, 0.8]])]
    mean = np.array([[0.50, 0.55], [0.60, 0.40]])
    width = Width(4)
    width.update(features(embeddings, (0, 0)))
    seen: list[np.ndarray] = []

    def upper(options: object) -> np.ndarray:
        points = [features(embeddings, z) for z in options]  # type: ignore[attr-defined]
        seen.append(np.array([mean[z] for z in options]) + 0.2 * width.of(points))  # type: ignore[attr-defined]
        return seen[-1]

    assert sweep((0, 0), (2, 2), upper) == (1, 0)
    assert np.allclose(seen, [[0.561721, 0.846885], [0.846885, 0.670449]], atol=1e-6)


def test_four_roles_of_unit_length() -> None:
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(4, 24))
    x = (parts / np.linalg.norm(parts, axis=1, keepdims=True)).ravel()
    width = Width(96)
    seen = [float(width.of(x))]
    for _ in range(2):
        width.update(x)
        seen.append(float(width.of(x)))
    assert seen == pytest.approx([2, 0.312348, 0.222222], abs=1e-6)


def test_the_updated_inverse_is_the_inverse() -> None:
    rng = np.random.default_rng(3)
    width, information = Width(30, ridge=2.0, weight=10.0), 2.0 * np.eye(30)
    for count in range(1, 121):
        x = rng.normal(size=30)
        width.update(x)
        information += 10.0 * np.outer(x, x)
        if count in (1, 7, 49, 50, 51, 120):
            at = rng.normal(size=(5, 30))
            exact = np.sqrt(np.einsum("ki,ki->k", at, np.linalg.solve(information, at.T).T))
            assert np.allclose(width.of(at), exact, rtol=1e-8)


@pytest.mark.parametrize(("budget", "pulls"), [(5, 1), (10, 1), (12, 1), (20, 3), (25, 4), (30, 5), (600, 5)])
def test_the_warm_up_leaves_room_for_a_chosen_pull(budget: int, pulls: int) -> None:
    assert warmup_pulls(budget) == pulls


@pytest.mark.parametrize(
    "bad", [{"dimension": 0}, {"dimension": 2, "ridge": 0}, {"dimension": 2, "weight": -1}]
)
def test_a_width_needs_positive_settings(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        Width(**bad)  # type: ignore[arg-type]


def bandit_and_random_regret(seed: int, pulls: int = 60) -> tuple[float, float]:
    """Scores are linear in the features of two roles with six variants each; the mean is a ridge fit."""
    rng = np.random.default_rng(seed)
    roles = [rng.normal(size=(6, 8)) for _ in range(2)]
    embeddings = [role / np.linalg.norm(role, axis=1, keepdims=True) for role in roles]
    truth = rng.normal(size=16)
    truth *= 0.3 / np.linalg.norm(truth)
    points = {z: features(embeddings, z) for z in product(range(6), range(6))}
    value = {z: 0.5 + float(x @ truth) for z, x in points.items()}
    width, pulled, scores = Width(16), list[tuple[int, ...]](), list[float]()
    fitted = np.zeros(16)

    def upper(options: Sequence[tuple[int, ...]]) -> list[float]:
        return [0.5 + float(points[z] @ fitted) + 0.2 * float(width.of(points[z])) for z in options]

    at_random = []
    for pull in range(pulls):
        drawn = (int(rng.integers(6)), int(rng.integers(6)))
        chosen = drawn if pull < 5 else sweep(pulled[-1], (6, 6), upper)
        pulled.append(chosen)
        at_random.append((int(rng.integers(6)), int(rng.integers(6))))
        scores.append(value[chosen] + 0.05 * rng.normal())
        width.update(points[chosen])
        known = np.array([points[z] for z in pulled])
        fitted = np.linalg.solve(known.T @ known + 0.1 * np.eye(16), known.T @ (np.array(scores) - 0.5))
    best = max(value.values())
    return sum(best - value[z] for z in pulled), sum(best - value[z] for z in at_random)


def test_on_a_planted_problem_it_regrets_less_than_random_choice() -> None:
    regrets = np.array([bandit_and_random_regret(seed) for seed in range(8)])
    assert (regrets[:, 0] < regrets[:, 1]).all()
    bandit, random = regrets.sum(axis=0)
    assert bandit < 0.35 * random
