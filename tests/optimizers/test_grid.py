from collections import Counter
from typing import Any

import pytest

from lcbkit.errors import BadValueError
from lcbkit.optimizers.grid import cells, estimate
from lcbkit.optimizers.methods import METHODS, make_optimizer
from lcbkit.optimizers.planning import dry_run, job_spec, listed_cells
from lcbkit.optimizers.specification import GRID
from lcbkit.optimizers.toy_shapes import in_shape
from tests.optimizers.bench import Bench, context

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
    assert set(GRID) <= set(METHODS)


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


def test_rows_that_are_there_anyway_depart_from_nothing() -> None:
    for rows, phrases in (
        (49, ["49 rows of validation and of test"]),
        (1, ["1 row of validation and of test"]),
    ):
        assert (
            dry_run("gepa", "single", model="qwen", **{**ASKED, "eval_rows": rows})["departures"] == phrases
        )
    for rows in (50, 1000):
        whole = dry_run("gepa", "single", model="qwen", **{**ASKED, "eval_rows": rows})
        assert (whole["departures"], whole["rows"]["test"]) == ([], 50)


def test_a_dry_run_tells_what_the_job_would_refuse() -> None:
    with pytest.raises(BadValueError, match="gepa has no setting 'deep'"):
        dry_run("gepa", "single", model="qwen", **{**ASKED, "settings": {"deep": 1}})


def test_listed_cells_have_seeds_and_costs_and_can_be_chosen() -> None:
    assert len(listed_cells("lcb")) == len(list(cells()))
    (one,) = listed_cells("lcb", method="tavo", topology="decentralized", model="qwen")
    asked = {**ASKED, "seed": 2}
    whole = dry_run("tavo", "decentralized", model="qwen", **asked)
    assert (one["cell_id"], one["cost"], one["seeds"]) == (whole["cell_id"], whole["cost"], [0, 1, 2])
    with pytest.raises(BadValueError, match="no cell of maspo, single"):
        listed_cells("lcb", method="maspo", topology="single")


@pytest.mark.parametrize(
    ("method", "topology", "least"),
    [
        ("gepa", "single", 56),
        ("mamut_gepa", "sequential", 56),
        ("mipro", "single", 102),
        ("mapro", "sequential", 300),
        ("maspo", "sequential", 20),
        ("hivemind", "centralized", 10),
        ("hivemind", "sequential", 18),
        ("maspob", "sequential", 10),
        ("tavo", "decentralized", 12),
        ("identity", "single", 1),
    ],
)
def test_the_least_budget_is_that_of_the_page(method: str, topology: str, least: int) -> None:
    assert dry_run(method, topology, model="qwen", seed=0, **ASKED)["least_budget"] == least


def test_the_least_budget_follows_the_settings() -> None:
    asked = {**ASKED, "settings": {"evaluation_batch": 20}}
    assert dry_run("mapro", "sequential", model="qwen", seed=0, **asked)["least_budget"] == 40
    asked = {**ASKED, "settings": {"minibatch": 1}, "eval_rows": 3}
    assert dry_run("gepa", "single", model="qwen", seed=0, **asked)["least_budget"] == 5


@pytest.mark.parametrize(
    ("method", "topology"),
    [("gepa", "single"), ("maspo", "sequential"), ("hivemind", "centralized"), ("tavo", "sequential")],
)
def test_with_the_least_budget_a_new_prompt_is_tried_and_with_one_less_none(
    method: str, topology: str
) -> None:
    least = dry_run(method, topology, model="qwen", seed=0, **ASKED)["least_budget"]
    tried = {}
    for budget in (least - 1, least):
        bench = Bench(lambda *_: 0.0, budget=budget, topology=topology)
        ctx = context(topology, bench, reflect=_remedy, task_llm=_remedy)
        make_optimizer(method).run(ctx)
        tried[budget] = any(call.bundle != ctx.seed_bundle for call in bench.calls)
    assert tried[least]
    if method != "maspo":  # it trims its batches
        assert not tried[least - 1]


def _remedy(question: str, **_: Any) -> str:
    return in_shape(question, ["Mind negative numbers."], lambda _: True)
