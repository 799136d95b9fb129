"""The bandit over variants; most of these tests need the extra `maspob`."""

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcbkit.optimizers.interface import ConfigError, InfrastructureExhausted, ReflectionError
from lcbkit.optimizers.maspob import Maspob, MaspobSettings, PoolError, write_pools
from tests.optimizers.bench import TEAMS, Bench, context, holding, seed_bundle
from tests.optimizers.malformed import MALFORMED

HINT = "count from one and never from zero"
HINTED = holding(HINT, role="coder")


def encode(texts: Sequence[str]) -> Any:
    """Unit vectors in which a text with the hint points its own way."""
    rows = []
    for text in texts:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
        vector = np.random.default_rng(seed).normal(size=24)
        vector /= np.linalg.norm(vector)
        vector[0] += 2.0 * (HINT in text)
        rows.append(vector / np.linalg.norm(vector))
    return np.array(rows)


def variant(prompt: str, **_: Any) -> str:
    """Another prompt for the role, by the style that is asked for; some styles bring the hint."""
    role = re.search(r"Role: (\w+)", prompt)
    assert role is not None
    style = hashlib.sha256(prompt.encode()).hexdigest()
    hint = f" You {HINT}." if int(style[0], 16) < 6 else ""
    return f"You are the {role[1]}. Style {style[:8]}: work with care, in small and certain steps.{hint}"


SMALL = MaspobSettings(variants=6, epochs=15)


def maspob(settings: MaspobSettings = SMALL) -> Maspob:
    pytest.importorskip("torch", reason="needs the extra maspob")
    return Maspob(settings, encode=encode)


@pytest.mark.parametrize("topology", TEAMS)
def test_the_budget_is_spent_in_pulls_of_five_and_not_overshot(topology: str) -> None:
    for budget, pulls in ((5, 1), (12, 3)):
        bench = Bench(lambda *_: 0.0, budget=budget, topology=topology)
        outcome = maspob().run(context(topology, bench, reflect=variant))
        assert (bench.charged, outcome.iterations) == (budget, pulls)
        assert outcome.stop_reason == "rollout_budget_spent"
        assert outcome.incumbent.roles.keys() == seed_bundle(topology).roles.keys()
        bench.ledger.assert_closed()


def test_a_larger_budget_begins_with_five_random_pulls() -> None:
    bench = Bench(lambda *_: 0.0, budget=80, topology="independent")
    settings = MaspobSettings(variants=4, epochs=2)
    outcome = maspob(settings).run(context("independent", bench, reflect=variant))
    kinds = [entry["kind"] for entry in outcome.history]
    assert (kinds.count("warm-up"), kinds.count("chosen"), bench.charged) == (5, 11, 80)


def test_the_smallest_budget_has_one_chosen_pull() -> None:
    bench = Bench(lambda *_: 0.0, budget=10)
    outcome = maspob().run(context("sequential", bench, reflect=variant))
    assert [entry["kind"] for entry in outcome.history] == ["warm-up", "chosen"]


def test_the_hint_is_found_and_chosen_pulls_regret_less_than_random_ones() -> None:
    bench = Bench(HINTED, budget=70)
    ctx = context("sequential", bench, reflect=variant)
    settings = MaspobSettings(variants=6, epochs=60)
    outcome = maspob(settings).run(ctx)
    assert HINT in outcome.incumbent.roles["coder"]
    assert ctx.journal.events[-1].incumbent == outcome.incumbent  # type: ignore[attr-defined]
    pool = write_pools(ctx, settings)["coder"]
    share = sum(HINT in text for text in pool) / len(pool)
    assert 0 < share < 0.5
    chosen = [entry["score"] for entry in outcome.history if entry["kind"] == "chosen"]
    assert sum(1 - score for score in chosen) < 0.6 * len(chosen) * (1 - share)


def test_rows_go_round_in_a_shuffled_order() -> None:
    bench = Bench(lambda *_: 0.0, budget=40)
    maspob().run(context("sequential", bench, reflect=variant, train=12))
    ids = [call.row_id for call in bench.calls]
    assert sorted(ids[:12]) == sorted(f"t{number}" for number in range(12))
    assert ids[:12] == ids[12:24]
    assert ids[:12] != [f"t{number}" for number in range(12)]


def test_the_same_seed_gives_the_same_search() -> None:
    def bundles(seed: int) -> list[str]:
        bench = Bench(HINTED, budget=50)
        maspob().run(context("sequential", bench, reflect=variant, seed=seed))
        return [call.bundle.sha256 for call in bench.calls]

    assert bundles(1) == bundles(1)
    assert bundles(1) != bundles(2)


def test_a_dead_endpoint_passes_through() -> None:
    bench = Bench(lambda *_: None, budget=50)
    with pytest.raises(InfrastructureExhausted):
        maspob().run(context("sequential", bench, reflect=variant))


def test_the_pools_hold_the_seed_first_and_the_number_that_is_asked_for() -> None:
    asked: list[str] = []

    def reflect(prompt: str, **options: Any) -> str:
        asked.append(prompt)
        assert options["temperature"] == 0.5
        return variant(prompt)

    ctx = context("sequential", Bench(lambda *_: 0.0, budget=5), reflect=reflect)
    pools = write_pools(ctx, MaspobSettings())
    assert len(asked) == 4 * 29
    assert {role: len(set(pool)) for role, pool in pools.items()} == dict.fromkeys(ctx.team.roles, 20)
    assert {role: pool[0] for role, pool in pools.items()} == dict(ctx.seed_bundle.roles)


@pytest.mark.parametrize("malformed", MALFORMED.values(), ids=list(MALFORMED))
def test_malformed_answers_end_with_a_clear_word_before_any_rollout(malformed: str) -> None:
    bench = Bench(lambda *_: 0.0, budget=50)
    ctx = context("single", bench, reflect=lambda *_, **__: malformed)
    with pytest.raises(PoolError, match=r"needs 6 variants.*solver [12]"):
        write_pools(ctx, SMALL)
    assert bench.ledger.budget.attempted == 0


def test_now_and_then_a_malformed_answer_does_no_harm() -> None:
    answers = list(MALFORMED.values())
    asked: list[str] = []

    def reflect(prompt: str, **_: Any) -> str:
        asked.append(prompt)
        if len(asked) % 2:
            return answers[len(asked) // 2 % len(answers)]
        return variant(f"{prompt} {len(asked)}")

    ctx = context("independent", Bench(lambda *_: 0.0, budget=5), reflect=reflect)
    pools = write_pools(ctx, MaspobSettings(at_once=1))
    assert len(pools["coder"]) == 20


def test_what_was_written_is_kept_and_completed_by_the_next_run(tmp_path: Path) -> None:
    budget = iter(range(1_000))

    def tired(prompt: str, **_: Any) -> str:
        if next(budget) >= 3:
            raise ReflectionError("no answer")
        return variant(prompt)

    bench = Bench(lambda *_: 0.0, budget=5)
    ctx = context("independent", bench, reflect=tired, scratch=tmp_path)
    settings = MaspobSettings(variants=6, at_once=1)
    with pytest.raises(PoolError, match="coder 4"):
        write_pools(ctx, settings)
    kept = json.loads((tmp_path / "variants.json").read_text())["pools"]["coder"]
    pools = write_pools(context("independent", bench, reflect=_other, scratch=tmp_path), settings)
    assert pools["coder"][:4] == kept
    assert len(pools["coder"]) == 6
    again = write_pools(context("independent", bench, scratch=tmp_path), settings)
    assert again == pools
    with pytest.raises(AssertionError, match="nobody was to be asked"):
        write_pools(context("independent", bench, scratch=tmp_path, seed=1), settings)


def _other(prompt: str, **_: Any) -> str:
    return variant(f"{prompt} once more")


@pytest.mark.parametrize("package", ["torch", "sentence_transformers"])
def test_a_missing_package_is_said_before_any_question_and_rollout(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    if package != "torch":
        pytest.importorskip("torch", reason="needs the extra maspob")
    monkeypatch.setitem(sys.modules, package, None)
    bench = Bench(lambda *_: 0.0, budget=60)
    with pytest.raises(ConfigError, match=rf"maspob needs the package {package}.*'lcbkit\[maspob\]'"):
        Maspob().run(context("sequential", bench))
    assert bench.ledger.budget.attempted == 0
