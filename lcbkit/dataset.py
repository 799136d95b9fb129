"""Loading problems: the shipped sample, a release on the hub, a file, a folder or a `datasets.Dataset`."""

import json
import os
from pathlib import Path
from typing import Any

from lcbkit.errors import DatasetError, UnusableTestsError
from lcbkit.known_ids import eval_ids, splits
from lcbkit.problems import Problem, ProblemSet
from lcbkit.selection import Selection
from lcbkit.storage import shipped_folder

__all__ = ["demo_problems", "eval_ids", "load_problems", "splits"]


def load_problems(source: str | os.PathLike[str], **selection: Any) -> ProblemSet:
    """Load problems from a JSON-lines file or the sample."""
    sample = shipped_folder("sample") / "sample.jsonl"
    path = sample if source == "sample" else Path(source)
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise DatasetError(f"cannot read {path} ({error.strerror}); check the path") from error
    problems, skipped = [], {}
    for row in rows:
        try:
            problems.append(Problem.from_row(row))
        except UnusableTestsError as error:
            skipped[row["question_id"]] = str(error)
    chosen = Selection.parse(**selection).take(problems, skipped=skipped)
    return ProblemSet(chosen, source=str(source), skipped=skipped)


def demo_problems() -> ProblemSet:
    """The two built-in problems of `lcb demo`, one per mode."""
    return load_problems(shipped_folder("sample") / "demo.jsonl")
