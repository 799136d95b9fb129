"""What a job is: its cell, how it departs from the protocol, and what identifies it."""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from lcbkit import __version__
from lcbkit.errors import BadValueError
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.canonical import digest
from lcbkit.optimizers.endpoints import Decoding, Models
from lcbkit.optimizers.protocol import (
    BUDGET,
    MAX_TOKENS,
    PROTOCOL_ID,
    REFLECTION_MAX_TOKENS,
    REFLECTION_MODEL,
    TASK_MODELS,
    Cell,
)
from lcbkit.optimizers.scoring import SCORER_ID
from lcbkit.optimizers.seeds import offset_of
from lcbkit.optimizers.wiring import TeamShape
from lcbkit.problems import Problem
from lcbkit.topologies.contract import CONTRACT_VERSION

__all__ = ["JobSpec", "Splits"]

Splits = Mapping[str, Sequence[str]]
"""Ordered problem ids under `train`, `validation` and `test`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """One job, as it was asked for.

    Attributes:
        method: of optimization.
        shape: of the team.
        dataset: `lcb`, `sample` or `toy`.
        models: who answers.
        seed: the optimizer seed.
        budget: rollouts that the search may spend.
        eval_rows: rows of validation and of test; None takes all.
        max_tokens: of one answer of the task model.
        reflection_max_tokens: of one answer of the reflection model.
        settings: changes to the method's defaults.
    """

    method: str
    shape: TeamShape
    dataset: str
    models: Models
    seed: int = 0
    budget: int = BUDGET
    eval_rows: int | None = None
    max_tokens: int = MAX_TOKENS
    reflection_max_tokens: int = REFLECTION_MAX_TOKENS
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        offset_of(self.seed)
        for name in ("budget", "eval_rows", "max_tokens", "reflection_max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadValueError(f"{name} is {value}; it must be at least 1")

    @property
    def cell(self) -> Cell:
        """Where the job stands."""
        return Cell(
            method=self.method,
            task=self.dataset,
            topology=self.shape.topology,
            framework="langgraph",
            communication=self.shape.message_format,
            team_size=self.shape.team_size,
            task_model=self.models.task_name,
        )

    @property
    def title(self) -> str:
        """The job in words."""
        size = "" if self.shape.chosen_size is None else f" of {self.shape.chosen_size}"
        return (
            f"{self.method} on a {self.shape.topology} team{size}, {self.models.task_name}, "
            f"{self.dataset}, seed {self.seed}"
        )

    def departures(self) -> list[str]:
        """Why the job does not conform to the protocol, a phrase each; empty if it does."""
        shape, asked = self.shape, self.settings
        found = {
            f"budget {self.budget} instead of {BUDGET}": self.budget != BUDGET,
            f"dataset {self.dataset} instead of lcb": self.dataset != "lcb",
            f"task model {self.models.task_name}": self.models.task_name not in TASK_MODELS.values(),
            f"reflection model {self.models.reflection_name} instead of {REFLECTION_MODEL}": (
                self.models.reflection_name != REFLECTION_MODEL
            ),
            f"{self.eval_rows} row{'' if self.eval_rows == 1 else 's'} of validation and of test": (
                self.eval_rows is not None
            ),
            f"answers of {self.max_tokens} tokens instead of {MAX_TOKENS}": self.max_tokens != MAX_TOKENS,
            f"reflection answers of {self.reflection_max_tokens} tokens instead of {REFLECTION_MAX_TOKENS}": (
                self.reflection_max_tokens != REFLECTION_MAX_TOKENS
            ),
            f"changed settings: {', '.join(sorted(asked))}": bool(asked),
            "a team without python_exec": not shape.python_exec,
            "a debate of other than two rounds": shape.rounds not in (None, 2),
            "a cell outside of the grid": not self.cell.in_grid,
        }
        return [phrase for phrase, so in found.items() if so]

    def identity(
        self,
        *,
        seed_bundle: Bundle,
        splits: Splits,
        problems: Mapping[str, Problem],
        decodings: Mapping[str, Decoding],
        settings: Any,
    ) -> dict[str, Any]:
        """What a job folder belongs to; a job with another one may not use it.

        Args:
            seed_bundle: the prompts that the search begins with.
            splits: ids as they are used.
            problems: by id.
            decodings: sampling values by use.
            settings: all of the method's settings, as they are used.
        """
        condition = {
            "protocol_id": PROTOCOL_ID,
            **{name: value for name, value in asdict(self.cell).items() if name != "method"},
            "runtime_id": self._runtime(),
            "seed_bundle_sha256": seed_bundle.sha256,
            "evaluation_decoding": decodings["evaluation"].to_dict(),
            "scorer_id": SCORER_ID,
            "splits_sha256": digest({name: list(ids) for name, ids in splits.items()}),
        }
        departures = self.departures()
        return {
            "protocol_id": PROTOCOL_ID,
            "cell": asdict(self.cell),
            "cell_id": self.cell.id,
            "grid_cell": self.cell.in_grid,
            "optimizer_seed": self.seed,
            "seed_offset": offset_of(self.seed),
            "budget": self.budget,
            "settings": settings,
            "reflection_model": self.models.reflection_name,
            "decodings": {name: decoding.to_dict() for name, decoding in decodings.items()},
            "condition": condition,
            "condition_id": digest(condition),
            "splits": {name: list(ids) for name, ids in splits.items()},
            "data_sha256": _data_digest(splits, problems),
            "code_sha256": _code_digest(),
            "versions": {"lcbkit": __version__, "python": platform.python_version()},
            "seed_bundle": seed_bundle.to_dict(),
            "seed_bundle_sha256": seed_bundle.sha256,
            "protocol_conformant": not departures,
            "departures": departures,
        }

    def _runtime(self) -> str:
        tool = "python_exec" if self.shape.python_exec else "no tool"
        rounds = f", rounds {self.shape.rounds}" if self.shape.rounds else ""
        return f"lcbkit, contract {CONTRACT_VERSION}, {tool}{rounds}"


def _data_digest(splits: Splits, problems: Mapping[str, Problem]) -> str:
    rows = [
        [name, problem_id, problem.statement, problem.starter_code, problem.hidden_test_count]
        for name, ids in splits.items()
        for problem_id in ids
        for problem in (problems[problem_id],)
    ]
    return digest(rows)


@cache
def _code_digest() -> str:
    """Of everything in the package that can change a result: its modules and the texts beside them."""
    package = files("lcbkit")
    found = hashlib.sha256()
    for path, raw in sorted(_sources(package, "")):
        found.update(f"{path}\0{len(raw)}\0".encode())
        found.update(raw)
    return found.hexdigest()


def _sources(folder: Any, prefix: str) -> list[tuple[str, bytes]]:
    sources: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            if entry.name not in ("widgets", "plots", "commands", "shipped", "__pycache__"):
                sources += _sources(entry, f"{name}/")
        elif entry.name.endswith((".py", ".txt", ".toml")):
            sources.append((name, entry.read_bytes()))
    return sources
