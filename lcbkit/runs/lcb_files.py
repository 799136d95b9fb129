"""Result files of LiveCodeBench's own runner: reading what it graded, writing what it takes."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from lcbkit.errors import BadValueError, RunFolderError
from lcbkit.known_ids import errata
from lcbkit.records import Record, Status
from lcbkit.storage import write_json

__all__ = ["read_lcb", "write_lcb"]

# LiveCodeBench's error codes in a sample's metadata (lcb_runner/evaluation/testing_util.py).
_KINDS = {-1: "runtime_error", -2: "wrong_answer", -3: "time_limit", -4: "runtime_error"}


def read_lcb(path: Path) -> list[Record]:
    """The records of a `*_eval_all.json` file: a list with one object per problem, its samples in lists.

    Only the verdicts of whole samples are in such a file, so the counts of tests stay 0.

    Raises:
        RunFolderError: if the file is none of these.
        OSError: when it cannot be read.
    """
    try:
        problems = json.loads(path.read_text())
        if not isinstance(problems, list):
            raise TypeError(f"it holds a {type(problems).__name__}, not a list of problems")
        return [record for problem in problems for record in _samples(problem)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RunFolderError) as error:
        raise RunFolderError(
            f"{path} is not one of LiveCodeBench's *_eval_all.json files ({type(error).__name__}: {error}); "
            "for a run of this library give its folder"
        ) from error


def _samples(problem: Mapping[str, Any]) -> Iterator[Record]:
    grades = problem["graded_list"]
    codes, metadata = problem.get("code_list", ()), problem.get("metadata", ())
    for sample, (passed, code, notes) in enumerate(zip_longest(grades, codes, metadata)):
        if passed is None:
            raise ValueError(f"problem {problem['question_id']} has more programs than grades")
        yield Record.from_row(
            {
                "id": problem["question_id"],
                "sample": sample,
                "status": Status.NO_CODE if code == "" else Status.OK,
                "em": passed,
                "predicted_code": code or None,
                "title": problem.get("question_title"),
                "difficulty": problem.get("difficulty"),
                "platform": problem.get("platform"),
                "mode": "functional" if problem.get("starter_code") else "stdin",
                "contest_date": problem.get("contest_date") or None,
                "erratum": errata().get(str(problem["question_id"])),
                "first_failure": None if passed else _failure(notes),
            }
        )


def _failure(notes: str | Mapping[str, Any] | None) -> dict[str, Any] | None:
    values = (json.loads(notes) if isinstance(notes, str) else notes) or {}
    if "error_code" not in values:
        return None
    return {
        "kind": _KINDS.get(values["error_code"], "internal_error"),
        "message": values.get("error_message") or values.get("error", ""),
    }


def write_lcb(path: Path, records: Iterable[Record], ids: Sequence[str] | None = None) -> None:
    """Write programs for LiveCodeBench's `custom_evaluator`, sorted by id as it sorts them.

    A sample without a program becomes an empty one, which that evaluator grades as failed.

    Args:
        path: the file to write.
        records: the submissions.
        ids: every problem the evaluator will load; those without a submission get empty programs.

    Raises:
        BadValueError: if a record's problem is not among `ids`.
        OSError: when the file cannot be written.
    """
    programs: dict[str, dict[int, str]] = defaultdict(dict)
    for record in records:
        programs[record.problem_id][record.sample] = record.code or ""
    if ids is not None and (strange := sorted(programs.keys() - set(ids))):
        raise BadValueError(f"pad_to lacks {len(strange)} problems of the run, {strange[0]!r} among them")
    samples = 1 + max((sample for own in programs.values() for sample in own), default=0)
    rows = [
        {"question_id": i, "code_list": [programs[i].get(sample, "") for sample in range(samples)]}
        for i in sorted(programs.keys() | set(ids or ()))
    ]
    write_json(path, rows)
