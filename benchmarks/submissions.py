"""Programs with known verdicts for the timed comparisons: the sample's, and lcb50's where it is at hand."""

import argparse
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from lcbkit import Problem, load_problems

__all__ = ["Submission", "add_shared_option", "lcb50_submissions", "sample_submissions"]

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A program for a problem, and whether it is known to pass."""

    name: str
    code: str
    problem: Problem
    passes: bool


def add_shared_option(parser: argparse.ArgumentParser) -> None:
    """Let the caller say where lcb50 lies."""
    parser.add_argument(
        "--shared",
        type=Path,
        default=os.environ.get("LCB_SHARED", ROOT.parent / "shared"),
        help="folder with data/lcb50 (default: LCB_SHARED, else ../shared); else only the sample is judged",
    )


def sample_submissions() -> list[Submission]:
    """The reference program of each problem of the sample; all pass."""
    sys.path.insert(0, str(ROOT / "tools" / "sample"))
    from sample_problems import SAMPLE

    problems = load_problems("sample")
    return [
        Submission(name=f"{p.id} reference", code=p.programs.reference, problem=problems[p.id], passes=True)
        for p in SAMPLE
    ]


def lcb50_submissions(shared: Path) -> list[Submission]:
    """The 100 programs of lcb50 with the verdicts of LiveCodeBench's checker; none without the folder."""
    folder = shared / "data" / "lcb50"
    if not folder.is_dir():
        return []
    problems = load_problems(folder / "test.jsonl")
    rows = map(json.loads, (folder / "solutions.jsonl").read_text().splitlines())
    return [
        Submission(
            name=f"{row['question_id']} {program['source']}",
            code=program["code"],
            problem=problems[row["question_id"]],
            passes=program["passes"],
        )
        for row in rows
        for program in row["solutions"]
    ]
