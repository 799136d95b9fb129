"""MASPO: its beam, its loop on a team in memory, and answers of every kind."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import ConfigError, InfrastructureExhausted, Outcome, ReflectionError
from lcbkit.optimizers.maspo import Maspo, MaspoSettings, Node, next_beam, pool_of
from lcbkit.topologies.roles import TOPOLOGIES
from tests.optimizers.bench import Bench, context, holding, seed_bundle
from tests.optimizers.malformed import MALFORMED

HINT = "Check the smallest input."
HINTED = holding(HINT)


class Reflection:
    """Proposes and judges; every proposal differs unless `text` says what they all are."""

    def __init__(self, text: str | None = None, judge: Callable[[str], str] = lambda _: "B") -> None:
        self.text, self.judge = text, judge
        self.asked: Counter[str] = Counter()
        self.prompts: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, prompt: str, *, role: str, temperature: float, **_: Any) -> str:
        kind = "judge" if role.startswith("judge ") else "proposal"
        assert temperature == (0.0 if kind == "judge" else 0.7)
        with self._lock:
            self.asked[kind] += 1
            number = self.asked[kind]
            self.prompts.append(prompt)
        if kind == "judge":
            return self.judge(prompt)
        text = self.text if self.text is not None else f"Prompt {number}."
        return f"<analysis>x</analysis><change>y</change>\n<new_prompt>\n{text}\n</new_prompt>"


def search(
    topology: str, budget: int, reflect: Callable[..., str], score: Any = lambda *_: 0.0, **settings: Any
) -> tuple[Bench, Outcome]:
    bench = Bench(score, budget=budget, topology=topology)
    outcome = Maspo(MaspoSettings(**settings)).run(context(topology, bench, reflect=reflect))
    assert bench.ledger.assert_closed().charged <= budget
    return bench, outcome


def test_a_beam_takes_what_gained_and_the_parent_for_what_did_not() -> None:
    parent = Node(prompt="p", value=0.10)
    pool = pool_of(parent, [("a", 0.05, ("row1",)), ("b", -0.20, ())])
    assert [node.value for node in pool] == pytest.approx([0.15, 0.10])
    beam = next_beam(pool, 2)
    assert [node.prompt for node in beam] == ["a", "p"]
    assert beam[0].misaligned == ("row1",)


def test_a_prompt_is_in_a_beam_once_and_without_proposals_the_parent_stays() -> None:
    parent = Node(prompt="p", value=0.10)
    assert pool_of(parent, []) == [parent]
    pool = [
        parent,
        Node(prompt="a", value=0.2),
        parent,
        Node(prompt="a", value=0.3),
        Node(prompt="b", value=0.1),
    ]
    assert [(node.prompt, node.value) for node in next_beam(pool, 5)] == [("a", 0.3), ("p", 0.1), ("b", 0.1)]


def test_equal_proposals_are_one_candidate_and_the_parent_itself_costs_nothing() -> None:
    settings = {"depth": 1, "steps_per_turn": 1}
    bench, _ = search("independent", 600, Reflection(text="The same."), **settings)
    assert bench.charged == 20
    seed = next(iter(seed_bundle("independent").roles.values()))
    bench, outcome = search("independent", 600, Reflection(text=seed), **settings)
    assert bench.charged == 10
    assert outcome.incumbent == seed_bundle("independent")
    bench, _ = search("independent", 600, Reflection(), **settings)
    assert bench.charged == 30


def test_parent_and_candidates_meet_the_same_rows_under_the_same_seeds() -> None:
    bench, _ = search("independent", 30, Reflection())
    first, second, third = (bench.calls[n : n + 10] for n in (0, 10, 20))
    for other in (second, third):
        assert [(call.row_id, call.seed) for call in other] == [(call.row_id, call.seed) for call in first]


def test_one_shared_prompt_ends_by_depth_within_its_worst_case() -> None:
    bench, outcome = search("decentralized", 600, Reflection())
    assert outcome.stop_reason == "maximum_search_depth"
    assert outcome.history[-1]["depth"] == 9
    assert bench.charged <= 570


def test_the_anchor_changes_only_by_a_gain() -> None:
    found = 0

    def score(bundle: Bundle, *_: Any) -> float:
        return float("Prompt 1." in bundle.roles["debater"])

    bench, outcome = search("decentralized", 600, Reflection(), score)
    found = sum(entry["improved"] for entry in outcome.history)
    assert found == 1
    assert outcome.incumbent.roles["debater"] == "Prompt 1."
    assert outcome.history[0]["rewards"] == [0.5, 0.0]
    assert outcome.history[0]["beam"] == [0.5, 0.0]
    assert bench.charged <= 600


def test_a_role_with_a_successor_is_judged_on_both_outputs() -> None:
    reflect = Reflection(judge=lambda _: "A")
    _, outcome = search("sequential", 30, reflect)
    assert reflect.asked["judge"] == 20, "the successor's lines are equal: no question"
    # L = 1, N = 0.5 (equal outputs), G = 0.5
    assert outcome.history[0]["rewards"] == pytest.approx([0.2, 0.2])
    assert outcome.history[0]["role"] == "analyzer"
    assert outcome.incumbent.roles["analyzer"] == "Prompt 1."


def test_the_role_that_submits_comes_last_and_is_never_judged() -> None:
    for topology, last in (("sequential", "debugger"), ("centralized", "manager")):
        reflect = Reflection()
        _, outcome = search(topology, 600, reflect, depth=1)
        assert [entry["role"] for entry in outcome.history][-1] == last
        assert outcome.stop_reason == "maximum_search_depth"
        assert not any(f"same team member, `{last}`" in prompt for prompt in reflect.prompts[-40:])


def test_rows_where_a_role_won_and_the_team_lost_go_to_its_readers() -> None:
    calls: list[str] = []

    def score(bundle: Bundle, row: Any, *_: Any) -> float:
        calls.append(row.id)
        return float("Prompt" not in bundle.roles["analyzer"] or int(row.id[1:]) % 2)

    bench, outcome = search("sequential", 600, Reflection(judge=lambda _: "A"), score, steps_per_turn=1)
    assert outcome.history[0]["improved"]
    buffer = outcome.history[0]["misaligned"]
    assert 0 < len(buffer) <= 3
    assert all(int(row[1:]) % 2 == 0 for row in buffer)
    coder = [call.row_id for call in bench.calls if call.step.tag == "coder/0"][:10]
    assert set(buffer) <= set(coder)


def test_a_turn_that_comes_again_begins_with_a_comparison_in_the_new_team() -> None:
    _, outcome = search("sequential", 600, Reflection(judge=lambda _: "A"), steps_per_turn=1, depth=2)
    refreshed = [entry for entry in outcome.history if entry["what"] == "refresh"]
    assert [entry["role"] for entry in refreshed][:2] == ["analyzer", "coder"]
    # The anchor is pinned at 0; the other node wins its own outputs: 0.7 * 1 + 0.3 * 0.5 - 0.5.
    assert refreshed[0]["rewards"] == pytest.approx([0.35])
    assert refreshed[0]["improved"]


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_prompt_that_helps_is_found(topology: str) -> None:
    def propose(_prompt: str, *, role: str, **_: Any) -> str:
        return "A" if role.startswith("judge ") else f"<new_prompt>You help. {HINT}</new_prompt>"

    bench, outcome = search(topology, 60, propose, HINTED)
    assert any(HINT in text for text in outcome.incumbent.roles.values())
    assert set(outcome.incumbent.roles) == set(seed_bundle(topology).roles)
    assert bench.charged <= 60


@pytest.mark.parametrize("answer", ["B", "a or b", "", "I prefer A.", None])
def test_a_judge_that_does_not_say_a_lets_the_candidate_lose(answer: str | None) -> None:
    def judge(_prompt: str) -> str:
        if answer is None:
            raise ReflectionError("no answer after 3 retries")
        return answer

    _, outcome = search("sequential", 30, Reflection(judge=judge))
    # L = 0, N = 0.5, G = 0.5
    assert outcome.history[0]["rewards"] == pytest.approx([-0.2, -0.2])
    assert outcome.incumbent == seed_bundle("sequential")


def test_random_positions_cancel_a_judge_that_likes_the_first_place() -> None:
    _, always = search("sequential", 30, Reflection(judge=lambda _: "A"))
    _, mixed = search("sequential", 30, Reflection(judge=lambda _: "A"), random_positions=True)
    assert max(mixed.history[0]["rewards"]) < min(always.history[0]["rewards"])
    _, again = search("sequential", 30, Reflection(judge=lambda _: "A"), random_positions=True)
    assert again.history == mixed.history


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_malformed_answers_keep_the_seed(answer: str) -> None:
    bench, outcome = search("sequential", 100, lambda *_, **__: answer, minibatch=2, depth=1)
    assert outcome.incumbent == seed_bundle("sequential")
    assert bench.charged == 4 * 2, "the parent alone is run"
    assert all(entry["unreadable_answers"] == 2 for entry in outcome.history)
    json.dumps(outcome.history)


def test_outcomes_are_told_only_when_asked_for() -> None:
    for outcomes in (False, True):
        reflect = Reflection()
        search("sequential", 30, reflect, outcomes=outcomes)
        shown = [prompt for prompt in reflect.prompts if "## Samples of its work" in prompt]
        assert all(("passed 1 of 3 tests" in prompt) is outcomes for prompt in shown)


@pytest.mark.parametrize("budget", [2, 9, 10, 11, 20, 21, 29, 30, 45, 101])
@pytest.mark.parametrize("topology", ["independent", "centralized"])
def test_no_budget_is_overshot(budget: int, topology: str) -> None:
    bench, outcome = search(topology, budget, Reflection(judge=lambda _: "A"))
    assert bench.charged == budget
    assert outcome.stop_reason == "budget"
    assert bench.refused == 0


def test_too_small_a_budget_is_refused_before_any_rollout() -> None:
    bench = Bench(HINTED, budget=1)
    with pytest.raises(ConfigError, match="20 are the least"):
        Maspo().run(context("sequential", bench))
    assert bench.calls == []


def test_the_same_seed_gives_the_same_search() -> None:
    def propose(prompt: str, *, role: str, **_: Any) -> str:
        if role.startswith("judge "):
            return "AB"[len(prompt) % 2]
        return f"<new_prompt>Prompt {len(prompt)}.</new_prompt>"

    def run(seed: int) -> tuple[Any, list[Any]]:
        bench = Bench(lambda bundle, *_: float(len(str(bundle.roles)) % 3), budget=200)
        outcome = Maspo().run(context("sequential", bench, reflect=propose, seed=seed))
        return outcome, [(call.row_id, call.step, call.seed) for call in bench.calls]

    assert run(1) == run(1)
    assert run(1)[1] != run(2)[1]


def test_a_dead_endpoint_passes_through() -> None:
    with pytest.raises(InfrastructureExhausted):
        search("sequential", 60, Reflection(), lambda *_: None)
