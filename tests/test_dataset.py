"""Loading from everything that is not the hub (see rows/test_hub.py)."""

import json
import warnings
from pathlib import Path

import datasets
import pandas
import pytest
from row_factory import blob, make_row, pack, some_tests, write_jsonl

from lcbkit.dataset import demo_problems, load_problems
from lcbkit.errors import BadValueError, DatasetError, UnknownProblemError
from lcbkit.problems import ProblemSet

ROWS = [
    make_row("a", difficulty="easy", contest_date="2024-05-01T20:00:00"),
    make_row("b", difficulty="hard", contest_date="2024-05-02T20:00:00", platform="codeforces"),
    make_row("abc350_c", difficulty="hard", contest_date="2024-05-03T20:00:00"),
    make_row("d", difficulty="medium", contest_date="2024-05-04T20:00:00", mode="functional"),
]
IDS = tuple(row["question_id"] for row in ROWS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "rows.jsonl", ROWS)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCB_CACHE", str(tmp_path / "cache"))


def test_a_file_loads_in_order_and_names_its_source(path: Path) -> None:
    found = load_problems(path)
    assert found.ids == IDS
    assert (found.source, found.revision, dict(found.skipped)) == (str(path), None, {})
    assert load_problems(str(path)).digest == found.digest


def test_the_counts_of_the_real_file_are_those_of_its_page(shared: Path) -> None:
    found = load_problems(shared / "data" / "lcb50" / "test.jsonl")
    frame = found.to_frame()
    assert frame.groupby(["platform", "difficulty"]).size().to_dict() == {
        ("codeforces", "easy"): 4,
        ("codeforces", "medium"): 2,
        ("codeforces", "hard"): 3,
        ("leetcode", "easy"): 14,
        ("leetcode", "medium"): 21,
        ("leetcode", "hard"): 6,
    }
    assert (frame["public_tests"].sum(), frame["hidden_tests"].sum()) == (102, 642)
    assert sum(len(problem.hidden_tests) for problem in found) == 642
    assert (str(found.first_date), str(found.last_date)) == ("2023-05-07", "2023-10-17")
    assert {problem.mode for problem in found if problem.platform == "leetcode"} == {"functional"}
    # The folder holds programs beside the problems; only the dataset's own file names count.
    assert load_problems(shared / "data" / "lcb50").digest == found.digest


def test_arguments_select_as_they_say(path: Path) -> None:
    assert load_problems(path, difficulty="hard").ids == ("b", "abc350_c")
    assert load_problems(path, difficulty="hard", errata="drop").ids == ("b",)
    assert load_problems(path, platform="codeforces").ids == ("b",)
    assert load_problems(path, start_date="2024-05-02", end_date="2024-05-03").ids == ("b", "abc350_c")
    assert load_problems(path, offset=1, limit=2).ids == ("b", "abc350_c")
    assert load_problems(path, only=["d", "a"], limit=1).ids == ("a", "d")
    assert load_problems(path, difficulty="easy", offset=1).ids == ()
    with pytest.raises(UnknownProblemError, match="abc350_c"):
        load_problems(path, only=["abc350_d"])


def test_a_limit_needs_only_the_rows_before_it(path: Path) -> None:
    with path.open("a") as file:
        file.write('{"torn')
    assert load_problems(path, limit=4).ids == IDS
    with pytest.raises(DatasetError, match="line 5, is not valid JSON"):
        load_problems(path)


def test_the_environment_names_the_default_source(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LCB_DATASET", str(path))
    assert load_problems().ids == IDS
    monkeypatch.setenv("LCB_DATASET", "sample")
    assert load_problems().source == "sample"


def test_a_folder_is_read_in_the_order_people_count(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    for name in ("test10", "test2", "test", "other"):
        write_jsonl(folder / f"{name}.jsonl", [make_row(name)])
    pandas.DataFrame([make_row("parquet")]).to_parquet(folder / "test3.parquet")
    (folder / "README.md").write_text("no rows")
    assert load_problems(folder).ids == ("test", "test2", "parquet", "test10")


def test_any_names_will_do_in_a_folder_without_the_dataset_s_own(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "mine.jsonl", ROWS)
    assert load_problems(tmp_path).ids == IDS


def test_a_parquet_file_is_copied_once_and_follows_its_changes(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pandas.DataFrame(ROWS)
    frame["contest_date"] = pandas.to_datetime(frame["contest_date"])
    frame.to_parquet(path)
    assert (
        list(load_problems(path))
        == list(load_problems(path))
        == list(load_problems(write_jsonl(tmp_path / "y.jsonl", ROWS)))
    )
    assert len(load_problems(path)["a"].hidden_tests) == 2
    frame[:1].to_parquet(path)
    assert load_problems(path).ids == ("a",)


def test_a_dataset_loads_as_its_rows_do(path: Path) -> None:
    table = datasets.Dataset.from_list(ROWS)
    found = load_problems(table.with_format("pandas"))
    assert list(found) == list(load_problems(path))
    assert len(found["d"].hidden_tests) == 2
    assert load_problems(load_problems(path).to_dataset()).digest == found.digest
    assert load_problems(table, limit=1).ids == ("a",)


def test_what_is_no_source_is_refused() -> None:
    table = datasets.Dataset.from_list(ROWS)
    with pytest.raises(BadValueError, match=r"DatasetDict.*source\['test'\]"):
        load_problems(datasets.DatasetDict({"test": table}))
    with pytest.raises(BadValueError, match="int"):
        load_problems(7)  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match="there is no 'question_title'"):
        load_problems(datasets.Dataset.from_list([{"prompt": "x"}]))


def test_rows_without_usable_tests_are_skipped_counted_and_named_once(tmp_path: Path) -> None:
    none = make_row("none", hidden=0)
    garbled = make_row("garbled", hidden="!!", difficulty="hard")
    mixed = make_row("mixed", public_test_cases=json.dumps(some_tests(1, "functional")))
    path = write_jsonl(tmp_path / "x.jsonl", [none, ROWS[0], garbled, ROWS[1], mixed])
    with pytest.warns(UserWarning, match="skipped 3 of the rows") as caught:
        found = load_problems(path)
    assert len(caught) == 1
    assert found.ids == ("a", "b")
    assert list(found.skipped) == ["none", "garbled", "mixed"]
    said = str(caught[0].message)
    for row_id, reason in found.skipped.items():
        assert f"{row_id} ({reason})" in said
        assert str(path) not in reason
    assert "3 skipped (none, garbled, mixed)" in repr(found)

    with warnings.catch_warnings(action="error"):  # what the filters leave out anyway is not missing
        assert not load_problems(path, difficulty="medium").skipped
    with pytest.warns(UserWarning, match="garbled"):
        assert load_problems(path, only="garbled").ids == ()


def test_hostile_rows_are_an_error_that_names_file_line_and_row(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [ROWS[0], make_row("evil", hidden=pack(["text"]))])
    with pytest.raises(DatasetError) as caught:
        load_problems(path)
    assert f"{path}, line 2 (problem 'evil')" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"difficulty": "insane"}, "difficulty is 'insane'"),
        ({"platform": "topcoder"}, "platform is 'topcoder'"),
        ({"metadata": None}, "there is no 'metadata'"),
        ({"question_id": "a"}, "the same id as"),
    ],
)
def test_a_wrong_row_is_an_error_that_names_file_and_line(
    tmp_path: Path, fields: dict[str, object], words: str
) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [ROWS[0], make_row("zzz", **fields)])
    with pytest.raises(DatasetError) as caught:
        load_problems(path)
    assert f"{path}, line 2" in str(caught.value)
    assert words in str(caught.value)


def test_a_source_that_is_not_there_says_what_a_source_is(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no such file or release: 'relase_v1'.*'sample'"):
        load_problems("relase_v1")
    with pytest.raises(DatasetError, match=r"no release 'release_v7'.*release_v6"):
        load_problems("release_v7")
    with pytest.raises(DatasetError, match=r"no \.jsonl or \.parquet file"):
        load_problems(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b")
    with pytest.raises(DatasetError, match=r"neither \.jsonl nor \.parquet"):
        load_problems(tmp_path / "rows.csv")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DatasetError, match="holds no rows"):
        load_problems(tmp_path / "empty.jsonl")


@pytest.mark.parametrize("name", ["x" * 5_000, "a\0b"])
def test_a_name_that_no_file_can_have_is_an_error(name: str) -> None:
    with pytest.raises(DatasetError, match=r"cannot read|no such file"):
        load_problems(name)


def test_a_revision_belongs_to_the_hub(path: Path) -> None:
    with pytest.raises(BadValueError, match="'main' belongs to a release"):
        load_problems(path, revision="main")


def test_arguments_are_checked_before_anything_is_read() -> None:
    with pytest.raises(BadValueError, match="limit is -1"):
        load_problems("/nowhere", limit=-1)


def test_a_large_file_is_indexed_in_the_cache_and_held_as_places(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [make_row("big", hidden=blob(9)), make_row("small")])
    found = load_problems(path)
    (index,) = (tmp_path / "cache").rglob("*.index.jsonl")
    assert index.stat().st_size < 5_000
    assert load_problems(path).ids == found.ids == ("big", "small")
    assert len(found["big"].hidden_tests[0].input) == 6_750_000
    path.write_text("gone")
    with pytest.raises(DatasetError, match="load the problems again"):
        _ = found["big"].hidden_tests


def test_a_small_file_leaves_nothing_in_the_cache(path: Path, tmp_path: Path) -> None:
    load_problems(path)
    assert not (tmp_path / "cache").exists()


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\x1f\x8b\x08\x00\xff\xfe")
    with pytest.raises(DatasetError, match="line 1, is not valid JSON"):
        load_problems(path)


def test_the_sample_has_every_platform_difficulty_and_mode() -> None:
    sample = load_problems("sample")
    assert isinstance(sample, ProblemSet)
    assert {problem.platform for problem in sample} == {"leetcode", "codeforces", "atcoder"}
    assert {problem.difficulty for problem in sample} == {"easy", "medium", "hard"}
    assert {problem.mode for problem in sample} == {"stdin", "functional"}
    assert not sample.skipped


def test_the_demo_has_one_problem_of_each_mode() -> None:
    assert [problem.mode for problem in demo_problems()] == ["stdin", "functional"]
