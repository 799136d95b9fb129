import json
from pathlib import Path

import pytest
from row_factory import make_row, write_jsonl

from lcbkit.errors import DatasetError
from lcbkit.rows.stored import FileRow, plain_row


def test_a_line_is_read_from_its_place(tmp_path: Path) -> None:
    rows = [make_row("a"), make_row("b")]
    path = write_jsonl(tmp_path / "x.jsonl", rows)
    offset = path.read_bytes().index(b"\n") + 1
    place = FileRow(path=path, offset=offset, length=path.stat().st_size - offset, row_id="b")
    assert place.read() == rows[1]


@pytest.mark.parametrize("content", [None, "", "x" * 5000, json.dumps(make_row("other")) + "\n", "[]\n"])
def test_a_file_that_changed_since_is_an_error(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DatasetError, match=r"problem 'a'.*load the problems again"):
        FileRow(path=path, offset=0, length=10_000, row_id="a").read()


def test_a_row_of_a_table_gets_its_date_back_as_iso_text() -> None:
    row = make_row("a", contest_date="2024-05-01 20:00:00", another=1)
    assert plain_row(row) == make_row("a")
    assert plain_row(make_row("a", contest_date="soon"))["contest_date"] == "soon"
