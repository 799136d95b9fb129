"""Whoever ends, and however: no process, no folder and no descriptor stays behind, and the pool goes on."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from lcbkit.errors import SandboxError
from lcbkit.judging import pool as pool_module
from lcbkit.judging.pool import Pool
from tests.judging.trials import make_problem, processes_with, wait_for, wait_until_gone

ONE = make_problem([("3", "3")])
ECHO = "print(input())"
# A user's process: it judges something long, in the tier named by its first argument, marked by its second.
USER = """
import sys, tempfile
from lcbkit.judging.pool import Pool
from tests.judging.trials import make_problem
tier, mark = sys.argv[1:3]
code = f'''
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)  # {mark}"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)  # {mark}"])
open("left", "w").write("x")
time.sleep(300)
'''
pool = Pool(2, sandbox=tier)
good = make_problem([("3", "3")])
pool.judge("print(input())", good)
print("ready", flush=True)
"""
JUDGE = "pool.judge(code, good, time_limit=200)"
GO_ON = f"""
try:
    {JUDGE}
except KeyboardInterrupt:
    print("interrupted", pool.judge("print(input())", good).passed, flush=True)
"""


def start_user(tier: str, mark: str, what: str, folder: Path) -> "subprocess.Popen[str]":
    """A user's process whose program has got as far as starting its children."""
    user = subprocess.Popen(
        [sys.executable, "-c", USER + what, tier, mark],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(folder)},
    )
    assert user.stdout is not None
    assert user.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 60
    while len(processes_of_children(mark)) < 2:
        assert time.monotonic() < deadline, "the program has not started its children"
        time.sleep(0.05)
    return user


def processes_of_children(mark: str) -> list[str]:
    return [line for line in processes_with(mark) if "time.sleep(300)  #" in line and "USER" not in line]


def assert_nothing_is_left(mark: str, folder: Path) -> None:
    assert not wait_until_gone(mark)
    left = wait_for(lambda: list(folder.iterdir()))
    assert not left


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name
)
def test_a_user_that_is_ended_leaves_nothing(tier: str, number: signal.Signals, tmp_path: Path) -> None:
    mark = f"lifecycle-{tier}-{number.name}-{os.getpid()}"
    user = start_user(tier, mark, JUDGE, tmp_path)
    user.send_signal(number)
    user.communicate(timeout=60)
    assert_nothing_is_left(mark, tmp_path)


def test_an_interrupt_ends_what_is_judged_and_leaves_the_pool_usable(tier: str, tmp_path: Path) -> None:
    mark = f"lifecycle-{tier}-go-on-{os.getpid()}"
    user = start_user(tier, mark, GO_ON, tmp_path)
    user.send_signal(signal.SIGINT)
    out, _ = user.communicate(timeout=60)
    assert out == "interrupted True\n"
    assert_nothing_is_left(mark, tmp_path)


def test_an_interrupt_for_the_whole_group_is_not_for_the_workers(tier: str) -> None:
    with Pool(1, sandbox=tier) as pool:
        assert pool.judge(ECHO, ONE).passed
        (worker,) = pool._crew._idle
        assert os.getsid(worker.process.pid) != os.getsid(0)


def test_a_worker_that_is_killed_while_idle_is_replaced(tier: str) -> None:
    with Pool(1, sandbox=tier) as pool:
        assert pool.judge(ECHO, ONE).passed
        (worker,) = pool._crew._idle
        worker.process.kill()
        worker.process.wait()
        assert pool.judge(ECHO, ONE).passed


def test_a_worker_that_is_killed_at_work_is_replaced_and_the_test_judged_again(tier: str) -> None:
    with Pool(1, sandbox=tier) as pool:
        pool.judge(ECHO, ONE)
        (worker,) = pool._crew._idle
        threading.Timer(0.3, worker.process.kill).start()
        report = pool.judge("import time; time.sleep(1); print(input())", ONE)
        assert report.passed, str(report)
        assert worker not in pool._crew._idle


def test_a_program_that_kills_its_worker_each_time_fails(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def lend(crew: pool_module.Crew, token: pool_module.Token) -> object:
        worker = original(crew, token)
        taken.append(worker)
        threading.Timer(0.3, worker.process.kill).start()
        return worker

    original = pool_module.Crew.take
    monkeypatch.setattr(pool_module.Crew, "take", lend)
    with Pool(1, sandbox=tier) as pool:
        report = pool.judge("import time; time.sleep(20)", ONE)
    assert [result.verdict for result in report.results] == ["runtime_error"]
    assert "ended the process that judged it" in report.results[0].stderr
    assert len(taken) == 2


def test_a_pool_that_nobody_holds_takes_its_workers_along(tier: str) -> None:
    pool = Pool(1, sandbox=tier)
    pool.judge(ECHO, ONE)
    (worker,) = pool._crew._idle
    number = worker.process.pid
    del pool, worker
    gc.collect()
    assert not psutil.pid_exists(number)


def test_who_wants_a_worker_of_a_closed_pool_is_refused_and_does_not_wait(tier: str) -> None:
    busy, release = threading.Event(), threading.Event()
    with Pool(1, sandbox=tier) as pool, ThreadPoolExecutor(1) as threads:
        keeper = pool._crew._keeper
        first = threads.submit(keeper.call, lambda: busy.set() or release.wait())
        try:
            assert busy.wait(60)
            pool.close()
            # As of a caller that saw the pool open a moment ago; the thread that starts workers still lives.
            with pytest.raises(SandboxError, match="the judge was stopped"):
                keeper.call(list)
        finally:
            release.set()
        assert first.result()


def test_workers_outlive_the_thread_that_first_used_them(tier: str) -> None:
    with Pool(1, sandbox=tier) as pool:
        thread = threading.Thread(target=lambda: pool.judge(ECHO, ONE))
        thread.start()
        thread.join()
        (worker,) = pool._crew._idle
        assert pool.judge(ECHO, ONE).passed
        assert pool._crew._idle == [worker]


def test_a_forked_child_has_workers_of_its_own(tier: str) -> None:
    with Pool(1, sandbox=tier) as pool:
        assert pool.judge(ECHO, ONE).passed
        (worker,) = pool._crew._idle
        child = os.fork()
        if child == 0:
            try:
                passed = not pool._crew._idle and pool.judge(ECHO, ONE).passed
                pool.close()
                os._exit(0 if passed else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert pool.judge(ECHO, ONE).passed
        assert pool._crew._idle == [worker]


def test_the_shared_pool_can_be_used_as_the_interpreter_ends(tier: str) -> None:
    code = (
        "import atexit\nfrom lcbkit import judge\nfrom tests.judging.trials import make_problem\n"
        "one = make_problem([('3', '3')])\n"
        "atexit.register(lambda: print(judge('print(input())', one).passed))\n"
        "print(judge('print(input())', one).passed)\n"
    )
    env = os.environ | {"LCB_SANDBOX": tier}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=env,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert (run.stdout, run.stderr, run.returncode) == ("True\nTrue\n", "", 0)


def test_nothing_grows_with_the_number_of_tests(tier: str) -> None:
    problem = make_problem([(str(i), str(i)) for i in range(20)])
    code = "import os; open('left', 'w').write('x' * 1000); os.fork() or os.setsid(); print(input())"
    with Pool(1, sandbox=tier) as pool:
        pool.judge(code, problem)
        (worker,) = pool._crew._idle
        me, process = psutil.Process(), psutil.Process(worker.process.pid)

        def counts() -> tuple[int, int, int]:
            return me.num_fds(), len(process.children(recursive=True)), threading.active_count()

        before = counts()
        for _ in range(8):
            pool.judge(code, problem)
            pool.judge("1/0", problem, stop_on_failure=True)
        assert pool._crew._idle == [worker]
        more = wait_for(lambda: [pair for pair in zip(counts(), before, strict=True) if pair[0] > pair[1]])
        assert not more, "descriptors, processes, threads: now and before"


def test_out_of_descriptors_is_one_clear_error_and_the_pool_goes_on(tier: str) -> None:
    import resource

    with Pool(1, sandbox=tier) as pool:
        assert pool.judge(ECHO, ONE).passed
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (psutil.Process().num_fds() + 8, hard))
        held = []
        try:
            with suppress(OSError):
                while True:
                    held.append(os.open(os.devnull, os.O_RDONLY))
            with pytest.raises(SandboxError, match="Too many open files"):
                pool.judge(ECHO, ONE)
        finally:
            for fd in held:
                os.close(fd)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert pool.judge(ECHO, ONE).passed


def test_a_scratch_folder_that_cannot_be_made_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with Pool(1, sandbox="limits") as pool, pytest.raises(SandboxError, match="No such file or directory"):
        pool.judge(ECHO, ONE)
