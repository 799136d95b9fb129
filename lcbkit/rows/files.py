"""Rows on disk, in their order: what a JSON-lines file holds, and the cache of what was read from elsewhere.

Beside its light fields, an entry knows how many hidden tests its row has and where the row lies. Entries
are kept in an index file, so that a row is decoded once, when it is first read; whoever comes later reads
the index alone. Index and data only grow, a line at a time, data first: what a crash tore is cut off at
the next reading.
"""

import contextlib
import json
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lcbkit.errors import DatasetError, UnusableTestsError
from lcbkit.rows.decoding import count_tests
from lcbkit.rows.fields import text_field
from lcbkit.rows.schema import COLUMNS
from lcbkit.rows.stored import FileRow, StoredRow
from lcbkit.storage import locked, write_atomic

__all__ = ["Entry", "JsonlFile", "Origin", "RowCache", "describe"]

_FORMAT = 1
_COMPLETE = b'{"complete": true}\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is known of one row.

    Attributes:
        row: its fields, hidden tests left out.
        where: how messages name it.
        stored: where the whole row lies.
        count: how many hidden tests it has; 0 when they cannot be used.
        mode: their mode.
        unusable: why its tests cannot be used, None if they can.
    """

    row: Mapping[str, Any]
    where: str
    stored: StoredRow
    count: int
    mode: str
    unusable: str | None


class Origin(Protocol):
    """Rows that are slow to get and therefore cached."""

    @property
    def name(self) -> str:
        """How messages name it; a row's number follows."""

    @property
    def version(self) -> str:
        """Changes when the rows change."""

    def rows(self, start: int) -> Generator[Mapping[str, Any], None, None]:
        """The rows from the `start`-th on (counted from 0), as plain JSON values."""


def describe(row: Mapping[str, Any], *, stored: StoredRow, where: str) -> Entry:
    """Decode a row's hidden tests once, to count them.

    Raises:
        DatasetError: for a row of another schema, and for tests that are unsafe to decode.
    """
    if missing := [name for name in COLUMNS if row.get(name) is None]:
        raise DatasetError(
            f"{where}: there is no {missing[0]!r}; LiveCodeBench's rows have the fields {', '.join(COLUMNS)}"
        )
    where = _where(where, row)
    hidden, public = (text_field(row, f"{kind}_test_cases", where) for kind in ("private", "public"))
    count, mode, unusable = 0, "stdin", None
    try:
        count, mode = count_tests(hidden, public, where=where)
    except UnusableTestsError as error:
        unusable = str(error).removeprefix(f"{where}: ")
    light = {name: row[name] for name in COLUMNS if name != "private_test_cases"}
    return Entry(row=light, where=where, stored=stored, count=count, mode=mode, unusable=unusable)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonlFile:
    """A JSON-lines file of somebody else's: it is read, never written.

    Attributes:
        path: the file.
        index: where to keep what was found, None to find it anew each time.
    """

    path: Path
    index: Path | None = None

    def entries(self) -> Generator[Entry, None, None]:
        """Yield the rows' entries, reading no further than asked.

        Raises:
            DatasetError: names file and line of what is not a whole JSON object of the right schema.
        """
        try:
            status = self.path.stat()
            version = f"{self.path.absolute()} {status.st_size} {status.st_mtime_ns}"
            log = _Log(data=self.path.absolute(), name=f"{self.path}, line", version=version)
            if self.index:
                log.read(self.index)
            yield from tuple(log.entries)
            if not log.complete:
                yield from self._read_on(log)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DatasetError(
                f"cannot read {self.path} ({reason}); check the path and its rights"
            ) from error

    def _read_on(self, log: "_Log") -> Iterator[Entry]:
        records = []
        try:
            with self.path.open("rb") as file:
                file.seek(log.end)
                for raw in file:
                    if raw.strip():
                        entry, record = log.add(_parse(raw, f"{log.name} {log.line + 1}"), len(raw))
                        records.append(record)
                        yield entry
                    else:
                        log.pass_over(len(raw))
            records.append(_COMPLETE)
        finally:
            if self.index and records:
                _keep_if_possible(self.index, log, records)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCache:
    """Rows of a slow origin: those read once are kept in a JSON-lines file, their tests still packed.

    Attributes:
        path: that file; index and lock lie beside it.
        origin: where rows come from that are not in it yet.
    """

    path: Path
    origin: Origin

    def entries(self) -> Generator[Entry, None, None]:
        """Yield the rows' entries; the origin is asked only for rows that were never read before.

        While it is, other processes wait, then go on from what was read.

        Raises:
            DatasetError: when the cache folder cannot be written, and whatever the origin raises.
        """
        try:
            known = self._read()
            yield from known.entries
            if known.complete:
                return
            with locked(self.path.with_suffix(".lock")):
                log = self._read()
                yield from log.entries[len(known.entries) :]
                if not log.complete:
                    yield from self._read_on(log)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DatasetError(
                f"cannot keep problems in {self.path.parent} ({reason}); free some room, or name another "
                "folder in LCB_CACHE or cache_dir="
            ) from error

    @property
    def _index(self) -> Path:
        return self.path.with_suffix(".index.jsonl")

    def _read(self) -> "_Log":
        log = _Log(data=self.path.absolute(), name=self.origin.name, version=self.origin.version)
        log.read(self._index)
        return log

    def _read_on(self, log: "_Log") -> Iterator[Entry]:
        if not log.size:
            write_atomic(self._index, log.header)
            log.size = len(log.header)
        with (
            self.path.open("ab") as data,
            self._index.open("ab") as index,
            contextlib.closing(self.origin.rows(len(log.entries))) as rows,
        ):
            data.truncate(log.end)
            index.truncate(log.size)
            for row in rows:
                line = json.dumps(row).encode() + b"\n"
                entry, record = log.add(row, len(line))
                for file, written in ((data, line), (index, record)):
                    file.write(written)
                    file.flush()
                yield entry
            os.fsync(data.fileno())
            index.write(_COMPLETE)


@dataclass(slots=True, kw_only=True)
class _Log:
    """The entries of one data file in memory, and how they are written down.

    Attributes:
        data: the file that holds the rows.
        name: how messages name it; a row's number follows.
        version: entries that were written for another version are void.
        entries: what is known, in order.
        line: number of the last line looked at, from 1.
        end: where that line ends in the data, in bytes.
        complete: whether there is nothing after it.
        size: how many bytes of the index file hold good, 0 without one.
    """

    data: Path
    name: str
    version: str
    entries: list[Entry] = field(default_factory=list)
    line: int = 0
    end: int = 0
    complete: bool = False
    size: int = 0

    def add(self, row: Mapping[str, Any], length: int) -> tuple[Entry, bytes]:
        """Describe the next line of the data, and write down the entry for the index file."""
        stored = FileRow(path=self.data, offset=self.end, length=length, row_id=str(row.get("question_id")))
        entry = describe(row, stored=stored, where=f"{self.name} {self.line + 1}")
        self.entries.append(entry)
        self.pass_over(length)
        values = {
            "line": self.line,
            "offset": stored.offset,
            "length": length,
            "count": entry.count,
            "mode": entry.mode,
            "unusable": entry.unusable,
            "row": entry.row,
        }
        return entry, json.dumps(values).encode() + b"\n"

    def pass_over(self, length: int) -> None:
        """Go behind the next line of the data."""
        self.line += 1
        self.end += length

    @property
    def header(self) -> bytes:
        """The index file's first line."""
        return json.dumps({"format": _FORMAT, "version": self.version}).encode() + b"\n"

    def read(self, index: Path) -> None:
        """Take over what an index file holds; stops at a torn line, at a gap, and where the data end."""
        try:
            lines = index.read_bytes().splitlines(keepends=True)
            available = self.data.stat().st_size
        except OSError:  # nothing kept, or not for us: then it is read anew
            return
        if not lines or lines[0] != self.header:
            return
        self.size = len(lines[0])
        for raw in lines[1:]:
            try:
                values = json.loads(raw) if raw.endswith(b"\n") else None
            except ValueError:
                return
            if not values or self.complete or values.get("offset", 0) + values.get("length", 0) > available:
                return
            self.size += len(raw)
            if values.get("complete"):
                self.complete = True
            else:
                self._take_over(values)

    def _take_over(self, values: Mapping[str, Any]) -> None:
        row = values["row"]
        stored = FileRow(
            path=self.data, offset=values["offset"], length=values["length"], row_id=str(row["question_id"])
        )
        self.line = values["line"]
        self.end = stored.offset + stored.length
        where = _where(f"{self.name} {self.line}", row)
        self.entries.append(
            Entry(
                row=row,
                where=where,
                stored=stored,
                count=values["count"],
                mode=values["mode"],
                unusable=values["unusable"],
            )
        )


def _parse(raw: bytes, where: str) -> dict[str, Any]:
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError):
        raise DatasetError(
            f"{where}, is not valid JSON (cut off or damaged); get the file again or remove that line"
        ) from None
    if not isinstance(row, dict):
        raise DatasetError(f"{where}, is not a JSON object; is this a file of LiveCodeBench rows?")
    return row


def _keep_if_possible(index: Path, log: _Log, records: Iterable[bytes]) -> None:
    """Write an index that only saves time: a folder that cannot be written does no harm."""
    with contextlib.suppress(OSError):
        old = index.read_bytes()[: log.size] if log.size else log.header
        write_atomic(index, old + b"".join(records))


def _where(where: str, row: Mapping[str, Any]) -> str:
    return f"{where} (problem {row['question_id']!r})"
