"""The API reference is made without a warning, has text for every name, and points to nothing that is not."""

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from runpy import run_path
from typing import Any
from unittest.mock import patch

import pdoc.doc
import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "tools" / "api_reference.py"
# Names in programs of others, and examples of values.
ELSEWHERE = {"custom_evaluator", "get_generic_question_template_answer", "centralized_r8", "v3"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("api")
    with patch.object(sys, "argv", [str(SCRIPT), str(folder)]):
        run_path(str(SCRIPT), run_name="__main__")  # a warning is an error in all tests
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.html")}


class Types(HTMLParser):
    """The text of signatures without what is a link."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "hr", "img", "input", "link", "meta"):
            self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        typed = any(word in style for _, style in self.open for word in ("signature", "annotation"))
        self.text += data if typed and all(tag != "a" for tag, _ in self.open) else "\n"


def test_it_is_made_without_a_warning_and_needs_no_network(pages: dict[str, str]) -> None:
    assert {"index.html", "lcbkit.html", "lcbkit/plots.html"} <= set(pages)
    for text in pages.values():
        assert not re.findall(r'(?:src|<link[^>]* href)="(?:https?:)?//[^"]*"', text)


def test_every_type_of_ours_that_a_public_signature_names_has_a_page(pages: dict[str, str]) -> None:
    for name in ("lcbkit.html", "lcbkit/plots.html", "lcbkit/widgets.html"):
        types = Types()
        types.feed(pages[name])
        assert not set(re.findall(r"\blcbkit(?:\.\w+)+", types.text)), name


@cache
def documented() -> tuple[Any, ...]:
    """All that has a place of its own in the reference."""
    script = run_path(str(SCRIPT))
    script["load"]()
    return tuple(member for name in script["MODULES"] for member in below(pdoc.doc.Module.from_name(name)))


def below(member: Any) -> Iterator[Any]:
    """A member, and of a module or class all that it holds."""
    yield member
    if isinstance(member, pdoc.doc.Module | pdoc.doc.Class):
        for inner in member.own_members:
            if not inner.name.startswith("_"):
                yield from below(inner)


def said_of_parts(text: str) -> set[str]:
    """The names that a docstring's sections explain, as in `Args:` and `Attributes:`."""
    return set(re.findall(r"^\s*\**(\w+)(?: \(.*?\))?: \S", text, flags=re.MULTILINE))


def test_every_name_has_text() -> None:
    members = documented()
    classes = {member.fullname: member for member in members if isinstance(member, pdoc.doc.Class)}
    silent = []
    for member in members:
        owner = classes.get(member.fullname.rpartition(".")[0])
        if not member.docstring.strip() and not (owner and member.name in said_of_parts(owner.docstring)):
            silent.append(member.fullname)
    assert len(members) > 300
    assert not silent


def test_what_one_function_says_of_its_parameters_leaves_none_out() -> None:
    lost = [
        f"{member.fullname}({name})"
        for member in documented()
        if isinstance(member, pdoc.doc.Function) and "Args:" in member.docstring
        for name in member.signature.parameters
        if name not in {"self", "cls"} | said_of_parts(member.docstring)
    ]
    assert not lost


def known_words() -> set[str]:
    """Every identifier of the library's code, and every word that it writes as a text."""
    words = set(dir(builtins)) | ELSEWHERE
    for path in (ROOT / "lcbkit").rglob("*.py"):
        words.add(path.stem)
        nodes = list(ast.walk(ast.parse(path.read_text())))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            value = node.value if isinstance(node, ast.Constant) and id(node) not in docstrings else None
            if isinstance(value, str) and len(value) < 200:
                words |= set(re.findall(r"[\w.]+", value))
            words |= {
                getattr(node, field)
                for field in ("id", "attr", "arg", "name")
                if isinstance(getattr(node, field, None), str)
            }
    return words


def test_what_docstrings_point_to_is_there() -> None:
    words = known_words()
    lost = []
    for member in documented():
        for token in re.findall(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(.*?\))?`", member.docstring):
            if token not in words and not set(token.split(".")) <= words:
                lost.append((member.fullname, token))
    assert not lost
