import re
from importlib.resources import files

import pytest

from lcbkit.errors import BadValueError
from lcbkit.topologies.roles import Plan, Role, plan_team, role_prompts


def test_the_single_team_is_one_role_that_answers_and_may_run_code() -> None:
    plan = plan_team("single", 4)
    assert (plan.size, plan.max_tool_rounds) == (None, 12)
    assert plan.roles == (Role(name="solver", python_exec=True, answers=True, programs=True),)


@pytest.mark.parametrize("size", [None, 2, 4, 8, 10])
def test_the_single_team_ignores_the_size(size: int | None) -> None:
    assert plan_team("single", size) == plan_team("single", 4)


def test_an_unknown_topology_is_refused_with_the_list_of_what_there_is() -> None:
    with pytest.raises(BadValueError, match=r"no topology 'ring'; there is: single"):
        plan_team("ring", 4)


@pytest.mark.parametrize("size", [0, 1, 3, 12])
def test_a_size_that_no_team_has_is_refused_with_the_list(size: int) -> None:
    with pytest.raises(BadValueError, match=rf"{size}.*2, 4, 8, 10"):
        plan_team("single", size)


def test_a_given_prompt_replaces_the_librarys() -> None:
    assert role_prompts(plan_team("single", None), {"solver": "Mine."}) == {"solver": "Mine."}


def test_a_prompt_for_a_role_that_the_team_lacks_is_refused() -> None:
    with pytest.raises(BadValueError, match=r"no role 'coder'.*it has: solver"):
        role_prompts(plan_team("single", None), {"coder": "Mine."})


@pytest.mark.parametrize("text", ["", " \n", None])
def test_an_empty_prompt_is_refused(text: str) -> None:
    with pytest.raises(BadValueError, match="'solver'"):
        role_prompts(plan_team("single", None), {"solver": text})


def test_a_plan_without_an_answering_role_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="answers"):
        Plan(topology="x", size=None, max_tool_rounds=1, roles=(Role(name="coder"),))


def test_no_prompt_speaks_of_the_tool_or_of_the_output_fence_itself() -> None:
    """Both are added when a team is built; a prompt that named them could promise what its team lacks."""
    folder = files("lcbkit.topologies").joinpath("prompts")
    texts = [path.read_text("utf-8") for path in folder.iterdir() if path.name.endswith(".txt")]
    assert texts
    assert not [text for text in texts if re.search(r"python_exec|```", text)]
