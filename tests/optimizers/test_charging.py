"""Charged rollouts of real teams at a real endpoint, which fails when it is told to."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint

from lcbkit.optimizers.interface import (
    BudgetExhausted,
    InfrastructureExhausted,
    Step,
    Unsupported,
)
from lcbkit.optimizers.interface import Request as Batch
from lcbkit.optimizers.seeds import logical_seed
from tests.optimizers.world import charged_team, hinted, rows, runner, seed_bundle

pytestmark = pytest.mark.usefixtures("one_attempt")

STEP = Step("optimization/x", 3)
ANSWER = "```python\nimport sys\nprint(len(sys.stdin.read()))\n```"


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def test_a_batch_comes_back_in_row_order_scored_and_charged(tmp_path: Path) -> None:
    team, ledger = charged_team(tmp_path, runner(), budget=10)
    wanted = rows()[:8]
    before, after = team.batch(seed_bundle(), wanted[:4], STEP), team.batch(hinted(), wanted[4:], STEP)
    assert [rollout.row_id for rollout in (*before, *after)] == [row.id for row in wanted]
    assert [rollout.score for rollout in before] == [0, 0, 0, 1]
    assert [rollout.score for rollout in after] == [1, 1, 1, 1]
    budget = ledger.assert_closed()
    assert (budget.charged, budget.successful, budget.semantic_failures) == (8, 5, 3)
    records = lines(tmp_path, "records")
    assert [record["row_id"] for record in records] == [row.id for row in wanted]
    assert [record["budget"]["charged"] for record in records] == list(range(1, 9))
    assert len(lines(tmp_path, "attempts")) == 8


def test_what_does_not_fit_is_refused_before_anything_runs(tmp_path: Path) -> None:
    team, ledger = charged_team(tmp_path, runner(), budget=3)
    with pytest.raises(BudgetExhausted):
        team.batch(seed_bundle(), rows()[:4], STEP)
    assert ledger.budget.attempted == 0
    assert len(team.batch(seed_bundle(), rows()[:4], STEP, exact=False)) == 3
    with pytest.raises(BudgetExhausted):
        team.batch(seed_bundle(), rows()[:1], STEP, exact=False)
    assert (team.remaining, team.maximum, ledger.assert_closed().charged) == (0, 3, 3)


def test_several_batches_run_as_one_or_not_at_all(tmp_path: Path) -> None:
    team, ledger = charged_team(tmp_path, runner(), budget=5)
    seed, better = seed_bundle(), hinted()
    with pytest.raises(BudgetExhausted):
        team.batches(
            [Batch(bundle=seed, rows=rows()[:3], step=STEP), Batch(bundle=better, rows=rows()[:3], step=STEP)]
        )
    assert ledger.assert_closed().attempted == 0
    done = team.batches(
        [
            Batch(bundle=seed, rows=rows()[:3], step=STEP),
            Batch(bundle=better, rows=rows()[:3], step=STEP, exact=False),
            Batch(bundle=better, rows=rows()[3:5], step=STEP, exact=False),
        ]
    )
    assert [[rollout.score for rollout in batch] for batch in done] == [[0, 0, 0], [1, 1], []]
    assert ledger.assert_closed().charged == 5


@pytest.mark.parametrize("wanted", [[], [0, 1, 0]])
def test_a_batch_holds_rows_and_each_once(tmp_path: Path, wanted: list[int]) -> None:
    team, ledger = charged_team(tmp_path, runner(), budget=5)
    with pytest.raises(ValueError, match="each of them once"):
        team.batch(seed_bundle(), [rows()[index] for index in wanted], STEP)
    assert ledger.budget.reserved == 0


def test_seeds_follow_from_the_place_in_the_search(tmp_path: Path) -> None:
    team, _ = charged_team(tmp_path, runner(), budget=9, seed=2)
    row = rows()[1]

    def expected(key: str, position: int) -> int:
        return logical_seed(
            optimizer_seed=2,
            cell_id="cell",
            phase=STEP.phase,
            iteration=STEP.iteration,
            row_id=row.id,
            key=key,
            position=position,
        )

    seed, better, tagged = seed_bundle(), hinted(), Step(STEP.phase, STEP.iteration, "pair")
    assert team.batch(seed, rows()[:2], STEP)[1].request_seed == expected(seed.sha256, 1)
    assert team.rollout(better, row, STEP).request_seed == expected(better.sha256, 0)
    pair = [team.rollout(bundle, row, tagged).request_seed for bundle in (seed, better)]
    assert pair == [expected("pair", 0)] * 2


def test_a_failure_is_retried_with_the_same_seed_and_never_charged(
    tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    seen: Counter[int | None] = Counter()
    lock = threading.Lock()

    def script(request: Request) -> Reply | str:
        with lock:
            seen[request.seed] += 1
            return Reply(status=503) if seen[request.seed] <= 2 else ANSWER

    endpoint.script = script
    team, ledger = charged_team(tmp_path, runner(model="m", endpoint=endpoint.url), budget=4)
    done = team.batch(seed_bundle(), rows()[:3], STEP)
    assert [rollout.status for rollout in done] == ["semantic_failure"] * 3
    assert sorted(seen) == sorted(rollout.request_seed for rollout in done)
    assert set(seen.values()) == {3}
    budget = ledger.assert_closed()
    assert (budget.charged, budget.attempted, budget.infrastructure_failures) == (3, 9, 6)
    attempts = lines(tmp_path, "attempts")
    assert Counter(line["attempt"] for line in attempts) == {1: 3, 2: 3, 3: 3}
    assert len(lines(tmp_path, "records")) == 3


def test_a_row_without_an_observation_ends_the_search_and_is_no_zero(
    tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    broken = rows()[1]

    def script(request: Request) -> Reply | str:
        statement = broken.problem.splitlines()[0]
        return Reply(status=500) if statement in request.text else ANSWER

    endpoint.script = script
    charged: list[str] = []
    team, ledger = charged_team(
        tmp_path,
        runner(model="m", endpoint=endpoint.url, concurrency=1),
        budget=6,
        on_charge=lambda rollout, _: charged.append(rollout.row_id),
    )
    with pytest.raises(InfrastructureExhausted, match=broken.id):
        team.batch(seed_bundle(), rows()[:4], STEP)
    budget = ledger.assert_closed()
    assert charged == [rows()[0].id]
    assert (budget.charged, budget.infrastructure_failures) == (1, 3)
    assert [line["row_id"] for line in lines(tmp_path, "records")] == charged


def test_a_dead_server_is_infrastructure(tmp_path: Path) -> None:
    team, ledger = charged_team(tmp_path, runner(model="m", endpoint="http://127.0.0.1:9/v1"), budget=3)
    with pytest.raises(InfrastructureExhausted, match="check that the endpoint answers"):
        team.batch(seed_bundle(), rows()[:1], STEP)
    assert ledger.assert_closed().charged == 0


def test_an_empty_answer_is_a_semantic_failure(tmp_path: Path, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _: "I would rather not."
    team, ledger = charged_team(tmp_path, runner(model="m", endpoint=endpoint.url), budget=3)
    (rollout,) = team.batch(seed_bundle(), rows()[:1], STEP)
    assert (rollout.status, rollout.score) == ("semantic_failure", 0.0)
    assert "No program" in rollout.feedback
    assert rollout.usage["n_llm_calls"] == 1
    assert ledger.assert_closed().charged == 1


def test_how_many_run_at_once_changes_nothing_but_the_time(
    tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    def script(request: Request) -> Reply:
        right = (request.seed or 0) % 2
        code = ANSWER if right else "```python\nprint('no')\n```"
        return Reply(code, delay=0.002 * ((request.seed or 0) % 7))

    endpoint.script = script
    found = []
    for concurrency in (1, 6):
        folder = tmp_path / str(concurrency)
        team, ledger = charged_team(
            folder, runner("independent", model="m", endpoint=endpoint.url, concurrency=concurrency), budget=6
        )
        done = team.batch(seed_bundle("independent"), rows()[:6], STEP)
        assert ledger.assert_closed().charged == 6
        found.append(
            [(one.row_id, one.request_seed, one.score, one.messages, one.final_output) for one in done]
        )
    assert found[0] == found[1]
    assert endpoint.peak > 1


def test_masked_players_are_silent_and_nobody_at_all_is_a_charged_abstention(tmp_path: Path) -> None:
    team, ledger = charged_team(tmp_path, runner("sequential"), budget=3)
    seed = seed_bundle("sequential")
    everybody = team.batch(seed, rows()[3:4], STEP)[0]
    some = team.batch(seed, rows()[3:4], STEP, mask=frozenset({"tester", "debugger"}))[0]
    nobody = team.batch(seed, rows()[3:4], STEP, mask=frozenset(seed.roles))[0]
    assert [message.source for message in everybody.messages] == ["user", *seed.roles]
    assert [message.source for message in some.messages] == ["user", "analyzer", "coder"]
    assert (some.active, some.score) == (("analyzer", "coder"), 1.0)
    assert (nobody.active, nobody.status, nobody.usage["n_llm_calls"]) == ((), "semantic_failure", 0)
    assert ledger.assert_closed().charged == 3


def test_an_unknown_player_is_refused_before_anything_runs(tmp_path: Path) -> None:
    team, ledger = charged_team(tmp_path, runner("centralized"), budget=3)
    with pytest.raises(Unsupported, match="cannot do without manager"):
        team.batch(seed_bundle("centralized"), rows()[:1], STEP, mask=frozenset({"manager"}))
    assert ledger.budget.attempted == ledger.budget.reserved == 0


def test_endpoints_are_used_in_turn(tmp_path: Path, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _: ANSWER
    with ScriptedEndpoint(lambda _: ANSWER) as second:
        work = runner(model="m", endpoint=(endpoint.url, second.url))
        team, _ = charged_team(tmp_path, work, budget=4)
        team.batch(seed_bundle(), rows()[:4], STEP)
        assert (len(endpoint.requests), len(second.requests)) == (2, 2)
