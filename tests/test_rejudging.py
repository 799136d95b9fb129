import json
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint
from twice_problems import RIGHT, WRONG, asked_for, problem_set, row

from lcbkit.dataset import load_problems
from lcbkit.errors import RunFolderError
from lcbkit.evaluation import evaluate
from lcbkit.models import get_model
from lcbkit.problems import ProblemSet
from lcbkit.rejudging import Moved, rejudge
from lcbkit.results import Run, load_run
from lcbkit.runs.progress import InstanceFinished, RunEvent
from lcbkit.topologies.team import build_team

SLOW = "```python\nfor i in range(15 * 10**6): pass\nprint(2 * int(input()))\n```"


@pytest.fixture
def problems(tmp_path: Path) -> ProblemSet:
    path = tmp_path / "twice.jsonl"
    path.write_text("".join(json.dumps(row(i)) + "\n" for i in range(5)))
    return load_problems(path)


@pytest.fixture
def run(endpoint: ScriptedEndpoint, problems: ProblemSet, tmp_path: Path) -> Run:
    """A right, a wrong and a slow program, an answer without one, and an outage."""
    answers = {"p0": RIGHT, "p1": WRONG, "p2": SLOW, "p3": "no", "p4": Reply(status=401)}
    endpoint.script = lambda request: answers[asked_for(request)]
    team = build_team("single", model=get_model("scripted", base_url=endpoint.url), python_exec=False)
    return evaluate(team, problems, out_dir=tmp_path / "run", judge_workers=1, progress=False)


def again(run: Run | Path, problems: ProblemSet | None = None, **options: object) -> object:
    return rejudge(run, problems, judge_workers=1, progress=False, **options)  # type: ignore[arg-type]


def test_the_programs_are_judged_as_the_run_was_unless_told_otherwise(run: Run, tmp_path: Path) -> None:
    done = rejudge(tmp_path / "run", judge_workers=1, progress=False)
    assert (done.judged, done.left_out, done.moved) == (3, 0, ())
    assert done.run.files is not None
    assert done.run.files.predictions.parent == tmp_path / "run-rejudged"
    assert done.run.config["settings"] == run.config["settings"]
    assert done.run.config["rejudged_from"] == str(tmp_path / "run")
    verdicts = [(record.key, record.status, record.passed, record.verdicts) for record in run.records]
    now = load_run(tmp_path / "run-rejudged").records
    assert [(record.key, record.status, record.passed, record.verdicts) for record in now] == verdicts
    assert now[0].prompt_tokens == run.records[0].prompt_tokens
    old, new = run.trajectory("p0"), done.run.trajectory("p0")
    assert old is not None
    assert new is not None
    assert new["raw"] == old["raw"] == RIGHT
    assert new["report"]["passed"]


def test_another_limit_moves_verdicts_and_leaves_the_run_as_it_is(run: Run, tmp_path: Path) -> None:
    before = (tmp_path / "run" / "predictions.jsonl").read_bytes()
    done = rejudge(run, time_limit=0.2, judge_workers=1, progress=False)
    assert done.moved == (Moved(problem_id="p2", sample=0, before="passed", now="time_limit"),)
    assert done.run.config["settings"]["judging"]["time_limit"] == 0.2
    assert (tmp_path / "run" / "predictions.jsonl").read_bytes() == before
    assert "p2  0       passed  time_limit" in str(done)
    assert "pass@1 before: 50.0% (2/4" in str(done)
    assert "pass@1 now:    25.0% (1/4" in str(done)


def test_a_mended_test_moves_verdicts(run: Run) -> None:
    thrice = [{**row(i), "private_test_cases": json.dumps([THREE])} for i in range(5)]
    path = Path(str(run.files)).parent / "mended.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in thrice))
    done = rejudge(run, load_problems(path), judge_workers=1, progress=False)
    assert [(move.problem_id, move.before, move.now) for move in done.moved] == [
        ("p0", "passed", "wrong_answer"),
        ("p1", "wrong_answer", "passed"),
        ("p2", "passed", "wrong_answer"),
    ]


THREE = {"input": "3\n", "output": "9\n", "testtype": "stdin"}


def test_each_time_a_new_folder_is_made_and_a_named_one_is_never_mixed(run: Run, tmp_path: Path) -> None:
    again(run)
    again(run)
    assert (tmp_path / "run-rejudged-2" / "predictions.jsonl").exists()
    with pytest.raises(RunFolderError, match="is the run itself"):
        again(run, out_dir=tmp_path / "run", time_limit=1.0)
    with pytest.raises(RunFolderError, match="holds a finished run already"):
        again(run, out_dir=tmp_path / "run-rejudged")
    assert load_run(tmp_path / "run").records == run.records


def test_a_stopped_call_goes_on_where_it_was(run: Run) -> None:
    def stop(event: RunEvent) -> str | None:
        return "stop" if isinstance(event, InstanceFinished) else None

    first = rejudge(run, judge_workers=1, progress=stop)
    assert 0 < len(first.run.records) < 5
    second = rejudge(run, judge_workers=1, progress=False)
    assert second.run.files == first.run.files
    assert len(second.run.records) == 5


def test_many_outages_in_a_run_do_not_end_it(problems: ProblemSet, tmp_path: Path) -> None:
    rows = [{"id": f"p{i}", "status": "infra_error", "sample": s} for s in range(5) for i in range(5)]
    rows[-1] |= {"status": "ok", "em": 0, "predicted_code": "print(2 * int(input()))"}
    path = tmp_path / "elsewhere.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in rows))
    done = rejudge(path, problems, judge_workers=1, progress=False)
    assert (len(done.run.records), done.judged) == (25, 1)
    assert done.moved == (Moved(problem_id="p4", sample=4, before="failed", now="passed"),)
    assert done.run.records[-1].month == "2024-05"  # what the file did not say comes from the problem


def test_comments_are_no_program_however_they_came(run: Run, tmp_path: Path) -> None:
    empty = Run([replace(run.records[0], code="# nothing")], run.config, run.files)
    (move,) = rejudge(empty, problem_set(1), out_dir=tmp_path / "new", progress=False).moved
    assert (move.before, move.now) == ("passed", "no_code")
