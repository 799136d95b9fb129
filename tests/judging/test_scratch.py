"""A scratch folder is fresh for every test, whatever the last one has built in it."""

import os
from pathlib import Path

import pytest

from lcbkit.judging.pool import Pool
from lcbkit.judging.scratch import Scratch, empty_folder
from tests.judging.trials import make_problem


def build_deep(folder: Path, depth: int) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("a-name-of-some-length", dir_fd=here)
        inner = os.open("a-name-of-some-length", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_folder_far_deeper_than_any_path_is_emptied(tmp_path: Path) -> None:
    build_deep(tmp_path, 5_000)
    build_deep(tmp_path / "a-name-of-some-length", 0)
    empty_folder(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_closed_folders_links_and_odd_names_are_removed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    folder = tmp_path / "folder"
    (folder / "closed" / "inner").mkdir(parents=True)
    (folder / "closed" / "inner" / "x").touch()
    (folder / "link").symlink_to(outside)
    (folder / "closed" / "link").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    os.close(os.open(os.fsencode(folder) + b"/\xff\n", os.O_CREAT))
    (folder / "closed" / "inner").chmod(0)
    (folder / "closed").chmod(0)
    folder.chmod(0)
    empty_folder(str(folder))
    assert not list(folder.iterdir())
    assert (outside / "kept").exists()


def test_a_folder_that_was_left_alone_is_left_alone(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path), b"print(1)")
    scratch.restore()
    before = Path(scratch.program).stat(), Path(scratch.work).stat()
    scratch.restore()
    assert (Path(scratch.program).stat(), Path(scratch.work).stat()) == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda scratch: Path(scratch.work, "left").touch(),
        lambda scratch: os.utime(scratch.work, (1, 1)),
        lambda scratch: os.setxattr(scratch.work, "user.note", b"left"),
        lambda scratch: Path(scratch.work).chmod(0o777),
        lambda scratch: (Path(scratch.program).chmod(0o600), Path(scratch.program).write_bytes(b"print(2)")),
        lambda scratch: (Path(scratch.folder).chmod(0o700), Path(scratch.folder, "left").touch()),
        lambda scratch: (Path(scratch.folder).chmod(0o700), Path(scratch.work).rename(scratch.work + "2")),
        lambda scratch: (Path(scratch.folder).chmod(0o700), Path(scratch.program).unlink()),
    ],
)
def test_a_folder_that_was_changed_is_made_anew(spoil, tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path), b"print(1)")
    scratch.restore()
    spoil(scratch)
    scratch.restore()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.py", "work"]
    assert Path(scratch.program).read_bytes() == b"print(1)"
    assert not list(Path(scratch.work).iterdir())
    assert Path(scratch.work).stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_the_user_of_tests_leaves_elsewhere_is_removed(tmp_path: Path) -> None:
    folder, place = tmp_path / "folder", tmp_path / "place"
    for path in (folder, place, place / "theirs", place / "theirs" / "inner", place / "kept"):
        path.mkdir()
    (place / "file").touch()
    (place / "link").symlink_to(place / "kept")
    for name in ("theirs", "file", "link"):
        os.chown(place / name, 1_999_999_997, 0, follow_symlinks=False)
    scratch = Scratch(str(folder), b"", uid=1_999_999_997, littered=[str(place), "/no/such/place"])
    scratch.restore()
    assert [path.name for path in place.iterdir()] == ["kept"]
    scratch.remove()
    assert not folder.exists()


def test_no_attribute_of_the_working_folder_passes_a_note_on(pool: Pool) -> None:
    code = """
import os, sys
if input() == "write":
    for mark in (lambda: os.setxattr(".", "user.note", b"x"), lambda: os.utime(".", (1, 1))):
        try: mark()
        except OSError: pass
    print(6)
else:
    print(os.listxattr(".") or int(os.stat(".").st_mtime == 1) or 6)
"""
    report = pool.judge(code, make_problem([("write", "6"), ("read", "6")]))
    assert report.passed, str(report)


def test_a_program_that_digs_deep_leaves_nothing_for_the_next(pool: Pool) -> None:
    code = """
import os
for _ in range(int(input())):
    os.mkdir("deep-in-there")
    os.chdir("deep-in-there")
print(6)
"""
    report = pool.judge(code, make_problem([("3000", "6"), ("1", "6")]))
    assert report.passed, str(report)
    assert pool.run_python("import os; print(os.listdir())").stdout == "[]\n"
