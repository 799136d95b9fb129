"""Rows on disk: decoded once, read again from the index, never half."""

import json
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from row_factory import make_row, write_jsonl

from lcbkit.errors import DatasetError
from lcbkit.rows.files import JsonlFile, RowCache, describe
from lcbkit.rows.stored import MemoryRow

ROWS = [make_row(f"p{n}", hidden=n + 1) for n in range(6)]


@dataclass
class Slow:
    """An origin that notes which rows it was asked for."""

    version: str = "1"
    name: str = "slow, row"
    rows_there: list[dict[str, Any]] = field(default_factory=lambda: list(ROWS))
    given: list[int] = field(default_factory=list)

    def rows(self, start: int) -> Generator[dict[str, Any], None, None]:
        for number in range(start, len(self.rows_there)):
            self.given.append(number)
            yield self.rows_there[number]


def take(cache: RowCache | JsonlFile, count: int | None = None) -> list[str]:
    entries = cache.entries()
    found = list(entries) if count is None else [next(entries) for _ in range(count)]
    entries.close()
    assert [entry.count for entry in found] == list(range(1, len(found) + 1))
    assert [entry.stored.read() for entry in found] == ROWS[: len(found)]
    return [entry.row["question_id"] for entry in found]


IDS = [row["question_id"] for row in ROWS]


def test_rows_are_asked_for_once_and_a_prefix_is_extended(tmp_path: Path) -> None:
    origin = Slow()
    cache = RowCache(path=tmp_path / "c" / "rows.jsonl", origin=origin)
    assert take(cache, 2) == IDS[:2]
    assert take(cache, 1) == IDS[:1]
    assert origin.given == [0, 1]
    assert take(cache) == IDS
    assert take(cache) == IDS
    assert origin.given == [0, 1, 2, 3, 4, 5]


def test_the_cache_is_itself_a_file_of_rows(tmp_path: Path) -> None:
    cache = RowCache(path=tmp_path / "rows.jsonl", origin=Slow())
    take(cache)
    assert take(JsonlFile(path=tmp_path / "rows.jsonl")) == IDS


def test_another_version_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    other = Slow(version="0", rows_there=[make_row("old")])
    assert len(list(RowCache(path=path, origin=other).entries())) == 1
    assert take(RowCache(path=path, origin=Slow())) == IDS


@pytest.mark.parametrize("kept", range(0, 4_000, 97))
def test_a_crash_at_any_byte_of_the_index_loses_no_row(tmp_path: Path, kept: int) -> None:
    cache = RowCache(path=tmp_path / "rows.jsonl", origin=Slow())
    take(cache)
    index = tmp_path / "rows.index.jsonl"
    index.write_bytes(index.read_bytes()[:kept])
    assert take(cache) == IDS
    assert take(cache) == IDS
    assert len((tmp_path / "rows.jsonl").read_bytes().splitlines()) == 6


@pytest.mark.parametrize("kept", range(0, 3_600, 297))
def test_data_that_were_cut_off_are_read_again(tmp_path: Path, kept: int) -> None:
    cache = RowCache(path=tmp_path / "rows.jsonl", origin=Slow())
    take(cache)
    data = tmp_path / "rows.jsonl"
    data.write_bytes(data.read_bytes()[:kept])
    assert take(cache) == IDS


def test_data_that_were_deleted_are_read_again(tmp_path: Path) -> None:
    cache = RowCache(path=tmp_path / "rows.jsonl", origin=Slow())
    take(cache)
    (tmp_path / "rows.jsonl").unlink()
    assert take(cache) == IDS


def test_readers_at_the_same_time_ask_once(tmp_path: Path) -> None:
    origin = Slow()
    cache = RowCache(path=tmp_path / "rows.jsonl", origin=origin)
    found: list[list[str]] = []
    threads = [Thread(target=lambda: found.append(take(cache))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [IDS] * 4
    assert origin.given == [0, 1, 2, 3, 4, 5]


def test_a_cache_that_cannot_be_written_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DatasetError, match=r"cannot keep problems in .*file.*LCB_CACHE"):
        take(RowCache(path=tmp_path / "file" / "rows.jsonl", origin=Slow()))


def test_a_file_is_decoded_once_when_it_has_an_index(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", ROWS)
    index = tmp_path / "cache" / "x.index.jsonl"
    assert take(JsonlFile(path=path, index=index), 2) == IDS[:2]
    assert len(index.read_bytes().splitlines()) == 3
    assert take(JsonlFile(path=path, index=index)) == IDS
    assert len(index.read_bytes().splitlines()) == 8

    doctored = index.read_bytes().replace(b'"count": 1,', b'"count": 99,')
    index.write_bytes(doctored)  # what it says is what is believed: nothing was decoded again
    assert [entry.count for entry in JsonlFile(path=path, index=index).entries()] == [99, 2, 3, 4, 5, 6]


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [*ROWS, make_row("more")])
    index = tmp_path / "x.index.jsonl"
    list(JsonlFile(path=path, index=index).entries())
    write_jsonl(path, ROWS)
    assert take(JsonlFile(path=path, index=index)) == IDS


def test_an_index_that_cannot_be_kept_does_no_harm(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", ROWS)
    assert take(JsonlFile(path=path, index=path / "below-a-file.jsonl")) == IDS


def test_empty_lines_a_byte_order_mark_and_a_missing_line_end_are_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    text = "\ufeff" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
    path.write_text(text, encoding="utf-8")
    assert [entry.row["question_id"] for entry in JsonlFile(path=path).entries()] == IDS
    last = list(JsonlFile(path=path).entries())[-1]
    assert last.stored.read() == ROWS[-1]
    assert f"{path}, line 11 " in last.where


@pytest.mark.parametrize("line", ['{"question_id": "x"', "[]", "7", "\udcff", "not JSON", "[" * 100_000])
def test_a_line_that_is_no_object_names_file_and_line(tmp_path: Path, line: str) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", ROWS[:2])
    with path.open("ab") as file:
        file.write(line.encode("utf-8", "surrogateescape"))
    with pytest.raises(DatasetError) as caught:
        list(JsonlFile(path=path).entries())
    assert f"{path}, line 3, is not" in str(caught.value)


def test_a_row_of_another_schema_names_the_missing_field() -> None:
    with pytest.raises(DatasetError, match="row 4: there is no 'question_title'"):
        describe({"prompt": "x"}, stored=MemoryRow({}), where="row 4")
    with pytest.raises(DatasetError, match=r"problem 'a'.*'private_test_cases' is list"):
        describe(make_row("a", private_test_cases=[]), stored=MemoryRow({}), where="row 4")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(DatasetError, match="cannot read"):
            list(JsonlFile(path=path).entries())
