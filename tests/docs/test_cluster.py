"""What `docs/cluster.md` says of costs is what the teams' tables and a team at work give."""

import ast
import re

import pytest
from scripted_endpoint import ScriptedEndpoint
from twice_problems import RIGHT, problem_set

from lcbkit.models import get_model
from lcbkit.topologies.roles import SIZES, TOPOLOGIES, plan_team
from lcbkit.topologies.team import build_team
from tests.docs.pages import DOCS, table

ROWS = {row[0].partition(" ")[0].strip("`,"): row[1:] for row in table("cluster.md", "Model calls")}


def test_every_topology_has_its_row() -> None:
    assert set(ROWS) == set(TOPOLOGIES)


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_team_that_answers_at_once_makes_the_least_calls(endpoint: ScriptedEndpoint, topology: str) -> None:
    endpoint.script = lambda _request: RIGHT
    model = get_model("scripted", base_url=endpoint.url)
    team = build_team(topology, team_size=4, model=model)
    calls = team.solve(problem_set(1)[0]).usage.n_llm_calls
    least = ROWS[topology][0].partition(",")[0]
    assert calls == {"1": 1, "n": 4, "r n": 2 * 4}[least]


def test_the_most_calls_are_those_of_all_rounds_with_the_tool() -> None:
    rounds = {topology: plan_team(topology, 4).max_tool_rounds for topology in TOPOLOGIES}
    assert ROWS["single"][1] == f"{rounds['single'] + 1}"
    assert ROWS["independent"][1] == f"{rounds['independent'] + 1} n"
    assert ROWS["decentralized"][1] == f"{rounds['decentralized'] + 1} r n"
    assert f"n + {rounds['sequential']} d" in ROWS["sequential"][1]
    runners = [sum(role.python_exec for role in plan_team("sequential", size).roles) for size in SIZES]
    assert f"{', '.join(map(str, runners))} of n = 2, 4, 8, 10" in ROWS["sequential"][1]
    assert f"m + {rounds['centralized'] + 1} w" in ROWS["centralized"][1]
    small, *others = (plan_team("centralized", size).max_turns for size in SIZES)
    assert f"m + w is at most {small} for n = 2, else {others[0]}" in ROWS["centralized"][1]
    assert len(set(others)) == 1


def test_the_programs_on_the_page_are_python() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / "cluster.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    for block in blocks:
        ast.parse(block)
