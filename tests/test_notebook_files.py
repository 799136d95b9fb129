"""Copies of the shipped notebooks: complete, never over somebody's work."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from lcbkit.cli import lcb
from lcbkit.errors import LcbkitError
from lcbkit.notebook_files import copy_notebooks
from tests.conftest import ROOT

SHIPPED = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_copies_every_notebook_byte_for_byte(tmp_path: Path) -> None:
    copied = copy_notebooks(tmp_path / "new" / "folder")
    assert [path.name for path in copied.written] == [path.name for path in SHIPPED]
    assert [path.read_bytes() for path in copied.written] == [path.read_bytes() for path in SHIPPED]
    assert not copied.kept


def test_keeps_a_notebook_that_was_worked_in_unless_told_otherwise(tmp_path: Path) -> None:
    copy_notebooks(tmp_path)
    mine = tmp_path / SHIPPED[0].name
    mine.write_text("my work")
    copied = copy_notebooks(tmp_path)
    assert (copied.written, copied.kept) == ((), (mine,))
    assert mine.read_text() == "my work"
    assert "--overwrite" in str(copied)
    assert copy_notebooks(tmp_path, overwrite=True).written == (mine,)
    assert mine.read_bytes() == SHIPPED[0].read_bytes()


def test_the_command_names_what_it_wrote(tmp_path: Path) -> None:
    first = CliRunner().invoke(lcb, ["notebooks", str(tmp_path)])
    assert first.output.splitlines() == [str(tmp_path / path.name) for path in SHIPPED]
    assert "already" in CliRunner().invoke(lcb, ["notebooks", str(tmp_path)]).output


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    with pytest.raises(LcbkitError, match=r"cannot write .* give another folder"):
        copy_notebooks(file / "folder")
