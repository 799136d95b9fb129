from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

Lcb = Callable[..., Any]

ANSWER = "```python\nprint(input())\n```"


@pytest.fixture
def flags(endpoint: ScriptedEndpoint) -> list[object]:
    endpoint.script = lambda _request: ANSWER
    return [
        *("--source", "sample", "--limit", 1, "--base-url", endpoint.url, "--model", "scripted"),
        *("--no-python-exec", "--judge-workers", 1, "--quiet", "--out-dir", "sweep"),
    ]


def test_a_sweep_prints_one_table_and_show_prints_it_again(lcb: Lcb, flags: list[object]) -> None:
    done = lcb("sweep", "--topologies", "single,independent", "--team-sizes", "2", *flags)
    assert done.code == 0, done
    header, *rows = done.out.splitlines()
    assert header.startswith("run ")
    assert [row.split()[0] for row in rows] == ["single-freeform", "independent-r2-freeform"]
    assert "table.csv" in done.err
    shown = lcb("show", "sweep")
    assert (shown.code, shown.out) == (0, done.out)
    assert "atcoder" in lcb("show", "sweep", "--by", "platform").out.splitlines()[0]


def test_outages_in_one_cell_make_exit_3_and_the_others_run(
    lcb: Lcb, flags: list[object], endpoint: ScriptedEndpoint
) -> None:
    endpoint.script = lambda request: Reply(status=401) if "[STATUS]" in request.system else ANSWER
    formats = ("--communications", "semi_structured,freeform")
    done = lcb("sweep", "--topologies", "single", *formats, *flags)
    assert done.code == 3, done
    assert "single-semi_structured: 1 of 1 instances ended in infrastructure errors" in done.err
    assert "single-freeform" in done.out
    endpoint.script = lambda _request: ANSWER
    asked = len(endpoint.requests)
    assert lcb("sweep", "--topologies", "single", *formats, *flags).code == 0
    assert len(endpoint.requests) == asked + 1


def test_a_cell_that_the_recording_lacks_is_named_and_makes_exit_2(lcb: Lcb, tmp_path: Path) -> None:
    limits = ("--source", "sample", "--limit", 1, "--quiet", "--seed", 4321, "--out-dir", tmp_path / "s")
    done = lcb("sweep", "--topologies", "single", *limits)
    assert done.code == 2, done
    assert "single-freeform: the recording" in done.err
    assert "not run" in done.out


def test_wrong_words_are_named_with_the_right_ones(one_line: Callable[..., None]) -> None:
    one_line("sweep", "--topologies", "single,ring", words="'ring' is not one of single, independent")
    one_line("sweep", "--team-sizes", "3", words="'3' is not one of 2, 4, 8, 10")
    one_line("sweep", "--message-formats", "loud", words="'loud' is not one of freeform")
