"""Rows in the dataset's schema for tests, and LiveCodeBench's packing, written apart from the library's."""

import base64
import json
import pickle
import random
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["blob", "make_row", "pack", "some_tests", "write_jsonl"]


def some_tests(count: int, mode: str = "stdin") -> list[dict[str, str]]:
    return [{"input": f"{n}\n", "output": f"{2 * n}\n", "testtype": mode} for n in range(count)]


def pack(value: Any, *, protocol: int | None = None) -> str:
    """base64(zlib(pickle(value))), value being JSON text in honest rows."""
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol=protocol))).decode()


def make_row(row_id: str, *, hidden: int | str = 2, mode: str = "stdin", **fields: Any) -> dict[str, Any]:
    """One row; `hidden` is a number of tests, or the field's text."""
    starter = "class Solution:\n    def twice(self, n: int) -> int:\n        " if mode == "functional" else ""
    return {
        "question_title": f"Twice {row_id}",
        "question_content": "Print twice $n$.",
        "platform": "leetcode" if mode == "functional" else "atcoder",
        "question_id": row_id,
        "contest_id": "c1",
        "contest_date": "2024-05-01T20:00:00",
        "starter_code": starter,
        "difficulty": "easy",
        "public_test_cases": json.dumps(some_tests(1, mode)),
        "private_test_cases": hidden
        if isinstance(hidden, str)
        else pack(json.dumps(some_tests(hidden, mode))),
        "metadata": "{}",
    } | fields


def blob(megabytes: float, seed: int = 0) -> str:
    """Hidden tests that take so many megabytes when they are packed: `megabytes * 750_000` characters."""
    text = random.Random(seed).randbytes(int(megabytes * 375_000)).hex()
    tests = [{"input": text, "output": "x", "testtype": "stdin"}]
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)), 0)).decode()


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
