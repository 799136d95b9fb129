from collections.abc import Callable
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.hivemind import Hivemind, HivemindSettings, next_target
from lcbkit.optimizers.interface import (
    ConfigError,
    InfrastructureExhausted,
    ReflectionError,
    Row,
    Step,
    Unsupported,
)
from tests.optimizers.bench import Bench, context, seed_bundle, spec

HINT = "Count from one, never from zero."
LESSONS = f"<lessons>\n- {HINT}\n</lessons>"


def hinted(role: str) -> Callable[[Bundle, Row, Step, frozenset[str]], float]:
    """A team that solves a problem if a role acts and its prompt holds the hint."""

    def score(bundle: Bundle, _row: Row, _step: Step, mask: frozenset[str]) -> float:
        return float(HINT in bundle.roles[role] and role not in mask)

    return score


@pytest.mark.parametrize(
    ("topology", "budget", "cycles", "charged"),
    [("centralized", 600, 12, 600), ("sequential", 600, 6, 540), ("decentralized", 600, 6, 540)],
)
def test_cycles_and_charges_of_the_whole_budget(
    topology: str, budget: int, cycles: int, charged: int
) -> None:
    bench = Bench(lambda *_: 0.0, budget=budget, topology=topology)
    outcome = Hivemind().run(context(topology, bench, reflect=_numbered_lessons()))
    assert (outcome.iterations, bench.charged, outcome.stop_reason) == (cycles, charged, "budget")
    assert outcome.incumbent == seed_bundle(topology)
    assert bench.refused == 0


def _numbered_lessons() -> Callable[..., str]:
    asked: list[str] = []

    def reflect(prompt: str, **_: Any) -> str:
        asked.append(prompt)
        return f"<lessons>\n- Lesson number {len(asked)}.\n</lessons>"

    return reflect


@pytest.mark.parametrize(
    ("topology", "budget", "charged"),
    [("centralized", 10, 10), ("sequential", 18, 18), ("sequential", 17, 0), ("centralized", 9, 0)],
)
def test_the_smallest_budgets(topology: str, budget: int, charged: int) -> None:
    bench = Bench(lambda *_: 0.0, budget=budget, topology=topology)
    outcome = Hivemind().run(context(topology, bench, reflect=lambda *_, **__: LESSONS))
    assert (bench.charged, outcome.stop_reason, outcome.iterations) == (charged, "budget", int(charged > 0))


def test_the_hint_is_found_and_only_the_role_that_needed_it_is_changed() -> None:
    def score(bundle: Bundle, row: Row, _step: Step, mask: frozenset[str]) -> float:
        """All but the tester pull their weight; the tester does harm until it is taught."""
        taught = HINT in bundle.roles["tester"] or "tester" in mask
        return float(taught and not mask & {"coder"} and row.id[-1] in "02468")

    bench = Bench(score, budget=90)
    outcome = Hivemind().run(context("sequential", bench, reflect=lambda *_, **__: LESSONS))
    changed = {
        role
        for role, text in outcome.incumbent.roles.items()
        if text != seed_bundle("sequential").roles[role]
    }
    assert changed == {"tester"}
    assert HINT in outcome.incumbent.roles["tester"]
    (entry,) = outcome.history
    assert entry["target"] == "tester"
    assert entry["outcome"] == "accepted"
    assert sum(entry["credits"].values()) == pytest.approx(
        entry["coalitions"]["analyzer+coder+debugger+tester"] - entry["coalitions"][""]
    )


def test_every_coalition_meets_the_same_rows_and_seeds_and_so_do_both_sides_of_the_gate() -> None:
    bench = Bench(lambda *_: 0.0, budget=90)
    Hivemind().run(context("sequential", bench, reflect=lambda *_, **__: LESSONS))
    masks = {call.mask for call in bench.calls if call.step.tag == "coalitions"}
    assert len(masks) == 16
    seeds = {
        tuple((c.row_id, c.seed) for c in bench.calls if c.mask == mask and c.step.tag == "coalitions")
        for mask in masks
    }
    assert len(seeds) == 1
    gate = [(c.row_id, c.seed) for c in bench.calls if c.step.tag == "gate"]
    assert gate[:5] == gate[5:]
    assert all(row.startswith("v") for row, _ in gate)
    assert all(call.row_id.startswith("t") for call in bench.calls if call.step.tag == "coalitions")
    sizes = [len(call.mask) for call in bench.calls if call.step.tag == "coalitions"]
    assert sizes == sorted(sizes, reverse=True)


def test_cycles_go_through_the_rows_in_a_shuffled_order() -> None:
    bench = Bench(lambda *_: 0.0, budget=600)
    Hivemind().run(context("sequential", bench, reflect=_numbered_lessons(), train=12))
    seen = [call.row_id for call in bench.calls if call.step.tag == "coalitions" and len(call.mask) == 4]
    assert len(seen) == 30
    assert seen[:12] == seen[12:24]
    assert sorted(seen[:12]) == sorted(f"t{number}" for number in range(12))
    assert seen[:12] != [f"t{number}" for number in range(12)]


def test_the_target_is_the_lowest_credit_and_the_manager_every_third_cycle() -> None:
    credits = {"tester_worker": 0.1, "coder_worker": 0.4, "analyzer_worker": 0.1}
    targets = [next_target(credits, cycle=cycle, manager="manager", manager_every=3) for cycle in range(1, 7)]
    assert targets == ["analyzer_worker", "analyzer_worker", "manager"] * 2
    worked = {"A": 0.033333, "C": 0.433333, "T": 0.133333}
    assert next_target(worked, cycle=3, manager=None, manager_every=3) == "A"


def test_a_shared_prompt_owns_the_credits_of_all_its_replicas() -> None:
    bench = Bench(lambda _b, _r, _s, mask: float(len(mask) < 3), budget=90, topology="independent")
    outcome = Hivemind().run(context("independent", bench, reflect=lambda *_, **__: LESSONS))
    assert outcome.history[0]["credits"] == {"coder": pytest.approx(1.0)}


def test_more_than_five_players_are_judged_by_random_orders() -> None:
    bench = Bench(lambda *_: 0.0, budget=200, topology="centralized")
    ctx = context("centralized", bench, reflect=lambda *_, **__: LESSONS)
    workers = tuple(f"w{number}" for number in range(7))
    team = replace(ctx.team, roles=("manager", *workers), players=workers)
    bundle = Bundle(roles={role: f"You are {role}." for role in team.roles})
    bench._team = team
    outcome = Hivemind().run(replace(ctx, team=team, seed_bundle=bundle))
    assert len(outcome.history[0]["coalitions"]) <= 40
    assert outcome.history[0]["credits"].keys() == set(workers)


def test_old_lessons_fall_off() -> None:
    def score(bundle: Bundle, _row: Row, step: Step, _mask: frozenset[str]) -> float:
        """In every gate the candidate, which holds one lesson more, wins."""
        return float(f"number {step.iteration}." in bundle.roles["coder"]) if step.tag == "gate" else 0.0

    bench = Bench(score, budget=900, topology="independent")
    settings = HivemindSettings(max_lessons=3)
    outcome = Hivemind(settings).run(context("independent", bench, reflect=_numbered_lessons()))
    text = outcome.incumbent.roles["coder"]
    assert [n for n in range(1, 11) if f"number {n}." in text] == [8, 9, 10]


def test_the_reflection_sees_the_targets_words_and_the_results_and_no_more_than_six_cases() -> None:
    asked: list[str] = []

    def reflect(prompt: str, **options: Any) -> str:
        asked.append(prompt)
        assert options["temperature"] == 0.7
        return LESSONS

    bench = Bench(lambda _b, row, _s, _m: float(int(row.id[1:]) % 2), budget=300, topology="sequential")
    Hivemind(HivemindSettings(coalition_batch=16, max_cycles=1)).run(
        context("sequential", bench, reflect=reflect)
    )
    (prompt,) = asked
    target = "analyzer"
    assert f"the {target}. Its duty" in prompt
    assert f"{target} on t" in prompt
    assert "coder on t" not in prompt
    assert 1 <= prompt.count("passed 1 of 3 tests") <= 6
    assert 1 <= prompt.count("passed all 3 tests") <= 6
    assert "+0.000" in prompt


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I think it should be more careful.",
        '{"lessons": ["unfinished',
        "<lessons>\n</lessons>",
        "# no\n```",
    ],
)
def test_an_answer_without_lessons_costs_no_gate(answer: str) -> None:
    bench = Bench(lambda *_: 0.0, budget=90)
    outcome = Hivemind().run(context("sequential", bench, reflect=lambda *_, **__: answer))
    assert bench.charged == 80
    assert outcome.history[0]["outcome"] == "no new lessons"
    assert outcome.incumbent == seed_bundle("sequential")


def test_a_huge_answer_and_strange_characters_do_no_harm() -> None:
    answer = "<lessons>\n- " + "x" * 500_000 + "\x00\ud800\n</lessons>"
    bench = Bench(hinted("debugger"), budget=90)
    outcome = Hivemind().run(context("sequential", bench, reflect=lambda *_, **__: answer))
    assert bench.charged == 90
    assert outcome.incumbent == seed_bundle("sequential")


def test_a_failing_reflection_model_leaves_the_search_running() -> None:
    def reflect(*_: Any, **__: Any) -> str:
        raise ReflectionError("no answer after three retries")

    bench = Bench(lambda *_: 0.0, budget=170)
    outcome = Hivemind().run(context("sequential", bench, reflect=reflect))
    assert [entry["reflection_error"] for entry in outcome.history] == ["no answer after three retries"] * 2


def test_a_cycle_limit_ends_the_search() -> None:
    bench = Bench(lambda *_: 0.0, budget=600)
    ctx = context("sequential", bench, reflect=_numbered_lessons())
    outcome = Hivemind(HivemindSettings(max_cycles=2)).run(ctx)
    assert (outcome.iterations, outcome.stop_reason, bench.charged) == (2, "max_cycles", 180)
    assert len(ctx.journal.events) == 2  # type: ignore[attr-defined]


def test_a_dead_endpoint_and_a_team_that_cannot_be_masked_pass_through() -> None:
    with pytest.raises(InfrastructureExhausted):
        Hivemind().run(context("sequential", Bench(lambda *_: None, budget=90)))
    bench = Bench(lambda *_: 0.0, budget=90, can_mask=False)
    with pytest.raises(Unsupported):
        Hivemind().run(context("sequential", bench))
    assert bench.charged == 0


def test_a_team_without_players_is_refused_before_the_first_rollout() -> None:
    bench = Bench(lambda *_: 0.0, budget=90, topology="single")
    with pytest.raises(ConfigError, match="single team has none"):
        Hivemind().run(context("single", bench))
    assert spec("single").players == ()


def test_the_same_seed_gives_the_same_search_and_another_seed_other_rows() -> None:
    def searched(seed: int) -> tuple[list[str], Bundle]:
        bench = Bench(
            lambda _b, r, _s, m: float((int(r.id[1:]) + len(m)) % 2), budget=180, optimizer_seed=seed
        )
        outcome = Hivemind().run(context("sequential", bench, reflect=_numbered_lessons(), seed=seed))
        return [call.row_id for call in bench.calls], outcome.incumbent

    assert searched(1) == searched(1)
    assert searched(1)[0] != searched(2)[0]


def test_accepted_lessons_raise_the_gates_mean() -> None:
    bench = Bench(hinted("coder"), budget=600, topology="independent")

    def score(bundle: Bundle, _row: Row, _step: Step, _mask: frozenset[str]) -> float:
        return float(HINT in bundle.roles["coder"])

    bench._score = score
    outcome = Hivemind().run(context("independent", bench, reflect=lambda *_, **__: LESSONS))
    first, *others = outcome.history
    assert (first["before"], first["after"], first["outcome"]) == (0.0, 1.0, "accepted")
    assert fmean(score == 1.0 for entry in others for score in entry["coalitions"].values()) == 1.0
