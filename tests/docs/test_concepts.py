"""The running example of the page on concepts prints what the page says, and the page explains every word."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "concepts.md"
WORDS = (
    *("problem", "test case", "public", "hidden", "mode", "submission", "verdict", "report"),
    *("team", "role", "topology", "team size", "message format", "rollout", "trajectory"),
    *("run", "record", "sample", "pass@1", "pass@k"),
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_the_running_example_prints_what_the_page_shows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    programs, outputs = blocks("python"), blocks("text")
    assert len(programs) == len(outputs) > 5
    names: dict[str, object] = {}
    for program, output in zip(programs, outputs, strict=True):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(program, str(PAGE), "exec"), names)
        assert said.getvalue() == output, program


@pytest.mark.parametrize("word", WORDS)
def test_every_word_is_explained_where_it_stands_in_bold(word: str) -> None:
    assert re.search(rf"\*\*{re.escape(word)}\*\*", PAGE.read_text(), flags=re.IGNORECASE)
