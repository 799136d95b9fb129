"""Uses what was added to a copy of the library; run by `test_extending.py` with that copy in front."""

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
        "review", message_format="headings", model=lcbkit.get_model("scripted", base_url=endpoint.url)
    )
    answer = team.solve(lcbkit.load_problems("sample")[0])
assert [run.role for run in answer.trajectory] == ["author", "critic", "critic", "critic", "author"]
assert answer.code == "print(6)"
assert len(answer.handoffs) == 6
assert all(record.ok and record.rendered_ok and record.has_code for record in answer.handoffs)
assert answer.communication is not None
assert answer.communication["parse_rate"] == 1.0
assert all("#### Status" in text for text in team.sent_prompts.values())

# The optimizer, on the new topology.
found = lcbkit.optimize(
    "rewrite",
    "review",
    model="toy",
    dataset="toy",
    out=HERE / "job",
    budget=8,
    allow_any_cell=True,
    progress=False,
)
assert found.summary["optimization"]["budget"]["charged"] == 8
assert found.job["cell"]["method"] == "rewrite"

# The figure, alone and among all.
rows = [{"id": str(n), "em": n % 2, "topology": "review", "size": 4, "model": "m"} for n in range(4)]
run = lcbkit.Run.from_frame(__import__("pandas").DataFrame(rows))
assert summarize(run.records).statuses["ok"] == 4
lcbkit.save_figure(lcbkit.plots.plot_statuses(run), HERE / "statuses")  # type: ignore[attr-defined]
assert (HERE / "statuses.pdf").stat().st_size
assert "statuses" in dict(lcbkit.plots.every_figure(run))

# The command line knows them.
choices = {
    (command, option.name): set(getattr(option.type, "choices", ()))
    for command in ("run", "optimize")
    for option in lcb.commands[command].params
}
assert "review" in choices["run", "topology"]
assert "headings" in choices["run", "message_format"]
assert "rewrite" in choices["optimize", "method"]
