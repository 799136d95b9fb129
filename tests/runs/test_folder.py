import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lcbkit.errors import RunFolderError
from lcbkit.records import Record
from lcbkit.results import load_run
from lcbkit.runs.folder import RunFiles, RunFolder, differences, read_records


def config(ids: str = "ab", **settings: Any) -> dict[str, Any]:
    return {"settings": {"seed": 0} | settings, "dataset": {"ids": list(ids)}, "started": "now"}


def written(folder: Path, *records: Record, **settings: Any) -> RunFiles:
    files = RunFiles.at(folder)
    with RunFolder.open(files, config(**settings), resume=True, overwrite=False) as run:
        for record in records:
            run.append(record)
    return files


def refused(files: RunFiles, says: str, resume: bool = True, **settings: Any) -> None:
    with (
        pytest.raises(RunFolderError, match=says),
        RunFolder.open(files, config(**settings), resume=resume, overwrite=False),
    ):
        pytest.fail("the folder was opened")


@pytest.mark.parametrize(
    ("predictions", "summary", "trajectory"),
    [
        ("r/predictions.jsonl", "r/summary.json", "r/trajectories/a%2Fb-1.json"),
        ("r/mine.jsonl", "r/mine.summary.json", "r/mine.trajectories/a%2Fb-1.json"),
    ],
)
def test_files_lie_beside_the_predictions(predictions: str, summary: str, trajectory: str) -> None:
    files = RunFiles(Path(predictions))
    assert files.summary == Path(summary)
    assert files.trajectory("a/b", 1) == Path(trajectory)


def test_what_is_written_is_there_again_and_the_later_line_wins(tmp_path: Path) -> None:
    files = written(tmp_path, Record(problem_id="a"), Record(problem_id="b"))
    with RunFolder.open(files, config(), resume=True, overwrite=False) as run:
        run.append(Record(problem_id="a", passed=True))
    with RunFolder.open(files, config(), resume=True, overwrite=False) as run:
        assert {key: record.passed for key, record in run.latest.items()} == {
            ("a", 0): True,
            ("b", 0): False,
        }
    assert len(files.predictions.read_text().splitlines()) == 3


@pytest.mark.parametrize("tail", ['{"id": "b", "em": 1', '{"id": "b", "em": 1}', ""])
def test_a_last_line_counts_as_written_exactly_if_it_is_whole(tmp_path: Path, tail: str) -> None:
    files = written(tmp_path, Record(problem_id="a"))
    with files.predictions.open("a") as file:
        file.write(tail)
    with RunFolder.open(files, config(), resume=True, overwrite=False) as run:
        seen = set(run.latest)
        run.append(Record(problem_id="c"))
    assert {record.key for record in read_records(files.predictions)} == seen | {("c", 0)}
    assert (("b", 0) in seen) is tail.endswith("}")


@pytest.mark.parametrize("tail", [b'{"id": "b\xff\n', b"\x00" * 99, b"\xfe\n\x00\n"])
@pytest.mark.parametrize("before", ["a", ""])
def test_damage_at_the_end_is_cut_off_and_told(
    tmp_path: Path, tail: bytes, before: str, caplog: pytest.LogCaptureFixture
) -> None:
    files = written(tmp_path, *(Record(problem_id=name) for name in before))
    with files.predictions.open("ab") as file:
        file.write(tail)
    with RunFolder.open(files, config(), resume=True, overwrite=False) as run:
        assert [key[0] for key in run.latest] == list(before)
        run.append(Record(problem_id="c"))
    assert [record.problem_id for record in read_records(files.predictions)] == [*before, "c"]
    assert str(files.predictions) in caplog.text


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_that_only_looks_like_a_torn_line_is_no_run(tmp_path: Path, overwrite: bool) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("buy milk")
    with (
        pytest.raises(RunFolderError, match=r"notes\.txt is not a file of records"),
        RunFolder.open(RunFiles(notes), config(), resume=True, overwrite=overwrite),
    ):
        pytest.fail("the file was opened")
    assert notes.read_text() == "buy milk"


def test_files_that_a_killed_batch_was_writing_are_cleared_away(tmp_path: Path) -> None:
    files = written(tmp_path, Record(problem_id="a"))
    for path in (files.run, files.summary, files.trajectory("a/b", 0)):
        (path.parent / f".{path.name}.0a_9z1x2").write_text("{")
    (tmp_path / ".mine").write_text("")
    with RunFolder.open(files, config(), resume=True, overwrite=False):
        left = {path.name for path in tmp_path.rglob(".*")}
    assert left == {".mine"}


def test_another_configuration_is_refused_by_the_names_that_differ(tmp_path: Path) -> None:
    team = {"model": "m1", "roles": ["coder"]}
    files = written(tmp_path, Record(problem_id="a"), team=team)
    before = files.run.read_text()
    refused(files, r"team\.model: 'm1' there, 'm2' here\).*--overwrite", team=team | {"model": "m2"})
    refused(files, "seed: 0 there, 7 here; team: .* there, None here", seed=7)
    assert files.run.read_text() == before
    assert len(read_records(files.predictions)) == 1


def test_ids_may_change_and_those_of_before_stay_known(tmp_path: Path) -> None:
    files = written(tmp_path, Record(problem_id="a"))
    with RunFolder.open(files, config("cb") | {"started": "later"}, resume=True, overwrite=False):
        known = json.loads(files.run.read_text())
    assert known["dataset"]["ids"] == ["c", "b", "a"]
    assert known["started"] == "now"


def test_an_empty_folder_of_another_configuration_may_be_taken(tmp_path: Path) -> None:
    files = written(tmp_path)
    with RunFolder.open(files, config(seed=7), resume=True, overwrite=False):
        assert json.loads(files.run.read_text())["settings"]["seed"] == 7


def test_records_without_a_configuration_are_refused(tmp_path: Path) -> None:
    files = written(tmp_path, Record(problem_id="a"))
    files.run.unlink()
    refused(files, r"no run\.json says")


def test_without_resume_a_folder_with_records_is_refused(tmp_path: Path) -> None:
    files = written(tmp_path, Record(problem_id="a"))
    refused(files, "holds 1 records already", resume=False)


def test_overwrite_starts_anew_but_never_empties_a_file_that_is_no_run(tmp_path: Path) -> None:
    files = written(tmp_path, Record(problem_id="a"))
    with RunFolder.open(files, config(), resume=True, overwrite=False) as run:
        run.write_trajectory(("a", 0), {"raw": "text"})
    with RunFolder.open(files, config(seed=7), resume=True, overwrite=True) as run:
        assert run.latest == {}
    assert files.predictions.read_text() == ""
    assert not list(files.trajectories.iterdir())
    other = tmp_path / "problems.jsonl"
    other.write_text('{"question_id": "a", "question_content": "..."}\n')
    with (
        pytest.raises(RunFolderError, match="not a file of records"),
        RunFolder.open(RunFiles.at(other), config(), resume=True, overwrite=True),
    ):
        pytest.fail("the file was opened")
    assert other.read_text()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["run.json", "summary.json"])
@pytest.mark.parametrize("text", ['{"mine": 1}', "[1]", "no JSON"])
def test_what_is_no_part_of_a_run_is_never_written_over(
    tmp_path: Path, name: str, text: str, overwrite: bool
) -> None:
    (tmp_path / name).write_text(text)
    with (
        pytest.raises(RunFolderError, match=f"{name} is there already and is no part of a run"),
        RunFolder.open(RunFiles.at(tmp_path), config(), resume=True, overwrite=overwrite),
    ):
        pytest.fail("the folder was opened")
    assert (tmp_path / name).read_text() == text


def test_texts_beside_no_run_survive_an_overwrite(tmp_path: Path) -> None:
    own = tmp_path / "trajectories" / "mine.json"
    own.parent.mkdir()
    own.write_text("1")
    with RunFolder.open(RunFiles.at(tmp_path), config(), resume=True, overwrite=True):
        pass
    assert own.read_text() == "1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "it is no JSON object"),
        ('{"settings": null}', "its settings is None"),
        ('{"settings": {"team": "single"}}', "its settings.team is 'single'"),
        ('{"settings": {"judging": 3}}', "its settings.judging is 3"),
        ('{"dataset": []}', "its dataset is"),
        ('{"dataset": {"ids": 5}}', "its dataset.ids is 5"),
        ('{"dataset": {"ids": [[]]}}', "its dataset.ids are no ids"),
        ('{"dataset": {"source": 7}}', "its dataset.source is 7"),
        ('{"max_infra_rate": "x"}', "its max_infra_rate is 'x'"),
        ('{"settings"', "not valid JSON"),
    ],
)
def test_a_configuration_that_tells_no_run_is_named(tmp_path: Path, text: str, says: str) -> None:
    files = written(tmp_path, Record(problem_id="a"))
    files.run.write_text(text)
    refused(files, rf"run\.json .*{says}")
    with pytest.raises(RunFolderError, match=rf"run\.json .*{says}"):
        load_run(tmp_path)


def test_two_writers_are_refused_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from lcbkit.runs.folder import RunFiles, RunFolder\n"
        f"files = RunFiles.at(Path({str(tmp_path)!r}))\n"
        f"with RunFolder.open(files, {config()!r}, resume=True, overwrite=False):\n"
        "    print('open', flush=True); time.sleep(60)\n"
    )
    files = RunFiles.at(tmp_path)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        refused(files, "another process is writing")
        other.kill()
    written(tmp_path, Record(problem_id="a"))


def test_an_open_folder_is_refused_in_the_same_process_too(tmp_path: Path) -> None:
    files = RunFiles.at(tmp_path)
    with RunFolder.open(files, config(), resume=True, overwrite=False):
        refused(files, "another process")


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may write anywhere, so it takes another user's rights for a moment."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_read_only_place_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with without_privileges():
        refused(
            RunFiles.at(tmp_path / "closed" / "run"),
            "cannot write the run to .*run: Permission .*make it writable.*--out-dir",
        )


def test_a_place_below_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(
        RunFiles.at(tmp_path / "file" / "run"), "cannot write the run to .*run: Not a directory.*--out-dir"
    )


def test_a_full_disk_is_one_sentence_and_leaves_what_was_written(tmp_path: Path) -> None:
    files = RunFiles.at(tmp_path)
    with RunFolder.open(files, config(), resume=True, overwrite=False) as run:
        run.append(Record(problem_id="a"))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        # A file that may not grow fails as a full disk does: in the middle of a write.
        resource.setrlimit(resource.RLIMIT_FSIZE, (files.predictions.stat().st_size + 20, limits[1]))
        try:
            with pytest.raises(RunFolderError, match=r"cannot write the run.*free space.*run the same again"):
                run.append(Record(problem_id="b"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        run.append(Record(problem_id="c"))
    assert [record.problem_id for record in read_records(files.predictions)] == ["a", "c"]


def test_closing_writes_the_scores_of_the_whole_folder(tmp_path: Path) -> None:
    files = written(tmp_path, Record(problem_id="a", passed=True))
    with RunFolder.open(files, config(), resume=True, overwrite=False) as run:
        run.append(Record(problem_id="b"))
        run.close_run(config() | {"finished": "then"})
    assert json.loads(files.summary.read_text())["overall"]["pass_at_1"] == 0.5
    assert json.loads(files.run.read_text())["finished"] == "then"


def test_differences_name_the_leaf_and_both_values() -> None:
    old = {"a": {"b": 1, "c": [1, 2]}, "d": 6.0}
    assert differences(old, {"a": {"b": 1, "c": [1, 2]}, "d": 6}) == []
    assert differences(old, {"a": {"b": 2, "c": [1, 2], "e": None}, "d": 6}) == ["a.b: 1 there, 2 here"]
    assert len(differences(old, {"a": {"c": "x" * 500}, "d": 6})[1]) < 200


def test_a_device_or_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (Path("/dev/full"), Path("/dev/zero"), tmp_path / "pipe.jsonl"):
        refused(RunFiles(path), "no regular file")
