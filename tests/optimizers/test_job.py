import json
import subprocess
import sys
from pathlib import Path

import pytest

from lcbkit.optimizers.job import JobError, JobFolder, read_sealed, write_sealed

IDENTITY = {"cell": {"method": "gepa", "topology": "single"}, "budget": 600}


def test_a_sealed_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    written = write_sealed(path, "test", {"scores": [1.0, 0.0], "text": "ü\ud83d"})
    assert read_sealed(path, "test") == written
    assert written["schema"] == "lcbkit/test/1"


@pytest.mark.parametrize(
    "change",
    [
        lambda value: {**value, "scores": [1.0, 1.0]},
        lambda value: {**value, "more": 1},
        lambda value: {name: part for name, part in value.items() if name != "sha256"},
    ],
)
def test_a_changed_file_is_refused(tmp_path: Path, change: object) -> None:
    path = tmp_path / "a.json"
    value = write_sealed(path, "test", {"scores": [1.0, 0.0]})
    path.write_text(json.dumps(change(value)))  # type: ignore[operator]
    with pytest.raises(JobError, match="changed after it was sealed"):
        read_sealed(path, "test")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "lcbkit/test/2"}'])
def test_what_is_no_such_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(JobError):
        read_sealed(path, "test")


def test_a_folder_belongs_to_one_job(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job")
    with folder.opened(IDENTITY) as job:
        pass
    with folder.opened(IDENTITY) as again:
        assert again == job
    other = {**IDENTITY, "budget": 60}
    with pytest.raises(JobError, match="budget: 600 there, 60 here"), folder.opened(other):
        pass


def test_parts_without_their_job_are_refused(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    folder.write("selection", {"a": 1})
    with pytest.raises(JobError, match=r"without its job\.json"), folder.opened(IDENTITY):
        pass


def test_only_one_process_works_in_a_folder(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    script = (
        "import sys; from pathlib import Path; from lcbkit.optimizers.job import JobError, JobFolder\n"
        "try:\n    with JobFolder(Path(sys.argv[1])).opened({'cell': 1}): pass\n"
        "except JobError as error: print(error)"
    )
    with folder.opened(IDENTITY):
        said = subprocess.run(
            [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True
        ).stdout
    assert "another process works in" in said


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JobError, match="cannot write"), JobFolder(tmp_path / "file" / "job").opened(IDENTITY):
        pass
