"""`lcb plot`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Lcb
from tests.plots.drawn import made


@pytest.fixture(autouse=True)
def _two_runs(tmp_path: Path) -> None:
    for name, run in {"a": made(9), "b": made(9, seed=1)}.items():
        rows = [json.dumps(record.to_row()) for record in run.records]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))


def test_what_fits_is_drawn_and_its_paths_are_printed(lcb: Lcb, tmp_path: Path) -> None:
    done = lcb(
        *("plot", "a.jsonl", "b.jsonl", "--out-dir", "out", "--formats", "svg", "--name", "A", "--name", "B")
    )
    assert done.code == 0, done.err
    written = [tmp_path / line for line in done.out.splitlines()]
    assert sorted(written) == sorted((tmp_path / "out").iterdir())
    assert {path.stem for path in written} >= {"overall", "by_difficulty", "heatmap", "differences", "tokens"}
    assert "no topologies: it needs runs of at least two topologies" in done.err
    assert "B only: " in (tmp_path / "out/differences.svg").read_text()


def test_wrong_use_is_one_sentence(one_line: Callable[..., None]) -> None:
    one_line("plot", "none.jsonl", words="none.jsonl")
    one_line("plot", "a.jsonl", "--formats", "gif", words="gif")
    one_line("plot", "a.jsonl", "--cutoff", "soon", words="soon")
    one_line("plot", "a.jsonl", "--width", "x", words="width|x")
