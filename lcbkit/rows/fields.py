"""Reading single fields of a row; each error names the row, the field and what it should hold."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lcbkit.errors import DatasetError

__all__ = ["contest_moment", "function_name", "id_field", "text_field", "word_field"]


def text_field(row: Mapping[str, Any], name: str, where: str) -> str:
    """A field that holds text.

    Raises:
        DatasetError: when it is missing or holds something else, half of a surrogate pair included.
    """
    value = row.get(name)
    if not isinstance(value, str):
        state = f"is {type(value).__name__}" if name in row else "is missing"
        raise DatasetError(f"{where}: field {name!r} {state}, not text; is this LiveCodeBench's row schema?")
    if not value.isascii() and (half := re.search("[\ud800-\udfff]", value)):
        raise DatasetError(
            f"{where}: field {name!r} holds half a character ({half[0]!a}), which cannot be written or sent; "
            "correct the row"
        )
    return value


def id_field(row: Mapping[str, Any], where: str) -> str:
    """The problem's id, `question_id`.

    Raises:
        DatasetError: when it is missing, no text, or empty: records and files are named by it.
    """
    value = text_field(row, "question_id", where)
    if not value.strip():
        raise DatasetError(f"{where}: field 'question_id' is empty; give the row an id of its own")
    return value


def word_field(row: Mapping[str, Any], name: str, allowed: tuple[str, ...], where: str) -> str:
    """A field that holds one of a few words.

    Raises:
        DatasetError: when it holds another, with the list of those allowed.
    """
    value = text_field(row, name, where)
    if value not in allowed:
        raise DatasetError(f"{where}: {name} is {value!r}; allowed: {', '.join(allowed)}; correct the row")
    return value


def contest_moment(row: Mapping[str, Any], where: str) -> datetime:
    """The contest date; the reader of a table may have made a datetime of its text.

    Raises:
        DatasetError: for text that is not ISO 8601.
    """
    value = row.get("contest_date")
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(text_field(row, "contest_date", where))
    except ValueError:
        raise DatasetError(
            f"{where}: contest_date is {value!r}; it must be ISO text, as 2024-05-01T20:00:00"
        ) from None


def function_name(row: Mapping[str, Any], starter: str, where: str) -> str:
    """The name that functional tests call: `func_name` of the metadata, else from the starter code.

    Raises:
        DatasetError: when neither names one; to run such a row as a stdin problem would be wrong.
    """
    text = text_field(row, "metadata", where)
    try:
        metadata = json.loads(text or "{}")
    except ValueError:
        raise DatasetError(f"{where}: its metadata is not JSON: {text[:80]!r}; correct the row") from None
    name = metadata.get("func_name") if isinstance(metadata, dict) else None
    name = name or _defined_name(starter)
    if not isinstance(name, str) or not name.isidentifier():
        raise DatasetError(
            f"{where}: its tests call a function, but neither metadata.func_name nor the starter code names "
            "one; correct the row"
        )
    return name


def _defined_name(starter: str) -> str | None:
    """The first method of class Solution, else the first function at top level."""
    methods: list[str] = []
    functions: list[str] = []
    inside = False
    for line in starter.splitlines():
        if found := re.match(r"class\s+(\w+)", line):
            inside = found[1] == "Solution"
        elif found := re.match(r"(\s*)(?:async\s+)?def\s+([A-Za-z]\w*)", line):
            inside = inside and bool(found[1])
            if inside:
                methods.append(found[2])
            elif not found[1]:
                functions.append(found[2])
    return next(iter(methods or functions), None)
