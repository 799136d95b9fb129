"""The best joint choice of one candidate per role, given how good each is alone and next to its neighbours.

A choice z has the quality `T(z) = prod_i g_i(z_i) * prod_(i,j) g_ij(z_i, z_j)`, all factors in (0, 1]. On a
tree, max-product belief propagation finds the best z with one inward pass of messages

    m_(i->j)(z_j) = max_(z_i) g_i(z_i) * g_ij(z_i, z_j) * prod_(k in N(i) without j) m_(k->i)(z_i)

and one outward pass over the choices that reached each maximum. With cycles, max-sum variable elimination
does: it joins the factors around one role, keeps the maximum over that role, and goes on without it. Both are
exact, work in logarithms, and prefer the lower index among equals.

Source: Zhang et al., "MAPRO: Recasting Multi-Agent Prompt Optimization as Maximum a Posteriori Inference",
arXiv:2510.07475; Dechter, "Bucket elimination", Artificial Intelligence 113 (1999).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

__all__ = ["Assignment", "PairwiseModel", "best_assignment", "eliminate", "inward_messages", "tied_scores"]

_LOWEST = 1e-6

Table = Sequence[Sequence[float]]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A joint choice.

    Attributes:
        choice: the index of the chosen candidate, by role.
        log_score: the natural logarithm of its quality T.
    """

    choice: Mapping[str, int]
    log_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseModel:
    """What was judged of the candidates; factors are clipped to [1e-6, 1].

    Attributes:
        nodes: by role, a factor for each of its candidates.
        edges: by pair of roles, a table: rows are the first role's candidates, columns the second's. Tables
            of one pair given in both directions multiply.

    Raises:
        ValueError: if a role has no candidates, or a table does not fit its roles or joins one to itself.
    """

    nodes: Mapping[str, Sequence[float]]
    edges: Mapping[Pair, Table]

    def __post_init__(self) -> None:
        for role, factors in self.nodes.items():
            if not factors:
                raise ValueError(f"{role!r} has no candidates")
        for (first, second), table in self.edges.items():
            if first == second or not {first, second} <= set(self.nodes):
                raise ValueError(f"no edge can join {first!r} and {second!r}; roles: {', '.join(self.nodes)}")
            if [len(row) for row in table] != [len(self.nodes[second])] * len(self.nodes[first]):
                raise ValueError(f"the table of {first!r} and {second!r} does not fit their candidates")

    def log_nodes(self) -> dict[str, list[float]]:
        """The logarithms of the clipped node factors."""
        return {role: [_log(factor) for factor in factors] for role, factors in self.nodes.items()}

    def log_edges(self) -> dict[Pair, list[list[float]]]:
        """The logarithms of the clipped tables, one for each pair, in the direction that was given first."""
        joined: dict[Pair, list[list[float]]] = {}
        for (first, second), table in self.edges.items():
            logs = [[_log(factor) for factor in row] for row in table]
            if (second, first) in joined:
                there = joined[second, first]
                for (k, row), m in product(enumerate(logs), range(len(logs[0]))):
                    there[m][k] += row[m]
            else:
                joined[first, second] = logs
        return joined

    def log_score(self, choice: Mapping[str, int]) -> float:
        """The logarithm of the quality of a joint choice."""
        alone = sum(logs[choice[role]] for role, logs in self.log_nodes().items())
        return alone + sum(logs[choice[i]][choice[j]] for (i, j), logs in self.log_edges().items())


def best_assignment(model: PairwiseModel) -> Assignment:
    """The joint choice of the highest quality: by messages on a forest, by elimination otherwise."""
    edges = model.log_edges()
    choice: dict[str, int] = {}
    for root in model.nodes:
        if root in choice:
            continue
        tree = _outward(root, edges)
        inside = set(tree)
        if sum(first in inside for first, _ in edges) != len(tree) - 1:
            return eliminate(model)
        choice |= _along_tree(model, edges, tree)
    ordered = {role: choice[role] for role in model.nodes}
    return Assignment(choice=ordered, log_score=model.log_score(ordered))


def inward_messages(model: PairwiseModel, root: str) -> dict[Pair, list[float]]:
    """The log messages of the inward pass of a tree towards its root, by (sender, receiver)."""
    edges = model.log_edges()
    return _inward(model.log_nodes(), edges, _outward(root, edges))[0]


def _outward(root: str, edges: Mapping[Pair, object]) -> dict[str, str | None]:
    """The roles that are joined to the root, nearest first, each with the one towards the root."""
    tree: dict[str, str | None] = {root: None}
    for role in (queue := [root]):
        for pair in edges:
            other = pair[1] if pair[0] == role else pair[0]
            if role in pair and other not in tree:
                tree[other] = role
                queue.append(other)
    return tree


def _inward(
    nodes: Mapping[str, Sequence[float]],
    edges: Mapping[Pair, list[list[float]]],
    tree: Mapping[str, str | None],
) -> tuple[dict[Pair, list[float]], dict[str, list[float]], dict[str, list[int]]]:
    """Messages, then the beliefs they give, and by role the best choice for each one of its parent's."""
    beliefs = {role: list(nodes[role]) for role in tree}
    messages: dict[Pair, list[float]] = {}
    pointers: dict[str, list[int]] = {}
    for role, parent in reversed(list(tree.items())):
        if parent is None:
            continue
        message = []
        for z in range(len(nodes[parent])):
            totals = [own + _at(edges, role, k, parent, z) for k, own in enumerate(beliefs[role])]
            pointers.setdefault(role, []).append(_argmax(totals))
            message.append(max(totals))
        messages[role, parent] = message
        beliefs[parent] = [own + more for own, more in zip(beliefs[parent], message, strict=True)]
    return messages, beliefs, pointers


def _along_tree(
    model: PairwiseModel, edges: Mapping[Pair, list[list[float]]], tree: Mapping[str, str | None]
) -> dict[str, int]:
    _, beliefs, pointers = _inward(model.log_nodes(), edges, tree)
    choice: dict[str, int] = {}
    for role, parent in tree.items():
        choice[role] = _argmax(beliefs[role]) if parent is None else pointers[role][choice[parent]]
    return choice


def _at(edges: Mapping[Pair, list[list[float]]], first: str, k: int, second: str, m: int) -> float:
    table = edges.get((first, second))
    return edges[second, first][m][k] if table is None else table[k][m]


Scope = tuple[str, ...]
Factor = dict[tuple[int, ...], float]


def eliminate(model: PairwiseModel) -> Assignment:
    """The joint choice of the highest quality by variable elimination, for any graph.

    The role whose neighbours need the fewest new links goes first (min-fill), the first by name among equals.
    """
    sizes = {role: len(factors) for role, factors in model.nodes.items()}
    factors: list[tuple[Scope, Factor]] = [
        ((role,), {(k,): value for k, value in enumerate(logs)}) for role, logs in model.log_nodes().items()
    ]
    for pair, logs in model.log_edges().items():
        factors.append((pair, {(k, m): value for k, row in enumerate(logs) for m, value in enumerate(row)}))
    decisions: list[tuple[str, Scope, dict[tuple[int, ...], int]]] = []
    while len(decisions) < len(sizes):
        role = _min_fill([scope for scope, _ in factors], set(sizes) - {done for done, *_ in decisions})
        touched = [factor for factor in factors if role in factor[0]]
        rest, best, reduced = _maximised(role, touched, sizes)
        factors = [factor for factor in factors if role not in factor[0]] + [(rest, reduced)]
        decisions.append((role, rest, best))
    choice: dict[str, int] = {}
    for role, scope, best in reversed(decisions):
        choice[role] = best[tuple(choice[other] for other in scope)]
    ordered = {role: choice[role] for role in model.nodes}
    return Assignment(choice=ordered, log_score=model.log_score(ordered))


def _maximised(
    role: str, factors: Sequence[tuple[Scope, Factor]], sizes: Mapping[str, int]
) -> tuple[Scope, dict[tuple[int, ...], int], Factor]:
    """The sum of the factors, maximised over one role: the scope left, the best choices, the maxima."""
    rest = tuple(sorted({other for scope, _ in factors for other in scope} - {role}))
    best: dict[tuple[int, ...], int] = {}
    reduced: Factor = {}
    for values in product(*(range(sizes[other]) for other in rest)):
        known = dict(zip(rest, values, strict=True))
        totals = []
        for k in range(sizes[role]):
            known[role] = k
            totals.append(sum(table[tuple(known[other] for other in scope)] for scope, table in factors))
        best[values] = _argmax(totals)
        reduced[values] = max(totals)
    return rest, best, reduced


def _min_fill(scopes: Sequence[Scope], left: set[str]) -> str:
    linked = {frozenset(pair) for scope in scopes for pair in combinations(scope, 2)}

    def missing(role: str) -> int:
        around = sorted({other for pair in linked if role in pair for other in pair} - {role})
        return sum(frozenset(pair) not in linked for pair in combinations(around, 2))

    return min(sorted(left), key=missing)


def tied_scores(nodes: Sequence[float], diagonal: Sequence[float] | None, *, replicas: int) -> list[float]:
    """The log quality of each candidate when all replicas of a role read the same prompt.

    `q(k) = R log g(k)`, and for peers that read each other `+ R (R - 1) log g(k, k)`.

    Args:
        nodes: a factor for each candidate.
        diagonal: how each candidate gets on with itself; None if replicas do not read each other.
        replicas: how many read the prompt, R.
    """
    scores = [replicas * _log(factor) for factor in nodes]
    if diagonal is None:
        return scores
    peers = replicas * (replicas - 1)
    return [score + peers * _log(factor) for score, factor in zip(scores, diagonal, strict=True)]


def _log(factor: float) -> float:
    return math.log(min(1.0, max(_LOWEST, factor)))


def _argmax(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)
