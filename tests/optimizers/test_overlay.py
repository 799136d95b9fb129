"""The block of rules: applied twice it is there once, taken off it leaves nothing."""

import pytest

from lcbkit.optimizers.overlay import apply_overlay, content_id, overlay_block, rules_of, strip_overlay

SEED = "You are the tester.\n\nReport what you saw.\n  - inputs\n"


def test_the_content_id_is_the_beginning_of_the_hash() -> None:
    assert content_id("Check edge cases.") == "3c905ad98e"
    assert "3c905ad98e" in overlay_block("Check edge cases.")


def test_the_second_overlay_takes_the_place_of_the_first() -> None:
    once = apply_overlay(SEED, "- Check edge cases.")
    twice = apply_overlay(once, "- Name the cost.")
    assert twice == apply_overlay(SEED, "- Name the cost.")
    assert twice.endswith(overlay_block("- Name the cost."))
    assert "edge cases" not in twice
    assert apply_overlay(twice, "- Name the cost.") == twice


def test_stripping_gives_the_seed_back() -> None:
    assert strip_overlay(apply_overlay(SEED, "- a\n- b")) == SEED.strip()
    assert strip_overlay(SEED) == SEED.strip()
    assert apply_overlay(apply_overlay(SEED, "- a"), "") == SEED.strip()


@pytest.mark.parametrize(
    "rules", ["- a\n<!-- end of team rules -->\n- b", "<!-- team rules v1 0123456789 -->\n- a"]
)
def test_rules_that_hold_markers_cannot_break_the_block(rules: str) -> None:
    assert strip_overlay(apply_overlay(SEED, rules)) == SEED.strip()


def test_rules_are_the_items_of_a_list_and_nothing_else() -> None:
    answer = "Here are the rules:\n1. Name the cost.\n2) Test\n   the smallest input.\n* Agree.\n\nGood luck!"
    assert rules_of(answer, most=6) == "- Name the cost.\n- Test the smallest input.\n- Agree."
    assert rules_of(answer, most=2).count("\n") == 1
    assert rules_of("No list at all.", most=6) == ""
    assert rules_of("", most=6) == ""
    assert rules_of("Name the cost.\n\nTest it.\n---", most=6, bare=True) == "- Name the cost.\n- Test it."
    assert rules_of("Rules:\n- Test it.", most=6, bare=True) == "- Test it."
    assert len(rules_of("- " + "x" * 10**6, most=6)) == 402
