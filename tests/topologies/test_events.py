"""Events as a reader of the stream sees them: a line each."""

from scripted_endpoint import ScriptedEndpoint

from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.topologies.events import AgentStarted, Voted
from lcbkit.topologies.team import Votes, build_team
from tests.topologies.conftest import ANSWER


async def test_every_event_of_a_debate_prints_as_a_line(endpoint: ScriptedEndpoint, problem: Problem) -> None:
    endpoint.replies(ANSWER)
    model = get_model("scripted", base_url=endpoint.url)
    team = build_team("decentralized", team_size=2, model=model, python_exec=False)
    lines = [str(event) async for event in team.astream(problem)]
    assert lines[0] == "the decentralized team begins double"
    assert "agent 1 (debater), round 1, begins" in lines
    assert "agent 0 (debater) ends (end), with a program, 15 tokens" in lines
    assert any(line.startswith("peer_0 -> peer_1: ") and line.endswith(", with a program") for line in lines)
    assert "round 0 ends; peers with a program: 2" in lines
    assert lines[-2] == "vote: groups of equal programs 2; agent 0 speaks for the team"
    assert lines[-1] == "the team ends double: ok"


def test_a_vote_without_programs_says_so() -> None:
    assert str(Voted(votes=Votes(winner=None, sizes=()))) == "vote: nobody has a program"


def test_the_first_round_goes_without_saying() -> None:
    assert str(AgentStarted(agent=0, role="solver", round=0)) == "agent 0 (solver) begins"
