import logging
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import ConfigError, InfrastructureExhausted, ReflectionError, Row, Step
from lcbkit.optimizers.mipro import Mipro, MiproSettings
from tests.optimizers.bench import Bench, context, seed_bundle
from tests.optimizers.malformed import MALFORMED

HINT = "Count from one, never from zero."


def answering(instruction: Callable[[int], str]) -> Callable[..., str]:
    """A reflection that fills the fields DSPy asks for; `instruction` gets the number of its call."""
    asked: list[str] = []

    def reflect(prompt: str, **_: Any) -> str:
        found = re.findall(r"starting with the field `\[\[ ## (\w+) ## \]\]`", prompt)
        assert found, prompt
        if found[-1] == "proposed_instruction":
            asked.append(prompt)
        text = instruction(len(asked)) if found[-1] == "proposed_instruction" else "Numbers to add up."
        return f"[[ ## {found[-1]} ## ]]\n{text}\n\n[[ ## completed ## ]]"

    reflect.asked = asked  # type: ignore[attr-defined]
    return reflect


def plain(number: int) -> str:
    return f"Work by plan number {number} and with care."


def test_where_all_is_solved_four_passes_and_a_few_demos_are_charged_and_the_seed_stays() -> None:
    bench = Bench(lambda *_: 1.0, budget=600)
    outcome = Mipro().run(context("sequential", bench, reflect=answering(plain), seed=2))
    ids = [call.row_id for call in bench.calls]
    assert sum(row[0] == "v" for row in ids) == 200
    assert sum(row[0] == "t" for row in ids) == 7
    assert (outcome.stop_reason, outcome.iterations) == ("num_trials_complete", 3)
    assert outcome.incumbent == seed_bundle("sequential")


def test_where_nothing_is_solved_both_passes_go_through_the_train_rows_and_there_are_no_demos() -> None:
    bench = Bench(lambda *_: 0.0, budget=600)
    outcome = Mipro().run(context("sequential", bench, reflect=answering(plain)))
    assert bench.charged == 500
    assert outcome.stop_reason == "num_trials_complete"
    assert not [call for call in bench.calls if "Worked examples" in "".join(call.bundle.roles.values())]


def test_the_best_instruction_is_kept_whenever_a_trial_tried_it() -> None:
    tried = 0
    for seed in range(4):
        reflect = answering(lambda number: HINT if number % 2 else "Be quick.")

        def score(bundle: Bundle, row: Row, _step: Step, _mask: frozenset[str]) -> float:
            return float(row.id[0] == "v" and bundle.roles["coder"].startswith(HINT))

        bench = Bench(score, budget=600)
        ctx = context("sequential", bench, reflect=reflect, seed=seed, train=6, validation=3)
        outcome = Mipro().run(ctx)
        ran = any(HINT in call.bundle.roles["coder"] for call in bench.calls)
        assert (HINT in outcome.incumbent.roles["coder"]) == ran
        tried += ran
    assert tried


def test_solved_rows_become_demos_of_each_role_in_its_own_prompt() -> None:
    bench = Bench(lambda b, row, *_: float(row.id[0] == "t" or "Worked" in b.roles["tester"]), budget=600)
    for seed in range(4):
        ctx = context("sequential", bench, reflect=answering(plain), seed=seed, train=6, validation=3)
        incumbent = Mipro().run(ctx).incumbent
        if "Worked examples" in incumbent.roles["tester"]:
            break
    text = incumbent.roles["tester"]
    assert "tester on t" in text
    assert "coder on t" not in text
    assert 1 <= text.count("```json") <= 4
    assert incumbent.roles.keys() == ctx.seed_bundle.roles.keys()


@pytest.mark.parametrize(
    ("budget", "charged", "trials"), [(3, 3, 0), (54, 5, 0), (60, 55, 1), (105, 105, 2), (204, 155, 3)]
)
def test_what_does_not_fit_is_refused_before_it_runs(budget: int, charged: int, trials: int) -> None:
    bench = Bench(lambda *_: 1.0, budget=budget)
    outcome = Mipro().run(context("sequential", bench, reflect=answering(plain)))
    assert (bench.charged, len(outcome.history)) == (charged, trials)
    assert outcome.stop_reason == "rollout_budget_spent"
    assert outcome.incumbent == seed_bundle("sequential")
    bench.ledger.assert_closed()


def test_the_seed_prompts_go_through_unchanged_whatever_their_margins() -> None:
    roles = {"solver": "\n   Keep\n     this: margin.  \n\n\tAnd this.\n"}
    bench = Bench(lambda *_: 0.0, budget=600, topology="single")
    outcome = Mipro().run(
        context("single", bench, reflect=answering(plain), roles=roles, train=4, validation=3)
    )
    assert bench.calls[0].bundle.roles == roles
    assert outcome.incumbent.roles == roles


def test_the_model_learns_of_the_team_and_not_of_our_source_code() -> None:
    reflect = answering(plain)
    prompts: list[str] = []

    def listening(prompt: str, **options: Any) -> str:
        prompts.append(prompt)
        assert options["temperature"] == 1.0
        return reflect(prompt, **options)

    Mipro().run(context("sequential", Bench(lambda *_: 1.0, budget=600), reflect=listening, train=12))
    assert len(reflect.asked) == 8  # type: ignore[attr-defined]
    assert all("analyzer -> coder" in prompt for prompt in reflect.asked)  # type: ignore[attr-defined]
    assert not [prompt for prompt in prompts if "def forward" in prompt]


@pytest.mark.parametrize("malformed", MALFORMED.values(), ids=list(MALFORMED))
def test_malformed_answers_never_stop_the_search(malformed: str) -> None:
    bench = Bench(lambda *_: 0.0, budget=30)
    ctx = context("single", bench, reflect=lambda *_, **__: malformed, train=3, validation=5)
    bench._team = ctx.team
    outcome = Mipro().run(ctx)
    assert outcome.stop_reason == "num_trials_complete"
    assert outcome.incumbent == seed_bundle("single")
    assert bench.charged == 26


def test_without_a_reflection_model_the_seed_instructions_are_searched_with_demos() -> None:
    def reflect(*_: Any, **__: Any) -> str:
        raise ReflectionError("no answer")

    bench = Bench(lambda *_: 1.0, budget=600)
    outcome = Mipro().run(context("sequential", bench, reflect=reflect, train=6, validation=3))
    assert outcome.stop_reason == "num_trials_complete"
    assert all("You are the coder." in call.bundle.roles["coder"] for call in bench.calls)


@pytest.mark.parametrize("dead_after", [0, 2, 5, 60])
def test_a_dead_endpoint_passes_through_from_every_phase(dead_after: int) -> None:
    calls = iter(range(10_000))
    bench = Bench(lambda *_: 1.0 if next(calls) < dead_after else None, budget=600)
    with pytest.raises(InfrastructureExhausted):
        Mipro().run(context("sequential", bench, reflect=answering(plain), train=12))
    assert bench.charged == dead_after
    bench.ledger.assert_closed()


def test_minibatches_are_compared_and_only_full_passes_count() -> None:
    bench = Bench(lambda b, *_: float("plan number" in b.roles["solver"]), budget=600, topology="single")
    settings = MiproSettings(minibatch=True, minibatch_size=10, num_trials=4, full_eval_steps=2)
    outcome = Mipro(settings).run(context("single", bench, reflect=answering(plain), train=3, validation=20))
    assert {entry["rows"] for entry in outcome.history} == {10, 20}
    assert "plan number" in outcome.incumbent.roles["solver"]


def test_the_same_seed_gives_the_same_search() -> None:
    def bundles(seed: int) -> list[str]:
        bench = Bench(lambda _b, row, *_: float(int(row.id[1:]) % 3 == 0), budget=600)
        ctx = context("sequential", bench, reflect=answering(plain), seed=seed, train=12, validation=4)
        Mipro().run(ctx)
        return [f"{call.row_id} {call.bundle.sha256}" for call in bench.calls]

    assert bundles(1) == bundles(1)
    assert bundles(1) != bundles(2)


def test_nothing_is_printed_and_others_loggers_are_left_as_they_were(
    capsys: pytest.CaptureFixture[str],
) -> None:
    level = logging.getLogger("dspy").level
    bench = Bench(lambda *_: 1.0, budget=600)
    Mipro().run(context("sequential", bench, reflect=answering(plain), train=6, validation=3))
    assert capsys.readouterr() == ("", "")
    assert logging.getLogger("dspy").level == level


@pytest.mark.parametrize("package", ["dspy", "optuna"])
def test_a_missing_package_is_said_before_the_first_rollout(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    bench = Bench(lambda *_: 0.0, budget=60)
    with pytest.raises(ConfigError, match=rf"mipro needs the package {package}.*'lcbkit\[optimize\]'"):
        Mipro().run(context("sequential", bench))
    assert bench.ledger.budget.attempted == 0
