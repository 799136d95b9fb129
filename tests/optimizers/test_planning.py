from typing import Any

import pytest

from lcbkit.errors import BadValueError
from lcbkit.optimizers.planning import dry_run, job_spec, listed_cells
from lcbkit.optimizers.protocol import cells
from tests.optimizers.asked import ASKED


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


def test_a_topology_may_carry_its_size() -> None:
    spec = job_spec("gepa", "centralized_r8", model="qwen", **{**ASKED, "allow_any_cell": True})
    assert (spec.shape.topology, spec.shape.team_size) == ("centralized", 8)


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
