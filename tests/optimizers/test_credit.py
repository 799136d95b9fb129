"""Trajectories cut into pieces, and judges' words on them taken as far as they can be read."""

from typing import Any

import pytest

from lcbkit.optimizers.credit import (
    Knowledge,
    distinct,
    parse_items,
    parse_piece_credit,
    parse_role_credit,
    pieces,
    repeated,
)
from lcbkit.optimizers.interface import Message

SOURCES = ["user", "manager", "analyzer_worker", "manager", "coder_worker", "tool", "manager"]


def said(sources: list[str]) -> list[Message]:
    return [Message(source=source, content=f"{n}") for n, source in enumerate(sources)]


def sizes(sources: list[str], hub: str | None = None) -> list[int]:
    return [len(piece) for piece in pieces(said(sources), hub)]


def test_a_transcript_with_a_hub_is_cut_at_the_hubs_turns() -> None:
    assert sizes(SOURCES, "manager") == [3, 3, 1]


def test_a_transcript_without_a_hub_is_cut_at_each_participants_turn() -> None:
    assert sizes(SOURCES) == [2, 1, 1, 2, 1]


@pytest.mark.parametrize(
    ("sources", "hub", "expected"),
    [
        (["user", "coder", "tool", "coder", "tool", "coder", "tester"], None, [6, 1]),
        (["user", "manager", "tool", "manager", "coder_worker", "manager"], "manager", [5, 1]),
        (["user", "debater::0", "debater::1", "debater::0"], None, [2, 1, 1]),
        (["user"], None, [1]),
        ([], None, []),
    ],
)
def test_the_texts_of_one_turn_stay_together(
    sources: list[str], hub: str | None, expected: list[int]
) -> None:
    assert sizes(sources, hub) == expected
    assert [message for piece in pieces(said(sources), hub) for message in piece] == said(sources)


def test_a_piece_credit_needs_its_three_ratings() -> None:
    good = {"progress": 7, "coordination": "8", "stage_fit": 99, "analysis": "Bounds  were\nread."}
    credit = parse_piece_credit(good)
    assert credit is not None
    assert credit.ratings == {"progress": 7, "coordination": 8, "stage_fit": 10}
    assert credit.line() == "progress 7, coordination 8, stage fit 10: Bounds were read."


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"progress": 7},
        {"progress": "high", "coordination": 1, "stage_fit": 1},
        {"progress": True, "coordination": 1, "stage_fit": 1},
        {"progress": float("nan"), "coordination": 1, "stage_fit": 1},
        {"progress": [1], "coordination": {}, "stage_fit": None},
    ],
)
def test_anything_else_is_no_piece_credit(value: dict[str, Any] | None) -> None:
    assert parse_piece_credit(value) is None


def test_a_role_credit_takes_what_it_can_read() -> None:
    credit = parse_role_credit(
        "coder",
        {
            "ratings": {"result": 4, "quality": 8, "luck": "?"},
            "weaknesses": "ignored the bound",
            "suggestions": {"result": ["read all input", 3], "fashion": ["no"]},
            "edits": {"add": ["State the cost."], "remove": None, "restructure": "Put bounds first."},
        },
    )
    assert credit is not None
    assert credit.suggestions["result"] == ("read all input",)
    assert credit.edits == {"add": ("State the cost.",), "remove": (), "restructure": ("Put bounds first.",)}


@pytest.mark.parametrize(
    "value", [None, {}, {"edits": "all"}, {"strengths": ["fine"]}, {"edits": {"add": [{}]}}]
)
def test_a_role_credit_that_says_nothing_is_none(value: dict[str, Any] | None) -> None:
    assert parse_role_credit("coder", value) is None


def test_items_are_bounded() -> None:
    items = parse_items(["x" * 10_000, *(f"item {n}" for n in range(50)), "  ", 7, None])
    assert len(items) == 8
    assert max(map(len, items)) == 300
    assert parse_items({"a": 1}) == ()


def test_items_that_differ_in_form_only_are_one() -> None:
    items = ["Check the bounds.", "check the  bounds", "Name the cost", "Check bounds."]
    assert distinct(items, 5) == ("Check the bounds.", "Name the cost", "Check bounds.")
    assert distinct(items, 1) == ("Check the bounds.",)


def test_without_a_ranking_the_repeated_items_count() -> None:
    items = [
        "Name the cost.",
        "Read bounds!",
        "read bounds",
        "Rare one here",
        "READ BOUNDS",
        "name the cost",
        "ok",
        "ok",
    ]
    assert repeated(items, 5) == ("Read bounds!", "Name the cost.")
    assert repeated(items, 1) == ("Read bounds!",)
    assert repeated([], 5) == ()


def test_knowledge_is_empty_without_a_single_item() -> None:
    assert Knowledge().empty
    assert Knowledge(edits={"add": ()}, suggestions={"result": ()}).empty
    assert not Knowledge(edits={"add": ("Name the cost.",)}).empty
