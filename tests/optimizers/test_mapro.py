"""MAPRO: its rules, its loop on a team in memory, and answers of every kind."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from lcbkit.optimizers.interface import (
    ConfigError,
    InfrastructureExhausted,
    Message,
    Outcome,
    ReflectionError,
)
from lcbkit.optimizers.mapro import Mapro, MaproSettings, chosen, no_gain, overall_line
from lcbkit.optimizers.mapro_prompts import OPERATORS, Demo, probe_context
from lcbkit.optimizers.mapro_reflection import Demos, Judged, parse_blame
from tests.optimizers.bench import TEAMS, Bench, context, holding, rollout_of, rows, seed_bundle, spec
from tests.optimizers.malformed import MALFORMED

HINT = "Check the smallest input."
HINTED = holding(HINT)


class Models:
    """Both models: one writes variants, rewrites and blame, the other probes and scores."""

    def __init__(self, hint: str = HINT, score: Callable[[str], str] | None = None) -> None:
        self.hint = hint
        self.score = score or (lambda prompt: "0.9" if self.hint in prompt else "0.5")
        self.asked: Counter[str] = Counter()
        self.prompts: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    def _count(self, kind: str, prompt: str) -> int:
        with self._lock:
            self.asked[kind] += 1
            self.prompts.append((kind, prompt))
            return self.asked[kind]

    def reflect(self, prompt: str, *, role: str, temperature: float, **_: Any) -> str:
        if "<variant>" in prompt:
            number = self._count("variants", prompt)
            return "".join(f"<variant>{role} variant {number}.{n}</variant>" for n in range(4))
        if "one line for each colleague" in prompt:
            assert temperature == 0.2
            self._count("blame", prompt)
            return "\n".join(f"{name}: was vague" for name in spec("sequential").roles)
        assert temperature == 0.7
        self._count("rewrite", prompt)
        revision = prompt.partition("## Your revision (")[2].partition(")")[0]
        return f"<new_prompt>{role} {revision}. {self.hint}</new_prompt>"

    def task(
        self, prompt: str, *, system: str | None, temperature: float, top_p: float, max_tokens: int, **_: Any
    ) -> str:
        assert (temperature, top_p) == (0.2, 0.9)
        if system is not None:
            assert max_tokens == 768
            self._count("probe", prompt)
            return f"Written under: {system}"
        assert max_tokens == 8
        self._count("edge" if "You rate a hand-off" in prompt else "node", prompt)
        return self.score(prompt)


def search(
    topology: str, budget: int, models: Models, score: Any = lambda *_: 0.0, train: int = 20, **settings: Any
) -> tuple[Bench, Outcome]:
    bench = Bench(score, budget=budget, topology=topology)
    ctx = context(topology, bench, reflect=models.reflect, task_llm=models.task, train=train)
    outcome = Mapro(MaproSettings(**settings)).run(ctx)
    assert bench.ledger.assert_closed().charged <= budget
    return bench, outcome


def test_patience_of_the_worked_example_ends_after_round_seven() -> None:
    scores = [0.40, 0.45, 0.45, 0.40, 0.42, 0.42, 0.42, 0.42]
    ended = [no_gain(scores[: n + 1], 3) for n in range(len(scores))]
    assert ended == [False] * 7 + [True]


def test_a_gain_up_to_epsilon_is_none() -> None:
    assert no_gain([0.40, 0.41, 0.42, 0.43], 3, epsilon=0.02)
    assert not no_gain([0.40, 0.41, 0.42, 0.43], 3)


def test_replicas_choose_alone_and_peers_by_how_they_get_on() -> None:
    for topology, diagonal, best in (("independent", None, 0), ("decentralized", (0.5, 0.6, 0.9), 2)):
        team = spec(topology)
        judged = Judged(nodes={team.roles[0]: (0.9, 0.8, 0.7)}, edges={}, diagonal=diagonal)
        assert chosen(judged, team).choice == {team.roles[0]: best}


@pytest.mark.parametrize(
    ("topology", "probes", "nodes", "edges"),
    [
        ("sequential", 60, 60, 225),
        ("centralized", 60, 60, 225),
        ("decentralized", 15, 15, 15),
        ("independent", 15, 15, 0),
    ],
)
def test_a_round_asks_as_often_as_the_reference_says(
    topology: str, probes: int, nodes: int, edges: int
) -> None:
    models = Models()
    search(topology, 40, models, rounds=1)
    asked = models.asked
    assert (asked["probe"], asked["node"], asked["edge"]) == (probes, nodes, edges)
    assert asked["variants"] == len(spec(topology).roles)


def test_blame_and_rewrites_of_a_round() -> None:
    models = Models(score=lambda _: "0.5")
    search("sequential", 60, models, rounds=2)
    assert models.asked["rewrite"] == 16
    assert models.asked["blame"] == 9, "three failures, each read by three roles"
    rewrites = [prompt for kind, prompt in models.prompts if kind == "rewrite"]
    assert sum("- was vague" in prompt for prompt in rewrites) == 12, "nobody reads the last stage"
    assert all("0 of 20 problems solved" in prompt for prompt in rewrites)
    assert {sum(operator in prompt for prompt in rewrites) for operator in OPERATORS} == {8, 4}
    models = Models(score=lambda _: "0.5")
    search("centralized", 60, models, rounds=2)
    assert models.asked["blame"] == 12, "three failures: three workers and the manager"


@pytest.mark.parametrize("topology", TEAMS)
def test_a_prompt_that_helps_is_chosen(topology: str) -> None:
    bench, outcome = search(topology, 100, Models(), HINTED)
    assert any(HINT in text for text in outcome.incumbent.roles.values())
    assert set(outcome.incumbent.roles) == set(seed_bundle(topology).roles)
    assert bench.charged <= 100
    assert outcome.history[1]["improved"]


def test_the_choice_that_is_already_the_best_costs_nothing() -> None:
    bench, outcome = search("sequential", 600, Models(score=lambda _: "0.5"))
    assert bench.charged == 20
    assert outcome.stop_reason == "patience"
    assert outcome.iterations == 3
    assert all(entry["known"] for entry in outcome.history)
    assert outcome.incumbent == seed_bundle("sequential")


def test_every_choice_meets_the_same_seed_on_a_row() -> None:
    bench, _ = search("sequential", 40, Models(), HINTED)
    first, second = bench.calls[:20], bench.calls[20:]
    assert first[0].bundle != second[0].bundle
    assert [(call.row_id, call.seed) for call in first] == [(call.row_id, call.seed) for call in second]


def test_eight_rounds_are_the_most() -> None:
    bench, outcome = search("sequential", 600, Models(score=lambda _: "0.5"), patience=9)
    assert outcome.stop_reason == "max_iters"
    assert outcome.iterations == 8
    assert bench.charged == 20


def test_the_budget_ends_the_search_before_a_pass_that_does_not_fit() -> None:
    for budget, charged in ((20, 20), (39, 20), (40, 40), (79, 60)):
        models = Models(hint=HINT)
        bench, outcome = search("sequential", budget, models, lambda *_: 0.0)
        assert bench.charged <= charged
        assert outcome.stop_reason in ("budget", "patience")
        if budget < 40:
            assert outcome.stop_reason == "budget"
            assert not models.asked, "nothing is asked for a search that cannot run"


def test_a_budget_below_one_pass_is_refused_before_any_rollout() -> None:
    bench = Bench(HINTED, budget=149)
    with pytest.raises(ConfigError, match="300 are the least"):
        Mapro().run(context("sequential", bench))
    assert bench.calls == []
    bench = Bench(HINTED, budget=10)
    models = Models()
    ctx = context("sequential", bench, reflect=models.reflect, task_llm=models.task)
    Mapro(MaproSettings(evaluation_batch=5)).run(ctx)
    assert bench.charged <= 10
    assert {call.row_id for call in bench.calls} == {f"t{n}" for n in range(5)}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("topology", ["sequential", "decentralized"])
def test_malformed_answers_never_stop_or_corrupt_a_search(answer: str, topology: str) -> None:
    models = Models()
    models.reflect = lambda *_, **__: answer  # type: ignore[method-assign]
    models.task = lambda *_, **__: answer  # type: ignore[method-assign]
    bench, outcome = search(topology, 100, models)
    json.dumps(outcome.history)
    assert set(outcome.incumbent.roles) == set(seed_bundle(topology).roles)
    assert outcome.incumbent == seed_bundle(topology), "nothing was better"
    assert bench.charged <= 100
    assert outcome.history[0]["unreadable_answers"] == 4 * len(outcome.incumbent.roles)


def test_a_task_model_that_is_dead_ends_the_search() -> None:
    def dead(*_: Any, **__: Any) -> str:
        raise ReflectionError("no answer after 3 retries")

    models = Models()
    models.task = dead  # type: ignore[method-assign]
    with pytest.raises(InfrastructureExhausted):
        search("sequential", 100, models)


def test_a_reflection_model_that_is_dead_keeps_the_seed() -> None:
    def dead(*_: Any, **__: Any) -> str:
        raise ReflectionError("no answer after 3 retries")

    models = Models()
    models.reflect = dead  # type: ignore[method-assign]
    bench, outcome = search("sequential", 100, models)
    assert outcome.incumbent == seed_bundle("sequential")
    assert bench.charged == 20
    assert models.asked["probe"] == 3 * 4 * 3, (
        "one distinct candidate, three contexts, four roles, three rounds"
    )


def test_the_same_seed_gives_the_same_search() -> None:
    def run() -> tuple[Any, list[Any]]:
        bench, outcome = search("centralized", 100, Models(), HINTED)
        return outcome, [(call.row_id, call.seed, call.bundle) for call in bench.calls]

    assert run() == run()


def test_blame_is_read_line_by_line_for_parents_alone() -> None:
    answer = """- **coder**: ignored the bound
tester: OK
`analyzer`: OK.
manager: lazy
debater::2: copied
no line"""
    parents = ["coder", "tester", "analyzer", "debater"]
    assert parse_blame(answer, parents) == {"coder": "ignored the bound", "debater": "copied"}
    assert parse_blame("", parents) == {}
    assert set(parse_blame("coder:" * 200_000, parents)) <= {"coder"}


def test_demos_are_kept_by_age_and_shown_in_turn() -> None:
    demos = Demos(most=2)
    for number in range(3):
        demos.add(Demo(prompt=f"good {number}", score=0.9), good=True)
        demos.add(Demo(prompt=f"bad {number}", score=0.1), good=False)
    demos.add(Demo(prompt="good 1", score=0.8), good=True)
    assert [demo.prompt for demo in demos.shown(3)] == ["good 1", "bad 2", "good 2"]
    assert demos.shown(0) == []


def test_judged_prompts_become_examples_for_the_next_round() -> None:
    def score(prompt: str) -> str:
        return "0.9" if HINT in prompt else "0.2"

    models = Models(score=score)
    search("independent", 100, models, lambda *_: 1.0)
    nodes = [prompt for kind, prompt in models.prompts if kind == "node"]
    assert not any("worth was seen" in prompt for prompt in nodes[:15])
    assert any("Rated 0.20:" in prompt for prompt in nodes[15:])
    models = Models(score=score)
    search("independent", 100, models, lambda *_: 1.0, demos=False)
    assert not any("worth was seen" in prompt for _, prompt in models.prompts)


def test_a_probe_sees_what_its_role_saw() -> None:
    row = rows("t", 1)[0]
    call = {"name": "delegate_to_coder_worker", "arguments": {"instructions": "Write it with a heap."}}
    star = rollout_of(
        Message(source="user", content=row.problem),
        Message(
            source="manager", content="DELEGATE coder_worker: First job.\nDELEGATE tester_worker: Test it."
        ),
        Message(source="coder_worker", content="done"),
        Message(source="manager", content="", tool_calls=(call,)),
    )
    team = spec("centralized")
    coder = probe_context(team, "coder_worker", row, star)
    assert "First job." in coder
    assert "with a heap" in coder
    assert "Test it." not in coder
    assert "First job." not in probe_context(team, "manager", row, star)
    chain = rollout_of(*(Message(source=role, content=f"by {role}") for role in spec("sequential").roles))
    tester = probe_context(spec("sequential"), "tester", row, chain)
    assert "by coder" in tester
    assert "by tester" not in tester
    peers = rollout_of(*(Message(source=f"debater::{n}", content=f"by {n}") for n in range(4)))
    assert "by 3" in probe_context(spec("decentralized"), "debater", row, peers)
    assert "by" not in probe_context(spec("independent"), "coder", row, peers)
    assert row.problem in tester


def test_the_overall_line_counts_and_shows_two_failures() -> None:
    line = overall_line(rows("t", 3), [rollout_of()] * 3)
    assert line.startswith("0 of 3 problems solved")
    assert line.count("passed 1 of 3 tests") == 2
