import threading
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint
from twice_problems import RIGHT, WRONG, asked_for, problem_set

from lcbkit.evaluation import evaluate
from lcbkit.judging.many import judge_many
from lcbkit.models import get_model
from lcbkit.optimizers.job import JobStopped
from lcbkit.optimizers.running import optimize
from lcbkit.results import load_run
from lcbkit.search_events import (
    EvaluationAdvanced,
    IncumbentReported,
    JobFinished,
    JobStarted,
    PhaseStarted,
    RolloutCharged,
)
from lcbkit.topologies.team import build_team
from lcbkit.widgets import live_progress
from lcbkit.widgets.progress import LiveProgress
from tests.live_kernel import wait_until


class Watched(LiveProgress):
    """Keeps what was shown at each step."""

    def __init__(self) -> None:
        super().__init__()
        self.states: list[dict[str, Any]] = []
        self.pages: list[str] = []

    def _show(self, *, at_once: bool = False) -> None:
        super()._show(at_once=at_once)
        self.states.append(self.state)

    def _leave(self) -> None:
        super()._leave()
        self.pages.append(self._repr_html_())


@pytest.fixture
def go(endpoint: ScriptedEndpoint, tmp_path: Path) -> Any:
    def run(count: int, progress: Any, **options: Any) -> Any:
        team = build_team("single", model=get_model("scripted", base_url=endpoint.url), python_exec=False)
        problems = problem_set(count)
        return evaluate(team, problems, out_dir=tmp_path / "run", progress=progress, **options)

    return run


def test_the_view_counts_scores_and_marks_each_instance_in_its_place(
    go: Any, endpoint: ScriptedEndpoint
) -> None:
    endpoint.script = lambda request: WRONG if asked_for(request) == "p1" else RIGHT
    progress = Watched()
    go(3, progress)
    assert progress.view.letters == "PWP"
    assert progress.view.names == ["p0", "p1", "p2"]
    last = progress.states[-1]
    assert (last["phase"], last["done"], last["total"], last["passed"], last["scored"]) == (
        "finished",
        3,
        3,
        2,
        3,
    )
    assert last["low"] < 2 / 3 < last["high"]
    assert [(word, number) for word, _, _, number in last["counts"]] == [("passed", 2), ("wrong answer", 1)]
    assert progress.states[0]["done"] == 0


def test_a_page_without_script_stays_when_the_batch_is_over(go: Any, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda request: Reply(status=401) if asked_for(request) == "p1" else RIGHT
    progress = Watched()
    go(2, progress)
    page = progress.pages[-1]
    for words in ("finished", "2 of 2 instances", "pass@1 100.0% (1/1", "infrastructure"):
        assert words in page, words
    assert "<script" not in page
    assert "finished" in repr(progress)


def test_a_resumed_batch_shows_what_was_done_before(go: Any, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: RIGHT
    go(2, progress=False)
    progress = Watched()
    go(4, progress)
    first = progress.states[0]
    assert (first["done"], first["total"], first["passed"], first["rate"]) == (2, 4, 2, None)
    assert progress.view.letters == "PPPP"


def test_the_button_stops_a_batch_that_waits_for_its_model_and_what_is_finished_is_saved(
    go: Any, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda request: Reply(RIGHT, delay=0.0 if asked_for(request) == "p0" else 60.0)
    progress = Watched()
    press = threading.Event()

    def listen(event: Any) -> str | None:
        answer = progress(event)
        if progress.state["done"] == 1 and not press.is_set():
            press.set()
            # As the front end does it: from another thread, and no further event is coming for a minute.
            threading.Timer(0.1, setattr, (progress.view, "stop_asked", True)).start()
        return answer

    run = go(5, listen)
    assert [record.problem_id for record in run.records] == ["p0"]
    assert "stopping" in [state["phase"] for state in progress.states]
    assert progress.state["phase"] == "stopped"
    assert len(load_run(tmp_path / "run").records) == 1


def test_an_error_ends_the_view_as_failed(go: Any, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: RIGHT

    class Failing(Watched):
        def __call__(self, event: Any) -> str | None:
            if self.state["done"]:
                raise ValueError("<b>broken</b>")
            return super().__call__(event)

    progress = Failing()
    with pytest.raises(ValueError, match="broken"):
        go(3, progress, concurrency=1)
    assert progress.state["phase"] == "failed"
    assert "ValueError: &lt;b&gt;broken&lt;/b&gt;" in progress._repr_html_()


def test_an_interrupt_ends_the_view_as_interrupted() -> None:
    progress = live_progress()
    with pytest.raises(KeyboardInterrupt), progress:
        raise KeyboardInterrupt
    assert progress.state["phase"] == "interrupted"


def test_judging_many_programs_shows_each() -> None:
    problems = problem_set(3)
    progress = Watched()
    right = "print(2 * int(input()))"
    judge_many([(right, problems[0]), ("print(0)", problems[1]), (right, problems[2])], progress=progress)
    assert progress.view.letters == "PWP"
    assert (progress.state["phase"], progress.state["what"], progress.state["scored"]) == (
        "finished",
        "programs",
        3,
    )


def test_events_of_other_work_show_their_counts_and_words() -> None:
    class Step:
        done, total = 3, 8

        def __str__(self) -> str:
            return "candidate 3 scores 0.5"

    progress = live_progress()
    assert progress(Step()) is None
    assert (progress.state["done"], progress.state["total"]) == (3, 8)
    assert "candidate 3 scores 0.5" in progress._repr_html_()
    progress.stop()
    assert progress(Step()) == "stop"


def test_the_last_of_several_quick_events_is_shown_too(go: Any, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _: RIGHT
    events: list[Any] = []
    go(3, lambda event: events.append(event))
    progress = LiveProgress()
    for event in events[:-1]:  # the end does not come yet
        progress(event)
    assert wait_until(lambda: progress.view.letters == "PPP")
    assert progress.view.state["done"] == 3


def searched(progress: Any, *, stop: Any = lambda: None) -> None:
    progress(JobStarted(title="gepa on a single team", where="jobs/one", budget=4, stop=stop))
    progress(PhaseStarted(phase="optimize"))
    for charged, best in ((1, 0.25), (2, None), (3, 0.75)):
        progress(RolloutCharged(charged=charged, maximum=4, score=float(charged > 1)))
        progress(
            IncumbentReported(charged=charged, maximum=4, iteration=charged, best=best, note="<b>better")
        )
    progress(PhaseStarted(phase="validate"))
    progress(EvaluationAdvanced(split="validation", candidate="seed", done=2, total=5, passed=1))


def test_a_search_shows_budget_best_so_far_and_its_learning_curve() -> None:
    progress = Watched()
    searched(progress)
    state = progress.states[-1]
    assert (state["done"], state["total"], state["what"], state["where"]) == (
        3,
        4,
        "rollouts charged",
        "jobs/one",
    )
    assert state["curve"] == [[1, 0.25], [3, 0.75]]
    assert state["budget"] == 4
    assert state["facts"] == [
        ["validating", "phase"],
        ["75.0%", "best so far, on the method's own problems"],
        ["1/2, 3 open", "validation solved, seed"],
    ]
    progress(JobFinished(words="kept the seed"))
    assert progress.view.letters == "WPP"
    page = progress.pages[-1]
    for words in ("finished", "3 of 4 rollouts charged", "best so far", "<polyline", "kept the seed"):
        assert words in page, words
    assert "best 75.0% after 3 of 4 rollouts" in page
    assert "<script" not in page
    assert "75.0%" in repr(progress)


def test_the_stop_button_reaches_a_search_and_its_texts_are_escaped() -> None:
    asked = []
    progress = Watched()
    searched(progress, stop=lambda: asked.append(1))
    progress.view.stop_asked = True
    assert asked
    assert progress.state["phase"] == "stopping"
    assert "<b>better" not in progress._repr_html_()


def test_a_batch_has_no_learning_curve(go: Any, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: RIGHT
    progress = Watched()
    go(1, progress)
    assert (progress.state["curve"], progress.state["facts"]) == ([], [])
    assert "<polyline" not in progress.pages[-1]


def test_a_whole_job_is_shown_and_can_be_stopped(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"out": tmp_path, "model": "toy", "dataset": "toy", "budget": 1, "eval_rows": 2}
    progress = Watched()
    optimize("identity", "single", progress=progress, **asked)
    assert progress.states[-1]["phase"] == "finished"
    words = [words for _, words in progress.states[-1]["facts"]]
    assert words == ["phase", "validation solved, seed", "test solved, seed"]

    class Stopping(Watched):
        def __call__(self, event: Any) -> str | None:
            super().__call__(event)
            return "stop"

    stopped = Stopping()
    with pytest.raises(JobStopped):
        optimize("identity", "single", progress=stopped, **{**asked, "out": tmp_path / "other"})
    assert stopped.state["phase"] == "stopped"
