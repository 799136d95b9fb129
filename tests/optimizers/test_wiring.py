import pytest

from lcbkit.optimizers.interface import TeamSpec
from lcbkit.optimizers.transcripts import transcript
from lcbkit.optimizers.wiring import team_spec
from lcbkit.topologies.answer import AgentRun, TeamAnswer, Usage
from lcbkit.topologies.roles import Plan, Role, mask_players, plan_team


def spec(topology: str, size: int = 4) -> TeamSpec:
    return team_spec(plan_team(topology, size))


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


@pytest.mark.parametrize(("topology", "role"), [("independent", "coder"), ("decentralized", "debater")])
def test_replicas_share_one_role_and_are_players_of_their_own(topology: str, role: str) -> None:
    team = spec(topology)
    assert team.roles == (role,)
    assert team.players == tuple(f"{role}::{number}" for number in range(4))
    assert (team.replicas, team.edges, team.terminal) == (4, (), role)


def test_nobody_can_be_left_out_of_a_team_of_one() -> None:
    team = spec("single")
    assert (team.roles, team.players, team.replicas, team.team_size) == (("solver",), (), 1, 1)


def test_where_some_share_a_role_a_mask_and_a_transcript_name_every_agent_with_its_number() -> None:
    readers, author = (Role(name="reader"),) * 2, Role(name="author", answers=True)
    plan = Plan(topology="readers", size=3, max_tool_rounds=1, roles=(*readers, author))
    team = team_spec(plan)
    assert team.players == ("reader::0", "reader::1", "author::2")
    assert (team.roles, team.replicas, team.terminal) == (("reader", "author"), 1, "author")
    assert [number for number, _ in mask_players(plan, team.players[1:]).active] == [0]
    answer = TeamAnswer.of(code=None, raw="", trajectory=[said(1, "reader"), said(2, "author")])
    assert [message.source for message in transcript(answer, "task", team)] == [
        *("user", "reader::1", "author::2")
    ]


def test_a_manager_is_no_player_where_its_workers_share_a_role() -> None:
    manager = Role(name="manager", answers=True, workers=("worker",))
    plan = Plan(topology="crew", size=3, max_tool_rounds=1, roles=(manager, *(Role(name="worker"),) * 2))
    assert team_spec(plan).players == ("worker::1", "worker::2")


def said(agent: int, role: str) -> AgentRun:
    return AgentRun(
        agent=agent,
        role=role,
        round=0,
        seed=0,
        text="words",
        code=None,
        stop_reason="end",
        error=None,
        infra=False,
        usage=Usage(),
        latency_s=0.0,
        messages=({"role": "assistant", "content": "words"},),
    )


@pytest.mark.parametrize("topology", ["single", "independent", "sequential", "centralized", "decentralized"])
@pytest.mark.parametrize("size", [2, 4, 8, 10])
def test_every_role_of_every_team_has_a_duty_and_the_contract_is_told(topology: str, size: int) -> None:
    team = spec(topology, size)
    assert set(team.descriptions) == set(team.roles)
    assert all(text.strip() for text in team.descriptions.values())
    assert "python" in team.contract
