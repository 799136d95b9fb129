"""TAVO: its arithmetic, its loop on a team in memory, and answers of every kind."""

import json
import threading
from collections import Counter
from typing import Any

import pytest

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import ConfigError, InfrastructureExhausted, ReflectionError, Row
from lcbkit.optimizers.overlay import strip_overlay
from lcbkit.optimizers.tavo import Tavo, TavoSettings, accepted, validation_rows
from tests.optimizers.bench import TEAMS, Bench, context, holding, seed_bundle
from tests.optimizers.malformed import MALFORMED

HINT = "Check the smallest input."
HINTED = holding(HINT)


class Judge:
    """A reflection model that answers each question in the shape it asks for; counts the questions."""

    def __init__(self, rule: str = HINT) -> None:
        self.rule = rule
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, prompt: str, *, role: str, temperature: float, **_: Any) -> str:
        kind = role if role in ("credit", "ranking", "rules") else "role"
        if "Write the complete new instructions" in prompt:
            kind = "refine"
        with self._lock:
            self.asked[kind] += 1
            number = self.asked[kind]
        assert temperature == (0.3 if kind == "credit" else 0.5)
        if kind == "credit":
            return '{"progress": 4, "coordination": 6, "stage_fit": 5, "analysis": "Skipped the bound."}'
        if kind == "role":
            return json.dumps({"edits": {"add": [self.rule], "remove": ["Remove politeness, please."]}})
        if kind == "ranking":
            return json.dumps({"items": [self.rule]})
        if kind == "rules":
            return f"<rules>\n- {self.rule} ({number})\n- Agree on the format.\n</rules>"
        return f"<prompt>You work with care. {self.rule}</prompt>"


@pytest.mark.parametrize(("budget", "rows"), [(600, 50), (300, 45), (120, 15), (60, 5), (48, 3), (12, 3)])
def test_the_rows_of_a_validation_batch(budget: int, rows: int) -> None:
    assert validation_rows(budget) == rows


@pytest.mark.parametrize(
    ("score", "base", "best", "adopted"),
    [
        (0.54, 0.50, 0.56, False),
        (0.56, 0.50, 0.56, True),
        (0.50, 0.50, 0.50, False),
        (0.52, 0.50, 0.50, True),
        (0.51, 0.50, 0.50, True),
        (0.52, 0.51, 0.51, True),
    ],
)
def test_a_candidate_must_beat_the_seed_and_reach_the_best(
    score: float, base: float, best: float, adopted: bool
) -> None:
    assert accepted(score, base, best) is adopted


def test_two_rounds_without_adoption_end_the_search_with_the_seed() -> None:
    bench = Bench(lambda *_: 0.0, budget=600)
    outcome = Tavo().run(context("sequential", bench, reflect=Judge()))
    assert bench.ledger.assert_closed().charged == 50 + 4 * 56
    assert outcome.stop_reason == "native_patience"
    assert outcome.incumbent == seed_bundle("sequential")
    assert outcome.iterations == 4


@pytest.mark.parametrize("topology", TEAMS)
@pytest.mark.parametrize("mode", ["overlay", "hybrid", "paper"])
def test_a_rule_that_helps_is_adopted(topology: str, mode: str) -> None:
    bench = Bench(HINTED, budget=60, topology=topology)
    judge = Judge()
    outcome = Tavo(TavoSettings(mode=mode)).run(context(topology, bench, reflect=judge))
    assert any(HINT in text for text in outcome.incumbent.roles.values())
    assert outcome.history[0]["adopted"]
    assert bench.ledger.assert_closed().charged <= 60
    seed = seed_bundle(topology)
    assert set(outcome.incumbent.roles) == set(seed.roles)
    if mode == "overlay":
        assert all(strip_overlay(text) == seed.roles[role] for role, text in outcome.incumbent.roles.items())
        assert judge.asked["refine"] == 0
    else:
        assert judge.asked["refine"] > 0
    assert (judge.asked["rules"] > 0) is (mode != "paper")


def test_the_current_bundle_is_the_newest_candidate_and_its_old_rules_are_gone() -> None:
    bench = Bench(lambda *_: 0.0, budget=600)
    Tavo().run(context("sequential", bench, reflect=Judge()))
    train = [call for call in bench.calls if call.row_id.startswith("t")]
    by_attempt = [train[n * 6].bundle for n in range(4)]
    assert by_attempt[0] == seed_bundle("sequential")
    for number, bundle in enumerate(by_attempt[1:], start=1):
        assert all(text.count("team rules v1") == 1 for text in bundle.roles.values())
        assert all(f"({number})" in text for text in bundle.roles.values())
    assert {call.row_id for call in train[:6]} == {call.row_id for call in train[6:12]}


def test_pieces_are_judged_only_with_credit_on() -> None:
    for credit, asked in ((True, 6 * 4), (False, 0)):
        judge = Judge()
        bench = Bench(HINTED, budget=12)
        Tavo(TavoSettings(credit=credit)).run(context("sequential", bench, reflect=judge))
        assert judge.asked["credit"] == asked
        assert judge.asked["role"] == 6 * 4


def test_questions_carry_no_more_of_a_problem_than_its_statement() -> None:
    seen: list[str] = []
    judge = Judge()

    def reflect(prompt: str, **settings: Any) -> str:
        seen.append(prompt)
        return judge(prompt, **settings)

    Tavo().run(context("centralized", Bench(HINTED, budget=12, topology="centralized"), reflect=reflect))
    credits = [prompt for prompt in seen if "You judge one step" in prompt]
    assert any("passed 1 of 3 tests" in prompt for prompt in credits)
    assert any("(nothing: this is the first step)" in prompt for prompt in credits)
    roles = [prompt for prompt in seen if "You study what the role" in prompt]
    assert all("progress 4, coordination 6, stage fit 5: Skipped the bound." in prompt for prompt in roles)
    told = "## The instructions of `coder_worker`\nYou are the coder_worker. Work with care, step by step."
    assert sum(told in prompt for prompt in roles) == 6


@pytest.mark.parametrize("mode", ["overlay", "hybrid", "paper"])
@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_malformed_answers_keep_the_seed_and_spend_nothing_on_it(answer: str, mode: str) -> None:
    bench = Bench(lambda *_: 0.0, budget=60)
    outcome = Tavo(TavoSettings(mode=mode)).run(context("sequential", bench, reflect=lambda *_, **__: answer))
    charged = bench.ledger.assert_closed().charged
    assert charged == 5 + 4 * 6, "an unchanged bundle is not scored again"
    assert outcome.stop_reason == "native_patience"
    assert outcome.incumbent == seed_bundle("sequential")
    assert all(entry["unchanged"] and entry["unreadable_answers"] for entry in outcome.history)
    json.dumps(outcome.history)


def test_a_reflection_model_that_gives_nothing_keeps_the_seed() -> None:
    def reflect(*_: Any, **__: Any) -> str:
        raise ReflectionError("no answer after 3 retries")

    outcome = Tavo().run(context("sequential", Bench(HINTED, budget=60), reflect=reflect))
    assert outcome.incumbent == seed_bundle("sequential")


def test_huge_rules_stay_short() -> None:
    judge = Judge(rule=HINT + " and so on" * 100_000)
    bench = Bench(HINTED, budget=12)
    outcome = Tavo().run(context("sequential", bench, reflect=judge))
    assert any(HINT in text for text in outcome.incumbent.roles.values())
    assert max(map(len, outcome.incumbent.roles.values())) < 3_000


@pytest.mark.parametrize("budget", [3, 5, 11, 12, 13, 20, 21, 48, 60])
def test_no_budget_is_overshot(budget: int) -> None:
    bench = Bench(lambda *_: 0.0, budget=budget)
    outcome = Tavo().run(context("sequential", bench, reflect=Judge()))
    closed = bench.ledger.assert_closed()
    assert closed.charged <= budget
    assert bench.refused == 0
    if budget < 12:
        assert (closed.charged, outcome.stop_reason) == (3, "budget_before_outer_round")
    if budget in (12, 20):
        assert outcome.stop_reason == "budget_before_retry"


def test_a_budget_below_the_seeds_own_score_is_refused_before_any_rollout() -> None:
    bench = Bench(HINTED, budget=2)
    with pytest.raises(ConfigError, match="12 are the least"):
        Tavo().run(context("sequential", bench))
    assert bench.calls == []


def test_few_rows_are_enough() -> None:
    bench = Bench(HINTED, budget=60)
    outcome = Tavo().run(context("sequential", bench, reflect=Judge(), train=2, validation=1))
    assert any(HINT in text for text in outcome.incumbent.roles.values())


def test_the_same_seed_gives_the_same_search_and_another_seed_other_rows() -> None:
    def search(seed: int) -> tuple[Any, list[str]]:
        bench = Bench(HINTED, budget=120)
        outcome = Tavo().run(context("sequential", bench, reflect=Judge(), seed=seed))
        return outcome, [call.row_id for call in bench.calls]

    assert search(0) == search(0)
    assert search(0)[1] != search(1)[1]


def test_a_dead_endpoint_passes_through() -> None:
    def score(_bundle: Bundle, row: Row, *_: Any) -> float | None:
        return None if row.id.startswith("t") else 0.0

    with pytest.raises(InfrastructureExhausted):
        Tavo().run(context("sequential", Bench(score, budget=60), reflect=Judge()))
