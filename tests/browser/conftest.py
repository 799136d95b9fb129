"""A real JupyterLab in a real, headless Chromium: `python -m pytest tests/browser`.

Chromium is the distribution's (`apt-get install chromium`), found on the path or named by `CHROMIUM`.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.lab import Lab, NotebookPage, start_lab, stop_lab

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--screenshots", metavar="DIR", help="keep the pictures of each state in this folder")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    if not Path(CHROMIUM).exists():
        pytest.fail(f"no browser at {CHROMIUM}: apt-get install chromium, or set CHROMIUM")
    flags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"]
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "headless": True, "args": flags}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_context_args,
        "viewport": {"width": 1280, "height": 1000},
        "reduced_motion": "reduce",
        "locale": "en-US",
        "timezone_id": "UTC",
        "permissions": ["clipboard-read", "clipboard-write"],
    }


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    server = start_lab(tmp_path_factory.mktemp("jupyter") / "lab")
    yield server
    left = stop_lab(server)
    assert not left, f"outlived the server: {left}"


@pytest.fixture(scope="session")
def shots(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go."""
    chosen = request.config.getoption("--screenshots")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def notebook(page: Page, lab: Lab, shots: Path) -> Iterator[Callable[..., NotebookPage]]:
    """Write a notebook with the given cells, open it and run them all.

    At the end of the test there must be no error on the console and no request that left this machine.
    """
    opened: list[NotebookPage] = []

    def make(*sources: str, run: bool = True) -> NotebookPage:
        notebook = NotebookPage(page, lab, shots)
        opened.append(notebook)
        notebook.open(sources)
        if run:
            notebook.run_all()
            assert not notebook.errors()
        return notebook

    yield make
    for notebook in opened:
        notebook.close()
        assert not notebook.refused, "requests that would have left this machine"
        assert not notebook.complaints
