"""Uncharged evaluations of real teams: resumed, shared, and never worth less for an outage."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint

from lcbkit.optimizers.evaluations import Evaluation, Evaluations
from lcbkit.optimizers.interface import InfrastructureExhausted
from lcbkit.optimizers.job import JobError
from lcbkit.optimizers.toy import toy_splits
from tests.optimizers.world import GREEDY, hinted, problems, runner, seed_bundle

pytestmark = pytest.mark.usefixtures("one_attempt")

IDS = toy_splits()["validation"]
ANSWER = "```python\nprint(1)\n```"


class Stop(Exception):  # noqa: N818
    pass


def evaluations(folder: Path, *, condition: str = "c", seed: int = 0, **work: Any) -> Evaluations:
    return Evaluations(
        folder=folder,
        runner=runner(**work),
        decoding=GREEDY,
        condition_id=condition,
        optimizer_seed=seed,
    )


def run(
    work: Evaluations, ids: Any = IDS, *, stop_after: int | None = None, bundle: Any = None
) -> Evaluation:
    def tell(_: object, done: int) -> None:
        if done == stop_after:
            raise Stop

    return work.run(bundle or seed_bundle(), "validation", ids, tell)


def test_rows_come_in_order_and_the_file_answers_the_second_time(tmp_path: Path) -> None:
    first = run(evaluations(tmp_path))
    assert [record["row_id"] for record in first.records] == list(IDS)
    assert sum(first.scores) == 2
    assert run(evaluations(tmp_path, model="nobody", endpoint="http://127.0.0.1:9/v1")) == first
    assert not list(tmp_path.glob("*.partial.jsonl"))


def test_bundle_seed_split_and_condition_have_evaluations_of_their_own(tmp_path: Path) -> None:
    base = evaluations(tmp_path)
    made = [
        run(base),
        run(base, bundle=hinted()),
        run(evaluations(tmp_path, seed=1)),
        run(evaluations(tmp_path, condition="d")),
        base.run(seed_bundle(), "test", IDS, lambda *_: None),
    ]
    assert len({evaluation.id for evaluation in made}) == 5
    assert made[1].scores == [1.0] * 10
    seeds = [[record["request_seed"] for record in evaluation.records] for evaluation in made]
    assert seeds[0] == seeds[1]
    assert len({tuple(part) for part in seeds}) == 4


def test_a_stopped_evaluation_goes_on_where_it_was(tmp_path: Path, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _: ANSWER
    served: dict[str, Any] = {"model": "m", "endpoint": endpoint.url, "concurrency": 1}
    with pytest.raises(Stop):
        run(evaluations(tmp_path, **served), stop_after=4)
    (journal,) = tmp_path.glob("*.partial.jsonl")
    with journal.open("a") as file:
        file.write('{"record": {"row_id": "to')  # a torn last line
    asked = len(endpoint.requests)
    whole = run(evaluations(tmp_path, **served))
    assert [record["row_id"] for record in whole.records] == list(IDS)
    assert len(endpoint.requests) - asked == 6
    assert not journal.exists()


def test_executions_before_an_interruption_count_toward_the_limit(
    tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    bad = problems()[IDS[1]].statement.splitlines()[0]
    seen: Counter[bool] = Counter()
    lock = threading.Lock()

    def script(request: Request) -> Reply | str:
        with lock:
            seen[bad in request.text] += 1
        return Reply(status=500) if bad in request.text else ANSWER

    endpoint.script = script
    served: dict[str, Any] = {"model": "m", "endpoint": endpoint.url, "concurrency": 1}
    name = run(evaluations(tmp_path / "elsewhere", **served)).id
    line = {"row_id": IDS[1], "status": "infrastructure_failure", "error": "x"}
    lines = [json.dumps({"attempt": number, **line}) + "\n" for number in (1, 2)]
    (tmp_path / f"{name}.partial.jsonl").write_text("".join(lines))
    seen.clear()
    whole = run(evaluations(tmp_path, **served))
    assert whole.records[1]["status"] == "infrastructure_failure"
    assert seen[True] == 1


def test_a_dead_endpoint_is_no_score_and_uses_nothing_up(tmp_path: Path, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda request: ANSWER if request.index < 3 else Reply(status=500)
    served: dict[str, Any] = {"model": "m", "endpoint": endpoint.url, "concurrency": 1}
    with pytest.raises(InfrastructureExhausted, match="the last 5 problems have no observation"):
        run(evaluations(tmp_path, **served))
    assert not list(tmp_path.glob("*.json"))
    endpoint.script = lambda _: ANSWER
    asked = len(endpoint.requests)
    whole = run(evaluations(tmp_path, **served))
    assert {record["status"] for record in whole.records} == {"semantic_failure"}
    assert len(endpoint.requests) - asked == len(IDS) - 3


def test_a_single_row_without_an_observation_is_on_record(tmp_path: Path, endpoint: ScriptedEndpoint) -> None:
    bad = problems()[IDS[-1]].statement.splitlines()[0]
    endpoint.script = lambda request: Reply(status=500) if bad in request.text else ANSWER
    whole = run(evaluations(tmp_path, model="m", endpoint=endpoint.url))
    assert [record["status"] for record in whole.records].count("infrastructure_failure") == 1
    assert "500" in whole.records[-1]["error"]


def test_a_changed_or_strange_file_is_refused(tmp_path: Path) -> None:
    work = evaluations(tmp_path)
    whole = run(work)
    path = tmp_path / f"{whole.id}.json"
    text = path.read_text()
    path.write_text(text.replace('"score": 0.0', '"score": 1.0', 1))
    with pytest.raises(JobError, match="changed after it was sealed"):
        run(work)
    path.unlink()
    journal = tmp_path / f"{whole.id}.partial.jsonl"
    journal.write_text(json.dumps({"record": {"row_id": "another"}}) + "\n")
    with pytest.raises(JobError, match="first problems of its split"):
        run(work)
    journal.write_text("no json\n{}\n")
    with pytest.raises(JobError, match="not the journal"):
        run(work)


def test_two_threads_that_want_the_same_evaluation_make_it_once(
    tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    endpoint.script = lambda _: Reply(ANSWER, delay=0.02)
    found: list[Evaluation] = []

    def work() -> None:
        found.append(run(evaluations(tmp_path, model="m", endpoint=endpoint.url)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2]
    assert len(endpoint.requests) == len(IDS)
