import pytest

from lcbkit.optimizers.wiring import team_spec
from lcbkit.topologies.roles import TOPOLOGIES, Plan, Role, mask_players
from tests.optimizers.bench import spec


def test_a_chain_hands_on_from_left_to_right() -> None:
    chain = spec("sequential")
    assert chain.roles == chain.players == ("analyzer", "coder", "tester", "debugger")
    assert chain.edges == (("analyzer", "coder"), ("coder", "tester"), ("tester", "debugger"))
    assert (chain.terminal, chain.replicas, chain.team_size) == ("debugger", 1, 4)
    assert (chain.successor["tester"], chain.successor["debugger"]) == ("debugger", None)
    assert (chain.predecessors["analyzer"], chain.predecessors["coder"]) == ((), ("analyzer",))


def test_a_manager_is_the_hub_and_always_there() -> None:
    star = spec("centralized")
    workers = ("analyzer_worker", "coder_worker", "tester_worker")
    assert star.roles == ("manager", *workers)
    assert star.players == workers
    assert star.edges == tuple(("manager", worker) for worker in workers)
    assert star.predecessors["manager"] == workers
    assert {star.successor[worker] for worker in workers} == {"manager"}
    assert star.successor["manager"] is None
    assert star.manager == "manager"


@pytest.mark.parametrize(("topology", "role"), [("independent", "coder"), ("decentralized", "debater")])
def test_replicas_share_one_role_and_are_players_of_their_own(topology: str, role: str) -> None:
    team = spec(topology)
    assert team.roles == (role,)
    assert team.players == tuple(f"{role}::{number}" for number in range(4))
    assert (team.replicas, team.edges, team.terminal) == (4, (), role)
    assert (team.manager, team.debates) == (None, topology == "decentralized")


def test_nobody_can_be_left_out_of_a_team_of_one() -> None:
    team = spec("single")
    assert (team.roles, team.players, team.replicas, team.team_size) == (("solver",), (), 1, 1)


def test_a_line_ends_with_the_role_that_answers() -> None:
    roles = (Role(name="author", answers=True), Role(name="reader"), Role(name="critic"))
    team = team_spec(Plan(topology="review", size=3, max_tool_rounds=1, roles=roles))
    assert team.roles == ("author", "reader", "critic")
    assert team.edges == (("reader", "critic"), ("critic", "author"))
    assert (team.terminal, team.successor["author"]) == ("author", None)


def test_where_some_share_a_role_a_mask_names_every_agent_with_its_number() -> None:
    readers, author = (Role(name="reader"),) * 2, Role(name="author", answers=True)
    plan = Plan(topology="readers", size=3, max_tool_rounds=1, roles=(*readers, author))
    team = team_spec(plan)
    assert team.players == ("reader::0", "reader::1", "author::2")
    assert (team.roles, team.replicas, team.terminal) == (("reader", "author"), 1, "author")
    assert [number for number, _ in mask_players(plan, team.players[1:]).active] == [0]


def test_a_manager_is_no_player_where_its_workers_share_a_role() -> None:
    manager = Role(name="manager", answers=True, workers=("worker",))
    plan = Plan(topology="crew", size=3, max_tool_rounds=1, roles=(manager, *(Role(name="worker"),) * 2))
    assert team_spec(plan).players == ("worker::1", "worker::2")
    assert mask_players(plan, ["worker::1"]).workers == ("worker",)
    assert mask_players(plan, ["worker::1", "worker::2"]).workers == ()


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("size", [2, 4, 8, 10])
def test_every_role_of_every_team_has_a_duty_and_the_contract_is_told(topology: str, size: int) -> None:
    team = spec(topology, size)
    assert set(team.descriptions) == set(team.roles)
    assert not any(
        text.startswith("Plays the part that its name says") for text in team.descriptions.values()
    )
    assert "python" in team.contract
