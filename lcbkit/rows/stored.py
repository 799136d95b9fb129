"""Where a row lies.

Hidden tests take megabytes, so a problem holds a place to read them from, not the text.
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from lcbkit.errors import DatasetError
from lcbkit.rows.schema import COLUMNS

__all__ = ["FileRow", "MemoryRow", "StoredRow", "plain_row"]


class StoredRow(Protocol):
    """A place that a row can be read from again and again."""

    def read(self) -> Mapping[str, Any]:
        """The row in the dataset's schema, its hidden tests still packed."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A row held in memory.

    Attributes:
        row: its fields by their names.
    """

    row: Mapping[str, Any] = field(repr=False)

    def read(self) -> Mapping[str, Any]:
        """The row itself."""
        return self.row


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A line of a JSON-lines file.

    Attributes:
        path: the file.
        offset: where the line begins, in bytes.
        length: how many bytes it takes, its end included.
        row_id: the `question_id` that it must hold.
    """

    path: Path
    offset: int
    length: int
    row_id: str

    def read(self) -> Mapping[str, Any]:
        """The row, read anew.

        Raises:
            DatasetError: when the file no longer holds this row at this place.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                row = json.loads(file.read(self.length))
        except (OSError, ValueError) as error:
            raise self._changed() from error
        if not isinstance(row, dict) or row.get("question_id") != self.row_id:
            raise self._changed()
        return row

    def _changed(self) -> DatasetError:
        return DatasetError(
            f"problem {self.row_id!r}: {self.path} was changed, damaged or removed since it was loaded; "
            "load the problems again (after deleting that file, if it lies in the cache)"
        )


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The schema's fields of a row of a table, whose reader may have made a datetime of the contest date."""
    plain = {name: row.get(name) for name in COLUMNS}
    moment = plain["contest_date"]
    if isinstance(moment, str):
        with contextlib.suppress(ValueError):  # a wrong date is reported with its row, not here
            moment = datetime.fromisoformat(moment)
    if isinstance(moment, datetime):
        plain["contest_date"] = moment.isoformat()
    return plain
