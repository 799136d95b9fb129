import pytest

from lcbkit.optimizers.variants import acceptable, manifest, read_variant, variant_prompt
from tests.optimizers.bench import spec

ROLES = ("analyzer", "coder", "tester", "debugger")
SEED = "You are the coder. Call `solve` with {task}, and hand over to the tester as <plan> says."


def test_a_manifest_holds_what_the_team_shares() -> None:
    text = (
        "Ask `python_exec` and delegate_to_coder_worker. Fill {name} and {{other}}.\n[STATUS]\n<plan>\n"
        "```python\nx\n```\nTell the Coder, not encoders."
    )
    assert manifest(text, ROLES) == {
        "backticks:python_exec",
        "tool:python_exec",
        "tool:delegate_to_coder_worker",
        "placeholder:{name}",
        "placeholder:{{other}}",
        "tag:[STATUS]",
        "tag:<plan>",
        "fence:python",
        "fence:",
        "role:coder",
    }
    assert manifest("Plain words, nothing else.", ROLES) == frozenset()


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("As coder you call `solve` on {task}; the tester reads what <plan> asks of you.", True),
        ("As coder you call `solve` on {task}; the TESTER reads what <plan> asks of you.", True),
        ("As coder you call solve on {task}; the tester reads what <plan> asks of you.", False),
        ("As coder you call `solve` on {task}; the tester and debugger read what <plan> asks.", False),
        ("As coder you call `solve` on {task} and `x`; the tester reads what <plan> asks of you.", False),
        ("`solve` {task} coder tester <plan>", False),  # too short
        (SEED, False),
        (f"  {SEED.replace(' ', '  ')}\n", False),
        (SEED.upper().replace("{TASK}", "{task}").replace("`SOLVE`", "`solve`"), False),
        (f"{SEED} {'and so on ' * 2_000}", False),
    ],
)
def test_a_variant_must_keep_the_names_be_new_and_of_some_length(text: str, taken: bool) -> None:
    assert (acceptable(text, SEED, [], ROLES) is not None) == taken


def test_a_variant_that_the_pool_holds_is_no_new_one() -> None:
    text = "As coder you call `solve` on {task}; the tester reads what <plan> asks of you."
    assert acceptable(f" {text}\n", SEED, [], ROLES) == text
    assert acceptable(text.replace("As coder", "as  coder"), SEED, [text], ROLES) is None


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("You plan.\nThen you write.", "You plan.\nThen you write."),
        ("Here is the rewritten prompt:\n\nYou plan.", "You plan."),
        ("Sure, here it is:\n```\nYou plan.\n```", "You plan."),
        ("````text\nYou plan.\n```python\nx\n```\n````", "You plan.\n```python\nx\n```"),
        ("You plan.\n\nLet me know if you want changes.", "You plan."),
        ("You plan.\nNote: I kept all names.", "You plan."),
        ("<prompt>\nYou plan.\n</prompt> Done.", "You plan."),
        ("<prompt>\nYou plan.", "You plan."),
        ("<think>hm</think>You plan.", "You plan."),
        ("You end with:\n- a plan", "You end with:\n- a plan"),
        ("```", "```"),
        ("", ""),
    ],
)
def test_only_the_prompt_is_read_from_an_answer(answer: str, text: str) -> None:
    assert read_variant(answer) == text


def test_the_question_names_what_must_be_kept() -> None:
    prompt = variant_prompt("coder", SEED, spec("sequential"), "Plain: as simple as can be.")
    for item in ("- solve (backticks)", "- {task} (placeholder)", "- tester (role)", "- <plan> (tag)"):
        assert item in prompt
    assert "Plain: as simple as can be." in prompt
    assert SEED in prompt
    assert "without backticks" in variant_prompt("coder", "Do it.", spec("sequential"), "x")
