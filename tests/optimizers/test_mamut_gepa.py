from typing import Any

import pytest

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import ReflectionError, Row, Step
from lcbkit.optimizers.mamut_gepa import MamutGepa, MamutGepaSettings, best_other, team_record
from tests.optimizers.bench import Bench, context, seed_bundle
from tests.optimizers.malformed import MALFORMED
from tests.optimizers.test_gepa import HINT, HINTED, case


def answer(prompt: str, **_: Any) -> str:
    text = prompt.split("<instruction>")[1].split("</instruction>")[0].strip()
    return f"It miscounts.\n<instruction>\n{text}\n{HINT}\n</instruction>"


def test_a_record_holds_what_all_roles_said() -> None:
    record = team_record("coder", case())
    assert record is not None
    for text in (
        "[tester]\nit fails on 0",
        "[analyzer]\nthe plan",
        "second",
        "passed 1 of 3 tests",
        "Problem t0",
    ):
        assert text in record
    assert team_record("debugger", case()) is None


def test_the_hint_is_found_and_the_budget_is_kept() -> None:
    bench = Bench(HINTED, budget=170)
    outcome = MamutGepa().run(context("sequential", bench, reflect=answer))
    assert HINT in outcome.incumbent.roles["coder"]
    assert bench.charged <= 170


def test_a_validation_pass_that_would_cross_the_cap_is_refused() -> None:
    def score(bundle: Bundle, row: Row, _step: Step, _mask: frozenset[str]) -> float:
        return float(row.id[0] == "t" and HINT in bundle.roles["coder"])

    bench = Bench(score, budget=106)
    outcome = MamutGepa().run(context("sequential", bench, reflect=answer))
    assert (bench.charged, outcome.stop_reason) == (62, "metric_call_cap")
    assert outcome.incumbent == seed_bundle("sequential")


@pytest.mark.parametrize(
    ("budget", "limit", "charged", "reason"),
    [
        (56, 600, 56, "native_gepa_stop"),
        (600, 56, 56, "native_gepa_stop"),
        (600, 600, 599, "metric_call_cap"),
        (600, 58, 56, "metric_call_cap"),
        (49, 600, 0, "metric_call_cap"),
    ],
)
def test_the_cap_is_the_smaller_of_limit_and_budget(
    budget: int, limit: int, charged: int, reason: str
) -> None:
    bench = Bench(lambda *_: 0.0, budget=budget)
    settings = MamutGepaSettings(metric_call_limit=limit)
    outcome = MamutGepa(settings).run(context("sequential", bench, reflect=answer))
    assert (bench.charged, outcome.stop_reason) == (charged, reason)
    assert outcome.incumbent == seed_bundle("sequential")


def test_a_tie_may_leave_and_a_loss_may_not() -> None:
    seed, other = Bundle(roles={"coder": "a"}), Bundle(roles={"coder": "b"})
    same = Bundle(roles={"coder": "a"}, metadata={"again": 1})
    assert best_other([seed, other], [0.30, 0.30]) == other
    assert best_other([seed, other], [0.30, 0.28]) == seed
    assert best_other([seed, same], [0.30, 0.40]) == seed
    assert best_other([seed, same, other], [0.30, 0.40, 0.35]) == other
    assert best_other([seed], []) == seed


def test_bundles_that_are_compared_meet_the_same_randomness() -> None:
    bench = Bench(lambda *_: 0.0, budget=56)
    MamutGepa().run(context("sequential", bench, reflect=answer))
    seeds = [call.seed for call in bench.calls]
    assert seeds[50:53] == seeds[53:56]


def test_the_model_is_asked_at_its_temperature_with_the_whole_transcript() -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def reflect(prompt: str, **options: Any) -> str:
        asked.append((prompt, options))
        return answer(prompt)

    MamutGepa().run(context("sequential", Bench(lambda *_: 0.0, budget=56), reflect=reflect))
    (prompt, options) = asked[0]
    assert (options["temperature"], options["top_p"], options["role"]) == (0.7, 1.0, "analyzer")
    for role in ("analyzer", "coder", "tester", "debugger"):
        assert f"[{role}]\n{role} on t" in prompt


@pytest.mark.parametrize("malformed", MALFORMED.values(), ids=list(MALFORMED))
def test_malformed_answers_never_stop_the_search(malformed: str) -> None:
    bench = Bench(HINTED, budget=80)
    outcome = MamutGepa().run(context("sequential", bench, reflect=lambda *_, **__: malformed))
    assert outcome.incumbent == seed_bundle("sequential")
    assert 77 <= bench.charged <= 80


def test_a_failing_reflection_model_skips_its_iteration() -> None:
    def reflect(*_: Any, **__: Any) -> str:
        raise ReflectionError("no answer")

    bench = Bench(HINTED, budget=65)
    assert MamutGepa().run(context("sequential", bench, reflect=reflect)).iterations == 5
    assert bench.charged == 65


def test_huge_trajectories_fit_into_the_window() -> None:
    lengths: list[int] = []

    def reflect(prompt: str, **options: Any) -> str:
        lengths.append(len(prompt))
        assert options["max_tokens"] is not None
        return answer(prompt)

    long = {role: f"{text} {'x ' * 60_000}" for role, text in seed_bundle("sequential").roles.items()}
    bench = Bench(lambda *_: 0.0, budget=56)
    MamutGepa().run(context("sequential", bench, reflect=reflect, roles=long))
    assert lengths
