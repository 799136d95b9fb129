"""What the benchmark's protocol fixes: models, budget, and on which teams each method is run."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from lcbkit.optimizers.canonical import digest
from lcbkit.topologies.roles import SIZELESS

__all__ = [
    "BUDGET",
    "GRID",
    "MAX_TOKENS",
    "PROTOCOL_ID",
    "REFLECTION_MAX_TOKENS",
    "REFLECTION_MODEL",
    "TASK_MODELS",
    "Cell",
    "cells",
]

PROTOCOL_ID = "mas-promptbench-v1"

TASK_MODELS = {"qwen": "Qwen/Qwen3.5-9B", "llama": "meta-llama/Llama-3.1-8B-Instruct"}
"""Full names by the short ones that a command line takes."""

REFLECTION_MODEL = "Qwen/Qwen3.5-122B-A10B-FP8"

BUDGET = 600
"""Rollouts of a search."""

MAX_TOKENS, REFLECTION_MAX_TOKENS = 32_768, 48_000
"""Tokens of one answer."""

# Not the library's list of topologies: one that it learns later is no cell of the protocol.
_ALL = ("single", "independent", "sequential", "centralized", "decentralized")
GRID: Mapping[str, tuple[str, ...]] = {
    "identity": _ALL,
    "gepa": _ALL,
    "mipro": _ALL,
    **dict.fromkeys(("mapro", "maspo", "hivemind", "mamut_gepa", "maspob", "tavo"), _ALL[1:]),
}
"""The topologies on which the protocol runs each method, with four agents that write freely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """An experiment that is repeated with three seeds."""

    method: str
    task: str
    topology: str
    framework: str
    communication: str
    team_size: int
    task_model: str

    @property
    def id(self) -> str:
        """A short hash of the cell."""
        return digest(asdict(self))[:16]

    @property
    def in_grid(self) -> bool:
        """Whether the protocol runs this cell."""
        return (
            self.topology in GRID.get(self.method, ())
            and self.communication == "freeform"
            and self.team_size == _team_size(self.topology)
        )


def cells(dataset: str = "lcb") -> Iterator[Cell]:
    """Every cell that the protocol runs, for both of its task models."""
    for model in TASK_MODELS.values():
        for method, topologies in GRID.items():
            for topology in topologies:
                yield Cell(
                    method=method,
                    task=dataset,
                    topology=topology,
                    framework="langgraph",
                    communication="freeform",
                    team_size=_team_size(topology),
                    task_model=model,
                )


def _team_size(topology: str) -> int:
    return 1 if topology in SIZELESS else 4
