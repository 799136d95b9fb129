"""The conditions of a score that the page names are the defaults, and what it tells to set can be set."""

from inspect import signature

import lcbkit
from lcbkit.chat.live import DEFAULTS
from tests.docs.pages import table


def lines() -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in table("comparing-scores.md", "With LiveCodeBench's leaderboard")}


def test_the_named_conditions_are_the_defaults() -> None:
    page, evaluate = lines(), signature(lcbkit.evaluate).parameters
    assert page["temperature, top-p"][1] == f"{DEFAULTS['temperature']}, {DEFAULTS['top_p']}"
    assert page["tokens an answer"][1] == f"{DEFAULTS['max_tokens']:,}"
    assert page["samples a problem"][1] == str(evaluate["samples"].default)
    assert page["tests"][1] == evaluate["tests"].default
    assert page["time"][1].startswith(f"{evaluate['time_limit'].default:g} seconds")


def test_what_ends_an_answer_and_the_system_message_can_be_set_as_the_page_says() -> None:
    model = lcbkit.get_model("any", base_url="http://localhost:9/v1", stop=["###"])
    assert model.stop == ["###"]  # type: ignore[attr-defined]
    team = lcbkit.build_team("single", model=model, prompts={"solver": "You are an expert."})
    assert team.prompts["solver"] == "You are an expert."
