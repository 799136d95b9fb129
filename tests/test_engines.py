"""Batches and judging on a Dask cluster of two worker processes, against the same without one."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest
from distributed import Client, LocalCluster
from scripted_endpoint import Reply, Request, ScriptedEndpoint
from twice_problems import RIGHT, WRONG, asked_for, problem_set

from lcbkit.cli import main
from lcbkit.errors import BadValueError, EngineError, ModelError
from lcbkit.evaluation import evaluate
from lcbkit.judging.many import iter_judge, judge_many
from lcbkit.judging.remote import remote_pool
from lcbkit.judging.report import Report
from lcbkit.models import get_model
from lcbkit.records import Record
from lcbkit.rejudging import rejudge
from lcbkit.results import Run, load_run
from lcbkit.runs.progress import InstanceFinished, RunEvent
from lcbkit.runs.remote import _gate
from lcbkit.topologies.team import Team, build_team

PROBLEMS, SAMPLES = 5, 2
# A killed worker's places at the endpoint come free sooner; a busy machine has time to start the next worker.
CONFIG = {
    "distributed.scheduler.locks.lease-timeout": "5s",
    "distributed.scheduler.locks.lease-validation-interval": "1s",
    "distributed.deploy.lost-worker-timeout": "600s",
    "distributed.comm.timeouts.connect": "120s",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with (
        dask.config.set(CONFIG),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as found,
    ):
        yield found


def answer(request: Request) -> Reply:
    """Right, wrong or none by problem and sample, after a moment that differs from call to call."""
    sample, agent = divmod(request.seed or 0, 1000)
    kind = (int(asked_for(request)[1:]) + sample) % 3
    text = (RIGHT, WRONG, "I do not know.")[kind] + f" (by {agent})"
    return Reply(text, delay=0.02 * (request.index % 4))


def team(endpoint: ScriptedEndpoint) -> Team:
    chat = get_model("scripted", base_url=endpoint.url, temperature=0.7)
    prompts = {"coder": "Write the program that this test is about."}
    return build_team("independent", team_size=2, model=chat, prompts=prompts, python_exec=False)


def run_at(endpoint: ScriptedEndpoint, folder: Path, engine: Any, **options: Any) -> Run:
    options = {"samples": SAMPLES, "concurrency": 3, "progress": False, "out_dir": folder} | options
    return evaluate(team(endpoint), problem_set(PROBLEMS), engine=engine, **options)


def without_times(value: Any) -> Any:
    """A record, its texts or a report but for what a clock or a place in memory says."""
    if isinstance(value, dict):
        timed = ("_s", "_seconds", "_bytes")
        return {name: without_times(part) for name, part in value.items() if not name.endswith(timed)}
    return [without_times(part) for part in value] if isinstance(value, list | tuple) else value


def rows(run: Run) -> list[Any]:
    """All that the run holds: each record, then the team's texts with the report."""
    return [
        without_times([record.to_row(), run.trajectory(record.problem_id, record.sample)])
        for record in run.records
    ]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What a run without a cluster gives."""
    with ScriptedEndpoint(answer) as endpoint:
        run = run_at(endpoint, tmp_path_factory.mktemp("here"), None, judge_workers=1)
    assert len({str(record.status) for record in run.records}) > 1
    assert 0 < run.summary().overall.passed < len(run.records)
    return rows(run)


def left_behind(cluster: LocalCluster) -> tuple[list[str], int]:
    """Our plugins in the workers, and the processes below them."""
    with Client(cluster, set_as_default=False) as client:
        plugins = client.run(lambda dask_worker: [n for n in dask_worker.plugins if "lcbkit" in n])
        children = client.run(lambda: len(psutil.Process(os.getpid()).children(recursive=True)))
    return [name for names in plugins.values() for name in names], sum(children.values())


def test_records_texts_and_reports_are_those_of_a_run_without_a_cluster(
    cluster: LocalCluster, endpoint: ScriptedEndpoint, tmp_path: Path, expected: list[Any]
) -> None:
    endpoint.script = answer
    events: list[RunEvent] = []
    run = run_at(endpoint, tmp_path, cluster, progress=events.append)
    assert rows(run) == expected
    assert load_run(tmp_path).records == run.records
    assert sum(isinstance(event, InstanceFinished) for event in events) == PROBLEMS * SAMPLES
    assert endpoint.peak <= 3
    assert {request.body["temperature"] for request in endpoint.requests} == {0.7}
    assert "this test is about" in endpoint.requests[0].system
    assert run.config["engine"] == {"name": "dask", "workers": 2, "threads": 2}
    assert run.config["sandbox"]["tier"] in ("bwrap", "limits")
    assert left_behind(cluster) == ([], 0)


def test_a_killed_worker_changes_no_record(
    cluster: LocalCluster, endpoint: ScriptedEndpoint, tmp_path: Path, expected: list[Any]
) -> None:
    endpoint.script = answer
    with Client(cluster, set_as_default=False) as client:
        pids = client.run(os.getpid)

        def kill_one(event: RunEvent) -> None:
            if isinstance(event, InstanceFinished) and event.done == PROBLEMS * SAMPLES // 2:
                os.kill(next(iter(pids.values())), signal.SIGKILL)

        run = run_at(endpoint, tmp_path, client, progress=kill_one)
        assert not psutil.pid_exists(next(iter(pids.values())))
    assert rows(run) == expected
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == PROBLEMS * SAMPLES


def test_a_stop_ends_what_is_in_flight_and_the_same_call_goes_on_with_or_without_a_cluster(
    cluster: LocalCluster, endpoint: ScriptedEndpoint, tmp_path: Path, expected: list[Any]
) -> None:
    hanging = {"p3", "p4"}
    endpoint.script = lambda request: (
        Reply("", delay=600) if asked_for(request) in hanging else answer(request)
    )

    def stop(event: RunEvent) -> str | None:
        return "stop" if isinstance(event, InstanceFinished) and event.done == 6 else None

    places = 2 * SAMPLES * len(hanging) + 2  # those that hang take theirs, in what order ever they come
    stopped = run_at(endpoint, tmp_path, cluster, progress=stop, concurrency=places)
    assert len(stopped.records) == 6
    assert left_behind(cluster) == ([], 0)
    hanging.clear()
    asked = len(endpoint.requests)
    assert rows(run_at(endpoint, tmp_path, None, judge_workers=1)) == expected
    assert len(endpoint.requests) == asked + 2 * (PROBLEMS * SAMPLES - 6)
    assert rows(run_at(endpoint, tmp_path, cluster)) == expected  # all is finished: nobody is asked
    assert len(endpoint.requests) == asked + 2 * (PROBLEMS * SAMPLES - 6)


def test_the_command_line_takes_a_scheduler_and_workers_replay_recorded_answers(
    cluster: LocalCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "single", "--source", "sample", "--limit", "2", "--model", "recorded", "--quiet"]
    before = signal.getsignal(signal.SIGTERM)
    for name, more in (
        ("here", ["--judge-workers", "1"]),
        ("there", ["--engine", "dask", "--scheduler", cluster.scheduler_address]),
    ):
        with pytest.raises(SystemExit) as left:
            main([*command, "--out-dir", str(tmp_path / name), *more])
        assert left.value.code == 0
    signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().out.count("pass@1") >= 2
    runs = [load_run(tmp_path / name) for name in ("here", "there")]
    assert rows(runs[0]) == rows(runs[1])
    assert len(runs[0].records) == 2

    again = [
        "--engine",
        "dask",
        "--scheduler",
        cluster.scheduler_address,
        "--out-dir",
        str(tmp_path / "again"),
    ]
    with pytest.raises(SystemExit) as left:
        main(["rejudge", str(tmp_path / "here"), "--quiet", *again])
    signal.signal(signal.SIGTERM, before)
    assert left.value.code == 0
    assert "2 programs judged again" in capsys.readouterr().out
    assert load_run(tmp_path / "again").config["engine"]["workers"] == 2


def test_a_run_is_judged_again_on_a_cluster_as_without_one(
    cluster: LocalCluster, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = answer
    run = run_at(endpoint, tmp_path / "run", None, judge_workers=1)
    options: dict[str, Any] = {"stop_on_failure": True, "tests": "all", "progress": False}
    here = rejudge(run, problem_set(PROBLEMS), out_dir=tmp_path / "here", judge_workers=1, **options)
    there = rejudge(run, problem_set(PROBLEMS), out_dir=tmp_path / "there", engine=cluster, **options)
    assert here.judged > PROBLEMS
    assert (there.judged, there.moved) == (here.judged, here.moved)
    assert rows(there.run) == rows(here.run)
    assert there.run.config["engine"] == {"name": "dask", "workers": 2, "threads": 2}
    assert there.run.config["sandbox"] == here.run.config["sandbox"]
    assert "engine" not in here.run.config
    assert left_behind(cluster) == ([], 0)


def test_what_no_cluster_takes_is_refused_when_a_run_is_judged_again(tmp_path: Path) -> None:
    run = Run([Record(problem_id="p0", code="print()", passed=True)])
    for options, words in (({"judge_workers": 2}, "leave out either"), ({"judge_cache": "there"}, "True or")):
        with pytest.raises(BadValueError, match=words):
            rejudge(run, problem_set(1), out_dir=tmp_path / "r", engine="dask", progress=False, **options)
    assert not (tmp_path / "r").exists()


def reports(found: list[Report]) -> Any:
    return without_times([report.to_dict() for report in found])


@pytest.mark.parametrize("tests", ["hidden", "all", "given"])
def test_judge_many_gives_the_same_reports_in_the_same_order(cluster: LocalCluster, tests: str) -> None:
    problems = list(problem_set(3))
    programs = ("print(2 * int(input()))", "print(7)", "raise ValueError('no')", "print(2 * int(input()))")
    pairs = [(program, problem) for program in programs for problem in problems]
    given: Any = problems[0].hidden_tests[:1] if tests == "given" else tests
    options: dict[str, Any] = {"tests": given, "progress": False, "stop_on_failure": True}
    assert reports(judge_many(pairs, engine=cluster, **options)) == reports(judge_many(pairs, **options))


def test_reports_can_be_left_before_the_end(cluster: LocalCluster) -> None:
    pairs = [("print(2 * int(input()))", problem) for problem in problem_set(4)]
    found = iter_judge(pairs, engine=cluster, judge_cache=False)
    index, report = next(found)
    assert report.passed
    assert report.problem_id == f"p{index}"
    found.close()  # type: ignore[attr-defined]
    assert left_behind(cluster)[0] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "spark"}, "it is None for this process, 'dask', a distributed.Client"),
        ({"engine": 3}, "engine is int 3"),
        ({"engine": "dask", "judge_workers": 2}, "leave out either it or engine"),
        ({"engine": "dask", "judge_cache": "there"}, "with an engine say True or False"),
    ],
)
def test_what_no_cluster_takes_is_refused(
    endpoint: ScriptedEndpoint, tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadValueError, match=words):
        run_at(endpoint, tmp_path / "run", **options)
    assert not endpoint.requests
    assert not (tmp_path / "run").exists()


async def test_clearing_up_is_silent_about_a_lost_scheduler() -> None:
    async with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0", asynchronous=True) as own,
        Client(own, asynchronous=True, set_as_default=False) as client,
        _gate(client, 2),
        remote_pool(client),
    ):
        await client.close()  # as when its scheduler is gone: the work that is in flight tells of that


def test_a_scheduler_that_does_not_answer_is_named(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(EngineError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 "),
    ):
        run_at(endpoint, tmp_path / "run", "tcp://127.0.0.1:9")
    assert not (tmp_path / "run").exists()


def test_a_model_without_a_name_is_refused_before_a_folder_is_made(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    live = get_model("scripted", base_url=endpoint.url).model_copy()
    with pytest.raises(ModelError, match=r"is a live EndpointModel object .* name one for workers"):
        evaluate(build_team("single", model=live), problem_set(1), out_dir=tmp_path / "r", engine="dask")
    assert not (tmp_path / "r").exists()


WITHOUT_DASK = """
import sys
sys.modules["distributed"] = None
from twice_problems import problem_set
from lcbkit import LcbkitError, judge_many
try:
    judge_many([("print()", problem) for problem in problem_set(1)], engine="dask")
except LcbkitError as error:
    print(error)
"""


def test_a_missing_package_is_told_with_the_command_that_installs_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DASK],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "engine='dask' needs the packages dask and distributed" in done.stdout
    assert "pip install 'lcbkit[dask]'" in done.stdout
    assert len(done.stdout.splitlines()) == 1
