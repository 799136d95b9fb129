"""What is taken of answers that are not what was asked for."""

import json

import pytest

from lcbkit.optimizers.reading import as_prompt, extract_block, fenced_text, parse_json, parse_score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("0.62", 0.62),
        ("8/10", 0.8),
        ("85", 0.85),
        ("850", 1.0),
        ("-0.2", 0.0),
        ("", 0.5),
        ("1", 1.0),
        ("Score: .75, fair", 0.75),
        ("I cannot say", 0.5),
        ("9" * 500, 1.0),
        ("1e400", 1.0),
        ("<think>3 of 4</think>0.9", 0.9),
        ("v2 gets 0.3", 0.3),
    ],
)
def test_a_score_is_the_first_number_brought_into_range(text: str, score: float) -> None:
    assert parse_score(text) == pytest.approx(score)


def test_a_score_without_a_number_is_the_default() -> None:
    assert parse_score("good", default=0.1) == 0.1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here it is:\n```json\n{"a": {"b": [1, 2]}}\n```\nDone {x}.', {"a": {"b": [1, 2]}}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('<think>{"a": 0}</think>{"a": 1}', {"a": 1}),
        ('{"a": [1, 2,\n], "b": ", ]",}', {"a": [1, 2], "b": "]"}),
        ('{"a": ", ]"} {"b": 1,}', {"a": ", ]"}),
        ('{"a": [1, 2', None),
        ("no object", None),
        ("", None),
        ("[1, 2]", None),
        ("{" * 100_000, None),
        ('{"a":' * 100_000, None),
    ],
)
def test_json_is_the_first_whole_object_or_nothing(text: str, value: object) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("talk <p>new text</p> more", "new text"),
        ("I write <p></p> as asked: <p>\nreal\n</p>", "real"),
        ("```\nfenced\n```", "fenced"),
        ("```text\none\n```\nthen\n~~~\ntwo\n~~~\n", "two"),
        ("<p>never closed", "never closed"),
        ("<p>```\nfenced\n```", "fenced"),
        ("nothing here", "old"),
        ("", "old"),
        ("<p></p>", "old"),
        ("<p>", "old"),
        ("<think><p>draft</p></think><p>final</p>", "final"),
        ("<p>keeps\n```python\ncode\n```\ninside</p>", "keeps\n```python\ncode\n```\ninside"),
    ],
)
def test_a_block_is_found_by_delimiters_then_fence_then_tail(text: str, block: str) -> None:
    assert extract_block(text, "old", begin="<p>", end="</p>") == block


@pytest.mark.parametrize("piece", ["```a\n", "`" * 5, "<p>", "~~~\n```\n", "{", "1", ", \n"])
def test_a_huge_answer_is_read_in_no_time(piece: str) -> None:
    huge = piece * 200_000
    assert isinstance(extract_block(huge, "old", begin="<p>", end="</p>"), str)
    assert parse_json(huge) is None
    assert 0 <= parse_score(huge) <= 1


def test_a_proposed_prompt_is_trimmed_and_checked() -> None:
    assert as_prompt("  Solve it.\n", "seed") == "Solve it."
    assert as_prompt(" \n ", "seed") is None
    assert as_prompt("x" * 8_001, "seed") is None
    assert as_prompt("x" * 8_001, "s" * 3_000) is not None
    spoiled = as_prompt(json.loads('"a\\ud800b\\u0000c"'), "seed")
    assert spoiled == "a?bc"


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("Here:\n````\nDo it.\n```python\nx\n```\n````\nDone.", "Do it.\n```python\nx\n```"),
        ("````\nold\n````\nand\n````\nnew\n````", "new"),
        ("```\nDo it.\n```python\nx\n```\nThen stop.\n```", "Do it.\n```python\nx\n```\nThen stop."),
        ("```text\nDo it.\n```", "Do it."),
        ("~~~\nDo it.\n~~~", "Do it."),
        ("```\nDo it.", "Do it."),
        ("Do it.", "Do it."),
        ("<think>```\nno\n```</think>Do it.", "Do it."),
        ("", ""),
        ("```\n```", ""),
    ],
)
def test_the_text_between_the_fences_is_taken(text: str, taken: str) -> None:
    assert fenced_text(text) == taken
