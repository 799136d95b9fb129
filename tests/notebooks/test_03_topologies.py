"""Five ways to wire a team: the drawings, the prompts, and what the teams did."""

import re
from pathlib import Path

import pytest
from nbformat import NotebookNode

import lcbkit
from lcbkit.notebook import answerable
from tests.notebooks.kernel import data, executed, executed_live, tagged, text

STEM = "03_topologies"
NODES = {
    "single": ["solver"],
    "independent": ["coder_0", "coder_3", "vote"],
    "sequential": ["analyzer", "coder", "tester", "debugger"],
    "centralized": ["manager", "coder_worker", "finish"],
    "decentralized": ["peer_0", "peer_3", "gather", "vote"],
}


@pytest.fixture(params=["the sample", "real problems"])
def notebook(request: pytest.FixtureRequest) -> NotebookNode:
    if request.param == "the sample":
        return executed(STEM)
    return executed_live(STEM, request.getfixturevalue("shared")).notebook


def cells(html: str) -> list[list[str]]:
    """The texts of a data frame's body, line by line, the index included."""
    body = html.partition("<tbody>")[2]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in body.split("</tr>") if "<t" in row]


def test_draws_every_team_where_jupyter_draws_by_itself(notebook: NotebookNode) -> None:
    for topology, nodes in NODES.items():
        drawing = data(tagged(notebook, topology), "text/vnd.mermaid")
        assert all(f"{node}({node})" in drawing for node in nodes), topology
    assert not any("image/png" in str(tagged(notebook, topology).outputs) for topology in NODES)


def test_only_the_answering_role_is_told_how_a_submission_looks(notebook: NotebookNode) -> None:
    analyzer, debugger = data(tagged(notebook, "sent"), "text/plain").split("debugger\n", 1)
    assert "How your reply must end" not in analyzer
    assert "How your reply must end" in debugger
    assert "How your reply must end" not in data(tagged(notebook, "prompts"), "text/plain")


def test_shows_answer_handoffs_and_every_agents_verdict(notebook: NotebookNode) -> None:
    shown = data(tagged(notebook, "solve"), "text/html")
    assert all(role in shown for role in NODES["sequential"])
    assert "tester → debugger" in data(tagged(notebook, "handoffs"), "text/plain")
    votes = cells(data(tagged(notebook, "votes"), "text/html"))
    assert [row[1] for row in votes] == ["0", "1", "2", "3"]
    assert [row[2] for row in votes] == ["0", "1", "2", "3"], "agents differ in their seed"
    winner = re.search(r"winner: agent (\d|None)", text(tagged(notebook, "votes")))
    assert winner is not None
    assert [row[0] for row in votes if row[-1] == "yes"] == [winner[1]] * (winner[1] != "None")
    assert re.match(r"groups: \(.*\), winner: agent ", text(tagged(notebook, "debate")))
    debate = cells(data(tagged(notebook, "debate"), "text/html"))
    assert [len(row) for row in debate] == [3] * 4, "one verdict a round"


def test_streams_a_line_for_each_event(notebook: NotebookNode) -> None:
    lines = text(tagged(notebook, "stream")).splitlines()
    assert lines[0].startswith("the centralized team begins ")
    assert "agent 0 (manager) begins" in lines
    assert lines[-1].startswith("the team ends ")


def test_says_what_each_team_cost(notebook: NotebookNode) -> None:
    rows = {row[0]: row[1:] for row in cells(data(tagged(notebook, "cost"), "text/html"))}
    assert list(rows) == list(NODES)
    runs = {name: int(row[2]) for name, row in rows.items()}
    assert (runs["single"], runs["independent"], runs["sequential"], runs["decentralized"]) == (1, 4, 4, 8)
    assert all(int(row[3]) >= int(row[2]) for row in rows.values()), "no agent without a model call"
    assert int(rows["single"][5]) < int(rows["independent"][5])


def test_another_prompt_makes_another_team(notebook: NotebookNode) -> None:
    before, after = (line.split()[0] for line in text(tagged(notebook, "edit")).splitlines())
    assert re.fullmatch("[0-9a-f]{12}", before)
    assert before != after


def test_a_recording_refuses_an_edited_prompt_and_a_live_model_answers_it(shared: Path) -> None:
    assert "holds no answer" in text(tagged(executed(STEM), "edit-solve"))
    assert text(tagged(executed_live(STEM, shared).notebook, "edit-solve")).startswith("ok: a program of ")


def test_the_exercises_pair_is_the_first_half_of_the_team_of_four() -> None:
    pair, four = (lcbkit.build_team("independent", team_size=size, model="recorded") for size in (2, 4))
    [problem] = answerable(lcbkit.load_problems("sample"), [pair, four], limit=1)
    small, large = pair.solve(problem), four.solve(problem)
    assert [run.text for run in small.trajectory] == [run.text for run in large.trajectory[:2]]
    assert small.usage.n_llm_calls == 2
    assert small.votes is not None
    wrote = [run.agent for run in small.trajectory if run.code]
    assert sum(small.votes.sizes) == len(wrote), "an agent without a program has no vote"
    assert small.votes.winner == (wrote[0] if wrote else None)


def test_a_debater_without_a_last_program_votes_with_its_earlier_one() -> None:
    team = lcbkit.build_team("decentralized", model="recorded")
    quiet = 0
    for problem in answerable(lcbkit.load_problems("sample"), [team]):
        answer = team.solve(problem)
        assert answer.votes is not None
        wrote = {run.agent for run in answer.trajectory if run.code}
        assert sum(answer.votes.sizes) == len(wrote), problem.id
        quiet += len(wrote - {run.agent for run in answer.trajectory if run.code and run.round == 1})
    assert quiet, "no recorded debater fell silent, so this has shown nothing"
