"""Uses what was added to a copy of the library; run by `test_extending.py` with that copy in front."""

import json
import sys
from pathlib import Path

from scripted_endpoint import ScriptedEndpoint

import lcbkit
from lcbkit.cli import lcb
from lcbkit.scoring.scores import summarize

HERE = Path(sys.argv[1])
assert Path(lcbkit.__file__).is_relative_to(HERE)

# The topology and the message format, at an endpoint.
ANSWER = (
    "#### Status\ncompleted\n#### Summary\ns\n#### Confidence\nhigh\n#### Next\nn\n```python\nprint(6)\n```"
)
with ScriptedEndpoint() as endpoint:
    endpoint.replies(ANSWER)
    team = lcbkit.build_team(
        "example_review",
        message_format="example_headings",
        model=lcbkit.get_model("scripted", base_url=endpoint.url),
    )
    answer = team.solve(lcbkit.load_problems("sample")[0])
assert [run.role for run in answer.trajectory] == ["author", "critic", "critic", "critic", "author"]
assert answer.code == "print(6)"
assert "How your reply must end" in team.sent_prompts["author"]
assert "How your reply must end" not in team.sent_prompts["critic"]
assert len(answer.handoffs) == 6
assert all(record.ok and record.rendered_ok and record.has_code for record in answer.handoffs)
assert answer.communication is not None
assert answer.communication["parse_rate"] == 1.0
assert all("#### Status" in text for text in team.sent_prompts.values())

# Without its author, and with last texts that hold no program.
problem = lcbkit.load_problems("sample")[0]
with ScriptedEndpoint() as endpoint:
    endpoint.script = lambda _request: ANSWER if len(endpoint.requests) == 1 else "It is right as it stands."
    team = lcbkit.build_team("example_review", model=lcbkit.get_model("scripted", base_url=endpoint.url))
    assert team.solve(problem).code == "print(6)"
    alone = team.without("author::0").solve(problem)
assert [(run.role, run.agent) for run in alone.trajectory] == [("critic", number) for number in (1, 2, 3, 1)]
assert (alone.code, alone.status) == (None, "no_code")

# The optimizer, on the new topology.
found = lcbkit.optimize(
    "example_rewrite",
    "example_review",
    model="toy",
    dataset="toy",
    out=HERE / "job",
    budget=8,
    allow_any_cell=True,
    progress=False,
)
assert found.summary["optimization"]["budget"]["charged"] == 8
assert found.job["cell"]["method"] == "example_rewrite"

# A method that leaves players out, in a team in which some share a role.
found = lcbkit.optimize(
    "hivemind",
    "example_review",
    model="toy",
    dataset="toy",
    out=HERE / "masked",
    budget=40,
    allow_any_cell=True,
    progress=False,
)
[cycle] = json.loads((HERE / "masked/optimization/optimizer_result.json").read_text())["history"]
assert "author::0+critic::1" in cycle["coalitions"]
assert set(cycle["credits"]) == {"author", "critic"}

# The figure, alone and among all.
rows = [{"id": str(n), "em": n % 2, "topology": "example_review", "size": 4, "model": "m"} for n in range(4)]
run = lcbkit.Run.from_frame(__import__("pandas").DataFrame(rows))
assert summarize(run.records).statuses["ok"] == 4
lcbkit.save_figure(lcbkit.plots.plot_example_statuses(run), HERE / "example_statuses")  # type: ignore[attr-defined]
assert (HERE / "example_statuses.pdf").stat().st_size
assert "example_statuses" in dict(lcbkit.plots.every_figure(run))

# The command line knows them.
choices = {
    (command, option.name): set(getattr(option.type, "choices", ()))
    for command in ("run", "optimize")
    for option in lcb.commands[command].params
}
assert "example_review" in choices["run", "topology"]
assert "example_headings" in choices["run", "message_format"]
assert "example_rewrite" in choices["optimize", "method"]
