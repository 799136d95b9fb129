import csv
import io
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint
from twice_problems import RIGHT, WRONG, asked_for, problem_set

from lcbkit.errors import RunFolderError
from lcbkit.models import get_model
from lcbkit.results import load_run
from lcbkit.runs.progress import InstanceFinished
from lcbkit.sweeps.folder import Sweep, load_sweep
from lcbkit.sweeps.running import CellFinished, CellStarted, SweepEvent, sweep
from tests.processes import below, runs

Go = Callable[..., Sweep]


@pytest.fixture
def go(endpoint: ScriptedEndpoint, tmp_path: Path) -> Go:
    """Sweep over scripted teams on two problems."""

    def call(**options: Any) -> Sweep:
        given = {
            "topologies": ["single", "independent"],
            "team_sizes": [2],
            "out_dir": tmp_path / "sweep",
            "progress": False,
            "judge_workers": 1,
            "python_exec": False,
            "model": get_model("scripted", base_url=endpoint.url),
        }
        return sweep(problem_set(2), **given | options)

    return call


def names(done: Sweep) -> dict[str, Any]:
    return {cell.name: run for cell, run in done.runs.items()}


def test_each_cell_is_a_run_folder_and_none_is_run_twice(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda request: RIGHT if asked_for(request) == "p0" else WRONG
    first = go()
    assert list(names(first)) == ["single-freeform", "independent-r2-freeform"]
    assert len(endpoint.requests) == 2 + 4
    assert load_run(tmp_path / "sweep" / "independent-r2-freeform").summary().pass_at_1 == 0.5
    go()
    assert len(endpoint.requests) == 6
    more = go(topologies=["single"], message_formats=["semi_structured", "freeform"], team_sizes=[2, 4])
    assert len(endpoint.requests) == 8
    assert list(names(more)) == ["single-freeform", "independent-r2-freeform", "single-semi_structured"]
    assert repr(load_sweep(tmp_path / "sweep")) == repr(more)


def test_the_table_lies_in_the_folder_with_money_where_there_are_prices(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    done = go(topologies=["single"], prices={"scripted": {"input": 1_000, "output": 0}})
    (line,) = csv.DictReader(io.StringIO((tmp_path / "sweep" / "table.csv").read_text()))
    assert (line["run"], line["passed"], line["scored"], line["n_llm_calls"]) == (
        *("single-freeform", "2", "2", "2"),
    )
    assert (float(line["cost"]), line["currency"]) == (0.02, "USD")
    page = (tmp_path / "sweep" / "table.md").read_text().splitlines()
    assert page[0].startswith("| run | pass@1 |")
    assert page[2].startswith("| single-freeform | 100.0% |")
    assert "<table>" in done._repr_html_()
    assert "easy" in str(done.table(by="difficulty"))


def test_a_cell_with_outages_or_in_the_way_keeps_no_other_from_running(
    go: Go, endpoint: ScriptedEndpoint
) -> None:
    def script(request: Request) -> Reply | str:
        return Reply(status=401) if "[STATUS]" in request.system else RIGHT

    endpoint.script = script
    go(topologies=["independent"], seed=5)
    formats = ["semi_structured", "freeform"]
    events: list[SweepEvent] = []
    done = go(message_formats=formats, progress=events.append)
    found = names(done)
    assert found["single-semi_structured"].summary().infra_rate == 1.0
    assert found["single-freeform"].summary().pass_at_1 == 1.0
    ((cell, why),) = done.failures.items()
    assert cell.name == "independent-r2-freeform"
    assert "another configuration" in why
    told = {event.cell.name: event.error for event in events if isinstance(event, CellFinished)}
    assert told == dict.fromkeys(found, None) | {cell.name: why}
    assert "no score" in str(done.table())


def test_a_callback_sees_every_cell_and_can_stop_the_sweep(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: RIGHT
    events: list[SweepEvent] = []

    def stop(event: SweepEvent) -> str | None:
        events.append(event)
        return "stop" if isinstance(event, InstanceFinished) else None

    part = go(progress=stop)
    started = [event for event in events if isinstance(event, CellStarted)]
    assert [(event.cell.name, event.number, event.cells, event.total) for event in started] == [
        ("single-freeform", 1, 2, 4)
    ]
    assert names(part)["independent-r2-freeform"] is None
    assert "not run" in repr(part)
    assert all(run.summary().n == 2 for run in names(go()).values())


def test_one_bar_counts_the_instances_of_all_cells(
    go: Go, endpoint: ScriptedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script = lambda _request: RIGHT
    go(topologies=["single"])
    go(progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "2/2 independent-r2-freeform: 100%" in err
    assert "4/4" in err


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"topologies": ["ring"]}, "ring"),
        ({"team_sizes": [3]}, "3"),
        ({"message_formats": ["loud"]}, "loud"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"rounds": 3}, "rounds are those of the decentralized team"),
        ({"prices": {"other": {"input": 1, "output": 1}}}, "no price for scripted"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_asked(
    go: Go, endpoint: ScriptedEndpoint, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        go(**wrong)
    assert not endpoint.requests


def test_one_cluster_of_this_machine_serves_all_cells(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _: RIGHT
    at_work: list[set[int]] = []

    def listen(event: SweepEvent) -> None:
        if isinstance(event, InstanceFinished):
            at_work.append(cluster_processes())

    done = go(engine="dask", judge_workers=None, progress=listen)
    assert [run.config["engine"]["name"] for run in done.runs.values() if run] == ["dask", "dask"]
    assert len(at_work) == 4
    assert at_work[0]
    assert all(processes == at_work[0] for processes in at_work)
    assert not cluster_processes()


def cluster_processes() -> set[int]:
    """The workers of a cluster that this process has started."""
    return {process.pid for process in below() if runs(process, "spawn_main")}


def test_the_folder_of_a_run_is_no_place_for_a_sweep(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    go(topologies=["single"])
    with pytest.raises(RunFolderError, match="holds a run, not a sweep"):
        go(out_dir=tmp_path / "sweep" / "single-freeform")
    with pytest.raises(RunFolderError, match="no sweep at"):
        load_sweep(tmp_path)


def test_a_run_that_cannot_be_read_is_named_and_keeps_no_other_from_running(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    go(topologies=["single"])
    broken = tmp_path / "sweep" / "single-freeform" / "predictions.jsonl"
    broken.write_text("{}\n")
    done = go()
    found = names(done)
    assert found["single-freeform"] is None
    assert found["independent-r2-freeform"].summary().pass_at_1 == 1.0
    ((cell, why),) = done.failures.items()
    assert cell.name == "single-freeform"
    assert str(broken) in why
    assert f"single-freeform: {why}" in str(load_sweep(tmp_path / "sweep").table())


@pytest.mark.parametrize(
    "cells", ["[1]", '{"a": 1}', '[{"topology": ["single"]}]', '[{"topology": "x"}]', "5"]
)
def test_a_list_of_cells_that_is_none_is_named(tmp_path: Path, cells: str) -> None:
    (tmp_path / "sweep.json").write_text(f'{{"cells": {cells}}}')
    with pytest.raises(RunFolderError, match=f"no sweep at {tmp_path}"):
        load_sweep(tmp_path)


def test_a_table_that_cannot_be_written_is_one_sentence(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    (tmp_path / "sweep" / "table.csv").mkdir(parents=True)
    with pytest.raises(RunFolderError, match=r"cannot write the table to .*; the runs are complete"):
        go(topologies=["single"])
    assert names(load_sweep(tmp_path / "sweep"))["single-freeform"].summary().n == 2


def test_an_interrupt_saves_the_runs_and_the_table(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda request: Reply(RIGHT, delay=0.0 if "[STATUS]" not in request.system else 60.0)
    command = [
        *(sys.executable, "-m", "lcbkit.cli", "sweep", "--topologies", "single", "--out-dir", "sweep"),
        *("--message-formats", "freeform,semi_structured", "--source", "sample", "--limit", "1"),
        *("--base-url", endpoint.url, "--model", "scripted", "--no-python-exec"),
    ]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while len(endpoint.requests) < 2:
            assert time.monotonic() < deadline, "the second cell never began"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in err
    lines = (tmp_path / "sweep" / "table.md").read_text().splitlines()
    assert "/ 1 |" in lines[2]
    assert "not run" in lines[3]
