"""A batch judges equal programs once and decodes tests once, and its records are as if it had not."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import ScriptedEndpoint
from twice_problems import RIGHT, WRONG, asked_for, problem_set

from lcbkit.evaluation import evaluate
from lcbkit.judging.pool import Pool
from lcbkit.models import get_model
from lcbkit.problems import ProblemSet
from lcbkit.records import Record
from lcbkit.rejudging import rejudge
from lcbkit.results import Run, load_run
from lcbkit.runs.folder import RunFiles, RunFolder
from lcbkit.runs.verdicts import BatchJudge
from lcbkit.topologies.team import build_team

SLOW = "```python\nwhile True: pass\n```"
UNSURE = "```python\nimport random\nprint(2 * int(input()))\n```"


def run(endpoint: ScriptedEndpoint, folder: Path, problems: int | ProblemSet = 1, **options: Any) -> Run:
    team = build_team("single", model=get_model("scripted", base_url=endpoint.url), python_exec=False)
    chosen = problem_set(problems) if isinstance(problems, int) else problems
    given = {"progress": False, "judge_workers": 1, "out_dir": folder, "samples": 3, "time_limit": 60.0}
    return evaluate(team, chosen, **(given | options))  # type: ignore[arg-type]


def verdicts(found: Run) -> tuple[int, int]:
    """Programs judged, and those that took over a verdict."""
    return found.config["verdicts"]["judged"], found.config["verdicts"]["taken_over"]


def timeless(found: Run) -> list[Any]:
    """Records and reports without what a clock gave."""
    rows: list[Any] = [replace(record, solve_s=0.0, judge_s=0.0).to_row() for record in found.records]
    for record in found.records:
        report = (found.trajectory(*record.key) or {})["report"]
        for result in report["results"]:
            result |= {"wall_seconds": 0, "cpu_seconds": 0, "memory_bytes": 0}
        rows.append(report)
    return rows


def test_equal_programs_are_judged_once_and_records_are_the_same_as_without(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda request: WRONG if request.seed == 1000 or asked_for(request) == "p1" else RIGHT
    once = run(endpoint, tmp_path / "once", 2)
    each = run(endpoint, tmp_path / "each", 2, judge_cache=False)
    assert (verdicts(once), verdicts(each)) == ((3, 3), (6, 0))
    assert timeless(once) == timeless(each)
    assert {record.judge_s for record in once.records if record.passed and record.problem_id == "p0"} == {
        once.records[0].judge_s
    }
    assert load_run(tmp_path / "once").config["verdicts"] == {"judged": 3, "taken_over": 3}


@pytest.mark.parametrize("answer", [SLOW, UNSURE], ids=["clock", "chance"])
def test_what_may_end_differently_is_judged_each_time(
    endpoint: ScriptedEndpoint, tmp_path: Path, answer: str
) -> None:
    endpoint.script = lambda _request: answer
    limit = 0.2 if answer is SLOW else 60.0
    found = run(endpoint, tmp_path / "run", time_limit=limit, judge_cache=tmp_path / "cache")
    assert verdicts(found) == (3, 0)
    assert not list((tmp_path / "cache").glob("*/*"))


def test_a_folder_serves_later_runs_and_judging_again(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda request: RIGHT if asked_for(request) == "p0" else WRONG
    cache = tmp_path / "cache"
    first = run(endpoint, tmp_path / "first", 2, judge_cache=cache)
    other = run(endpoint, tmp_path / "other", 2, judge_cache=cache)
    assert (verdicts(first), verdicts(other)) == ((2, 4), (0, 6))
    assert timeless(other) == timeless(first)
    again = rejudge(first, problem_set(2), judge_workers=1, judge_cache=cache, progress=False)
    assert verdicts(again.run) == (0, 6)
    assert "6 of these verdicts were there already, for an equal program" in str(again)
    tighter = rejudge(
        first, problem_set(2), judge_workers=1, judge_cache=cache, time_limit=50.0, progress=False
    )
    assert verdicts(tighter.run) == (2, 4)
    assert again.moved == tighter.moved == ()


def test_judging_again_takes_no_verdict_of_before_unless_a_folder_is_named(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    found = run(endpoint, tmp_path / "run", samples=1)
    again = rejudge(found, problem_set(1), judge_workers=1, progress=False)
    assert verdicts(again.run) == (1, 0)
    assert "equal program" not in str(again)


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[BatchJudge]:
    config: dict[str, Any] = {"settings": {}, "dataset": {"ids": ["p0"]}, "started": "now"}
    files, limits = RunFiles.at(tmp_path / "run"), {"time_limit": 60.0, "tests": "hidden"}
    with (
        RunFolder.open(files, config, resume=True, overwrite=False) as folder,
        ThreadPoolExecutor(1) as threads,
        Pool(1) as pool,
    ):
        yield BatchJudge(pool, threads, limits, folder)


def record(sample: int) -> Record:
    return Record(problem_id="p0", sample=sample, code="print(2 * int(input()))")


async def test_equal_programs_that_come_together_wait_for_the_first(judge: BatchJudge) -> None:
    (problem,) = problem_set(1)
    done = await asyncio.gather(*(judge(record(sample), problem) for sample in range(4)))
    assert [(each.sample, each.passed) for each in done] == [(sample, True) for sample in range(4)]
    assert (judge.judged, judge.taken_over) == (1, 3)


async def test_when_the_first_is_cancelled_the_others_are_judged(judge: BatchJudge) -> None:
    (problem,) = problem_set(1)
    first, other = (asyncio.create_task(judge(record(sample), problem)) for sample in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await other).passed
    assert first.cancelled()
    assert judge.taken_over == 0


async def test_nothing_is_held_of_a_problem_that_is_over(judge: BatchJudge) -> None:
    (problem,) = problem_set(1)
    for sample in range(3):
        await judge(record(sample), problem)
        if sample == 1:
            judge.forget(problem)
    assert (judge.judged, judge.taken_over) == (2, 1)


@dataclass
class CountedRow:
    row: Mapping[str, Any]
    reads: list[int] = field(default_factory=list)

    def read(self) -> Mapping[str, Any]:
        self.reads.append(1)
        return self.row


def test_samples_of_a_problem_come_in_a_row_and_decode_its_tests_once(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda request: f"```python\nprint(2 * int(input()))  # {request.seed}\n```"
    rows = [CountedRow(problem.to_row()) for problem in problem_set(3)]
    counted = ProblemSet(
        [replace(problem, stored=row) for problem, row in zip(problem_set(3), rows, strict=True)],
        source="twice",
    )
    found = run(endpoint, tmp_path / "run", counted, concurrency=1)
    assert verdicts(found) == (9, 0)
    assert [len(row.reads) for row in rows] == [1, 1, 1]
    lines = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["p0"] * 3 + ["p1"] * 3 + ["p2"] * 3
    assert [record.key for record in found.records][:3] == [("p0", 0), ("p1", 0), ("p2", 0)]
