"""environment.yml and pyproject.toml ask for the same; no channel is reached."""

import re
import tomllib
from importlib.metadata import version
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

CONDA_NAMES = {"matplotlib-base": "matplotlib"}  # where conda-forge names a package otherwise
TOOLS = {"python", "pip"}  # of the environment, not of the package
COVERED_EXTRAS = ("lab",)


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def environment() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "environment.yml").read_text())


def asked_by_project(project: dict[str, Any]) -> dict[str, SpecifierSet]:
    lines = [*project["dependencies"]]
    for extra in COVERED_EXTRAS:
        lines += project["optional-dependencies"][extra]
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, lines)}


def asked_by_environment(environment: dict[str, Any]) -> dict[str, SpecifierSet]:
    conda = [line for line in environment["dependencies"] if isinstance(line, str)]
    [pip] = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    found = {}
    for line in conda:
        name, _, wanted = line.partition(" ")
        assert not re.match(r"=[^=]", wanted), f"{line!r}: a single '=' means something else to pip"
        found[canonicalize_name(CONDA_NAMES.get(name, name))] = SpecifierSet(wanted)
    for line in pip[:-1]:
        requirement = Requirement(line)
        found[canonicalize_name(requirement.name)] = requirement.specifier
    return found


def test_both_files_name_the_same_packages_with_the_same_versions(
    project: dict[str, Any], environment: dict[str, Any]
) -> None:
    found = asked_by_environment(environment)
    assert {name: spec for name, spec in found.items() if name not in TOOLS} == asked_by_project(project)


def test_environment_installs_the_package_itself_last(environment: dict[str, Any]) -> None:
    assert environment["dependencies"][-1]["pip"][-1] == "-e ."


def test_name_python_and_channel_agree(project: dict[str, Any], environment: dict[str, Any]) -> None:
    assert environment["name"] == project["name"]
    assert asked_by_environment(environment)["python"] == SpecifierSet(project["requires-python"])
    assert environment["channels"][0] == "conda-forge"
    assert "defaults" not in environment["channels"]


def test_installed_versions_are_within_what_is_asked(project: dict[str, Any]) -> None:
    for name, wanted in asked_by_project(project).items():
        assert wanted.contains(version(name), prereleases=True), f"{name} {version(name)} is not {wanted}"
