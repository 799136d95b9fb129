"""What a tree of processes has used, told from two looks at it."""

import os
import signal
import sys
import time

import pytest

from lcbkit.judging.pool import Pool
from lcbkit.judging.supervisor import _descendants, _lost, _numbers, _Process


def process(pid: int, parent: int, cpu: float, waited: float = 0.0) -> _Process:
    return _Process(pid=pid, parent=parent, runs=True, cpu=cpu, waited=waited, ignores=False, memory=0)


def by_number(*processes: _Process) -> dict[int, _Process]:
    return {one.pid: one for one in processes}


def lost(before: dict[int, _Process], now: dict[int, _Process]) -> float:
    return _lost(before, now, set(now))


def test_time_of_a_child_that_was_waited_for_is_in_its_parents_and_not_lost() -> None:
    before = by_number(process(5, 1, 1.0), process(6, 5, 2.0))
    assert lost(before, by_number(process(5, 1, 3.5, waited=2.25))) == 0.0


def test_time_of_a_child_that_nobody_waited_for_is_lost() -> None:
    before = by_number(process(5, 1, 1.0), process(6, 5, 2.0), process(7, 5, 0.5))
    assert lost(before, by_number(process(5, 1, 1.5))) == 2.5
    assert lost(before, by_number(process(5, 1, 2.0, waited=0.5))) == 2.0  # for one of them it waited


def test_time_of_grandchildren_arrives_where_their_parent_was_waited_for() -> None:
    before = by_number(process(5, 1, 1.0), process(6, 5, 0.5), process(7, 6, 2.0))
    assert lost(before, by_number(process(5, 1, 3.75, waited=2.75))) == 0.0
    assert lost(before, by_number(process(5, 1, 1.0))) == 2.5


def test_what_falls_to_the_judge_itself_is_charged_at_its_burial() -> None:
    before = by_number(process(5, 1, 1.0), process(6, 5, 0.5))
    assert lost(before, {}) == 0.0


def test_who_ends_during_a_look_is_not_lost() -> None:
    before = by_number(process(5, 1, 1.0), process(6, 5, 2.0), process(7, 6, 1.0))
    assert _lost(before, by_number(process(5, 1, 1.0)), {5, 6, 7}) == 0.0
    assert _lost(before, by_number(process(5, 1, 1.0)), {5, 6}) == 0.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_parent_that_waits_for_its_vfork_does_not_run() -> None:
    # The child of `vfork` stops before it becomes another program, so its parent stays in state D.
    code = (
        "import ctypes, os, signal, sys\n"
        "number = {'x86_64': 56, 'aarch64': 220}.get(os.uname().machine)\n"
        "print('ready', flush=True)\n"
        "if ctypes.CDLL(None).syscall(number, 0x4000 | 17, 0, 0, 0, 0) == 0: signal.pause()\n"
    )
    reader, writer = os.pipe()
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", code],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)],
    )
    os.close(writer)
    try:
        assert os.read(reader, 5) == b"ready"
        deadline = time.monotonic() + 20
        while True:
            tree = {one.pid: one for one in _descendants(_numbers())}
            below = [one for one in tree.values() if one.parent == pid]
            if below and not any(one.runs for one in (tree[pid], *below)):
                break
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        for one in _descendants(_numbers()):
            if one.pid == pid or one.parent == pid:
                os.kill(one.pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reader)


def test_many_short_children_that_are_waited_for_break_no_limit(pool: Pool) -> None:
    code = (
        "import os, time\n"
        "for _ in range(40):\n"
        "  if not (child := os.fork()):\n"
        "    while time.process_time() < 0.02: pass\n"
        "    os._exit(0)\n"
        "  os.waitpid(child, 0)\n"
        "print(7)\n"
    )
    ran = pool.run_python(code, time_limit=6)
    assert ran.stdout == "7\n"
    assert ran.cpu_seconds > 0.6
