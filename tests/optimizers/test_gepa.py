from typing import Any

import pytest

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.evolution import Case
from lcbkit.optimizers.gepa import Gepa, GepaSettings, plateau, role_record
from lcbkit.optimizers.interface import ReflectionError, Row, Step
from tests.optimizers.bench import Bench, context, holding, rollout_of, rows, seed_bundle
from tests.optimizers.malformed import MALFORMED

HINT = "Count from one, never from zero."
HINTED = holding(HINT, role="coder")


def answer(prompt: str, **_: Any) -> str:
    """A reflection that knows the hint and keeps the instruction."""
    text = prompt.split("````")[1].strip()
    return f"The role miscounts.\n````\n{text}\n{HINT}\n````"


def case() -> Case:
    said = [
        ("analyzer", "the plan"),
        ("coder", "first draft"),
        ("tester", "it fails on 0"),
        ("coder", "second"),
    ]
    return Case(row=rows("t", 1)[0], rollout=rollout_of(*said, final_output="the answer"))


def test_the_hint_is_found_and_the_budget_is_kept() -> None:
    bench = Bench(HINTED, budget=170)
    ctx = context("sequential", bench, reflect=answer)
    outcome = Gepa().run(ctx)
    assert HINT in outcome.incumbent.roles["coder"]
    assert bench.charged <= 170
    assert outcome.incumbent.roles.keys() == ctx.seed_bundle.roles.keys()
    assert ctx.journal.events[-1].score == 1.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(("budget", "charged"), [(20, 0), (50, 50), (56, 56), (600, 599)])
def test_the_budget_is_never_overshot_and_an_unspent_seed_pass_keeps_the_seed(
    budget: int, charged: int
) -> None:
    bench = Bench(lambda *_: 0.0, budget=budget)
    outcome = Gepa().run(context("sequential", bench, reflect=answer))
    assert (bench.charged, outcome.stop_reason) == (charged, "rollout_budget_spent")
    assert outcome.incumbent == seed_bundle("sequential")


def test_three_full_validations_without_a_new_best_end_the_search() -> None:
    assert not plateau([0.30, 0.32, 0.31, 0.32], 3)
    assert plateau([0.30, 0.32, 0.31, 0.32, 0.30], 3)
    assert not plateau([], 3)

    def score(bundle: Bundle, row: Row, step: Step, _mask: frozenset[str]) -> float:
        """Every child beats its parent on its train rows, and nothing is better on validation rows."""
        return float(row.id[0] == "t" and f"attempt {step.iteration}." in bundle.roles["solver"])

    def reflect(_prompt: str, *, step: Step, **_: Any) -> str:
        return f"````\nThis is attempt {step.iteration}.\n````"

    bench = Bench(score, budget=600, topology="single")
    outcome = Gepa().run(context("single", bench, reflect=reflect))
    assert (outcome.stop_reason, bench.charged) == ("full_eval_plateau", 50 + 3 * 56)
    assert outcome.incumbent == seed_bundle("single")


def test_the_librarys_own_cap_ends_the_search_too() -> None:
    bench = Bench(lambda *_: 0.0, budget=600, topology="single")
    outcome = Gepa(GepaSettings(max_full_evals=2)).run(
        context("single", bench, reflect=answer, train=10, validation=5)
    )
    assert outcome.stop_reason == "max_full_evals"
    assert 30 <= bench.charged < 36


@pytest.mark.parametrize("malformed", MALFORMED.values(), ids=list(MALFORMED))
def test_malformed_answers_never_stop_the_search(malformed: str) -> None:
    bench = Bench(HINTED, budget=80)
    outcome = Gepa().run(context("sequential", bench, reflect=lambda *_, **__: malformed))
    assert outcome.incumbent == seed_bundle("sequential")
    assert outcome.stop_reason == "rollout_budget_spent"
    assert 74 < bench.charged <= 80


def test_a_failing_reflection_model_skips_its_iteration() -> None:
    def reflect(*_: Any, **__: Any) -> str:
        raise ReflectionError("no answer")

    bench = Bench(HINTED, budget=65)
    assert Gepa().run(context("sequential", bench, reflect=reflect)).iterations == 5
    assert bench.charged == 65


def test_the_model_is_asked_once_an_iteration_with_the_roles_own_trace() -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def reflect(prompt: str, **options: Any) -> str:
        asked.append((prompt, options))
        return "no fence: You are a changed role."

    bench = Bench(lambda *_: 0.0, budget=62)
    Gepa().run(context("sequential", bench, reflect=reflect))
    assert [options["role"] for _, options in asked] == ["analyzer", "coder"]
    assert all(options["temperature"] == 1.0 for _, options in asked)
    prompt = asked[1][0]
    assert "coder on t" in prompt
    assert "tester on t" not in prompt
    assert prompt.count("passed 1 of 3 tests") == 3


def test_a_record_holds_the_problem_the_roles_words_and_the_judgement_and_no_other_role() -> None:
    record = role_record("coder", case(), output_chars=100, trace_chars=100)
    for text in ("Problem t0", "first draft", "second", "the answer", "passed 1 of 3 tests"):
        assert text in record
    assert "it fails on 0" not in record
    assert "x" * 200 not in role_record("nobody", case(), output_chars=100, trace_chars=100)
