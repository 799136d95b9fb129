"""The expected output is nowhere to be found, and no test learns anything from another."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

import pytest

import lcbkit
from lcbkit import Report
from tests.judging.trials import CONFINED, KEPT_APART, Trial, check, judge_trials, read_trials

SECRET = f"TREASURE-{token_hex(6)}"  # new each time, so that no file of this machine holds it
TRIALS = [
    replace(trial, tests=(("1", f'"{SECRET}"' if trial.fn_name else SECRET),))
    for trial in read_trials("hunts.txt")
    # Where programs may look into the memory of their user's processes, these would find this one.
    if KEPT_APART or "process" not in trial.name
]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return judge_trials(TRIALS)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_the_expected_output_is_not_in(trial: Trial, reports: dict[str, Report]) -> None:
    report = reports[trial.name]
    check(trial, report)
    assert SECRET not in report.results[0].actual
    assert "attached" not in report.results[0].actual


def test_the_hunt_through_memory_finds_what_is_there() -> None:
    hunt = next(trial for trial in TRIALS if trial.name == "its own memory")
    planted = replace(hunt, program=f"hidden = {SECRET[:9]!r} + {SECRET[9:]!r}\n{hunt.program}")
    assert SECRET in judge_trials([planted])[planted.name].results[0].actual


@pytest.fixture
def listener() -> Iterator[int]:
    """A port of this machine where somebody answers with the right output."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def serve() -> None:
            server.settimeout(0.1)
            while not stop.is_set():
                try:
                    server.accept()[0].sendall(b"6\n")
                except TimeoutError:
                    continue

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        stop.set()
        thread.join()


@pytest.mark.skipif(not CONFINED, reason="only namespaces keep programs from the network")
def test_no_program_reaches_the_network_not_even_this_machine(listener: int) -> None:
    program = f"""
    import socket, urllib.request
    for family, address in ((socket.AF_INET, ("127.0.0.1", {listener})), (socket.AF_INET, ("1.1.1.1", 53))):
        try: print(socket.create_connection(address, 1).recv(9).decode())
        except OSError: pass
    """
    trial = Trial(name="calls", right="wrong_answer|runtime_error", program=program)
    check(trial, judge_trials([trial])["calls"])


@pytest.mark.skipif(not CONFINED, reason="only namespaces hide files")
def test_home_project_and_keys_are_out_of_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    project = Path(lcbkit.__file__).parent
    hidden = [
        project,
        project.parent / "data_cache",
        project.parent / ".git",
        Path.home() / ".bashrc",
        "/etc/shadow",
    ]
    program = f"""
    import os, pathlib
    seen = [name for name in os.environ if "KEY" in name or os.environ[name] == {str(Path.home())!r}]
    for place in map(pathlib.Path, {[str(place) for place in hidden]}):
        found = [place, *place.rglob("*")] if place.is_dir() else [place]
        for path in found:
            try:
                # The two files of the judge that run in there are no secret.
                if path.name not in ("worker.py", "guest.py") and path.read_bytes(): seen.append(str(path))
            except OSError: pass
    print(seen or 6)
    """
    trial = Trial(name="looks around", right="passed", program=program)
    check(trial, judge_trials([trial])["looks around"])


STORE = """
import os, sys, tempfile
places = [os.getcwd(), tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/run", "/proc/self", "/dev"]
places += [os.path.expanduser("~"), os.path.dirname(__file__)]
if input() == "store":
    for place in places:
        try: open(os.path.join(place, "lcbkit-trial-note"), "w").write("6")
        except OSError: pass
    for name in sys.modules: setattr(sys.modules[name], "lcbkit_trial_note", 6)
    os.environ["NOTE"] = "6"
    print(6)
else:
    kept = [place for place in places if os.path.exists(os.path.join(place, "lcbkit-trial-note"))]
    kept += [name for name in sys.modules if hasattr(sys.modules[name], "lcbkit_trial_note")]
    print(kept or os.environ.get("NOTE", 6))
"""


@pytest.mark.skipif(not CONFINED, reason="only namespaces give each test folders of its own")
def test_nothing_stored_by_one_test_is_there_for_the_next() -> None:
    tests = (("store", "6"), ("look", "6")) * 3
    trial = Trial(name="stores", right="passed", program=STORE, tests=tests)
    check(trial, judge_trials([trial], workers=1)["stores"])


@pytest.mark.skipif(not CONFINED, reason="only namespaces make the rest read-only")
def test_nothing_is_writable_but_the_working_folder() -> None:
    program = """
    import os
    written = []
    for folder, folders, _ in os.walk("/"):
        own = ("/proc", "/sys", os.getcwd())
        deep = folder.count("/") > 3
        folders[:] = [] if deep else [name for name in folders if os.path.join(folder, name) not in own]
        try:
            with open(os.path.join(folder, "lcbkit-trial-write"), "w"): written.append(folder)
            os.unlink(os.path.join(folder, "lcbkit-trial-write"))
        except OSError: pass
    print(written or 6)
    """
    trial = Trial(name="writes", right="passed", program=program)
    check(trial, judge_trials([trial])["writes"])
