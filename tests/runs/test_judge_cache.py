"""Findings on disk are found again for the same program, tests and circumstances, and for nothing else."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from finished_tests import PASSED

import lcbkit.judging
from lcbkit.errors import BadValueError
from lcbkit.judging.report import Report, Verdict
from lcbkit.problems import TestCase
from lcbkit.runs import judge_cache
from lcbkit.runs.judge_cache import Finding, JudgeCache

CASES = (TestCase(input="1", output="2", mode="stdin"), TestCase(input="3", output="4", mode="stdin"))
LIMITS = {"time_limit": 6.0, "memory_limit": 0, "tests": "hidden", "stop_on_failure": False}
RESULT = replace(PASSED, verdict=Verdict.WRONG_ANSWER, actual="\ud800")
FINDING = Finding(report=Report(problem_id="p", total=2, results=(RESULT,)), seconds=1.5)


def key(
    folder: Path,
    code: str = "x",
    problem_id: str = "p",
    function: str | None = None,
    cases: tuple[TestCase, ...] = CASES,
    **limits: object,
) -> str:
    return JudgeCache(folder).key(code, problem_id, function, cases, LIMITS | limits)


def test_a_finding_is_there_for_the_next_process_as_it_was(tmp_path: Path) -> None:
    JudgeCache(tmp_path / "cache").put(key(tmp_path), FINDING)
    assert JudgeCache(tmp_path / "cache").get(key(tmp_path)) == FINDING
    assert JudgeCache(tmp_path / "cache").get(key(tmp_path, "y")) is None


def test_a_key_holds_program_problem_function_tests_and_limits(tmp_path: Path) -> None:
    keys = [
        key(tmp_path),
        key(tmp_path, "x "),
        key(tmp_path, problem_id="q"),
        key(tmp_path, function="f"),
        key(tmp_path, cases=CASES[::-1]),
        key(tmp_path, cases=CASES[:1]),
        key(tmp_path, time_limit=5.0),
        key(tmp_path, memory_limit=1),
        key(tmp_path, stop_on_failure=True),
    ]
    assert len(set(keys)) == len(keys)
    assert key(tmp_path) == keys[0]


@pytest.fixture
def circumstances() -> Iterator[Callable[[], None]]:
    """Look at the circumstances anew; a process else does so once."""
    yield judge_cache._circumstances.cache_clear
    judge_cache._circumstances.cache_clear()


def test_a_key_holds_the_judges_own_code_the_packages_and_the_confinement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, circumstances: Callable[[], None]
) -> None:
    before = key(tmp_path)
    copy = shutil.copytree(*lcbkit.judging.__path__, tmp_path / "judging")
    changes = (
        ("lcbkit.judging.__path__", [str(copy)]),
        ("lcbkit.runs.judge_cache.confinement", lambda: {"tier": "another"}),
        ("lcbkit.runs.judge_cache.distributions", lambda: [SimpleNamespace(name="numpy", version="0")]),
    )
    (copy / "worker.py").write_text("another = True\n")
    for where, value in changes:
        with monkeypatch.context() as changed:
            changed.setattr(where, value)
            circumstances()
            assert key(tmp_path) != before, where
        circumstances()
        assert key(tmp_path) == before


def test_a_damaged_finding_is_none_and_is_written_anew(tmp_path: Path) -> None:
    cache = JudgeCache(tmp_path)
    cache.put("ab" * 32, FINDING)
    (path,) = tmp_path.glob("*/*.z")
    for damage in (path.read_bytes()[:20], b"", b"hello"):
        path.write_bytes(damage)
        assert cache.get("ab" * 32) is None
    cache.put("ab" * 32, FINDING)
    assert cache.get("ab" * 32) == FINDING
    whole = Finding(report=Report(problem_id="p", total=2, results=(PASSED, PASSED)), seconds=1.0)
    cache.put("ab" * 32, whole)
    assert cache.get("ab" * 32) == whole
    cache.put("ab" * 32, replace(whole, report=replace(whole.report, results=(PASSED,))))
    assert cache.get("ab" * 32) is None  # a test that passed ends no report


def test_a_folder_keeps_what_is_in_it_already(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("my notes")
    JudgeCache.opened(tmp_path)
    assert (tmp_path / "README.txt").read_text() == "my notes"
    assert [path.name for path in tmp_path.iterdir()] == ["README.txt"]
    JudgeCache.opened(tmp_path / "new")
    assert "may be deleted" in (tmp_path / "new" / "README.txt").read_text()


@pytest.mark.parametrize("choice", ["", 5, None])
def test_what_names_no_folder_is_refused(choice: object) -> None:
    with pytest.raises(BadValueError, match="it is True, False or a folder for verdicts"):
        JudgeCache.opened(choice)  # type: ignore[arg-type]


def test_a_place_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadValueError, match=r"the judge cache cannot be written to .*name another folder"):
        JudgeCache.opened(tmp_path / "file" / "cache")
    assert JudgeCache.opened(True) is True
    assert JudgeCache.opened(False) is False
