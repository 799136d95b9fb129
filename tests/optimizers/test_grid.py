from collections import Counter
from typing import Any

import pytest

from lcbkit.optimizers.grid import cells, estimate
from lcbkit.optimizers.methods import METHODS
from lcbkit.optimizers.running import dry_run, job_spec
from lcbkit.optimizers.specification import GRID

ASKED: dict[str, Any] = {
    "reflection_model": None,
    "task_endpoints": (),
    "reflection_endpoint": None,
    "request_timeout": None,
    "team_size": 4,
    "message_format": "freeform",
    "python_exec": True,
    "rounds": None,
    "dataset": "lcb",
    "allow_any_cell": False,
}


def test_the_grid_is_the_protocols() -> None:
    found = Counter(cell.method for cell in cells())
    assert found["gepa"] == found["mipro"] == found["identity"] == 2 * 5
    assert {found[name] for name in ("mapro", "maspo", "hivemind", "mamut_gepa", "maspob", "tavo")} == {2 * 4}
    assert all(cell.in_grid for cell in cells())
    assert len({cell.id for cell in cells()}) == sum(found.values())
    assert set(METHODS) <= set(GRID)


def test_a_protocol_job_conforms_and_each_departure_is_named() -> None:
    whole = dry_run("gepa", "single", model="qwen", seed=0, **ASKED)
    assert (whole["protocol_conformant"], whole["departures"]) == (True, [])
    changes: dict[str, Any] = {
        "budget": 60,
        "dataset": "sample",
        "eval_rows": 3,
        "max_tokens": 1024,
        "reflection_max_tokens": 512,
        "reflection_model": "small",
        "settings": {"minibatch": 2},
        "python_exec": False,
        "message_format": "semi_structured",
        "allow_any_cell": True,
    }
    other = dry_run("gepa", "single", model="small", seed=0, **{**ASKED, **changes})
    assert len(other["departures"]) == len(changes)
    assert not other["protocol_conformant"]
    assert other["rows"] == {"train": 8, "validation": 3, "test": 3}


@pytest.mark.parametrize(
    ("method", "topology", "charged", "calls"),
    [
        ("gepa", "single", 600, 1),
        ("mapro", "sequential", 600, 4),
        ("tavo", "decentralized", 554, 8),
        ("hivemind", "centralized", 600, 5),
        ("hivemind", "sequential", 540, 4),
        ("mipro", "independent", 500, 4),
        ("identity", "single", 0, 1),
    ],
)
def test_costs_are_those_of_the_page(method: str, topology: str, charged: int, calls: int) -> None:
    spec = job_spec(method, topology, model="qwen", **ASKED)
    cost = estimate(spec, train=150, validation=50, test=50)
    assert (cost.charged_rollouts, cost.calls_per_rollout) == (charged, calls)
    assert cost.evaluation_rollouts == (100 if method == "identity" else 200)
    assert cost.task_calls >= (charged + cost.evaluation_rollouts) * calls
    assert cost.tokens > 0


def test_a_topology_may_carry_its_size() -> None:
    spec = job_spec("gepa", "centralized_r8", model="qwen", **{**ASKED, "allow_any_cell": True})
    assert (spec.shape.topology, spec.shape.team_size) == ("centralized", 8)


@pytest.mark.parametrize(
    ("topology", "a_round"),
    [("sequential", 345), ("centralized", 345), ("decentralized", 45), ("independent", 30)],
)
def test_mapro_asks_its_judge_as_often_as_the_page_says(topology: str, a_round: int) -> None:
    for settings, rounds in (({}, 3), ({"evaluation_batch": 50}, 8)):
        spec = job_spec("mapro", topology, model="qwen", **{**ASKED, "settings": settings})
        cost = estimate(spec, train=150, validation=50, test=50)
        teams = (cost.charged_rollouts + cost.evaluation_rollouts) * cost.calls_per_rollout
        assert cost.task_calls - teams == rounds * a_round
