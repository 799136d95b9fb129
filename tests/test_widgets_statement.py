"""Statements as Markdown: readable, and harmless whatever they hold."""

import pytest

import lcbkit
from lcbkit.widgets.statement import statement_markdown


def test_maths_emphasis_lists_and_headings_stay() -> None:
    shown = statement_markdown(
        "Given **two** numbers $A_i < B$.\n\nConstraints:\n\n- $1 \\leq A$\n- one\n\n## Notes\n$$x^2$$"
    )
    assert "**two** numbers $A_i < B$." in shown
    assert "**Constraints**" in shown
    assert "- $1 \\leq A$\n- one" in shown
    assert "**Notes**" in shown
    assert "$$x^2$$" in shown


def test_line_ends_of_plain_text_are_shown() -> None:
    assert statement_markdown("Input: a = 1\nOutput: 2") == "**Input:** a = 1  \n**Output:** 2"


def test_samples_become_blocks_and_end_where_prose_goes_on() -> None:
    text = "Print it.Sample Input 1:\n2\n\n1 2\n\nSample Output 1:\n\n3\n4\n\nIt is $3$.\n\nNote\n\nEasy."
    assert statement_markdown(text) == (
        "Print it.\n\n**Sample Input 1**\n\n<pre><code>2&#10;&#10;1 2</code></pre>\n\n"
        "**Sample Output 1**\n\n<pre><code>3&#10;4</code></pre>\n\nIt is $3$.\n\n**Note**\n\nEasy."
    )


def test_an_image_is_named_by_its_text_and_never_fetched() -> None:
    text = (
        "![a tree](https://x.test/a.png) ![r][1] <img src=https://x.test/b.png alt='two leaves'> <img src=c>"
    )
    shown = statement_markdown(text)
    assert "[image&#58; a tree]" in shown.replace("&#91;", "[").replace("&#93;", "]")
    assert "two leaves" in shown
    assert "x.test" not in shown
    assert "![" not in shown
    assert "<img" not in shown


HOSTILE = [
    "<script>alert(1)</script>",
    "$<img src=x onerror=alert(1)>$",
    "$$<svg onload=alert(1)>$$ and \\(<b>\\) and \\[<i>\\]",
    "`<iframe src=//x.test>`",
    "```\n</code></pre><script>\n```",
    "Sample Input 1\n</code></pre><img src=//x.test>\nSample Output 1\n<b>\n",
    "<https://x.test> ![$x$](//x.test) !\x00[a](b)",
    "| a | <b> |\n|---|---|\n| `<i>` | $<u>$ |",
    "\x020\x03 <!-- -->",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_tag_or_image_of_a_statement_survives(text: str) -> None:
    shown = statement_markdown(text)
    for own in ("<pre><code>", "</code></pre>", "<code>", "</code>", "<em>", "</em>", "<span>", "</span>"):
        shown = shown.replace(own, "")
    assert not [i for i, sign in enumerate(shown) if sign == "<" and shown[i + 1 : i + 2].strip()], shown
    assert "![" not in shown


def test_two_prices_in_a_sentence_are_no_maths() -> None:
    shown = statement_markdown("It costs $5 and $6.")
    assert shown.count("<span>&#36;</span>") == 2


def test_stars_and_underscores_of_plain_text_are_text() -> None:
    assert statement_markdown("2*3*4 and my_own_name") == "2&#42;3&#42;4 and my&#95;own&#95;name"


@pytest.mark.parametrize(
    "unit",
    ["$", "$$a", "`", "`a", "![ ", "*a ", "\\[", "\\(", "<img ", "Sample Input 1\n", "```a\n", "- a\n", "(("],
)
@pytest.mark.timeout(120)  # a search that looks again and again at this much takes many minutes
def test_no_statement_takes_long(unit: str) -> None:
    assert statement_markdown(unit * (200_000 // len(unit)))


def test_every_sample_statement_is_shown_with_all_its_words() -> None:
    for problem in lcbkit.load_problems("sample"):
        shown = statement_markdown(problem.statement)
        assert len(shown) >= 0.9 * len(problem.statement.replace("\n\n", "\n"))
        for line in problem.statement.split("\n"):
            words = [word for word in line.split() if word.isalpha()]
            assert all(word in shown for word in words), line
