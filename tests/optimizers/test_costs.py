from typing import Any

import pytest

from lcbkit.optimizers.costs import estimate
from lcbkit.optimizers.methods import make_optimizer
from lcbkit.optimizers.planning import dry_run, job_spec
from lcbkit.optimizers.toy_shapes import in_shape
from tests.optimizers.asked import ASKED
from tests.optimizers.bench import Bench, context


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


@pytest.mark.parametrize(
    ("budget", "attempts"), [(600, 9), (300, 5), (120, 5), (60, 5), (12, 1), (11, 0), (2, 0)]
)
def test_tavo_makes_as_many_attempts_as_the_page_says(budget: int, attempts: int) -> None:
    spec = job_spec("tavo", "sequential", model="qwen", budget=budget, **ASKED)
    assert estimate(spec, train=150, validation=50, test=50).reflection_calls == 58 * attempts


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
