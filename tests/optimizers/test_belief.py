"""The joint choice: worked examples, and enumeration on random graphs with and without cycles."""

import math
from itertools import product
from random import Random

import pytest

from lcbkit.optimizers.belief import (
    PairwiseModel,
    best_assignment,
    eliminate,
    inward_messages,
    tied_scores,
)

CHAIN = PairwiseModel(
    nodes={"P": [0.9, 0.8], "C": [0.6, 0.7], "T": [0.8, 0.5]},
    edges={("P", "C"): [[0.3, 0.2], [0.9, 0.4]], ("C", "T"): [[0.7, 0.6], [0.2, 0.9]]},
)
STAR = PairwiseModel(
    nodes={"M": [0.7, 0.9], "A": [0.5, 0.6], "C": [0.9, 0.4], "T": [0.6, 0.6]},
    edges={
        ("M", "A"): [[0.9, 0.1], [0.2, 0.5]],
        ("M", "C"): [[0.8, 0.9], [0.3, 0.6]],
        ("M", "T"): [[0.5, 0.9], [0.4, 0.3]],
    },
)


def exps(logs: list[float]) -> list[float]:
    return [math.exp(value) for value in logs]


def enumerated(model: PairwiseModel) -> tuple[float, list[dict[str, int]]]:
    """The highest log score and all choices that reach it, by the definition of T alone."""

    def clipped(factor: float) -> float:
        return math.log(min(1.0, max(1e-6, factor)))

    scores = {}
    for values in product(*(range(len(factors)) for factors in model.nodes.values())):
        z = dict(zip(model.nodes, values, strict=True))
        score = sum(clipped(factors[z[role]]) for role, factors in model.nodes.items())
        scores[values] = score + sum(clipped(table[z[i]][z[j]]) for (i, j), table in model.edges.items())
    best = max(scores.values())
    return best, [dict(zip(model.nodes, z, strict=True)) for z, s in scores.items() if s > best - 1e-12]


def random_model(rng: Random, *, tree: bool) -> PairwiseModel:
    roles = [f"role{n}" for n in range(rng.randint(1, 5))]
    sizes = {role: rng.randint(2, 4) for role in roles}
    if tree:
        pairs = [(roles[rng.randrange(n)], roles[n]) for n in range(1, len(roles)) if rng.random() < 0.9]
    else:
        pairs = [(a, b) for a in roles for b in roles if a != b and rng.random() < 0.4]
    pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
    edges = {(a, b): [[rng.random() for _ in range(sizes[b])] for _ in range(sizes[a])] for a, b in pairs}
    return PairwiseModel(
        nodes={role: [rng.random() for _ in range(n)] for role, n in sizes.items()}, edges=edges
    )


def test_messages_beliefs_and_choice_of_the_worked_chain() -> None:
    messages = inward_messages(CHAIN, "C")
    assert exps(messages["P", "C"]) == pytest.approx([0.72, 0.32])
    assert exps(messages["T", "C"]) == pytest.approx([0.56, 0.45])
    belief = [math.log(g) + a + b for g, a, b in zip([0.6, 0.7], *messages.values(), strict=True)]
    assert exps(belief) == pytest.approx([0.24192, 0.1008])
    best = best_assignment(CHAIN)
    assert best.choice == {"P": 1, "C": 0, "T": 0}
    assert best.log_score == pytest.approx(-1.419148, abs=1e-6)
    assert math.exp(CHAIN.log_score({"P": 0, "C": 1, "T": 0})) == pytest.approx(0.02016)


def test_the_worked_star() -> None:
    best = best_assignment(STAR)
    assert best.choice == {"M": 0, "A": 0, "C": 0, "T": 1}
    assert math.exp(best.log_score) == pytest.approx(0.122472)
    assert math.exp(STAR.log_score({"M": 0, "A": 0, "C": 0, "T": 0})) == pytest.approx(0.06804)


def test_tied_replicas_of_the_worked_example() -> None:
    nodes, diagonal = [0.9, 0.8, 0.7], [0.5, 0.6, 0.9]
    alone = tied_scores(nodes, None, replicas=4)
    assert alone.index(max(alone)) == 0
    assert max(alone) == pytest.approx(-0.42144, abs=1e-5)
    peers = tied_scores(nodes, diagonal, replicas=4)
    assert peers == pytest.approx([-8.73921, -7.02248, -2.69103], abs=1e-5)


@pytest.mark.parametrize("tree", [True, False], ids=["forests", "any graph"])
def test_the_best_choice_of_random_graphs_is_that_of_enumeration(tree: bool) -> None:
    rng = Random(7)
    for _ in range(100):
        model = random_model(rng, tree=tree)
        score, winners = enumerated(model)
        for best in (best_assignment(model), eliminate(model)):
            assert best.log_score == pytest.approx(score, abs=1e-9)
            assert dict(best.choice) in winners


def test_factors_beyond_their_range_are_clipped_and_the_lower_index_wins_a_tie() -> None:
    model = PairwiseModel(nodes={"a": [0.0, 1e-9, 1e-7], "b": [5.0, 1.0]}, edges={("a", "b"): [[1, 1]] * 3})
    for best in (best_assignment(model), eliminate(model)):
        assert best.choice == {"a": 0, "b": 0}
        assert best.log_score == pytest.approx(math.log(1e-6))


def test_a_model_of_ten_roles_in_a_ring_is_solved() -> None:
    rng = Random(3)
    roles = [f"r{n}" for n in range(10)]
    table = {role: [rng.random() for _ in range(5)] for role in roles}
    ring = list(zip(roles, roles[1:] + roles[:1], strict=True))
    edges = {pair: [[rng.random() for _ in range(5)] for _ in range(5)] for pair in ring}
    model = PairwiseModel(nodes=table, edges=edges)
    best = best_assignment(model)
    for role in roles:  # no change of one or of two neighbours is better
        for k in range(5):
            assert model.log_score({**best.choice, role: k}) <= best.log_score + 1e-9
    for a, b in ring:
        for k, m in product(range(5), repeat=2):
            assert model.log_score({**best.choice, a: k, b: m}) <= best.log_score + 1e-9


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ({"a": []}, {}),
        ({"a": [1.0]}, {("a", "a"): [[1.0]]}),
        ({"a": [1.0]}, {("a", "b"): [[1.0]]}),
        ({"a": [1.0], "b": [1.0, 0.5]}, {("a", "b"): [[1.0]]}),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(
    nodes: dict[str, list[float]], edges: dict[tuple[str, str], list[list[float]]]
) -> None:
    with pytest.raises(ValueError, match=r"candidates|join"):
        PairwiseModel(nodes=nodes, edges=edges)
