from pathlib import Path

import datasets
import pandas
import pytest
from row_factory import make_row

from lcbkit.errors import DatasetError
from lcbkit.rows.tables import ParquetFile, TableRow

ROWS = [make_row("a"), make_row("b", mode="functional")]


def test_rows_of_a_parquet_file_are_those_written(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pandas.DataFrame(ROWS)
    frame["contest_date"] = pandas.to_datetime(frame["contest_date"])
    frame["another"] = 1
    frame.to_parquet(path)
    assert list(ParquetFile(path).rows(0)) == ROWS
    assert list(ParquetFile(path).rows(1)) == ROWS[1:]


def test_a_parquet_file_written_anew_has_another_version(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pandas.DataFrame(ROWS).to_parquet(path)
    before = ParquetFile(path).version
    pandas.DataFrame(ROWS[:1]).to_parquet(path)
    assert ParquetFile(path).version != before


def test_what_is_no_parquet_file_of_rows_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pandas.DataFrame({"question_id": ["a"]}).to_parquet(path)
    with pytest.raises(DatasetError, match="no column 'contest_date'"):
        list(ParquetFile(path).rows(0))
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DatasetError, match="as Parquet"):
        list(ParquetFile(path).rows(0))


def test_a_row_of_a_dataset_is_read_when_asked_for() -> None:
    assert TableRow(datasets.Dataset.from_list(ROWS), 1).read() == ROWS[1]
