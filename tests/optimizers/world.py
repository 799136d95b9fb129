"""A small real job for tests of the protocol: toy problems, the toy model, every part real."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lcbkit.judging.pool import default_pool
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.charging import ChargedTeam
from lcbkit.optimizers.endpoints import Decoding, Models
from lcbkit.optimizers.interface import Rollout, Row
from lcbkit.optimizers.ledger import Budget, Ledger
from lcbkit.optimizers.rollouts import Runner, row_of
from lcbkit.optimizers.scoring import Scorer
from lcbkit.optimizers.seeds import SeedBase
from lcbkit.optimizers.toy import toy_problems, toy_splits
from lcbkit.optimizers.wiring import TeamShape
from lcbkit.problems import Problem
from lcbkit.topologies.roles import plan_team, role_prompts
from tests.optimizers.hinting import with_remedies

__all__ = ["GREEDY", "charged_team", "hinted", "problems", "rows", "runner", "seed_bundle"]

GREEDY = Decoding(temperature=0.0, top_p=0.9, max_tokens=200, thinking=False)


def problems() -> dict[str, Problem]:
    return {problem.id: problem for problem in toy_problems()}


def rows(split: str = "train") -> list[Row]:
    known = problems()
    return [row_of(known[row_id]) for row_id in toy_splits()[split]]


def seed_bundle(topology: str = "single") -> Bundle:
    return Bundle(roles=role_prompts(plan_team(topology, 4)))


def hinted(topology: str = "single") -> Bundle:
    return with_remedies(seed_bundle(topology))


def runner(
    topology: str = "single",
    *,
    model: Any = "toy",
    endpoint: str | tuple[str, ...] = (),
    concurrency: int = 4,
    known: Mapping[str, Problem] | None = None,
) -> Runner:
    return Runner(
        shape=TeamShape(topology=topology, team_size=4, python_exec=False),
        models=Models(
            task=model,
            reflection=model,
            task_endpoints=(endpoint,) if isinstance(endpoint, str) else endpoint,
            request_timeout=20,
        ),
        problems=known or problems(),
        scorer=Scorer(default_pool()),
        concurrency=concurrency,
    )


def charged_team(
    folder: Path,
    runner: Runner,
    *,
    budget: int,
    on_charge: Callable[[Rollout, Budget], None] = lambda *_: None,
    seed: int = 0,
) -> tuple[ChargedTeam, Ledger]:
    ledger = Ledger(budget)
    team = ChargedTeam(
        runner=runner,
        ledger=ledger,
        decoding=GREEDY,
        seeds=SeedBase(optimizer_seed=seed, cell_id="cell"),
        folder=folder,
        on_charge=on_charge,
    )
    return team, ledger
