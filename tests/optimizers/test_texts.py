"""What a reflection model is shown."""

from lcbkit.optimizers.interface import Message, Row
from lcbkit.optimizers.texts import compact_row, cut_middle, listing, role_trace, row_text, transcript
from tests.optimizers.bench import rollout_of


def a_row(problem: str = "Add two numbers.", starter_code: str = "") -> Row:
    return Row(
        id="p1", problem=problem, starter_code=starter_code, mode="stdin", difficulty="easy", test_count=3
    )


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
    rollout = rollout_of(
        ("user", "task"), *((source, f"{source} {n}") for n in range(4) for source in ("coder", "tester"))
    )
    assert role_trace(rollout, "coder", k=2) == "coder 2\n---\ncoder 3"
    assert "nothing" in role_trace(rollout, "manager")


def test_a_trace_of_a_shared_prompt_has_every_replica_with_its_tag() -> None:
    rollout = rollout_of(*((f"debater::{n}", f"round {k} of {n}") for k in range(2) for n in range(3)))
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


def test_a_list_of_items_says_when_it_is_empty() -> None:
    assert listing(["a", "b"]) == "- a\n- b"
    assert listing([]) == "(none)"
