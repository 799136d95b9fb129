"""What a reflection model is shown, and what is taken of answers that are not what was asked for."""

import json

import pytest

from lcbkit.optimizers.interface import Message, Rollout, Row
from lcbkit.optimizers.texts import (
    as_prompt,
    compact_row,
    cut_middle,
    estimated_tokens,
    extract_block,
    fit_context,
    listing,
    parse_json,
    parse_score,
    role_trace,
    row_text,
    transcript,
)


def a_rollout(*messages: tuple[str, str]) -> Rollout:
    return Rollout(
        row_id="p1",
        status="success",
        score=1.0,
        feedback="all 3 tests passed",
        final_output="",
        messages=tuple(Message(source=source, content=content) for source, content in messages),
        usage={},
        request_seed=1,
        latency_s=0.0,
    )


def a_row(problem: str = "Add two numbers.", starter_code: str = "") -> Row:
    return Row(
        id="p1", problem=problem, starter_code=starter_code, mode="stdin", difficulty="easy", test_count=3
    )


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


def test_a_long_text_keeps_its_ends_and_says_what_is_missing() -> None:
    text = "a" * 6_000 + "b" * 4_000
    cut = cut_middle(text, 1_000)
    assert len(cut) == 1_000
    assert cut.startswith("a" * 500)
    assert cut.endswith("b" * 350)
    assert "9,000 characters left out" in cut
    assert cut_middle("short", 1_000) == "short"
    assert cut_middle(text, 10) == "a" * 10


def test_a_trace_holds_the_last_texts_of_the_role_alone() -> None:
    rollout = a_rollout(
        ("user", "task"), *((source, f"{source} {n}") for n in range(4) for source in ("coder", "tester"))
    )
    assert role_trace(rollout, "coder", k=2) == "coder 2\n---\ncoder 3"
    assert "nothing" in role_trace(rollout, "manager")


def test_a_trace_of_a_shared_prompt_has_every_replica_with_its_tag() -> None:
    rollout = a_rollout(*((f"debater::{n}", f"round {k} of {n}") for k in range(2) for n in range(3)))
    trace = role_trace(rollout, "debater", k=1)
    assert trace == "\n---\n".join(f"[debater::{n}]\nround 1 of {n}" for n in range(3))


def test_a_transcript_names_sources_and_tools_and_cuts_long_texts() -> None:
    messages = [
        Message(source="user", content="task"),
        Message(source="coder", content="", tool_calls=({"name": "python_exec"},)),
        Message(source="tool", content="x" * 5_000),
    ]
    text = transcript(messages, last=2, each=300)
    assert "[user]" not in text
    assert "[coder] (calls python_exec)" in text
    assert len(text) < 400


def test_a_row_is_shown_without_its_tests() -> None:
    row = a_row("s" * 10_000, "class Solution:\n" + "x" * 5_000)
    compact = compact_row(row)
    assert len(compact["problem"]) == 7_000
    assert len(compact["starter_code"]) == 3_000
    assert compact["tests"] == "3"
    assert "starter_code" not in compact_row(a_row())
    assert row_text(a_row("do it", "class Solution: ...")).startswith("do it\n\nStarter code:")


def render(parts: dict[str, str]) -> str:
    return "Improve this.\n" + "\n".join(parts.values())


def test_a_short_prompt_is_left_alone_with_the_whole_answer() -> None:
    fitted = fit_context(render, {"a": "x" * 3_000, "b": "y" * 100})  # type: ignore[arg-type]
    assert fitted.prompt == render({"a": "x" * 3_000, "b": "y" * 100})
    assert fitted.max_tokens == 48_000
    assert fitted.cuts == ()


def test_the_answer_gives_way_before_any_text_does() -> None:
    fitted = fit_context(render, {"a": "x" * 100_000})  # type: ignore[arg-type]
    assert fitted.cuts == ()
    assert 16_384 <= fitted.max_tokens < 48_000
    assert estimated_tokens(fitted.prompt) + fitted.max_tokens <= 65_536


@pytest.mark.parametrize("sizes", [(400_000, 1_000), (200_000, 190_000), (150_000,) * 3, (10**6, 10**6, 50)])
def test_the_longest_texts_are_cut_until_prompt_and_answer_fit(sizes: tuple[int, ...]) -> None:
    parts = {f"part{n}": "x" * size for n, size in enumerate(sizes)}
    fitted = fit_context(render, parts)  # type: ignore[arg-type]
    assert estimated_tokens(fitted.prompt) + fitted.max_tokens <= 65_536
    assert fitted.max_tokens >= 16_384
    assert estimated_tokens(fitted.prompt) > 40_000, "more was cut than needed"
    assert all(cut.after >= 2_000 and cut.before > cut.after for cut in fitted.cuts)
    assert "part2" not in {cut.name for cut in fitted.cuts} or sizes[2] > 2_000
    assert "characters left out" in fitted.prompt


def test_texts_of_wide_characters_count_more_tokens() -> None:
    assert estimated_tokens("日" * 900) > estimated_tokens("a" * 900) * 2


def test_a_small_wish_for_the_answer_is_kept() -> None:
    assert fit_context(render, {"a": "x"}, answer_tokens=8).max_tokens == 8  # type: ignore[arg-type]


def test_a_proposed_prompt_is_trimmed_and_checked() -> None:
    assert as_prompt("  Solve it.\n", "seed") == "Solve it."
    assert as_prompt(" \n ", "seed") is None
    assert as_prompt("x" * 8_001, "seed") is None
    assert as_prompt("x" * 8_001, "s" * 3_000) is not None
    spoiled = as_prompt(json.loads('"a\\ud800b\\u0000c"'), "seed")
    assert spoiled == "a?bc"


def test_a_list_of_items_says_when_it_is_empty() -> None:
    assert listing(["a", "b"]) == "- a\n- b"
    assert listing([]) == "(none)"
