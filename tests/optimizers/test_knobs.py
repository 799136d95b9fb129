"""Settings that a user gave: known, of their kind, and in their range, or told so in one sentence."""

from dataclasses import fields
from typing import Any

import pytest

from lcbkit.errors import BadValueError
from lcbkit.optimizers.methods import METHODS, make_optimizer


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_setting_that_a_method_does_not_have_is_named_with_those_it_has(method: str) -> None:
    known = [field.name for field in fields(make_optimizer(method).settings)]
    with pytest.raises(BadValueError, match=f"{method} has no setting 'tempo'") as failure:
        make_optimizer(method, {"tempo": 1})
    assert all(name in str(failure.value) for name in known)


def test_a_slip_of_the_pen_is_pointed_at() -> None:
    with pytest.raises(BadValueError, match=r"did you mean minibatch\?"):
        make_optimizer("gepa", {"minibach": 2})


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"identity"}))
@pytest.mark.parametrize("value", ["abc", None, [1], {"a": 1}, float("nan"), float("inf"), b"x"])
def test_a_value_of_another_kind_is_told_for_every_setting(method: str, value: Any) -> None:
    for field in fields(make_optimizer(method).settings):
        if isinstance(value, str) and field.type is str:
            continue
        with pytest.raises(BadValueError, match=field.name):
            make_optimizer(method, {field.name: value})


@pytest.mark.parametrize(("name", "value"), [("minibatch", 3.5), ("minibatch", True), ("temperature", True)])
def test_numbers_are_not_bent_into_others(name: str, value: Any) -> None:
    with pytest.raises(BadValueError, match=f"gepa.{name} is {value}"):
        make_optimizer("gepa", {name: value})


def test_whole_numbers_do_for_numbers_and_mappings_for_groups() -> None:
    assert make_optimizer("gepa", {"temperature": 1}).settings.temperature == 1.0
    made = make_optimizer("maspo", {"weights": {"local": 0.5}}).settings
    assert made.weights.local == 0.5
    with pytest.raises(BadValueError, match=r"maspo.weights has no setting 'far'"):
        make_optimizer("maspo", {"weights": {"far": 1}})


@pytest.mark.parametrize(
    ("method", "name", "value"),
    [
        ("maspo", "buffer", -1),
        ("maspo", "injection", -5),
        ("tavo", "most_validation_rows", -1),
        ("hivemind", "problem_chars", -1),
        ("gepa", "temperature", -0.1),
        ("maspob", "ridge", 0),
        ("maspob", "weight", -1.0),
    ],
)
def test_values_that_would_break_a_search_are_refused_before_it(method: str, name: str, value: float) -> None:
    with pytest.raises(BadValueError, match=name):
        make_optimizer(method, {name: value})


@pytest.mark.parametrize(
    ("method", "name", "value"),
    [
        *(("gepa", name, 0) for name in ("minibatch", "max_full_evals")),
        ("mamut_gepa", "metric_call_limit", 0),
        *(("mipro", name, 0) for name in ("num_candidates", "num_trials", "minibatch_size")),
        *(("hivemind", name, 0) for name in ("coalition_batch", "manager_every")),
        *(("maspob", name, 0) for name in ("variants", "minibatch", "tries")),
        *(("mapro", name, 0) for name in ("candidates", "rounds")),
        *(("maspo", name, 0) for name in ("beam", "minibatch", "at_once")),
        *(("tavo", name, 0) for name in ("rounds", "at_once")),
    ],
)
def test_a_number_that_is_too_small_is_told_with_its_least(method: str, name: str, value: int) -> None:
    with pytest.raises(BadValueError, match=f"{method}: {name} is 0; it must be at least [12]"):
        make_optimizer(method, {name: value})


def test_a_mode_that_a_method_does_not_have_is_answered_with_those_it_has() -> None:
    with pytest.raises(BadValueError, match="tavo: no mode 'magic'; there is: overlay, hybrid, paper"):
        make_optimizer("tavo", {"mode": "magic"})


def test_a_seed_may_be_any_whole_number() -> None:
    assert make_optimizer("gepa", {"seed": -3}).settings.seed == -3
    assert make_optimizer("tavo", {"rng_base": -3}).settings.rng_base == -3
