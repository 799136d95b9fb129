"""The hub path for real: the client, the wire, the cache; each call in a process of its own."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_hub import LoopbackHub
from row_factory import blob, make_row

from lcbkit.errors import DatasetError
from lcbkit.known_ids import eval_ids
from lcbkit.rows.hub import FILES, _short_retries, release_files

MEGABYTE = 1_000_000


def jsonl(rows: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(scope="module")
def release() -> dict[str, bytes]:
    """Two raw files; the first holds the 50 evaluation problems in 4 MB, then as many rows in 20 MB."""
    large, larger = blob(1), blob(1.5)
    rows = [make_row(row_id, hidden=large if n % 13 == 5 else 3) for n, row_id in enumerate(eval_ids())]
    rows += [make_row(f"x{n}", hidden=larger if n % 4 == 0 else 2, difficulty="hard") for n in range(50)]
    return {"test.jsonl": jsonl(rows), "test2.jsonl": jsonl([make_row(f"y{n}") for n in range(4)])}


@pytest.fixture
def hub(release: dict[str, bytes]) -> Iterator[LoopbackHub]:
    with LoopbackHub(dict(release)) as server:
        yield server


def test_a_prefix_is_enough_for_a_limit_and_is_read_once(hub: LoopbackHub, tmp_path: Path) -> None:
    size = len(hub.files["test.jsonl"])
    needed = len(b"".join(hub.files["test.jsonl"].splitlines(keepends=True)[:50]))

    (first,) = hub.load([{"source": "release_v1", "limit": 50}], cache=tmp_path)
    assert tuple(first["ids"]) == eval_ids()
    assert first["revision"] == hub.commit
    assert set(first["dates"]) == {"2024-05-01 20:00:00"}
    # A chunk and its read-ahead, four megabytes each, and the rest of a row: no more lies behind the prefix.
    assert needed <= hub.bytes_sent("test.jsonl") <= needed + 13 * MEGABYTE < size
    assert not hub.asked_for("test2.jsonl")

    hub.log.clear()
    (again,) = hub.load([{"source": "release_v1", "limit": 50}], cache=tmp_path)
    assert not hub.log
    assert not again["datasets_imported"]
    assert (again["ids"], again["counts"]) == (first["ids"], first["counts"])


def test_a_whole_reading_fetches_no_byte_twice_and_serves_every_later_call(
    hub: LoopbackHub, tmp_path: Path
) -> None:
    (whole,) = hub.load([{"source": "release_v2"}], cache=tmp_path)
    assert len(whole["ids"]) == 104
    for file, data in hub.files.items():
        assert hub.bytes_sent(file) == len(data)

    hub.log.clear()
    found = hub.load(
        [
            {"source": "release_v1", "limit": 30, "offset": 10},
            {"source": "v1", "difficulty": "hard", "limit": 2},
            {"source": "release_latest", "only": ["2727", "y1"]},
        ],
        cache=tmp_path,
    )
    assert [len(call["ids"]) for call in found] == [30, 2, 2]
    assert not hub.log


def test_a_longer_reading_goes_on_behind_the_prefix(hub: LoopbackHub, tmp_path: Path) -> None:
    prefix, whole = hub.load(
        [{"source": "release_v1", "limit": 10}, {"source": "release_v1"}], cache=tmp_path
    )
    assert whole["ids"][:10] == prefix["ids"]
    assert len(whole["ids"]) == len(set(whole["ids"])) == 100
    (kept,) = tmp_path.rglob("test.jsonl")
    assert kept.read_bytes() == hub.files["test.jsonl"]


def test_a_release_that_no_longer_begins_with_the_evaluation_ids_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [make_row(f"z{n}") for n in range(50)]
    with LoopbackHub({"test.jsonl": jsonl(rows), "test2.jsonl": jsonl(rows)}) as hub:
        hub.load([{"source": "v2"}], cache=tmp_path)
        assert "evaluation ids" not in capfd.readouterr().err
        hub.load([{"source": "release_v1", "limit": 49}], cache=tmp_path)
        assert "evaluation ids" not in capfd.readouterr().err
        hub.load([{"source": "release_v1"}], cache=tmp_path)
        assert "release_v1 does not begin with the 50 evaluation ids" in capfd.readouterr().err


def test_filters_with_a_limit_read_no_further_than_needed(hub: LoopbackHub, tmp_path: Path) -> None:
    calls = [{"source": "release_v2", "difficulty": "hard", "limit": 1}]
    # Nor is a home needed that can be written: nobody can make a folder in /proc.
    (found,) = hub.load(calls, cache=tmp_path, HF_HOME="/proc/none")
    assert found["ids"] == ["x0"]
    assert hub.bytes_sent("test.jsonl") < len(hub.files["test.jsonl"])
    assert not hub.asked_for("test2.jsonl")


def test_rows_of_thirty_megabytes_load_one_after_the_other(tmp_path: Path) -> None:
    rows = [make_row(f"big{n}", hidden=blob(32, seed=n)) for n in range(2)]
    with LoopbackHub({"test.jsonl": jsonl([make_row("small"), *rows, make_row("last")])}) as hub:
        calls = [{"source": "release_v1", "decode": "big1"}]
        (found,) = hub.load(calls, cache=tmp_path)
        assert found["ids"] == ["small", "big0", "big1", "last"]
        assert found["characters"] == 24_000_000
        (again,) = hub.load(calls[:1], cache=tmp_path)
    assert again["characters"] == 24_000_000
    assert again["peak_mb"] < 300  # a later reading holds only the row that it decodes


def test_two_processes_share_one_reading(hub: LoopbackHub, tmp_path: Path) -> None:
    calls = [{"source": "release_v1"}]
    children = [hub.start(calls, cache=tmp_path) for _ in range(2)]
    said = [json.loads(child.communicate(timeout=120)[0]) for child in children]
    assert said[0]["ids"] == said[1]["ids"]
    assert len(said[0]["ids"]) == 100
    assert hub.bytes_sent("test.jsonl") == len(hub.files["test.jsonl"])


def test_a_reader_that_was_killed_leaves_a_cache_that_goes_on(hub: LoopbackHub, tmp_path: Path) -> None:
    child = hub.start([{"source": "release_v1"}], cache=tmp_path)
    index = tmp_path / "problems" / "livecodebench--code_generation_lite" / "main" / "test.index.jsonl"
    while child.poll() is None and not (index.exists() and index.stat().st_size > 5_000):
        pass
    child.kill()
    child.communicate()
    assert index.exists()
    for file in (index, index.with_name("test.jsonl")):  # and as if the last writes were torn
        with file.open("ab") as torn:
            torn.write(b'{"half')
    (found,) = hub.load([{"source": "release_v1"}], cache=tmp_path)
    assert len(found["ids"]) == len(set(found["ids"])) == 100
    assert found["counts"].count(3) == 46


def test_a_connection_that_breaks_keeps_what_was_read(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.refuse_after = 2
    (broken,) = hub.load([{"source": "release_v1"}], cache=tmp_path)
    assert broken["kind"] == "DatasetError"
    assert "test.jsonl" in broken["error"]
    assert "source='sample'" in broken["error"]
    hub.log.clear()
    (prefix,) = hub.load([{"source": "release_v1", "limit": 20}], cache=tmp_path)
    assert len(prefix["ids"]) == 20
    assert not hub.log


def test_a_revision_is_passed_on_and_kept_apart(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.commits["refs/pr/7"] = "b" * 40
    main, other, unknown = hub.load(
        [{"source": "v2"}, {"source": "v2", "revision": "refs/pr/7"}, {"source": "v2", "revision": "none"}],
        cache=tmp_path,
    )
    assert (main["revision"], other["revision"]) == ("a" * 40, "b" * 40)
    assert "has no revision 'none'" in unknown["error"]
    hub.log.clear()
    hub.commit = "c" * 40  # what was read stays what it was, wherever the branch goes
    (again,) = hub.load([{"source": "v2"}], cache=tmp_path)
    assert again["revision"] == "a" * 40
    assert not hub.log


def test_a_missing_file_another_schema_damage_and_a_cache_without_a_place_are_errors(tmp_path: Path) -> None:
    rows = b'{"question_id": "a", "extra": 1}\n'
    with LoopbackHub({"test.jsonl": rows, "test2.jsonl": jsonl([make_row("a")])[:-40]}) as hub:
        missing, wrong, damaged, no_place = hub.load(
            [
                {"source": "v3"},
                {"source": "v1"},
                {"source": "v2"},
                {"source": "v1", "cache_dir": str(Path(__file__) / "below-a-file")},
            ],
            cache=tmp_path,
        )
    assert "has no test3.jsonl" in missing["error"]
    for said in (wrong, damaged):
        assert "damaged or has other fields than question_title" in said["error"]
    assert "cannot keep problems in" in no_place["error"]
    assert {said["kind"] for said in (missing, wrong, damaged, no_place)} == {"DatasetError"}


def test_a_hub_that_is_not_there_is_one_quick_sentence(hub: LoopbackHub, tmp_path: Path) -> None:
    calls = [{"source": None}]
    with socket.create_server(("127.0.0.1", 0)) as mute:
        silent = f"http://127.0.0.1:{mute.getsockname()[1]}"
        children = [
            hub.start(calls, cache=tmp_path, HF_ENDPOINT="http://127.0.0.1:9"),
            hub.start(calls, cache=tmp_path, HF_ENDPOINT=silent),
            hub.start(calls, cache=tmp_path, HF_HUB_OFFLINE="1"),
        ]
        answers = [json.loads(child.communicate(timeout=120)[0]) for child in children]
    for said in answers:
        assert said["kind"] == "DatasetError"
        assert "check the network" in said["error"]
        assert "source='sample'" in said["error"]
        assert said["seconds"] < 60


def test_the_client_s_long_waits_are_cut_short_while_reading_only() -> None:
    from datasets import config

    def waits() -> tuple[int, int]:
        return config.STREAMING_READ_MAX_RETRIES, config.STREAMING_READ_RETRY_INTERVAL

    before = waits()
    with _short_retries():
        assert waits() == (1, 0)
        assert (config.STREAMING_OPEN_MAX_RETRIES, config.STREAMING_OPEN_RETRY_INTERVAL) == (1, 0)
    assert waits() == before


@pytest.mark.parametrize(
    ("tag", "files"),
    [
        ("release_v1", FILES[:1]),
        ("release_v6", FILES),
        ("release_latest", FILES),
        ("v3", ("test3.jsonl",)),
        ("v2_v4", ("test2.jsonl", "test3.jsonl", "test4.jsonl")),
    ],
)
def test_a_tag_names_its_raw_files(tag: str, files: tuple[str, ...]) -> None:
    assert release_files(tag) == files


@pytest.mark.parametrize("tag", ["release_v0", "release_v7", "v9", "v4_v2", "v1_v7", "release_v1_v2"])
def test_a_release_that_does_not_exist_is_an_error_with_those_that_do(tag: str) -> None:
    with pytest.raises(DatasetError, match="release_v1 to release_v6"):
        release_files(tag)


def test_other_words_are_no_release() -> None:
    assert release_files("sample") is None
    assert release_files("my/v3.jsonl") is None
