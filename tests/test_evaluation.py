import asyncio
import gc
import json
import resource
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call
from twice_problems import RIGHT, WRONG, asked_for, problem_set, row

from lcbkit.dataset import load_problems
from lcbkit.errors import BadValueError, NothingToDoError, RecordingError, RunFolderError
from lcbkit.evaluation import aevaluate, evaluate
from lcbkit.judging.report import Report
from lcbkit.models import get_model
from lcbkit.problems import ProblemSet
from lcbkit.records import Record, Status
from lcbkit.results import load_run
from lcbkit.runs.progress import InstanceFinished, RunEvent, RunFinished, RunStarted
from lcbkit.topologies.team import Team, TeamAnswer, build_team


def team(endpoint: ScriptedEndpoint, *, python_exec: bool = False, **model: Any) -> Team:
    chat = get_model("scripted", base_url=endpoint.url, **model)
    return build_team("single", model=chat, python_exec=python_exec)


Go = Callable[..., Any]


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries are made, but without their long waits."""
    monkeypatch.setattr("lcbkit.chat.failures.FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture
def go(endpoint: ScriptedEndpoint, tmp_path: Path) -> Go:
    """Evaluate the scripted team in one folder, silently."""

    def call(count: int = 1, **options: Any) -> Any:
        options = {"out_dir": tmp_path / "run", "progress": False, "judge_workers": 1} | options
        problems = options.pop("problems", None) or problem_set(count)
        return evaluate(options.pop("team", None) or team(endpoint), problems, **options)

    return call


def only(run: Any) -> Record:
    (record,) = run.records
    assert isinstance(record, Record)
    return record


def by_problem(answers: dict[str, Reply | str]) -> Callable[[Request], Reply | str]:
    return lambda request: answers[asked_for(request)]


def test_each_instance_gets_its_record_and_the_run_its_score(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = by_problem(
        {"p0": RIGHT, "p1": WRONG, "p2": "I do not know.", "p3": "```python\n# nothing\n```", "p4": RIGHT}
    )
    run = go(5)
    assert [(record.problem_id, str(record.status), record.passed) for record in run.records] == [
        ("p0", "ok", True),
        ("p1", "ok", False),
        ("p2", "no_code", False),
        ("p3", "no_code", False),
        ("p4", "ok", True),
    ]
    assert run.summary().pass_at_1 == 0.4
    assert run.summary().extracted.pass_at_1 == pytest.approx(2 / 3)
    failure = run.records[1].first_failure
    assert (failure["test"], failure["kind"], run.records[1].pass_count) == (0, "wrong_answer", 0)
    assert (run.records[0].pass_count, run.records[0].total, run.records[2].total) == (2, 2, 2)


def test_a_record_tells_what_was_asked_and_what_it_cost(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(
        Reply(RIGHT, prompt_tokens=100, completion_tokens=20, cached_tokens=60, reasoning_tokens=7)
    )
    record = only(go(seed=3))
    assert (record.prompt_tokens, record.completion_tokens, record.total_tokens) == (100, 20, 120)
    assert (record.cached_tokens, record.reasoning_tokens, record.n_llm_calls) == (60, 7, 1)
    assert (record.topology, record.size, record.format, record.model) == (
        "single",
        None,
        "freeform",
        "scripted",
    )
    assert (record.seed, endpoint.requests[0].seed) == (3, 3)
    assert (record.difficulty, record.platform, record.mode) == ("easy", "atcoder", "stdin")
    assert (record.contest_date, record.stop_reason) == ("2024-01-01", "end")
    assert record.agents[0]["tokens"] == 120
    assert record.solve_s is not None
    assert record.judge_s is not None


def test_the_folder_holds_the_whole_run(go: Go, endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda _request: RIGHT
    run = go(3, samples=2)
    folder = tmp_path / "run"
    assert load_run(folder).records == run.records
    assert len((folder / "predictions.jsonl").read_text().splitlines()) == 6
    config = json.loads((folder / "run.json").read_text())
    assert config["dataset"]["source"] == "twice"
    assert config["dataset"]["digest"] == problem_set(3).digest
    assert config["settings"]["team"]["prompts_sha256"]
    assert config["settings"]["judging"]["time_limit"] == 6.0
    assert config["sandbox"]["tier"] in ("bwrap", "limits")
    assert {"lcbkit", "langgraph", "langchain", "python"} <= set(config["versions"])
    assert config["started"] <= config["ended"]
    assert json.loads((folder / "summary.json").read_text()) == json.loads(
        json.dumps(run.summary().to_dict())
    )
    texts = run.trajectory("p1", 1)
    assert texts["raw"] == RIGHT
    assert "variant p1" in json.dumps(texts["trajectory"][0]["messages"])
    assert Report.from_dict(texts["report"]).letters == run.records[0].test_verdicts == "PP"


def test_samples_are_asked_with_seeds_of_their_own(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda request: RIGHT if request.seed == 1005 else WRONG
    run = go(2, samples=3, seed=5)
    assert sorted(Counter(request.seed for request in endpoint.requests).items()) == [
        (5, 2),
        (1005, 2),
        (2005, 2),
    ]
    assert {record.key: record.passed for record in run.records} == {
        (f"p{i}", sample): sample == 1 for i in range(2) for sample in range(3)
    }
    assert run.pass_at_k(3) == 1.0


def test_a_predictions_file_of_its_own_name_keeps_the_rest_beside_it(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    go(out=tmp_path / "here" / "mine.jsonl")
    go(out=tmp_path / "here" / "other.jsonl", seed=9)
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == [
        *("mine.jsonl", "mine.run.json", "mine.summary.json", "mine.trajectories"),
        *("other.jsonl", "other.run.json", "other.summary.json", "other.trajectories"),
    ]
    assert load_run(tmp_path / "here" / "mine.jsonl").trajectory("p0")


def test_without_a_name_the_folder_is_named_by_dataset_team_and_model(
    endpoint: ScriptedEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    endpoint.script = lambda _request: RIGHT
    chat = get_model("Qwen/Qwen3.5-9B", base_url=endpoint.url)
    evaluate(build_team("single", model=chat, python_exec=False), problem_set(1), progress=False)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["twice-single-freeform-Qwen-Qwen3.5-9B"]


# Outages, limits and failures of the team


def test_a_rate_limit_is_waited_out(go: Go, endpoint: ScriptedEndpoint) -> None:
    limited = Reply(status=429, headers={"Retry-After": "0"})
    endpoint.replies(limited, limited, RIGHT)
    assert only(go()).status is Status.OK
    assert len(endpoint.requests) == 3


def test_an_outage_is_no_wrong_answer_and_is_tried_again_on_resume(
    go: Go, endpoint: ScriptedEndpoint
) -> None:
    outage = Reply(status=500, headers={"Retry-After": "0"})
    endpoint.script = by_problem({"p0": RIGHT, "p1": outage})
    run = go(2)
    assert [str(record.status) for record in run.records] == ["ok", "infra_error"]
    assert run.summary().pass_at_1 == 1.0
    assert run.summary().infra_rate == 0.5
    assert "no score" in repr(run)
    endpoint.script = lambda _request: WRONG
    before = len(endpoint.requests)
    again = go(2)
    assert [asked_for(request) for request in endpoint.requests[before:]] == ["p1"]
    assert again.summary().pass_at_1 == 0.5
    assert again.summary().infra_rate == 0.0


def test_a_dead_endpoint_is_no_score(go: Go, endpoint: ScriptedEndpoint) -> None:
    dead = team(endpoint)
    endpoint.close()
    summary = go(3, team=dead).summary()
    assert (summary.infra_rate, summary.pass_at_1) == (1.0, None)


def test_a_cut_answer_is_no_code_with_its_reason(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply("", finish_reason="length", completion_tokens=8192, reasoning_tokens=8192))
    record = only(go())
    assert (record.status, record.stop_reason, record.passed) == (Status.NO_CODE, "truncated", False)


def test_a_team_at_its_step_limit_keeps_its_tokens_and_texts(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: Reply(tool_calls=[tool_call("python_exec", code="print(1)")])
    run = go(team=team(endpoint, python_exec=True))
    record = only(run)
    asked = len(endpoint.requests)
    assert (record.status, record.stop_reason) == (Status.NO_CODE, "recursion_limit")
    assert (record.prompt_tokens, record.completion_tokens) == (10 * asked, 5 * asked)
    assert record.n_tool_calls >= 1
    texts = run.trajectory("p0")["trajectory"][0]["messages"]
    assert sum(message["role"] == "assistant" for message in texts) == asked


def test_tokens_that_were_not_reported_are_counted_as_unknown(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(
        Reply(tool_calls=[tool_call("python_exec", code="print(1)")]), Reply(RIGHT, prompt_tokens=None)
    )
    record = only(go(team=team(endpoint, python_exec=True)))
    assert (record.prompt_tokens, record.completion_tokens, record.calls_without_usage) == (10, 5, 1)


def test_a_failing_team_is_wrong_and_is_tried_again_only_when_asked(
    go: Go, endpoint: ScriptedEndpoint
) -> None:
    endpoint.replies(Reply(status=400, error="context too long"))
    record = only(go())
    assert record.status is Status.AGENT_ERROR
    assert "context too long" in str(record.error)
    asked = len(endpoint.requests)
    endpoint.script = lambda _request: RIGHT
    assert only(go()).status is Status.AGENT_ERROR
    assert len(endpoint.requests) == asked
    assert only(go(retry_errors=True)).passed


def test_a_request_that_a_recording_lacks_ends_the_batch_with_its_sentence(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    recording = tmp_path / "answers.jsonl"
    go(1, team=team(endpoint, record=recording), out_dir=tmp_path / "first")
    replaying = build_team("single", model=f"recorded:{recording}")
    with pytest.raises(RecordingError):
        go(3, team=replaying, concurrency=1)
    assert only(go(1, team=replaying)).passed
    assert len(endpoint.requests) == 1


# The judge's side


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "twice.jsonl"
    path.write_text("".join(json.dumps(row(i)) + "\n" for i in range(2)))
    return path


def test_a_broken_judge_keeps_the_program_for_another_try(
    go: Go, endpoint: ScriptedEndpoint, stored: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    problems = load_problems(stored)
    aside = stored.rename(stored.with_suffix(".aside"))  # the hidden tests can no longer be read
    run = go(problems=problems)
    assert [str(record.status) for record in run.records] == ["judge_error", "judge_error"]
    assert run.summary().pass_at_1 is None
    assert "judge" in run.records[0].error
    asked = len(endpoint.requests)
    aside.rename(stored)
    again = go(problems=problems)
    assert [(str(record.status), record.passed) for record in again.records] == [("ok", True)] * 2
    assert again.records[0].error is None
    assert len(endpoint.requests) == asked


def test_judging_does_not_hold_up_the_model(go: Go, endpoint: ScriptedEndpoint) -> None:
    asked: dict[str, float] = {}
    slow = "```python\nimport time\ntime.sleep(2)\nprint('wrong')\n```"

    def script(request: Request) -> str:
        asked[asked_for(request)] = time.monotonic()
        return slow

    judged: dict[str, float] = {}

    def listen(event: RunEvent) -> None:
        if isinstance(event, InstanceFinished):
            judged[event.record.problem_id] = time.monotonic()

    endpoint.script = script
    go(2, concurrency=1, stop_on_failure=True, progress=listen)
    assert max(asked.values()) < min(judged.values())


# Concurrency, progress, stopping


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_model_calls_are_in_flight_than_allowed(
    go: Go, endpoint: ScriptedEndpoint, limit: int
) -> None:
    endpoint.script = lambda _request: Reply(RIGHT, delay=0.1)
    go(8, concurrency=limit)
    assert endpoint.peak == limit
    assert len(endpoint.requests) == 8


def test_answers_are_dropped_once_they_are_written(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: RIGHT
    alive = []

    def count() -> int:
        gc.collect()
        return sum(isinstance(value, TeamAnswer) for value in gc.get_objects())

    def listen(event: RunEvent) -> None:
        if isinstance(event, InstanceFinished) and event.done == 10:
            alive.append(count())

    before = count()  # what other tests of this process still hold
    go(12, concurrency=2, progress=listen)
    assert alive[0] - before <= 6


def test_events_count_what_is_done_and_end_with_the_summary(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = by_problem({"p0": RIGHT, "p1": WRONG, "p2": RIGHT})
    go(1)
    events: list[RunEvent] = []
    go(3, progress=events.append)
    first, *middle, last = events
    assert isinstance(first, RunStarted)
    assert (first.total, first.done, first.passed, first.scored) == (3, 1, 1, 1)
    assert first.keys == (("p0", 0), ("p1", 0), ("p2", 0))
    assert [record.key for record in first.records] == [("p0", 0)]
    assert [event.done for event in middle if isinstance(event, InstanceFinished)] == [2, 3]
    assert isinstance(last, RunFinished)
    assert (last.summary.overall.passed, last.stopped) == (2, False)


class _Listener:
    """A callback that wants to know when the batch is over, however it ends."""

    def __init__(self, error: Exception | None = None) -> None:
        self.open, self.error = False, error

    def __enter__(self) -> "_Listener":
        self.open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.open = False

    def __call__(self, _event: RunEvent) -> None:
        assert self.open
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("error", [None, ValueError("the listener failed")])
def test_a_callback_that_is_a_context_manager_is_closed_at_the_end(
    go: Go, endpoint: ScriptedEndpoint, error: Exception | None
) -> None:
    endpoint.script = lambda _request: RIGHT
    listener = _Listener(error)
    with pytest.raises(ValueError, match="the listener failed") if error else nullcontext():
        go(1, progress=listener)
    assert not listener.open


def test_the_bar_stands_on_standard_error_with_the_score_so_far(
    go: Go, endpoint: ScriptedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script = lambda _request: RIGHT
    go(2, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "2/2" in err
    assert "pass@1 100.0% (2/2)" in err


def test_a_callback_can_stop_the_batch_and_the_next_one_goes_on(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda request: Reply(RIGHT, delay=0.0 if asked_for(request) in ("p0", "p1") else 60.0)

    def stop(event: RunEvent) -> str | None:
        return "stop" if isinstance(event, InstanceFinished) and event.done == 2 else None

    run = go(6, progress=stop)
    assert {record.problem_id for record in run.records} == {"p0", "p1"}
    assert json.loads(run.files.summary.read_text())["n"] == 2
    before = len(endpoint.requests)
    endpoint.script = lambda _request: RIGHT
    assert go(6).summary().overall.passed == 6
    assert Counter(map(asked_for, endpoint.requests[before:])) == dict.fromkeys(("p2", "p3", "p4", "p5"), 1)


def test_an_interrupt_saves_what_is_finished_and_is_raised(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda request: Reply(RIGHT, delay=0.0 if asked_for(request) == "p0" else 60.0)

    def listen(event: RunEvent) -> None:
        if isinstance(event, InstanceFinished):
            threading.Timer(0.1, signal.raise_signal, (signal.SIGINT,)).start()

    with pytest.raises(KeyboardInterrupt):
        go(5, progress=listen)
    assert [record.problem_id for record in load_run(tmp_path / "run").records] == ["p0"]
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["overall"]["passed"] == 1


async def test_a_cancel_saves_what_is_finished(endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda request: Reply(RIGHT, delay=0.0 if asked_for(request) == "p0" else 60.0)
    finished = asyncio.Event()

    def listen(event: RunEvent) -> None:
        if isinstance(event, InstanceFinished):
            finished.set()

    task = asyncio.create_task(
        aevaluate(team(endpoint), problem_set(3), out_dir=tmp_path / "run", progress=listen, judge_workers=1)
    )
    await finished.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert load_run(tmp_path / "run").summary().overall.passed == 1
    assert (tmp_path / "run" / "summary.json").exists()


async def test_a_cell_that_has_a_loop_can_use_both_doors(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    assert only(go()).passed
    run = await aevaluate(team(endpoint), problem_set(1), out_dir=tmp_path / "other", progress=False)
    assert only(run).passed


def test_a_broken_callback_shows_as_itself(go: Go, endpoint: ScriptedEndpoint, tmp_path: Path) -> None:
    endpoint.script = lambda _request: RIGHT

    def listen(event: RunEvent) -> None:
        if isinstance(event, InstanceFinished):
            raise LookupError("in the callback")

    with pytest.raises(LookupError, match="in the callback"):
        go(3, progress=listen)
    assert load_run(tmp_path / "run").records


def test_a_disk_that_fills_up_ends_the_batch_with_one_sentence(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: RIGHT
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(_event: RunEvent) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # writes fail as on a full disk

    try:
        with pytest.raises(RunFolderError, match="cannot write the run"):
            go(40, concurrency=2, progress=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(endpoint.requests) < 20
    assert go(2).summary().overall.passed == 2


# What is refused before a model is asked


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"problems": ProblemSet([], source="none")}, NothingToDoError, "no problem"),
        ({"tests": "public"}, BadValueError, "'public'"),
        ({"samples": 0}, BadValueError, "samples is 0"),
        ({"concurrency": 0}, BadValueError, "concurrency is 0"),
        ({"judge_workers": 0}, BadValueError, "judge_workers is 0"),
        ({"seed": 2**64}, BadValueError, "seed is"),
        ({"out": "mine.json"}, BadValueError, r"out is mine\.json.*ends in \.jsonl"),
    ],
)
def test_wrong_use_is_one_sentence_before_any_call(
    endpoint: ScriptedEndpoint, tmp_path: Path, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    problems = options.pop("problems", problem_set(1))
    with pytest.raises(error, match=says):
        evaluate(team(endpoint), problems, out_dir=tmp_path / "run", progress=False, **options)
    assert not (tmp_path / "run").exists()
    assert not endpoint.requests


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"time_limit": 2.0}, {"tests": "all"}, {"stop_on_failure": True}]
)
def test_a_folder_of_another_configuration_is_refused_before_any_call(
    go: Go, endpoint: ScriptedEndpoint, change: dict[str, Any]
) -> None:
    endpoint.script = lambda _request: RIGHT
    go()
    with pytest.raises(RunFolderError, match=next(iter(change))):
        go(**change)
    assert len(endpoint.requests) == 1


def test_another_team_is_refused_and_overwriting_starts_anew(go: Go, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: RIGHT
    go(2)
    with pytest.raises(RunFolderError, match=r"temperature: 0\.2 there, 0\.7 here"):
        go(2, team=team(endpoint, temperature=0.7))
    assert len(endpoint.requests) == 2
    assert len(go(1, team=team(endpoint, temperature=0.7), overwrite=True).records) == 1
    assert len(endpoint.requests) == 3


def test_ids_limit_and_concurrency_may_change_and_the_folder_keeps_the_rest(
    go: Go, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _request: RIGHT
    go(3)
    run = go(problems=problem_set(5)[3:], concurrency=2, judge_workers=2)
    assert [record.problem_id for record in run.records] == ["p3", "p4"]
    assert len(endpoint.requests) == 5
    assert load_run(tmp_path / "run").summary().n == 5
