import json
import math

import pytest

from lcbkit.errors import RunFolderError
from lcbkit.records import Record, Status

FULL = Record(
    problem_id="abc301_a",
    sample=2,
    status=Status.OK,
    passed=False,
    pass_count=3,
    total=4,
    code="print(1)",
    difficulty="easy",
    platform="atcoder",
    mode="stdin",
    contest_date="2023-05-13",
    topology="independent",
    size=4,
    format="freeform",
    model="m",
    seed=0,
    stop_reason="end",
    winner=1,
    votes={"winner": 1, "sizes": [3, 1]},
    agents=({"agent": 0, "role": "solver"},),
    first_failure={"test": 3, "mode": "stdin", "kind": "wrong_answer", "message": "no"},
    verdicts={"passed": 3, "wrong_answer": 1},
    test_verdicts="PPPW",
    solve_s=1.25,
    judge_s=0.5,
    prompt_tokens=10,
    completion_tokens=5,
    n_llm_calls=4,
    calls_without_usage=1,
)


def test_a_record_survives_its_row_as_json() -> None:
    assert Record.from_row(json.loads(json.dumps(FULL.to_row()))) == FULL


def test_what_thousands_of_records_have_in_common_is_held_once() -> None:
    one, other = (Record.from_row(json.loads(json.dumps(FULL.to_row()))) for _ in range(2))
    for name in ("model", "platform", "difficulty", "contest_date", "topology", "stop_reason"):
        assert getattr(one, name) is getattr(other, name), name
    assert [id(key) for key in one.agents[0]] == [id(key) for key in other.agents[0]]


def test_a_row_has_the_benchmarks_names_and_the_sums() -> None:
    row = FULL.to_row()
    benchmark = (
        "id predicted_code pass total pass_rate em difficulty platform latency_s prompt_tokens "
        "completion_tokens total_tokens n_llm_calls n_tool_calls error"
    )
    assert set(benchmark.split()) < set(row)
    assert (row["id"], row["pass"], row["pass_rate"], row["em"]) == ("abc301_a", 3, 0.75, 0.0)
    assert (row["latency_s"], row["total_tokens"], row["schema_version"]) == (1.75, 15, 1)


def test_the_least_row_is_an_id_and_a_verdict() -> None:
    record = Record.from_row({"question_id": 2727, "passed": True, "contest_date": "2024-05-01T20:00:00"})
    assert (record.problem_id, record.passed, record.pass_rate) == ("2727", True, 1.0)
    assert (record.contest_date, record.month) == ("2024-05-01", "2024-05")
    assert Record.from_row({"id": "a", "pass": 3, "total": 3}).passed
    assert not Record.from_row({"id": "a", "pass": 2, "total": 3}).passed


def test_what_a_data_frame_makes_of_missing_values_and_whole_numbers_is_read_back() -> None:
    row = {"id": "a", "em": 1.0, "sample": 1.0, "winner": math.nan, "size": 4.0, "error": math.nan}
    record = Record.from_row(row)
    assert (record.sample, record.winner, record.size, record.error) == (1, None, 4, None)
    assert isinstance(record.size, int)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"em": 1}, "`id`"),
        ({"id": "a"}, "'a'.*neither `em`"),
        ({"id": "a", "pass": 1}, "'a'.*neither `em`"),
        ({"id": "a", "em": 0.5}, "`em` is 0.5"),
        ({"id": "a", "em": 1, "status": "done"}, "'done' is not a valid Status"),
        ({"id": "a", "em": 1, "sample": "x"}, "'a'.*'x'"),
        ({"id": "a", "em": 1, "agents": 3}, "'a'.*not iterable"),
        ({"id": "a", "em": 1, "agents": [1]}, "`agents`.*an object"),
        ({"id": "a", "em": 1, "difficulty": ["easy"]}, "`difficulty` is \\['easy'\\].*a text"),
        ({"id": "a", "em": 1, "platform": {}}, "`platform`.*a text"),
        ({"id": "a", "em": 1, "total": math.inf}, "`total` is inf"),
        ({"id": "a", "em": 1, "prompt_tokens": -1}, "`prompt_tokens` is -1.*negative"),
        ({"id": "a", "em": 1, "sample": -1}, "`sample` is -1.*negative"),
        ({"id": "a", "em": 1, "size": 2.5}, "`size` is 2.5.*whole"),
        ({"id": "a", "em": 1, "pass": 5, "total": 3}, "5 of 3 tests"),
        ({"id": "a", "em": 1, "solve_s": "long"}, "`solve_s` is 'long'"),
        ({"id": "a", "em": 1, "judge_s": math.inf}, "`judge_s` is inf"),
        ({"id": "a", "em": 1, "contest_date": "yesterday"}, "`contest_date` is 'yesterday'"),
        ({"id": "a", "em": 1, "verdicts": 3}, "`verdicts`.*an object"),
        ({"id": "a", "em": 1, "first_failure": "boom"}, "`first_failure`.*an object"),
        ({"id": True, "em": 1}, "`id`"),
    ],
)
def test_a_row_that_is_no_record_is_named(row: dict[str, object], says: str) -> None:
    with pytest.raises(RunFolderError, match=says):
        Record.from_row(row)


@pytest.mark.parametrize("status", list(Status))
def test_only_what_tells_of_the_team_is_scored(status: Status) -> None:
    record = Record.from_row({"id": "a", "em": 0, "status": str(status)})
    assert record.scored is (status in (Status.OK, Status.NO_CODE, Status.AGENT_ERROR))
