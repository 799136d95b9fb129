"""What tests of jobs share: a small job to run, and endpoints that fail at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lcbkit.chat import failures
from lcbkit.optimizers import running
from lcbkit.optimizers.optimized import Optimized
from lcbkit.optimizers.running import optimize
from tests.optimizers.hinting import Hinting

Job = Callable[..., Optimized]


@pytest.fixture(autouse=True)
def _retries_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture
def one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model call is made a second time."""
    monkeypatch.setattr(failures, "ATTEMPTS", 1)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Run the test's own method, or `Hinting`, in `tmp_path / "job"`, with no server in the environment."""
    for name in ("LCB_TASK_ENDPOINTS", "LCB_REFLECTION_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)

    def run(method: Any = None, **changes: Any) -> Optimized:
        monkeypatch.setattr(running, "make_optimizer", lambda *_: method or Hinting())
        asked = {"out": tmp_path / "job", "model": "toy", "dataset": "toy", "budget": 12, "eval_rows": 4}
        return optimize("gepa", "single", **{**asked, "progress": False, **changes})

    return run
