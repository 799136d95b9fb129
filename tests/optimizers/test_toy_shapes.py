"""Scripted answers are read by the methods' own readers."""

import random

import pytest

from lcbkit.optimizers.credit import Knowledge, parse_piece_credit, parse_role_credit
from lcbkit.optimizers.mapro_prompts import (
    BEGIN_VARIANT,
    END_VARIANT,
    node_prompt,
    rewrite_prompt,
    variants_prompt,
)
from lcbkit.optimizers.mapro_reflection import parse_blame
from lcbkit.optimizers.maspo_prompts import judge_prompt, proposal_prompt
from lcbkit.optimizers.overlay import rules_of
from lcbkit.optimizers.pairwise import verdict
from lcbkit.optimizers.reading import extract_block, parse_json, parse_score
from lcbkit.optimizers.styles import style_texts
from lcbkit.optimizers.tavo_prompts import ranking_prompt, rules_prompt
from lcbkit.optimizers.toy_shapes import in_shape
from lcbkit.optimizers.variants import acceptable, read_variant, variant_prompt
from lcbkit.topologies.roles import TOPOLOGIES, plan_team, role_prompts
from tests.optimizers.bench import rows, spec

HINT = "Mind the zero."
TEAM = spec("sequential")
ROW = rows("t", 1)[0]


def known(text: str) -> int:
    return HINT in text


def answer(question: str) -> str:
    return in_shape(question, ["Work on.", HINT], known)


def test_a_judge_prefers_the_output_that_knows_more() -> None:
    assert verdict(answer(judge_prompt(TEAM, "coder", ROW, f"first {HINT}", "second"))) == "A"
    assert verdict(answer(judge_prompt(TEAM, "coder", ROW, "first", f"second {HINT}"))) == "B"
    assert verdict(answer(judge_prompt(TEAM, "coder", ROW, "first", "second"))) == "B"


def test_a_score_grows_with_what_is_known() -> None:
    scores = [
        parse_score(answer(node_prompt(TEAM, "coder", text, "task", "out", []))) for text in ("x", HINT)
    ]
    assert scores == [0.5, 0.65]


def test_json_answers_are_credits_and_rankings_at_once() -> None:
    value = parse_json(answer(ranking_prompt("add", ["a", "b"], 5)))
    assert value is not None
    assert value["items"] == ["Work on.", HINT]
    assert parse_piece_credit(value) is not None
    credit = parse_role_credit("coder", value)
    assert credit is not None
    assert HINT in credit.edits["add"]


def test_prompts_rules_and_variants_come_between_their_tags() -> None:
    for question, tag in (
        (proposal_prompt(TEAM, "coder", "old", ["sample"]), "new_prompt"),
        (rewrite_prompt(TEAM, "coder", "old", "op", "overall", "blame", "1.1"), "new_prompt"),
        (variants_prompt(TEAM, "coder", "old", 4), BEGIN_VARIANT[1:-1]),
    ):
        assert HINT in extract_block(answer(question), "", begin=f"<{tag}>", end=f"</{tag}>")
    assert END_VARIANT in answer(variants_prompt(TEAM, "coder", "old", 4))
    rules = answer(rules_prompt(TEAM, Knowledge(edits={"add": (HINT,)}), 3, 6))
    assert (
        rules_of(extract_block(rules, "", begin="<rules>", end="</rules>"), most=6) == f"- Work on.\n- {HINT}"
    )


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_variants_keep_the_names_of_the_librarys_own_prompts_and_differ_by_their_style(topology: str) -> None:
    team = spec(topology)
    for role, seed in role_prompts(plan_team(topology, 4)).items():
        pool: list[str] = []
        for style in style_texts(29, random.Random(0)):
            text = read_variant(answer(variant_prompt(role, seed, team, style)))
            new = acceptable(text, seed, pool, team.roles)
            assert new is not None, f"{role}, {style}: {text}"
            assert HINT in new
            pool.append(new)


def test_other_questions_get_named_fields_or_a_fenced_block() -> None:
    asked = (
        "Respond with `[[ ## reasoning ## ]]`, then `[[ ## instruction ## ]]`, then `[[ ## completed ## ]]`."
    )
    assert answer(asked).splitlines()[0] == "[[ ## reasoning ## ]]"
    assert answer("Improve it.") == f"```\n- Work on.\n- {HINT}\n```"
    assert parse_blame(answer("write one line for each colleague"), ["nobody else"]) == {}
