"""A recording file keeps what was added, says whose answers they are, and refuses what does not belong."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from lcbkit.chat.recording import Header, Recording
from lcbkit.errors import RecordingError

HEADER = Header(model="m", sampling={"temperature": 0.2}, date="2024-05-01")


def answer(text: str) -> dict[str, Any]:
    return {"text": text, "finish_reason": "stop", "usage": None}


def recorded(path: Path, *, header: Header = HEADER, **answers: str) -> Path:
    recording = Recording.open(path)
    recording.describe(header)
    for key, text in answers.items():
        recording.add(key, answer(text))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_answers_come_back_under_their_keys(tmp_path: Path) -> None:
    recording = Recording.read([recorded(tmp_path / "r.jsonl", a="one", b="\ud83d é")])
    assert recording.header == HEADER
    assert recording.keys == ("a", "b")
    assert recording.answer("a") == answer("one")
    assert recording.answer("b") == answer("\ud83d é")
    assert recording.answer("c") is None


def test_the_header_is_the_first_line_and_written_once(tmp_path: Path) -> None:
    path = recorded(tmp_path / "new/folder/r.jsonl", a="one")
    recorded(path, b="two")
    assert [sorted(line) for line in lines(path)[1:]] == [["answer", "key"]] * 2
    assert lines(path)[0] == {
        "lcbkit_recording": 1,
        "model": "m",
        "sampling": {"temperature": 0.2},
        "date": "2024-05-01",
        "python_exec": None,
    }


def test_opening_alone_makes_no_file(tmp_path: Path) -> None:
    recorded(tmp_path / "r.jsonl")
    assert not list(tmp_path.iterdir())


def test_the_first_of_two_answers_to_a_request_counts(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", a="first")
    recording = Recording.open(path)
    assert recording.add("a", answer("second")) == answer("first")
    assert len(lines(path)) == 2
    with path.open("a") as file:  # as two processes would leave it
        file.write(json.dumps({"key": "a", "answer": answer("third")}) + "\n")
    assert Recording.read([path]).answer("a") == answer("first")
    assert Recording.read([recorded(tmp_path / "s.jsonl", a="other"), path]).answer("a") == answer("other")


def test_a_line_torn_by_a_crash_costs_only_itself(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", a="one", b="two")
    path.write_bytes(path.read_bytes()[:-9])
    assert Recording.read([path]).keys == ("a",)
    recorded(path, c="three")
    assert Recording.read([path]).keys == ("a", "c")


def test_many_threads_may_add_at_once(tmp_path: Path) -> None:
    recording = Recording.open(tmp_path / "r.jsonl")
    recording.describe(HEADER)

    def add(worker: int) -> None:
        for number in range(20):
            recording.add(f"{number % 10}", answer(f"{worker}"))

    threads = [threading.Thread(target=add, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(tmp_path / "r.jsonl")) == 11
    replayed = Recording.read([tmp_path / "r.jsonl"])
    assert all(replayed.answer(key) == recording.answer(key) for key in recording.keys)


@pytest.mark.parametrize(
    "other",
    [Header(model="n", sampling={"temperature": 0.2}), Header(model="m", sampling={"temperature": 0.0})],
)
def test_answers_of_another_model_or_sampling_are_refused(tmp_path: Path, other: Header) -> None:
    path = recorded(tmp_path / "r.jsonl", a="one")
    with pytest.raises(RecordingError, match=f"{other.model} .temperature {other.sampling['temperature']}"):
        Recording.open(path).describe(other)
    second = recorded(tmp_path / "s.jsonl", header=other, a="two")
    with pytest.raises(RecordingError, match="recorded:FILE"):
        Recording.read([path, second])


def test_python_exec_is_noted_once_and_then_holds(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", a="one")
    recording = Recording.open(path)
    recording.describe(HEADER)
    recording.note_python_exec(False)
    recording.note_python_exec(False)
    assert Recording.read([path]).header.python_exec is False
    assert Recording.read([path]).keys == ("a",)
    with pytest.raises(RecordingError, match=r"without python_exec.*with python_exec"):
        recording.note_python_exec(True)
    recorded(path, b="two")
    assert Recording.read([path]).header.python_exec is False


def test_python_exec_noted_before_the_first_answer_is_in_the_header(tmp_path: Path) -> None:
    recording = Recording.open(tmp_path / "r.jsonl")
    recording.describe(HEADER)
    recording.note_python_exec(True)
    assert not list(tmp_path.iterdir())
    recording.add("a", answer("one"))
    assert Recording.read([tmp_path / "r.jsonl"]).header.python_exec is True


def test_recordings_of_teams_with_and_without_tools_do_not_mix(tmp_path: Path) -> None:
    paths = [tmp_path / "with.jsonl", tmp_path / "without.jsonl"]
    for path, held in zip(paths, (True, False), strict=True):
        recorded(path, header=Header(model="m", sampling={}, python_exec=held), a="one")
    with pytest.raises(RecordingError, match="python_exec"):
        Recording.read(paths)


def test_recordings_pasted_together_read_as_one(tmp_path: Path) -> None:
    first, second = recorded(tmp_path / "r.jsonl", a="one"), recorded(tmp_path / "s.jsonl", b="two")
    pasted = tmp_path / "both.jsonl"
    pasted.write_text(first.read_text() + second.read_text())
    assert Recording.read([pasted]).keys == Recording.read([first, second]).keys == ("a", "b")


def test_what_nothing_asks_for_any_more_can_be_dropped(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", a="one", b="two", c="three")
    recording = Recording.open(path)
    recording.answer("c")
    recording.answer("unknown")
    recording.add("d", answer("four"))
    assert recording.write(path, only=recording.used) == 2
    assert Recording.read([path]).keys == recording.keys == ("c", "d")


def test_a_copy_elsewhere_leaves_the_recording_as_it_is(tmp_path: Path) -> None:
    path = recorded(tmp_path / "r.jsonl", a="one", b="two")
    recording = Recording.open(path)
    assert recording.write(tmp_path / "copy.jsonl", only=["b"]) == 1
    assert recording.keys == ("a", "b")
    assert Recording.read([tmp_path / "copy.jsonl"]).keys == ("b",)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n",
        "not json\n",
        '{"key": "a", "answer": {"text": "x"}}\n',
        '{"lcbkit_recording": 2, "model": "m", "sampling": {}}\n',
        '{"lcbkit_recording": 1, "model": 5, "sampling": {}}\n',
        '{"lcbkit_recording": 1, "model": "m", "sampling": {}}\n{"key": "a"}\n',
        '{"lcbkit_recording": 1, "model": "m", "sampling": {}}\n{"key": "a", "answer": {"text": 5}}\n',
    ],
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(content)
    with pytest.raises(RecordingError, match=r"odd\.jsonl"):
        Recording.read([path])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"gone\.jsonl.*No such file"):
        Recording.read([tmp_path / "gone.jsonl"])


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="cannot be written"):
        recorded(tmp_path / "file/r.jsonl", a="one")
