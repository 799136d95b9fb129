"""The evolution by the package gepa: its charges never exceed the budget, whatever it asks for.

The first tests watch the package itself: what it was chosen for must still hold in another release.
"""

import random
from collections import Counter
from typing import Any

import pytest
from gepa.gepa_utils import remove_dominated_programs, select_program_candidate_from_pareto_front
from gepa.proposer.merge import sample_and_attempt_merge_programs_by_common_predictors

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.evolution import Case, Evolution, evolve, rounds_without_repeats
from lcbkit.optimizers.interface import ConfigError, InfrastructureExhausted, Row, Step
from tests.optimizers.bench import Bench, Score, context, rows, seed_bundle


def best_sets(*vectors: str) -> dict[int, set[int]]:
    """The candidates that reach the maximum of each row."""
    return {
        row: {number for number, vector in enumerate(vectors) if vector[row] == max(v[row] for v in vectors)}
        for row in range(len(vectors[0]))
    }


def means(*vectors: str) -> list[float]:
    return [vector.count("1") / len(vector) for vector in vectors]


def test_dominated_candidates_are_no_parents() -> None:
    vectors = ("1001", "0101", "0110", "0100")
    sets = best_sets(*vectors)
    assert list(sets.values()) == [{0}, {1, 2, 3}, {2}, {0, 1}]
    left = remove_dominated_programs(sets, means(*vectors))
    assert set().union(*left.values()) == {0, 2}
    rng = random.Random(0)
    draws = Counter(
        select_program_candidate_from_pareto_front(sets, means(*vectors), rng) for _ in range(20_000)
    )
    assert draws.keys() == {0, 2}
    assert draws[0] / 20_000 == pytest.approx(0.5, abs=0.02)


def test_of_equal_means_the_one_that_adds_nothing_is_never_a_parent() -> None:
    vectors = ("1010", "0101", "1100")
    left = remove_dominated_programs(best_sets(*vectors), means(*vectors))
    assert list(left.values()) == [{0}, {1}, {0}, {1}]


def test_a_merge_takes_each_role_from_the_one_that_changed_it() -> None:
    ancestor, first, second = ("a0", "c0", "t0"), ("a1", "c0", "t1"), ("a0", "c2", "t2")
    merged = sample_and_attempt_merge_programs_by_common_predictors(
        agg_scores=[0.3, 0.6, 0.5],
        rng=random.Random(0),
        merge_candidates=[1, 2],
        merges_performed=([], []),
        program_candidates=[dict(enumerate(texts)) for texts in (ancestor, first, second)],
        parent_program_for_candidate=[[None], [0], [0]],
    )
    assert merged is not None
    assert tuple(merged[0].values()) == ("a1", "c2", "t1")


def zero(*_: Any) -> float:
    return 0.0


def numbered() -> Any:
    """Proposals that never repeat."""
    asked: list[str] = []

    def propose(role: str, _text: str, _cases: Any, iteration: int) -> str:
        asked.append(role)
        return f"You are the {role}, version {iteration}."

    return propose


def evolved(bench: Bench, *, propose: Any = None, topology: str = "sequential", **options: Any) -> Evolution:
    ctx = context(topology, bench, train=options.pop("train", 150), validation=options.pop("validation", 50))
    settings = {"cap": bench.maximum, "paired": False, "seed": 0, **options}
    stop = settings.pop("stop", lambda _means, charged: charged >= bench.maximum)
    return evolve(ctx, method="gepa", propose=propose or numbered(), stop=stop, **settings)


@pytest.mark.parametrize(
    ("budget", "charged", "children", "refused"),
    [(49, 0, 0, True), (50, 50, 0, False), (53, 53, 0, False), (56, 56, 1, False), (600, 599, 91, True)],
)
def test_rejected_proposals_cost_six_and_nothing_is_overshot(
    budget: int, charged: int, children: int, refused: bool
) -> None:
    bench = Bench(zero, budget=budget)
    found = evolved(bench)
    assert (bench.charged, found.refused) == (charged, refused)
    assert len([entry for entry in found.history if entry["proposed"]]) == children
    assert found.candidates == [seed_bundle("sequential")]
    assert found.means == ([] if budget < 50 else [0.0])


def winning(version: int) -> Score:
    """Only the child of one iteration is right, and only on train rows."""

    def score(bundle: Bundle, row: Row, _step: Step, _mask: frozenset[str]) -> float:
        return float(
            row.id.startswith("t") and any(f"version {version}." in t for t in bundle.roles.values())
        )

    return score


def test_the_validation_pass_of_an_accepted_child_that_does_not_fit_is_refused() -> None:
    bench = Bench(winning(2), budget=106)
    found = evolved(bench)
    assert (bench.charged, found.refused, found.means) == (62, True, [0.0])


def test_an_accepted_child_is_validated_and_becomes_a_candidate() -> None:
    bench = Bench(winning(2), budget=112)
    found = evolved(bench)
    assert (bench.charged, found.means) == (112, [0.0, 0.0])
    assert found.best == 0
    assert [role for role, text in found.candidates[1].roles.items() if "version 2." in text] == ["coder"]


def test_roles_take_turns_in_the_teams_order() -> None:
    found = evolved(Bench(zero, budget=50 + 6 * 6))
    assert [entry["proposed"] for entry in found.history] == [
        ["analyzer"],
        ["coder"],
        ["tester"],
        ["debugger"],
        ["analyzer"],
        ["coder"],
    ]


def test_a_proposal_that_is_unchanged_or_missing_is_not_run() -> None:
    for propose in (lambda *_: None, lambda _r, text, *_: f" {text}\n", lambda *_: "  "):
        bench = Bench(zero, budget=80)
        found = evolved(bench, propose=propose)
        assert bench.charged == 80
        assert len(found.candidates) == 1
        assert all(entry["proposed"] == [] for entry in found.history)


def test_a_parent_without_a_fault_is_not_reflected_upon() -> None:
    bench = Bench(lambda *_: 1.0, budget=80)

    def propose(*_: Any) -> str:
        raise AssertionError("asked")

    found = evolved(bench, propose=propose)
    assert bench.charged == 80
    assert found.means == [1.0]


def test_children_that_improved_different_roles_are_merged() -> None:
    """Analyzer and coder, when one of them is changed, solve rows of their own and lose the seed's."""

    def score(bundle: Bundle, row: Row, _step: Step, _mask: frozenset[str]) -> float:
        changed = [role for role, text in bundle.roles.items() if "version" in text]
        needed = [["analyzer"], ["coder"], []][int(row.id[1:]) % 3]
        return float(changed in (needed, ["analyzer", "coder"]))

    bench = Bench(score, budget=600)
    found = evolved(bench, seed=3)
    merges = [entry for entry in found.history if entry["merged"]]
    assert [(entry["mean"], entry["proposed"]) for entry in merges] == [(1.0, [])]
    changed = [role for role, text in found.candidates[found.best].roles.items() if "version" in text]
    assert changed == ["analyzer", "coder"]
    number = merges[0]["iteration"]
    assert [call.row_id[0] for call in bench.calls if call.step.iteration == number] == ["v"] * 55


def test_samplers_of_small_sets_may_repeat_rows() -> None:
    first, second, third = rows("t", 3)
    assert rounds_without_repeats([first, second, first, third, first]) == [[0, 1, 3], [2], [4]]
    bench = Bench(zero, budget=60)
    found = evolved(bench, train=1, validation=2)
    assert bench.charged == 60 - (60 - 2) % 3
    assert found.means == [0.0]


def test_unpaired_bundles_meet_their_own_randomness_and_paired_ones_the_same() -> None:
    def seeds(paired: bool) -> list[int]:
        bench = Bench(zero, budget=56)
        evolved(bench, paired=paired)
        return [call.seed for call in bench.calls[50:]]

    paired, own = seeds(True), seeds(False)
    assert paired[:3] == paired[3:]
    assert not set(own[:3]) & set(own[3:])


def test_paired_validation_passes_meet_the_same_randomness() -> None:
    bench = Bench(winning(1), budget=106)
    evolved(bench, paired=True)
    passes = [call.seed for call in bench.calls if call.row_id.startswith("v")]
    assert len(passes) == 100
    assert passes[:50] == passes[50:]


def test_a_dead_endpoint_passes_through() -> None:
    calls = iter(range(1_000))
    bench = Bench(lambda *_: 0.0 if next(calls) < 52 else None, budget=100)
    with pytest.raises(InfrastructureExhausted):
        evolved(bench)
    bench.ledger.assert_closed()


def test_a_failing_proposer_skips_the_iteration() -> None:
    def propose(*_: Any) -> str:
        raise RuntimeError("broken")

    bench = Bench(zero, budget=62)
    evolved(bench, propose=propose)
    assert bench.charged == 62


def test_cases_hold_the_rows_and_their_rollouts() -> None:
    seen: list[Case] = []

    def propose(_role: str, _text: str, cases: list[Case], _iteration: int) -> None:
        seen.extend(cases)

    evolved(Bench(zero, budget=56), propose=propose)
    assert len(seen) == 3
    assert all(case.row.id == case.rollout.row_id for case in seen)


def test_the_same_seed_gives_the_same_search() -> None:
    def rows_of(seed: int) -> list[str]:
        bench = Bench(zero, budget=120)
        evolved(bench, seed=seed)
        return [call.row_id for call in bench.calls]

    assert rows_of(1) == rows_of(1)
    assert rows_of(1) != rows_of(2)


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    evolved(Bench(winning(1), budget=200))
    assert capsys.readouterr() == ("", "")


def test_the_journal_hears_of_each_new_best_candidate_once() -> None:
    bench = Bench(lambda b, *_: float("version 3." in "".join(b.roles.values())), budget=200)
    ctx = context("sequential", bench)
    evolve(ctx, method="gepa", propose=numbered(), stop=lambda *_: False, cap=200, paired=False, seed=0)
    told = [event.incumbent for event in ctx.journal.events if event.incumbent]  # type: ignore[attr-defined]
    assert len(told) == 2
    assert told[0] == ctx.seed_bundle
    assert "version 3." in told[1].roles["tester"]


def test_a_missing_package_is_said_before_the_first_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gepa", None)
    bench = Bench(zero, budget=60)
    with pytest.raises(ConfigError, match=r"gepa needs the package gepa.*pip install 'lcbkit\[optimize\]'"):
        evolved(bench)
    assert bench.ledger.budget.attempted == 0
