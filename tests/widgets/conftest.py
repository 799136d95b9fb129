"""Runs for the browsers' tests, made of records and saved texts."""

import json
from pathlib import Path
from typing import Any

import pytest

from lcbkit.records import Record, Status
from lcbkit.results import Run, load_run


def record(number: int, **changes: Any) -> Record:
    """A record whose tests and verdict agree."""
    letters = changes.pop("test_verdicts", "PP")
    passed = bool(letters) and set(letters) == {"P"}
    kind = {"W": "wrong_answer", "T": "time_limit"}.get(letters.strip("P-")[:1], "runtime_error")
    failure = None if passed else {"test": 0, "mode": "stdin", "kind": kind, "message": "no"}
    values: dict[str, Any] = {
        "problem_id": f"p{number}",
        "title": f"Title {number}",
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "platform": ("atcoder", "leetcode")[number % 2],
        "code": f"print({number})",
        "passed": passed,
        "pass_count": letters.count("P"),
        "total": len(letters),
        "test_verdicts": letters,
        "first_failure": failure,
        "prompt_tokens": 100 + number,
        "solve_s": 1.0,
    }
    return Record(**{**values, **changes})


RECORDS = (
    record(0),
    record(1, test_verdicts="PW-"),
    record(2, test_verdicts="TT"),
    record(3, status=Status.NO_CODE, code=None, test_verdicts="", first_failure=None),
    record(4, status=Status.INFRA_ERROR, code=None, test_verdicts="", error="ConnectionError: <b>gone</b>"),
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Five instances of every kind, loaded from a folder without a problem at hand."""
    folder = tmp_path / "run"
    (folder / "trajectories").mkdir(parents=True)
    lines = [json.dumps(record.to_row()) for record in RECORDS]
    (folder / "predictions.jsonl").write_text("\n".join(lines) + "\n")
    result = {
        "index": 1,
        "mode": "stdin",
        "verdict": "wrong_answer",
        "input": "in",
        "expected": "<i>6</i>",
        "actual": "7",
        "stderr": "",
        "exit_code": 0,
        "signal": None,
        "wall_seconds": 0.1,
        "cpu_seconds": 0.1,
        "memory_bytes": 1,
    }
    first = {**result, "index": 0, "verdict": "passed", "input": "", "expected": "", "actual": ""}
    texts = {
        "id": "p1",
        "sample": 0,
        "trajectory": [],
        "report": {"problem_id": "p1", "total": 3, "results": [first, result]},
    }
    (folder / "trajectories" / "p1-0.json").write_text(json.dumps(texts))
    return load_run(folder)
