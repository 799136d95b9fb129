import re
from importlib.resources import files

import pytest

from lcbkit.errors import BadValueError
from lcbkit.topologies.roles import SIZES, TOPOLOGIES, Plan, Role, mask_players, plan_team, role_prompts


def test_the_single_team_is_one_role_that_answers_and_may_run_code() -> None:
    plan = plan_team("single", 4)
    assert (plan.size, plan.max_tool_rounds) == (None, 12)
    (solver,) = plan.roles
    assert (solver.name, solver.python_exec, solver.answers, solver.programs) == ("solver", True, True, True)


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


def test_fixed_roles_have_no_size_and_can_be_left_out_like_others() -> None:
    roles = (Role(name="scout"), Role(name="writer", answers=True))
    plan = Plan(topology="pair", size=None, max_tool_rounds=1, roles=roles)
    assert list(plan.players) == ["scout", "writer"]
    assert [role.name for _, role in mask_players(plan, ["scout"]).active] == ["writer"]
    with pytest.raises(ValueError, match="2 roles for a team of 3"):
        Plan(topology="pair", size=3, max_tool_rounds=1, roles=roles)


def test_no_prompt_speaks_of_the_tool_or_of_the_output_fence_itself() -> None:
    """Both are added when a team is built; a prompt that named them could promise what its team lacks."""
    folder = files("lcbkit.topologies").joinpath("prompts")
    texts = [path.read_text("utf-8") for path in folder.iterdir() if path.name.endswith(".txt")]
    assert texts
    assert not [text for text in texts if re.search(r"python_exec|```", text)]


def test_an_unknown_topology_is_answered_with_those_of_the_table() -> None:
    with pytest.raises(
        BadValueError, match="there is: single, independent, sequential, centralized, decentralized"
    ):
        plan_team("ring", 4)


def test_each_role_has_a_prompt_and_each_prompt_has_a_role() -> None:
    plans = [plan_team(topology, size) for topology in TOPOLOGIES for size in SIZES]
    used = {role.prompt or role.name for plan in plans for role in plan.roles}
    folder = files("lcbkit.topologies").joinpath("prompts")
    assert {path.name.removesuffix(".txt") for path in folder.iterdir()} == used
    for plan in plans:
        assert all(text.strip() for text in role_prompts(plan).values())


@pytest.mark.parametrize("size", SIZES)
def test_one_role_answers_for_a_team(size: int) -> None:
    for topology in TOPOLOGIES:
        plan = plan_team(topology, size)
        assert len({role.name for role in plan.roles if role.answers}) == 1
        assert len(plan.roles) == (1 if topology == "single" else size)


@pytest.mark.parametrize(
    ("topology", "rounds"),
    [("single", 12), ("independent", 9), ("sequential", 24), ("centralized", 14), ("decentralized", 8)],
)
def test_the_budget_of_tool_rounds_is_each_topologys_own(topology: str, rounds: int) -> None:
    assert plan_team(topology, 4).max_tool_rounds == rounds


@pytest.mark.parametrize(("size", "turns"), [(2, 13), (4, 26), (8, 26), (10, 26)])
def test_a_manager_and_its_workers_share_a_number_of_turns(size: int, turns: int) -> None:
    assert plan_team("centralized", size).max_turns == turns
