"""The shared cases of files and rows that break loaders."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import shared_folder

from lcbkit.dataset import load_problems
from lcbkit.errors import DatasetError


def cases() -> list[Any]:
    folder = shared_folder()
    if folder is None:
        return []
    lines = (folder / "data" / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    found = [case for case in map(json.loads, lines) if case["kind"] == "load"]
    return [pytest.param(case, id=case["id"]) for case in found]


@pytest.mark.parametrize("case", cases())
def test_a_case_loads_as_it_must(case: dict[str, Any], tmp_path: Path) -> None:
    expected = case["expected"]["value"]
    text, filters = case["program"], {}
    if '"filter"' in text:
        scenario = json.loads(text)
        text, filters = json.dumps(scenario["row"]), scenario["filter"]
    path = tmp_path / "test.jsonl"
    path.write_text(text, encoding="utf-8")

    if expected == "error":
        with pytest.raises(DatasetError) as caught:
            load_problems(path)
        assert f"{path}, line {text.count(chr(10)) + 1}" in str(caught.value)
    elif isinstance(expected, str):
        assert expected == "skipped, counted and named"
        with pytest.warns(UserWarning, match="zzz001_a"):
            found = load_problems(path)
        assert not found
        assert list(found.skipped) == ["zzz001_a"]
    else:
        with warnings.catch_warnings(action="error"):
            found = load_problems(path, **filters)
        assert len(found) == 1
        assert expected in (
            {"kept": True},
            {
                "n_public": len(found[0].public_tests),
                "n_private": len(found[0].hidden_tests),
                "fn_name": found[0].fn_name,
            },
        )


@pytest.mark.skipif(not cases(), reason="the shared material is not here")
def test_all_cases_are_there() -> None:
    assert len(cases()) == 7
