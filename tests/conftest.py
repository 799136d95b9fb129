"""What every test may ask for."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from scripted_endpoint import ScriptedEndpoint

ROOT = Path(__file__).parent.parent

# With it jsonschema, behind nbformat, takes seconds to build a grammar of web addresses that no test needs.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# A shell starts background jobs with SIGINT ignored, and children inherit that; tests of interrupts need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """A folder for what one test process makes for all of them (see tests/made_once.py)."""
    if not hasattr(config, "workerinput"):
        os.environ["LCBKIT_TESTS_MADE_ONCE"] = folder = tempfile.mkdtemp(prefix="lcbkit-made-once-")
        config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes a core, since many tests wait; only this one for single files and for browsers."""
    if all(".py" in argument or "browser" in argument for argument in config.args):
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(2 * cores, 8)


def shared_folder() -> Path | None:
    """Where the shared material lies, or None; for tests that are made of its parts."""
    folder = Path(os.environ.get("LCB_SHARED", ROOT.parent / "shared"))
    return folder if (folder / "data").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real material kept outside the project: problems, programs with known verdicts, model outputs."""
    if (folder := shared_folder()) is None:
        pytest.skip("the shared material (LCB_SHARED, or ../shared beside the checkout) is not here")
    return folder


@pytest.fixture(scope="session")
def _port() -> int:
    """One port for all tests: to make a client for a new address takes longer than most tests."""
    with ScriptedEndpoint() as server:
        return server.port


@pytest.fixture
def endpoint(_port: int) -> Iterator[ScriptedEndpoint]:
    """A real OpenAI-compatible server on loopback; set `endpoint.script` (see tests/scripted_endpoint.py)."""
    with ScriptedEndpoint(port=_port) as server:
        yield server


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on what the developer's shell happens to set."""
    for name in (
        *("LCB_DATASET", "LCB_CACHE", "LCB_SANDBOX", "MODEL_ID"),
        *("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY", "VLLM_BASE_URL", "VLLM_API_KEY"),
    ):
        monkeypatch.delenv(name, raising=False)
