"""Rows of Parquet files and of a `datasets.Dataset`."""

from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcbkit.errors import DatasetError
from lcbkit.rows.schema import COLUMNS
from lcbkit.rows.stored import plain_row

if TYPE_CHECKING:
    import datasets

__all__ = ["ParquetFile", "TableRow"]


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """A Parquet file of rows. One row cannot be read alone, so its rows are copied into the cache, once."""

    path: Path

    @property
    def name(self) -> str:
        """How messages name it; a row's number follows."""
        return f"{self.path}, row"

    @property
    def version(self) -> str:
        """Changes when the file is written anew."""
        status = self.path.stat()
        return f"{self.path.absolute()} {status.st_size} {status.st_mtime_ns}"

    def rows(self, start: int) -> Generator[dict[str, Any], None, None]:
        """The rows from the `start`-th on.

        Raises:
            DatasetError: for a file that is not Parquet, is damaged, or holds other columns.
        """
        import pyarrow
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(self.path) as file:
                if missing := sorted(set(COLUMNS) - set(file.schema_arrow.names)):
                    raise DatasetError(
                        f"{self.path} has no column {missing[0]!r}; LiveCodeBench's rows have "
                        f"{', '.join(COLUMNS)}"
                    )
                # One row a batch: strings of many large rows overflow Arrow's 32-bit offsets.
                for number, batch in enumerate(file.iter_batches(batch_size=1, columns=list(COLUMNS))):
                    if number >= start:
                        yield plain_row(batch.to_pylist()[0])
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise DatasetError(f"cannot read {self.path} as Parquet ({error}); get the file again") from error


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a `datasets.Dataset`, read from its Arrow file when asked for."""

    table: "datasets.Dataset" = field(repr=False)
    number: int

    def read(self) -> dict[str, Any]:
        """The row."""
        return plain_row(self.table[self.number])
