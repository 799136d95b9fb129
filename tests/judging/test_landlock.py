"""Behind the wall, what is allowed works as ever and the rest is closed, each tried in a child."""

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lcbkit.judging import kernel, landlock
from tests.judging.test_kernel import in_a_child

pytestmark = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A folder to read, one to write, and one that is closed; each with a file."""
    folders = tmp_path / "read", tmp_path / "write", tmp_path / "closed"
    for folder in folders:
        folder.mkdir()
        (folder / "file").write_text("text")
    return folders


def behind(places: tuple[Path, ...], work: Callable[[], object]) -> int:
    """How a child behind the wall ends that does the work: 0, or the number of its OSError."""
    readable, writable, _ = map(str, places)

    def run() -> None:
        kernel.forbid_new_privileges()
        rules = landlock.make_rules([readable, "/usr", "/lib", "/lib64", "/no/such/folder"], [writable])
        landlock.obey(rules)
        work()

    return in_a_child(run)


def test_only_what_is_allowed_can_be_read(places: tuple[Path, Path, Path]) -> None:
    readable, writable, closed = places
    assert behind(places, (readable / "file").read_text) == 0
    assert behind(places, (writable / "file").read_text) == 0
    assert behind(places, (closed / "file").read_text) == errno.EACCES
    assert behind(places, lambda: list(closed.iterdir())) == errno.EACCES
    assert behind(places, lambda: list(readable.iterdir())) == 0


def test_only_what_is_allowed_can_be_changed(places: tuple[Path, Path, Path]) -> None:
    readable, writable, closed = places
    for folder in (readable, closed):
        changes: list[Callable[[], object]] = [
            lambda folder=folder: (folder / "new").write_text("x"),  # type: ignore[misc]
            lambda folder=folder: (folder / "file").unlink(),  # type: ignore[misc]
            lambda folder=folder: (folder / "new").mkdir(),  # type: ignore[misc]
            lambda folder=folder: os.link(writable / "file", folder / "new"),  # type: ignore[misc]
        ]
        for change in changes:
            assert behind(places, change) in (errno.EACCES, errno.EXDEV)
        assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_part_of_a_readable_folder_can_be_closed(places: tuple[Path, Path, Path]) -> None:
    folder = places[0]
    for name in ("open", "deep/closed/inner", "deep/beside"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text("text")
    (folder / "way in").symlink_to(folder / "deep" / "closed")

    def trying(work: Callable[[], object]) -> int:
        def run() -> None:
            kernel.forbid_new_privileges()
            closed = [str(folder / "deep" / "closed")]
            landlock.obey(landlock.make_rules([str(folder), "/usr"], [str(places[1])], closed))
            work()

        return in_a_child(run)

    for name in ("file", "open/file", "deep/beside/file"):
        assert trying((folder / name).read_text) == 0
    assert trying(lambda: list(folder.iterdir())) == 0
    for name in ("deep/closed/inner/file", "way in/inner/file"):
        assert trying((folder / name).read_text) == errno.EACCES


def test_everything_can_be_done_in_a_writable_folder(places: tuple[Path, Path, Path]) -> None:
    folder = places[1]

    def work() -> None:
        (folder / "a").mkdir()
        (folder / "file").rename(folder / "a" / "moved")
        os.link(folder / "a" / "moved", folder / "linked")
        (folder / "a" / "moved").write_text("shorter")
        (folder / "a" / "moved").unlink()
        os.mkfifo(folder / "pipe")
        (folder / "link").symlink_to("a")
        (folder / "a").rmdir()

    assert behind(places, work) == 0
    assert (folder / "linked").read_text() == "shorter"


def test_programs_run_from_where_they_may_be_read(places: tuple[Path, Path, Path]) -> None:
    assert behind(places, lambda: subprocess.run(["/usr/bin/env", "true"], check=True)) == 0
    script = places[2] / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert behind(places, lambda: os.execv(script, ["x"])) == errno.EACCES


@pytest.mark.skipif(landlock.version() < landlock.SIGNALS, reason="signals are not held by this kernel")
def test_no_signal_leaves_and_those_inside_arrive(places: tuple[Path, Path, Path]) -> None:
    outside = os.getpid()
    assert behind(places, lambda: os.kill(outside, 0)) == errno.EPERM

    def inside() -> None:
        child = os.fork()
        if not child:
            signal.pause()
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    assert behind(places, inside) == 0


@pytest.mark.skipif(landlock.version() < landlock.SIGNALS, reason="nor are nameless sockets")
def test_no_local_socket_without_a_file_leads_out(places: tuple[Path, Path, Path]) -> None:
    name = f"\0lcbkit-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        assert behind(places, lambda: socket.socket(socket.AF_UNIX).connect(name)) == errno.EPERM


def test_no_process_outside_shows_its_surroundings() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        folder = Path(f"/proc/{other.pid}")

        def look(name: str) -> bytes:
            kernel.forbid_new_privileges()
            kernel.drop_capabilities()  # of root, whose rights to measure go through walls
            rules = landlock.make_rules(["/proc"], [])
            landlock.obey(rules)
            return (folder / name).read_bytes()

        assert in_a_child(lambda: look("stat")) == 0
        assert in_a_child(lambda: look("environ")) == errno.EACCES
        other.communicate(b"\n")


def test_the_wall_stands_for_a_user_that_may_read_everything(places: tuple[Path, Path, Path]) -> None:
    if os.geteuid():
        pytest.skip("that needs root")
    places[2].chmod(0o700)

    def work() -> None:
        kernel.become((1_999_999_998, True))
        (places[2] / "file").read_text()

    assert in_a_child(work) == 0
    assert behind(places, work) == errno.EACCES


def test_rules_that_cannot_be_obeyed_are_none() -> None:
    def work() -> None:
        kernel.forbid_new_privileges()
        for _ in range(16):  # as many as the kernel nests
            rules = landlock.make_rules(["/"], ["/"])
            assert rules >= 0
            landlock.obey(rules)
        assert landlock.make_rules(["/"], ["/"]) == -1

    assert in_a_child(work) == 0
