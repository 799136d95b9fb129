"""A graph network that guesses the score of a combination of prompts; loaded when `maspob` runs.

Node encoder d -> min(256, d // 8) -> 32, one GATv2 layer with four heads of 32, concatenated, the mean over
the nodes, and a head 128 -> 32 -> 1 with a sigmoid. GATv2 (S. Brody, U. Alon, E. Yahav, arXiv 2105.14491):
`alpha_ij = softmax_j a' LeakyReLU(W_l h_j + W_r h_i)`, `h'_i = sum_j alpha_ij W_l h_j`, where j goes over the
neighbours of i and i itself. The graphs have ten nodes at most, so the layer is dense.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

__all__ = ["DenseGATv2", "GraphNet", "Surrogate", "SurrogateSettings", "adjacency"]

Matrix = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurrogateSettings:
    """How the network is built and trained.

    Attributes:
        hidden: width of a node, and of a head.
        heads: of attention.
        dropout: in the node encoder.
        learning_rate: of Adam at the start.
        weight_decay: of Adam.
        epochs: full-batch steps at most.
        patience: epochs without improvement that end the training.
        stale: epochs without improvement after which the rate falls.
        decay: by which factor.
        least_rate: that the rate does not go below.
    """

    hidden: int = 32
    heads: int = 4
    dropout: float = 0.05
    learning_rate: float = 5e-3
    weight_decay: float = 1e-5
    epochs: int = 800
    patience: int = 200
    stale: int = 30
    decay: float = 0.7
    least_rate: float = 1e-5


def adjacency(roles: Sequence[str], edges: Sequence[tuple[str, str]]) -> npt.NDArray[np.bool_]:
    """Who attends to whom: edges in both directions, and each role to itself."""
    place = {role: number for number, role in enumerate(roles)}
    matrix = np.eye(len(roles), dtype=bool)
    for source, target in edges:
        matrix[place[source], place[target]] = matrix[place[target], place[source]] = True
    return matrix


class DenseGATv2(nn.Module):
    """One GATv2 layer over a small graph.

    Args:
        width: of a node.
        hidden: of a head.
        heads: concatenated.
        neighbours: row i says to whom node i attends.
    """

    neighbours: torch.Tensor

    def __init__(self, width: int, hidden: int, heads: int, neighbours: npt.NDArray[np.bool_]) -> None:
        super().__init__()
        self._heads, self._hidden = heads, hidden
        self.left = nn.Linear(width, heads * hidden)
        self.right = nn.Linear(width, heads * hidden)
        self.attention = nn.Parameter(torch.empty(heads, hidden))
        self.bias = nn.Parameter(torch.zeros(heads * hidden))
        nn.init.xavier_uniform_(self.left.weight)
        nn.init.xavier_uniform_(self.right.weight)
        nn.init.xavier_uniform_(self.attention)
        self.register_buffer("neighbours", torch.from_numpy(neighbours))

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """(batch, nodes, width) to (batch, nodes, heads * hidden)."""
        batch, count, _ = nodes.shape
        left = self.left(nodes).view(batch, count, self._heads, self._hidden)
        right = self.right(nodes).view(batch, count, self._heads, self._hidden)
        # Axes: batch, node i, neighbour j, head, hidden.
        mixed = nn.functional.leaky_relu(left.unsqueeze(1) + right.unsqueeze(2), 0.2)
        scores = torch.einsum("bijhc,hc->bijh", mixed, self.attention)
        scores = scores.masked_fill(~self.neighbours[None, :, :, None], float("-inf"))
        out = torch.einsum("bijh,bjhc->bihc", torch.softmax(scores, dim=2), left)
        result: torch.Tensor = out.reshape(batch, count, -1) + self.bias
        return result


class GraphNet(nn.Module):
    """From the embeddings of a combination's prompts, one node per role, to a score in (0, 1)."""

    def __init__(self, width: int, neighbours: npt.NDArray[np.bool_], settings: SurrogateSettings) -> None:
        super().__init__()
        middle, hidden = min(256, max(1, width // 8)), settings.hidden
        self.encoder = nn.Sequential(
            nn.Linear(width, middle),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(middle, hidden),
            nn.ReLU(),
        )
        self.graph = DenseGATv2(hidden, hidden, settings.heads, neighbours)
        self.head = nn.Sequential(
            nn.Linear(settings.heads * hidden, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid()
        )

    def forward(self, nodes: torch.Tensor) -> torch.Tensor:
        """(batch, roles, width) to (batch,)."""
        seen = torch.relu(self.graph(self.encoder(nodes))).mean(dim=1)
        result: torch.Tensor = self.head(seen).squeeze(-1)
        return result


class Surrogate:
    """The network over the pulls so far, trained from scratch at each fit.

    Args:
        embeddings: of each role's variants, as (variants, width).
        neighbours: of the roles.
        seed: of weights and dropout; the number of pulls is added.
        settings: of network and training.
    """

    def __init__(
        self,
        embeddings: Sequence[Matrix],
        neighbours: npt.NDArray[np.bool_],
        *,
        seed: int,
        settings: SurrogateSettings | None = None,
    ) -> None:
        self._variants = [torch.from_numpy(np.asarray(role, dtype=np.float32)) for role in embeddings]
        self._neighbours, self._seed = neighbours, seed
        self._settings = settings or SurrogateSettings()
        self._net: GraphNet | None = None

    def fit(self, combinations: Sequence[Sequence[int]], scores: Sequence[float]) -> float:
        """Train on pulls; the mean squared error of the weights that are kept.

        The global generator of torch and its number of threads are left as they were.
        """
        own, threads = self._settings, torch.get_num_threads()
        nodes, targets = self._nodes(combinations), torch.tensor(scores, dtype=torch.float32)
        torch.set_num_threads(1)  # so small a network is faster on one, and its sums are the same everywhere
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self._seed + len(scores))
                net = GraphNet(nodes.shape[-1], self._neighbours, own)
                best = _train(net, nodes, targets, own)
        finally:
            torch.set_num_threads(threads)
        self._net = net.eval()
        return best

    def mean(self, combinations: Sequence[Sequence[int]]) -> Matrix:
        """The guessed scores.

        Raises:
            ArithmeticError: if one is not finite; a search must not go on with it.
        """
        if self._net is None:
            raise RuntimeError("a surrogate must be fitted before it is asked")
        with torch.no_grad():
            values = self._net(self._nodes(combinations)).numpy().astype(np.float64)
        if not np.isfinite(values).all():
            raise ArithmeticError("the surrogate's guess is not a finite number")
        return np.asarray(values)

    def _nodes(self, combinations: Sequence[Sequence[int]]) -> torch.Tensor:
        numbers = torch.tensor([list(one) for one in combinations])
        return torch.stack([role[numbers[:, place]] for place, role in enumerate(self._variants)], dim=1)


def _train(net: GraphNet, nodes: torch.Tensor, targets: torch.Tensor, own: SurrogateSettings) -> float:
    optimizer = torch.optim.Adam(net.parameters(), lr=own.learning_rate, weight_decay=own.weight_decay)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=own.decay, patience=own.stale, min_lr=own.least_rate, threshold=1e-10
    )
    best, waited = float("inf"), 0
    kept = {name: value.clone() for name, value in net.state_dict().items()}
    net.train()
    for _ in range(own.epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(nodes), targets)
        value, waited = float(loss.detach()), waited + 1
        if value < best - 1e-10:
            best, waited = value, 0
            kept = {name: weight.clone() for name, weight in net.state_dict().items()}
        elif waited >= own.patience:
            break
        loss.backward()
        optimizer.step()
        schedule.step(value)
    net.load_state_dict(kept)
    return best
