import html
import re

import pytest

from lcbkit.display.highlight import code_html, prose_html

HOSTILE = "<img src=x onerror=alert(1)>"


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", page))


@pytest.mark.parametrize(
    "code",
    [
        "x = 1\n",
        "\n\n  x = 'a' # b\n\n",
        f"print('{HOSTILE}')",
        "def f(:\n",
        "",
        "if x:\n\tpass",
        "é = '\u2028'",
    ],
)
def test_a_program_is_shown_and_copied_character_by_character(code: str) -> None:
    assert text_of(code_html(code)) == code


def test_python_is_coloured_and_another_language_is_not() -> None:
    assert '<span class="lcbv-k">def</span>' in code_html("def f(): return 1")
    assert "<span" not in code_html("def f(): return 1", language="text")


def test_a_program_too_long_to_show_is_still_copied_whole() -> None:
    code = "x = 1\n" * 10_000
    page = code_html(code, copy=True)
    (copied,) = re.findall(r'data-copy="([^"]*)"', page)
    assert html.unescape(copied) == code
    assert "characters cut" in page
    assert "data-copy" not in code_html("x = 1", copy=True)


def test_prose_keeps_its_lines_and_marks_what_models_mark() -> None:
    page = prose_html("# Plan\nUse `n` and **one** pass.\n```python\nx = 1\n```\nDone.")
    assert "<pre><b>Plan</b>\nUse <code>n</code> and <b>one</b> pass.</pre>" in page
    assert page.index("<pre>") < page.index("lcbv-code") < page.index("Done.")


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        f"`{HOSTILE}`",
        f"**{HOSTILE}**",
        f"# {HOSTILE}",
        f"```\n{HOSTILE}\n```",
        f"```html\n{HOSTILE}",
    ],
)
def test_nothing_that_a_model_writes_becomes_a_tag(text: str) -> None:
    page = prose_html(text)
    assert "<img" not in page
    assert HOSTILE in text_of(page)


def test_a_fence_that_never_ends_is_code_to_the_end() -> None:
    assert text_of(prose_html("Look:\n~~~\nx = 1\n```\ny = 2")) == "Look:x = 1\n```\ny = 2"


def test_backticks_without_end_take_no_time() -> None:
    assert len(prose_html("`" * 1_000_000 + "**" * 1_000_000)) < 100_000
