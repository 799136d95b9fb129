"""Batches that are killed by SIGKILL at any moment and taken up again."""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint
from twice_problems import RIGHT, WRONG, asked_for, problem_set

from lcbkit.evaluation import evaluate
from lcbkit.models import get_model
from lcbkit.records import Record
from lcbkit.results import Run, load_run
from lcbkit.topologies.team import build_team

PROBLEMS = 14
SAMPLES = 2

# What the child and the test call: the same batch at the same endpoint.
CHILD = """
import sys
from twice_problems import problem_set
from lcbkit.evaluation import evaluate
from lcbkit.models import get_model
from lcbkit.topologies.team import build_team

team = build_team("single", model=get_model("scripted", base_url=sys.argv[1]), python_exec=False)
options = dict(out_dir=sys.argv[2], samples=int(sys.argv[4]), concurrency=3, judge_workers=1, progress=False)
evaluate(team, problem_set(int(sys.argv[3])), **options)
"""


def answer(request: Request) -> Reply:
    """Right, wrong or none by problem and sample, after a moment that differs from call to call."""
    kind = (int(asked_for(request)[1:]) + (request.seed or 0)) % 3
    return Reply((RIGHT, WRONG, "I do not know.")[kind], delay=0.02 * (request.index % 4))


def run_here(endpoint: ScriptedEndpoint, folder: Path) -> Run:
    team = build_team("single", model=get_model("scripted", base_url=endpoint.url), python_exec=False)
    return evaluate(
        team,
        problem_set(PROBLEMS),
        out_dir=folder,
        samples=SAMPLES,
        concurrency=3,
        judge_workers=1,
        progress=False,
    )


@contextmanager
def child(endpoint: ScriptedEndpoint, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    arguments = (endpoint.url, str(folder), str(PROBLEMS), str(SAMPLES))
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, *arguments],
        cwd=Path(__file__).parent,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(folder: Path) -> set[tuple[str, int]]:
    """The keys of the whole lines on disk."""
    path = folder / "predictions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    rows = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return {(row["id"], row["sample"]) for row in rows}


def kill_after(endpoint: ScriptedEndpoint, folder: Path, count: int, moment: float) -> None:
    """Run the batch until `count` instances are on disk, and kill it a moment later."""
    with child(endpoint, folder) as process:
        deadline = time.monotonic() + 60
        while len(finished(folder)) < count:
            assert process.poll() is None, "the batch ended before it could be killed"
            assert time.monotonic() < deadline, "the batch does not get on"
            time.sleep(0.005)
        time.sleep(moment)
        process.kill()
        process.wait()


def without_times(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record.to_row().items() if not name.endswith("_s")}


def test_killed_batches_lose_nothing_and_ask_nothing_twice(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = answer
    undisturbed = run_here(endpoint, tmp_path / "undisturbed")
    assert len(endpoint.requests) == PROBLEMS * SAMPLES
    assert 0 < undisturbed.summary().overall.passed < PROBLEMS * SAMPLES

    folder, rng = tmp_path / "killed", random.Random(5)
    for count in (3, 16):
        kill_after(endpoint, folder, count, rng.random() * 0.1)
    on_disk = finished(folder)
    endpoint.requests.clear()
    resumed = run_here(endpoint, folder)

    asked = Counter((asked_for(request), (request.seed or 0) // 1000) for request in endpoint.requests)
    assert asked == dict.fromkeys({record.key for record in undisturbed.records} - on_disk, 1)
    assert len((folder / "predictions.jsonl").read_text().splitlines()) == PROBLEMS * SAMPLES
    assert [without_times(record) for record in resumed.records] == [
        without_times(record) for record in undisturbed.records
    ]
    assert load_run(folder).records == resumed.records
    saved = json.loads((folder / "summary.json").read_text())
    expected = json.loads((tmp_path / "undisturbed" / "summary.json").read_text())
    assert saved | {"seconds": 0} == expected | {"seconds": 0}


@pytest.mark.parametrize("torn", [b'{"id": "p0", "sample"', b'{"id": "p0"'], ids=["late", "early"])
def test_a_torn_line_is_run_again(endpoint: ScriptedEndpoint, tmp_path: Path, torn: bytes) -> None:
    endpoint.script = answer
    run_here(endpoint, tmp_path)
    path = tmp_path / "predictions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + torn)
    endpoint.requests.clear()
    resumed = run_here(endpoint, tmp_path)
    assert len(endpoint.requests) == 1
    assert len(resumed.records) == PROBLEMS * SAMPLES
    assert len(load_run(tmp_path).records) == PROBLEMS * SAMPLES
