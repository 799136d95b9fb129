"""Batches that are killed by SIGKILL at any moment and taken up again."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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

PROBLEMS, SAMPLES = 14, 2
KILLS = 10

# Runs the batch of the test in a new process for each line of its input. It forks, since importing all that a
# batch needs takes longer than the batch.
CHILDREN = """
import os
import sys
import lcbkit.topologies.agents
import lcbkit.topologies.single
from lcbkit.runs.config import confinement
from test_resume import run_at

confinement()  # is known to all children then
for line in sys.stdin:
    if (child := os.fork()) == 0:
        run_at(sys.argv[1], sys.argv[2])
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


def answer(request: Request) -> Reply:
    """Right, wrong or none by problem and sample, after a moment that differs from call to call."""
    kind = (int(asked_for(request)[1:]) + (request.seed or 0)) % 3
    return Reply((RIGHT, WRONG, "I do not know.")[kind], delay=0.02 * (request.index % 4))


def run_at(url: str, folder: Path | str, problems: int = PROBLEMS) -> Run:
    team = build_team("single", model=get_model("scripted", base_url=url), python_exec=False)
    return evaluate(
        team,
        problem_set(problems),
        out_dir=folder,
        samples=SAMPLES,
        concurrency=3,
        judge_workers=1,
        progress=False,
    )


@contextmanager
def children(endpoint: ScriptedEndpoint, folder: Path) -> Iterator["Children"]:
    """What starts and kills batches in processes of their own."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILDREN, endpoint.url, str(folder)],
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        yield Children(parent, folder)
        parent.communicate()


@dataclass(frozen=True)
class Children:
    parent: subprocess.Popen[str]
    folder: Path

    def kill_one(self, count: int, moment: float) -> bool:
        """Run the batch until `count` instances are on disk, and kill it a moment later.

        Returns:
            Whether it was still at work.
        """
        assert self.parent.stdin
        assert self.parent.stdout
        self.parent.stdin.write("go\n")
        self.parent.stdin.flush()
        child = int(self.parent.stdout.readline())
        deadline = time.monotonic() + 100
        while len(finished(self.folder)) < count:
            assert time.monotonic() < deadline, "the batch does not get on"
            time.sleep(0.005)
        time.sleep(moment)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        status = int(self.parent.stdout.readline())
        assert status in (0, signal.SIGKILL), f"the batch ended by itself with {status}"
        return status == signal.SIGKILL


def finished(folder: Path) -> set[tuple[str, int]]:
    """The keys of the whole lines on disk."""
    path = folder / "predictions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    rows = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return {(row["id"], row["sample"]) for row in rows}


def asked(endpoint: ScriptedEndpoint) -> Counter[tuple[str, int]]:
    """How often each instance was asked for."""
    return Counter((asked_for(request), (request.seed or 0) // 1000) for request in endpoint.requests)


def without_times(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record.to_row().items() if not name.endswith("_s")}


def test_a_batch_killed_ten_times_loses_nothing_and_asks_nothing_twice(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = answer
    undisturbed = run_at(endpoint.url, tmp_path / "undisturbed")
    assert len(endpoint.requests) == PROBLEMS * SAMPLES
    assert 0 < undisturbed.summary().overall.passed < PROBLEMS * SAMPLES

    folder, rng = tmp_path / "killed", random.Random(5)
    killed = 0
    with children(endpoint, folder) as at_work:
        for count in sorted(rng.sample(range(PROBLEMS * SAMPLES - 4), KILLS)):
            on_disk = finished(folder)
            endpoint.requests.clear()
            killed += at_work.kill_one(count, rng.random() * 0.1)
            assert on_disk <= finished(folder)
            assert not on_disk & set(asked(endpoint))
    assert killed >= KILLS - 2
    on_disk = finished(folder)
    endpoint.requests.clear()
    resumed = run_at(endpoint.url, folder)

    assert asked(endpoint) == dict.fromkeys({record.key for record in undisturbed.records} - on_disk, 1)
    assert len((folder / "predictions.jsonl").read_text().splitlines()) == PROBLEMS * SAMPLES
    assert [without_times(record) for record in resumed.records] == [
        without_times(record) for record in undisturbed.records
    ]
    assert load_run(folder).records == resumed.records
    saved = json.loads((folder / "summary.json").read_text())
    expected = json.loads((tmp_path / "undisturbed" / "summary.json").read_text())
    assert saved | {"seconds": 0} == expected | {"seconds": 0}
    for record in resumed.records:
        assert resumed.trajectory(record.problem_id, record.sample)["code"] == record.code


@pytest.mark.parametrize("torn", [b'{"id": "p0", "sample"', b'{"id": "p0"'], ids=["late", "early"])
def test_a_torn_line_is_run_again(endpoint: ScriptedEndpoint, tmp_path: Path, torn: bytes) -> None:
    endpoint.script = answer
    run_at(endpoint.url, tmp_path, problems=2)
    path = tmp_path / "predictions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + torn)
    endpoint.requests.clear()
    resumed = run_at(endpoint.url, tmp_path, problems=2)
    assert len(endpoint.requests) == 1
    assert len(resumed.records) == 2 * SAMPLES
    assert len(load_run(tmp_path).records) == 2 * SAMPLES
