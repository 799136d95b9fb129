import json
from pathlib import Path

import pytest

from lcbkit.dataset import load_problems
from lcbkit.errors import BadValueError
from lcbkit.known_ids import errata, eval_ids, splits


def test_the_evaluation_ids_are_the_first_rows_of_the_data(shared: Path) -> None:
    found = load_problems(shared / "data" / "lcb50" / "test.jsonl")
    assert found.ids == eval_ids()


def test_the_splits_of_livecodebench_do_not_overlap_and_test_on_the_evaluation_ids() -> None:
    parts = splits()
    assert [len(parts[name]) for name in ("train", "validation", "test")] == [150, 50, 50]
    assert len(set().union(*parts.values())) == 250
    assert set(parts["test"]) == set(eval_ids())


def test_the_splits_of_the_sample_cover_it_once_with_both_modes_in_each() -> None:
    sample = load_problems("sample")
    parts = splits("sample")
    assert sorted(row_id for part in parts.values() for row_id in part) == sorted(sample.ids)
    for part in parts.values():
        assert {sample[row_id].mode for row_id in part} == {"stdin", "functional"}


def test_ids_and_splits_are_those_that_were_handed_out(shared: Path) -> None:
    handed = json.loads((shared / "data" / "splits" / "lcb_splits.json").read_text())
    assert {name: list(part) for name, part in splits().items()} == {
        name: handed[name] for name in ("train", "validation", "test")
    }
    listed = json.loads((shared / "data" / "splits" / "lcb_errata.json").read_text())["problems"]
    assert errata() == {entry["id"]: entry["reason"] for entry in listed}


def test_another_dataset_has_no_splits() -> None:
    with pytest.raises(BadValueError, match="'lcb' and 'sample'"):
        splits("humaneval")
