"""What the pages point to is there: files, headings, commands with their flags, names of the library."""

import re
from pathlib import Path

import click
import pytest

import lcbkit
from lcbkit.cli import lcb
from tests.conftest import ROOT
from tests.docs.pages import DOCS

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]


def anchors(page: Path) -> set[str]:
    """The names by which a page's headings are linked, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("doc", PAGES, ids=lambda doc: doc.name)
def test_every_link_leads_somewhere(doc: Path) -> None:
    text = doc.read_text()
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"(?:src|srcset)=\"([^\"]+)\"", text)
    for target in targets:
        if not target.startswith("https://"):
            path, _, anchor = target.partition("#")
            there = (doc.parent / path).resolve() if path else doc
            assert there.exists(), f"{doc.name} points to {target}"
            assert not anchor or anchor in anchors(there), f"{doc.name} points to {target}"


def test_the_index_names_every_page() -> None:
    index = (DOCS / "README.md").read_text()
    for page in DOCS.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index


def commands(doc: Path) -> list[str]:
    """What a page tells to type, in its lines and in its blocks."""
    lines = re.findall(r"`(lcb [^`]*)`", doc.read_text())
    for block in re.findall(r"^```bash\n(.*?)^```", doc.read_text(), flags=re.DOTALL | re.MULTILINE):
        lines += re.findall(r"^(?:.*&& )?(lcb [^#\n]*)", block, flags=re.MULTILINE)
    return lines


def test_commands_are_found_in_lines_and_in_blocks() -> None:
    found = commands(ROOT / "README.md")
    assert "lcb doctor" in found
    assert any(line.startswith("lcb aggregate jobs") for line in found)
    assert len(found) > 30


@pytest.mark.parametrize("doc", PAGES, ids=lambda doc: doc.name)
def test_every_command_and_flag_exists(doc: Path) -> None:
    for line in commands(doc):
        name, *words = line.split()[1:]
        command = lcb.commands.get(name)
        if name.startswith("-") or name == "…":
            continue
        assert command is not None, f"{doc.name}: {line}"
        flags = {
            flag for option in command.params if isinstance(option, click.Option) for flag in option.opts
        }
        flags |= {flag for option in command.params for flag in option.secondary_opts} | {"--help"}
        for word in words:
            assert not word.startswith("--") or word.rstrip("…") in flags, f"{doc.name}: {word} of {line}"


@pytest.mark.parametrize("doc", PAGES, ids=lambda doc: doc.name)
def test_every_name_of_the_library_exists(doc: Path) -> None:
    for path in re.findall(r"\blcbkit((?:\.[A-Za-z_]\w*)+)\(", doc.read_text()):
        value: object = lcbkit
        for name in path[1:].split("."):
            value = getattr(value, name)
