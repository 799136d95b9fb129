"""The graph network; these tests need the extra `maspob`."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra maspob")

from lcbkit.optimizers.surrogate import (  # noqa: E402
    DenseGATv2,
    GraphNet,
    Surrogate,
    SurrogateSettings,
    adjacency,
)


def test_the_network_has_the_number_of_weights_that_was_counted_by_hand() -> None:
    net = GraphNet(384, np.ones((4, 4), dtype=bool), SurrogateSettings())
    assert sum(weight.numel() for weight in net.parameters()) == 32_913


def test_roles_attend_both_ways_along_edges_and_to_themselves() -> None:
    matrix = adjacency(("a", "b", "c"), (("a", "b"), ("b", "c")))
    assert matrix.tolist() == [[True, True, False], [True, True, True], [False, True, True]]
    assert adjacency(("coder",), ()).tolist() == [[True]]


def test_the_layer_is_the_formula_written_out_in_loops() -> None:
    torch.manual_seed(0)
    neighbours = adjacency(("a", "b", "c", "d"), (("a", "b"), ("a", "c"), ("a", "d")))
    layer = DenseGATv2(5, 3, 2, neighbours)
    nodes = torch.randn(2, 4, 5)
    got = layer(nodes).detach().numpy()
    left = layer.left(nodes).detach().numpy().reshape(2, 4, 2, 3)
    right = layer.right(nodes).detach().numpy().reshape(2, 4, 2, 3)
    vector, bias = layer.attention.detach().numpy(), layer.bias.detach().numpy()
    for batch in range(2):
        for i in range(4):
            out = []
            for head in range(2):
                scores = {}
                for j in range(4):
                    if neighbours[i, j]:
                        mixed = left[batch, j, head] + right[batch, i, head]
                        leaky = np.where(mixed > 0, mixed, 0.2 * mixed)
                        scores[j] = math.exp(float(leaky @ vector[head]))
                whole = sum(scores.values())
                out.append(sum(score / whole * left[batch, j, head] for j, score in scores.items()))
            assert np.allclose(got[batch, i], np.concatenate(out) + bias, atol=1e-5)


def test_a_node_outside_the_neighbourhood_changes_nothing() -> None:
    torch.manual_seed(1)
    layer = DenseGATv2(4, 3, 2, adjacency(("a", "b", "c"), (("a", "b"),)))
    nodes = torch.randn(1, 3, 4)
    moved = nodes.clone()
    moved[0, 2] += 10
    before, after = layer(nodes), layer(moved)
    assert torch.equal(before[0, :2], after[0, :2])
    assert not torch.equal(before[0, 2], after[0, 2])


def pools(roles: int = 2, variants: int = 5, width: int = 16) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    found = [rng.normal(size=(variants, width)) for _ in range(roles)]
    return [role / np.linalg.norm(role, axis=1, keepdims=True) for role in found]


def test_it_learns_which_variants_are_good() -> None:
    pulls = [(a, b) for a in range(5) for b in range(5) if (a + b) % 3]
    scores = [0.9 if a == 2 else 0.1 for a, _ in pulls]
    short = SurrogateSettings(epochs=150, learning_rate=0.02)
    surrogate = Surrogate(pools(), adjacency(("a", "b"), (("a", "b"),)), seed=42, settings=short)
    assert surrogate.fit(pulls, scores) < 0.02
    held_out = [(a, b) for a in range(5) for b in range(5) if (a + b) % 3 == 0]
    guesses = dict(zip(held_out, surrogate.mean(held_out), strict=True))
    assert min(guesses[z] for z in held_out if z[0] == 2) > max(guesses[z] for z in held_out if z[0] != 2)


def test_a_fit_depends_on_its_seed_and_pulls_and_on_nothing_else() -> None:
    def fitted(seed: int) -> np.ndarray:
        surrogate = Surrogate(
            pools(), np.ones((2, 2), dtype=bool), seed=seed, settings=SurrogateSettings(epochs=30)
        )
        surrogate.fit([(0, 0)], [0.2])
        surrogate.fit([(0, 0), (1, 2)], [0.2, 0.8])
        return surrogate.mean([(0, 0), (1, 2), (3, 3)])

    torch.manual_seed(5)
    first, drawn = fitted(1), torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(torch.rand(1), drawn), "the global generator was touched"
    assert np.array_equal(first, fitted(1))
    assert not np.array_equal(first, fitted(2))


def test_the_threads_of_torch_are_left_as_they_were() -> None:
    before = torch.get_num_threads()
    once = SurrogateSettings(epochs=1)
    Surrogate(pools(), np.ones((2, 2), dtype=bool), seed=0, settings=once).fit([(0, 1)], [1.0])
    assert torch.get_num_threads() == before


def test_a_guess_that_is_not_finite_is_an_error() -> None:
    surrogate = Surrogate(pools(), np.ones((2, 2), dtype=bool), seed=0, settings=SurrogateSettings(epochs=2))
    with pytest.raises(RuntimeError, match="must be fitted"):
        surrogate.mean([(0, 0)])
    surrogate.fit([(0, 0)], [float("nan")])
    assert surrogate._net is not None
    with torch.no_grad():
        for weight in surrogate._net.parameters():
            weight.fill_(float("nan"))
    with pytest.raises(ArithmeticError, match="not a finite number"):
        surrogate.mean([(0, 0)])
