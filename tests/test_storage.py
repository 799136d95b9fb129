"""Files that survive crashes, and the folders they lie in."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

from lcbkit.errors import LcbkitError
from lcbkit.storage import (
    append_jsonl,
    cache_folder,
    clear_partial,
    locked,
    mend_jsonl,
    read_json,
    read_jsonl,
    shipped_folder,
    write_atomic,
    write_json,
)


def test_the_argument_wins_over_the_environment_over_the_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_folder() == ROOT / "data_cache"
    monkeypatch.setenv("LCB_CACHE", str(tmp_path / "env"))
    assert cache_folder() == tmp_path / "env"
    assert cache_folder(tmp_path / "argument") == tmp_path / "argument"
    assert not (tmp_path / "env").exists()


def test_the_shipped_folders_are_there() -> None:
    assert (shipped_folder("sample") / "sample.jsonl").is_file()
    assert shipped_folder("recordings").is_dir()


def test_without_a_clone_data_lie_in_the_package_and_the_user_s_cache(tmp_path: Path) -> None:
    package = tmp_path / "site" / "lcbkit"
    package.mkdir(parents=True)
    for name in ("__init__", "errors", "storage"):
        (package / f"{name}.py").write_text((ROOT / "lcbkit" / f"{name}.py").read_text())
    code = "from lcbkit.storage import *; print(shipped_folder('sample')); print(cache_folder())"
    env = {**os.environ, "PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(tmp_path / "xdg")}
    out = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert out.splitlines() == [str(package / "shipped" / "sample"), str(tmp_path / "xdg" / "lcbkit")]


def test_a_write_is_whole_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.txt"
    write_atomic(path, "old")
    with pytest.raises(TypeError):
        write_atomic(path, 7)  # type: ignore[arg-type]
    assert path.read_text() == "old"
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o644
    assert [file.name for file in path.parent.iterdir()] == ["x.txt"]


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "inside").write_text("")
    with pytest.raises(OSError, match="x"):
        write_atomic(tmp_path / "x", "a file cannot take a folder's place")
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


def test_json_comes_back_as_it_was(tmp_path: Path) -> None:
    value = {"text": "déjà \ud800", "list": [1, None, 2.5]}
    write_json(tmp_path / "x.json", value)
    assert read_json(tmp_path / "x.json") == value
    (tmp_path / "x.json").write_text('{"cut')
    with pytest.raises(LcbkitError, match=r"x\.json is not valid JSON"):
        read_json(tmp_path / "x.json")


def test_appended_records_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.jsonl"
    records = [{"n": n, "text": "ü\n\u2028\ud800"} for n in range(3)]
    append_jsonl(path, records[:1])
    append_jsonl(path, records[1:])
    assert list(read_jsonl(path)) == records


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_torn_last_line_is_dropped_and_swallows_nothing(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.jsonl"
    append_jsonl(path, [{"n": 0}, {"n": 1, "text": "é" * 20}])
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    kept = [{"n": 0}, {"n": 1, "text": "é" * 20}] if cut == 1 else [{"n": 0}]  # only the line end is missing
    assert list(read_jsonl(path, torn_ok=True)) == kept
    append_jsonl(path, [{"n": 2}])
    assert list(read_jsonl(path)) == [*kept, {"n": 2}]


def test_a_torn_line_longer_than_a_block_is_cut_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"n": 0}\n{"text": "' + "x" * 200_000)
    append_jsonl(path, [{"n": 1}])
    assert list(read_jsonl(path)) == [{"n": 0}, {"n": 1}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"n": 0}\n{"n": \n{"n": 2}\n', "line 2, is not valid JSON"),
        ('{"n": 0}\n\n[]\n', "line 3, is not a JSON object"),
        ('{"n": 0}\n{"n"', "line 2, is not valid JSON"),
        ("[" * 100_000 + "\n", "line 1, is not valid JSON"),
    ],
)
def test_a_damaged_line_names_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(LcbkitError) as caught:
        list(read_jsonl(path))
    assert f"{path}, {words}" in str(caught.value)


def test_a_damaged_line_in_the_middle_is_never_taken_for_a_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"n"\n{"n": 1}\n')
    with pytest.raises(LcbkitError, match="line 1"):
        list(read_jsonl(path, torn_ok=True))


DAMAGE = {
    "cut": b'{"n": 2, "te',
    "cut, with a line end": b'{"n": 2, "te\n',
    "zeros": bytes(5000),
    "zeros in a line": b'{"n": 2' + bytes(40),
    "bytes of another file": bytes(range(256)) * 300,
    "two lines": b"\xff\xfe\n\x00{\n",
    "a number": b"17\n",
}


@pytest.mark.parametrize("damage", [damage for name, damage in DAMAGE.items() if name != "a number"])
def test_whatever_a_crash_left_at_the_end_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "x.jsonl"
    append_jsonl(path, [{"n": 0}, {"n": 1}])
    path.write_bytes(path.read_bytes() + damage)
    assert list(read_jsonl(path, torn_ok=True)) == [{"n": 0}, {"n": 1}]
    with pytest.raises(LcbkitError, match="line 3, is not valid JSON"):
        list(read_jsonl(path))
    path.write_bytes(path.read_bytes() + b'\n{"n": 3}\n')
    with pytest.raises(LcbkitError, match="line 3, is not valid JSON"):  # no crash writes on after its damage
        list(read_jsonl(path, torn_ok=True))


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_mending_cuts_the_end_back_to_what_was_whole(
    tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.jsonl"
    append_jsonl(path, [{"n": 0}, {"n": 1, "text": "x" * 100_000}])
    whole = path.read_bytes()
    path.write_bytes(whole + damage)
    mend_jsonl(path)
    assert path.read_bytes() == whole
    assert f"at the end of {path} ({len(damage)} bytes)" in caplog.text
    caplog.clear()
    mend_jsonl(path)
    assert path.read_bytes() == whole
    assert not caplog.text


def test_mending_leaves_a_file_alone_in_which_nothing_is_whole_unless_it_is_known(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    mend_jsonl(path)
    path.write_bytes(b"buy milk\nand bread\n")
    mend_jsonl(path)
    assert path.read_bytes() == b"buy milk\nand bread\n"
    mend_jsonl(path, all_of_it=True)
    assert path.read_bytes() == b""


def test_a_last_line_that_lacks_only_its_end_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": 0}\n{"n": 1}')
    mend_jsonl(path)
    assert list(read_jsonl(path)) == [{"n": 0}, {"n": 1}]


def test_what_killed_writes_left_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from lcbkit.storage import write_atomic\n"
        "sys.addaudithook(lambda event, _: os._exit(0) if event == 'os.rename' else None)\n"
        "write_atomic(Path(sys.argv[1]), 'half of it')"
    )
    kept = {tmp_path / name for name in ("a.json", ".a.json", ".a.json.swp", ".b.json.abcdefgh")}
    for path in kept:
        path.write_text("")
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.json"], check=True)
    assert len(set(tmp_path.iterdir()) - kept) == 1
    clear_partial(tmp_path, "a.json")
    assert set(tmp_path.iterdir()) == kept


def test_a_lock_ends_with_a_holder_that_is_killed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "new" / "x.lock"
    code = (
        "import sys, time; from pathlib import Path; from lcbkit.storage import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        watcher = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import os, time; time.sleep(0.5); os.kill({holder.pid}, {signal.SIGKILL})",
            ]
        )
        began = time.monotonic()
        with locked(path):
            assert time.monotonic() - began > 0.2
        watcher.wait()
    assert "waiting for another reader" in caplog.text
    assert str(path) in caplog.text


def test_without_a_home_folder_the_advice_is_to_name_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(name: str) -> Path:
        raise RuntimeError(f"Could not determine home directory for {name}.")

    monkeypatch.delenv("LCB_CACHE", raising=False)
    monkeypatch.setattr("lcbkit.storage._clone_data", lambda: None)
    monkeypatch.setattr("platformdirs.user_cache_path", no_home)
    with pytest.raises(LcbkitError, match=r"home directory for lcbkit.*set LCB_CACHE"):
        cache_folder()
