"""What a wheel and an sdist hold: all that is needed, and nothing that was downloaded or is for tests."""

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.conftest import ROOT

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    [path] = built.glob("*.whl")
    assert path.stat().st_size < 3 * MEGABYTE
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def in_sdist(built: Path) -> set[str]:
    [path] = built.glob("*.tar.gz")
    assert path.stat().st_size < 5 * MEGABYTE
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def files(folder: str, patterns: Iterable[str] = ("*",)) -> set[str]:
    """The files below a folder of the repository, by their paths in it."""
    found = (path for pattern in patterns for path in (ROOT / folder).rglob(pattern))
    return {
        path.relative_to(ROOT / folder).as_posix()
        for path in found
        if path.is_file() and not any(_is_made_by_a_tool(part) for part in path.relative_to(ROOT).parts)
    }


def _is_made_by_a_tool(name: str) -> bool:
    return name in ("__pycache__", ".ipynb_checkpoints") or (name.startswith(".") and name.endswith("_cache"))


def metadata(wheel: zipfile.ZipFile) -> Message:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


def test_a_wheel_holds_the_library_its_data_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    expected = {f"lcbkit/{name}" for name in files("lcbkit")}
    expected |= {f"lcbkit/shipped/sample/{name}" for name in files("data_cache/sample")}
    expected |= {f"lcbkit/shipped/recordings/{name}" for name in files("data_cache/recordings", ["*.jsonl"])}
    expected |= {f"lcbkit/shipped/notebooks/{name}" for name in files("notebooks", ["*.ipynb"])}
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert "lcbkit/py.typed" in held
    assert held == expected


def test_a_wheel_carries_its_licences_and_a_readme_that_says_how_to_start(wheel: zipfile.ZipFile) -> None:
    facts = metadata(wheel)
    assert facts["License-Expression"] == "MIT"
    assert facts.get_all("License-File") == ["LICENSE", "THIRD_PARTY_NOTICES.md"]
    licences = {name.rpartition("/")[2] for name in wheel.namelist() if "/licenses/" in name}
    assert licences == {"LICENSE", "THIRD_PARTY_NOTICES.md"}
    assert facts["Description-Content-Type"] == "text/markdown"
    assert "lcb demo" in facts.get_payload()


def test_an_sdist_holds_what_its_tests_need(in_sdist: set[str]) -> None:
    for folder in ("lcbkit", "tests", "tools", "docs", "benchmarks"):
        assert {f"{folder}/{name}" for name in files(folder)} <= in_sdist
    assert {"README.md", "CONTRIBUTING.md", "environment.yml", "pyproject.toml", ".ci/run"} <= in_sdist


def test_an_sdist_holds_nothing_that_was_downloaded(in_sdist: set[str]) -> None:
    data = {name.split("/")[1] for name in in_sdist if name.startswith("data_cache/") and name.count("/") > 1}
    assert data == {"sample", "recordings"}
    assert not [name for name in in_sdist if name.startswith(("runs/", "notebooks/runs/", "build/"))]
