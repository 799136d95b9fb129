import json
from pathlib import Path

import pytest

from lcbkit.errors import RunFolderError
from lcbkit.records import Record, Status
from lcbkit.results import Run, load_run
from lcbkit.runs.lcb_files import read_lcb, write_lcb

GRADED = {
    "question_id": "abc311_c",
    "question_title": "Cycle",
    "difficulty": "easy",
    "platform": "atcoder",
    "starter_code": "",
    "contest_date": "2023-07-22T00:00:00",
    "code_list": ["print(1)", "", "print(2)"],
    "graded_list": [True, False, False],
    "metadata": ["{}", "{}", '{"error_code": -2, "error_message": "Wrong Answer"}'],
}


def saved(folder: Path, value: object) -> Path:
    path = folder / "x_eval_all.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_each_sample_becomes_a_record(tmp_path: Path) -> None:
    first, second, third = read_lcb(saved(tmp_path, [GRADED]))
    assert (first.key, first.passed, first.code, first.mode) == (("abc311_c", 0), True, "print(1)", "stdin")
    assert (first.contest_date, first.erratum) == ("2023-07-22", "several_answers")
    assert (second.status, second.code) == (Status.NO_CODE, None)
    assert third.first_failure == {"kind": "wrong_answer", "message": "Wrong Answer"}


@pytest.mark.parametrize(
    "value",
    [
        "{",
        {"a": 1},
        [1],
        [{"question_id": "a"}],
        [{"graded_list": [True]}],
        [{**GRADED, "graded_list": [True]}],
        [{**GRADED, "graded_list": ["no", "no", "no"]}],
        [{**GRADED, "question_id": None}],
        [{**GRADED, "difficulty": ["easy"]}],
        [{**GRADED, "metadata": ["{}", "no JSON", "{}"]}],
        [{**GRADED, "contest_date": "soon"}],
        "[" * 100_000,
    ],
)
def test_another_file_is_named_with_what_is_wrong(tmp_path: Path, value: object) -> None:
    path = saved(tmp_path, value)
    with pytest.raises(RunFolderError, match=r"_eval_all\.json"):
        read_lcb(path)


def test_programs_are_written_for_every_problem_of_the_release(tmp_path: Path) -> None:
    records = [
        Record(problem_id="b", code="print(1)"),
        Record(problem_id="b", sample=1, status=Status.NO_CODE),
        Record(problem_id="a", sample=1, code="print(2)"),
    ]
    path = tmp_path / "out.json"
    write_lcb(path, records, ["c", "b", "a"])
    rows = json.loads(path.read_text())
    assert [row["question_id"] for row in rows] == ["a", "b", "c"]
    assert [row["code_list"] for row in rows] == [["", "print(2)"], ["print(1)", ""], ["", ""]]


def test_a_padded_export_meets_each_check_of_the_custom_evaluator_and_keeps_programs_with_their_problems(
    shared: Path, tmp_path: Path
) -> None:
    run = load_run(shared / "data/submissions/o1-mini.json")
    ids = [record.problem_id for record in run.records]
    path = tmp_path / "exported.json"
    Run(run.records[20:60]).to_lcb(path, pad_to=ids)
    outputs = json.loads(path.read_text())
    assert isinstance(outputs, list)
    assert len(outputs) == len(ids)  # its first check: a row for each problem of the release
    assert all(isinstance(output, dict) for output in outputs)
    # It sorts both sides as text by id and pairs them by place.
    paired = zip(sorted(ids), sorted(outputs, key=lambda row: str(row["question_id"])), strict=True)
    codes = {record.problem_id: record.code for record in run.records[20:60]}
    for problem_id, output in paired:
        assert output["code_list"] == [codes.get(problem_id, "")]
        assert output["question_id"] == problem_id


def test_a_problem_outside_of_the_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'b'"):
        write_lcb(tmp_path / "out.json", [Record(problem_id="b")], ["a"])
