"""What the notebooks lean on: whence problems and model come, what is recorded, texts in columns."""

from pathlib import Path

import pytest
from scripted_endpoint import ScriptedEndpoint

from lcbkit.dataset import demo_problems
from lcbkit.errors import BadValueError
from lcbkit.models import get_model
from lcbkit.notebook import answerable, notebook_setup, show_texts
from lcbkit.topologies.team import build_team


def test_a_notebook_takes_the_sample_and_the_recorded_answers_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert notebook_setup() == ("sample", "recorded")
    assert capsys.readouterr().out == "Problems: the shipped sample. Model: recorded answers, offline.\n"
    monkeypatch.setenv("LCB_DATASET", "release_v6")
    notebook_setup()
    assert "set MODEL before" in capsys.readouterr().out, "recorded answers do not cover other problems"
    monkeypatch.setenv("MODEL_ID", "qwen")
    assert notebook_setup() == ("release_v6", "qwen")
    assert notebook_setup("v1", "llama") == ("v1", "llama")
    assert "v1. Model: llama" in capsys.readouterr().out


def test_a_recording_answers_what_it_holds_for_every_team(tmp_path: Path, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _: "```python\nprint(1)\n```"
    problems, file = demo_problems(), tmp_path / "answers.jsonl"
    live = get_model("scripted", base_url=endpoint.url, record=file)
    build_team("independent", team_size=4, model=live, python_exec=False).solve(problems[1])
    build_team("independent", team_size=2, model=live, python_exec=False).solve(problems[0])
    recorded = [
        build_team("independent", team_size=size, model=f"recorded:{file}", python_exec=False)
        for size in (2, 4)
    ]
    assert answerable(problems, recorded[:1]).ids == problems.ids, "two agents ask what four ask first"
    assert answerable(problems, recorded).ids == problems.ids[1:]
    assert answerable(problems, recorded[:1], limit=1).ids == problems.ids[:1]
    with pytest.raises(BadValueError, match=r"cover none of the 1 problems.*most is recorded for 4 agents"):
        answerable(problems[:1], recorded)


def test_a_live_model_answers_everything_and_is_asked_nothing(endpoint: ScriptedEndpoint) -> None:
    team = build_team("single", model=get_model("scripted", base_url=endpoint.url))
    assert answerable(demo_problems(), [team]).ids == demo_problems().ids
    assert not endpoint.requests


def test_texts_stand_side_by_side_escaped_under_their_titles() -> None:
    shown = show_texts({"a & b": "<b>bold</b>", "second": "line 1\nline 2"})
    assert "a &amp; b" in shown._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown._repr_html_()
    assert repr(shown) == "a & b\n    <b>bold</b>\n\nsecond\n    line 1\n    line 2"
