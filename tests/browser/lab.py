"""A JupyterLab of its own on loopback, and a notebook that is open in it.

Nothing here reads or writes a developer's own Jupyter settings: every folder that Jupyter looks at is fresh.
No step sleeps for a fixed time; each waits for what it needs.
"""

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from tests.processes import runs

__all__ = ["Lab", "NotebookPage", "start_lab", "stop_lab"]

PATIENCE = 90_000  # milliseconds; a step is waited for, and a busy machine is no failure
SETTINGS: dict[str, dict[str, Any]] = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    # Outputs that are scrolled away would not be on the page otherwise.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:themes": {"theme": "JupyterLab Light"},
}
# What JupyterLab itself writes to the console; nothing of ours.
HARMLESS = re.compile(r"Could not restore the debugger state|ResizeObserver loop|favicon")

ALL_CELLS_RAN = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === 'code' && cell.model.sharedModel.source.trim());
  return cells.every(cell => cell.model.executionCount !== null && cell.model.executionState !== 'running');
}"""
KERNEL_IDLE = """() => {
  const widget = window.jupyterapp.shell.currentWidget;
  const kernel = widget?.sessionContext?.session?.kernel;
  return kernel?.status === 'idle' && kernel.connectionStatus === 'connected';
}"""
ERRORS = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === 'code')
  .flatMap(cell => cell.model.outputs.toJSON())
  .filter(output => output.output_type === 'error')
  .map(output => `${output.ename}: ${output.evalue}`)"""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A running server; notebooks lie in `root`."""

    url: str
    token: str
    root: Path
    process: subprocess.Popen[bytes]
    log: Path
    runtime: Path


def start_lab(base: Path) -> Lab:
    """Start JupyterLab with all its folders below `base`, and wait until it answers."""
    folders = {name: base / name for name in ("config", "data", "settings", "workspaces", "home")}
    # Kernels listen on files in there, and the name of such a file may have no more than 107 characters.
    folders["runtime"] = Path(tempfile.mkdtemp(prefix="lab-"))
    for folder in (*folders.values(), base / "notebooks", folders["config"] / "labconfig"):
        folder.mkdir(parents=True, exist_ok=True)
    for plugin, values in SETTINGS.items():
        package, _, name = plugin.partition(":")
        file = folders["settings"] / package / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    announcements = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (folders["config"] / "labconfig" / "page_config.json").write_text(json.dumps(announcements))
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1"]
    command += [
        "--ServerApp.port=0",  # the system chooses; the real one is read below
        f"--IdentityProvider.token={token}",
        "--ServerApp.allow_root=True",
        f"--ServerApp.root_dir={base / 'notebooks'}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",  # the other one asks a package index
        "--KernelManager.shutdown_wait_time=3",
        # A port is chosen before the kernel takes it, so another process may come first; a file is its own.
        "--KernelManager.transport=ipc",
    ]
    environment = {
        **os.environ,
        "HOME": str(folders["home"]),
        "JUPYTER_CONFIG_DIR": str(folders["config"]),
        "JUPYTER_DATA_DIR": str(folders["data"]),
        "JUPYTER_RUNTIME_DIR": str(folders["runtime"]),
        "JUPYTERLAB_SETTINGS_DIR": str(folders["settings"]),
        "JUPYTERLAB_WORKSPACES_DIR": str(folders["workspaces"]),
        "IPYTHONDIR": str(folders["home"] / ".ipython"),
        "MPLCONFIGDIR": str(folders["home"] / ".matplotlib"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    log = base / "lab.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        url = _wait_for_url(process, folders["runtime"], token)
    except BaseException:
        process.kill()
        shutil.rmtree(folders["runtime"], ignore_errors=True)
        print(log.read_text()[-4000:])  # noqa: T201
        raise
    return Lab(
        url=url,
        token=token,
        root=base / "notebooks",
        process=process,
        log=log,
        runtime=folders["runtime"],
    )


def _wait_for_url(process: subprocess.Popen[bytes], runtime: Path, token: str) -> str:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"JupyterLab ended with exit code {process.returncode}")
        try:
            # Written once the server listens.
            port = json.loads((runtime / f"jpserver-{process.pid}.json").read_text())["port"]
            url = f"http://127.0.0.1:{port}"
            request = urllib.request.Request(f"{url}/api/status", headers={"Authorization": f"token {token}"})
            with urllib.request.urlopen(request, timeout=5):
                return url
        except (OSError, ValueError, KeyError):
            time.sleep(0.1)
    raise TimeoutError("JupyterLab did not answer within 90 s")


def stop_lab(lab: Lab) -> list[psutil.Process]:
    """End the server, which ends its kernels; return what outlived it (and end that too)."""
    try:
        children = psutil.Process(lab.process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        children = []
    lab.process.send_signal(signal.SIGTERM)  # SIGINT would ask whether it may
    try:
        lab.process.wait(20)
    except subprocess.TimeoutExpired:
        lab.process.kill()
        lab.process.wait(5)
    _, alive = psutil.wait_procs(children, timeout=10)
    for process in alive:
        process.kill()
    shutil.rmtree(lab.runtime, ignore_errors=True)
    return alive


class NotebookPage:
    """A notebook that is open in a browser.

    Attributes:
        page: Playwright's page.
        panel: the notebook on it.
        refused: requests beyond loopback; each was refused.
        complaints: what was written to the console as an error, or thrown.
    """

    def __init__(self, page: Page, lab: Lab, shots: Path) -> None:
        self.page, self._lab, self._shots = page, lab, shots
        self._name = ""
        self.refused: list[str] = []
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.set_default_navigation_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        page.route("**/*", self._gate)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def _gate(self, route: Any) -> None:
        url = route.request.url
        if re.match(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|data:|blob:", url):
            route.continue_()
        else:
            self.refused.append(url)
            route.abort()

    def _hear(self, message: Any) -> None:
        if message.type == "error" and not HARMLESS.search(message.text):
            self.complaints.append(message.text)

    def open(self, sources: Sequence[str], name: str = "") -> None:
        """Write a notebook with these code cells and open it; nothing runs yet."""
        self._name = name = name or f"{secrets.token_hex(4)}.ipynb"
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cells = [new_code_cell(source) for source in sources]
        nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), self._lab.root / name)
        # A workspace of its own, so that no tab of an earlier test comes back.
        workspace = f"{self._lab.url}/lab/workspaces/t-{secrets.token_hex(4)}"
        self.page.goto(f"{workspace}/tree/{name}?reset&token={self._lab.token}")
        self._ready()
        self.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        self.theme("Light")  # a theme outlives the notebook in which it was chosen

    def _ready(self) -> None:
        self.page.wait_for_function("() => window.jupyterapp?.restored", timeout=PATIENCE)
        self.page.evaluate("() => window.jupyterapp.restored.then(() => true)")
        self.panel.wait_for(timeout=PATIENCE)
        self.page.wait_for_function(KERNEL_IDLE, timeout=PATIENCE)

    def command(self, name: str, arguments: dict[str, Any] | None = None) -> None:
        """Start one of JupyterLab's commands; does not wait for its end."""
        self.page.evaluate(
            "([name, arguments]) => { window.jupyterapp.commands.execute(name, arguments); }",
            [name, arguments or {}],
        )

    def run_all(self, timeout: float = PATIENCE / 1000) -> None:
        """Run all cells and wait for their end."""
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(ALL_CELLS_RAN, timeout=1000 * timeout)
        self.page.wait_for_function(KERNEL_IDLE, timeout=1000 * timeout)

    def errors(self) -> list[str]:
        """The errors that stand below cells."""
        return list(self.page.evaluate(ERRORS))

    def output(self, cell: int) -> Locator:
        """What a cell shows; cells count from 0."""
        return self.panel.locator(".jp-Notebook-cell").nth(cell).locator(".jp-OutputArea-output")

    def kernel_pid(self) -> int:
        """The process of the only kernel that runs for this page's notebook, by its session."""
        kernel = self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
        )
        for process in psutil.Process(self._lab.process.pid).children(recursive=True):
            if runs(process, kernel):
                return process.pid
        raise LookupError(f"no process for kernel {kernel}")

    def theme(self, name: str) -> None:
        """Switch to the theme `Light` or `Dark`."""
        self.command("apputils:change-theme", {"theme": f"JupyterLab {name}"})
        light = "true" if name == "Light" else "false"
        self.page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")

    def save(self) -> Path:
        """Save, and return the file."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return self._lab.root / self._name

    def reload(self) -> None:
        """Save, load the page anew and wait for the same kernel."""
        self.save()
        self.page.reload()
        self._ready()

    def picture(self, name: str, width: int = 1280, height: int = 1000) -> Path:
        """Write a screenshot of the page at this width and return its file."""
        self.page.set_viewport_size({"width": width, "height": height})
        # Maths and icons arrive late; without this a picture shows them in another font.
        self.page.evaluate("() => document.fonts.ready.then(() => true)")
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        file = self._shots / f"{name}-{width}.png"
        self.page.screenshot(path=file, animations="disabled")
        return file

    def close(self) -> None:
        """End the kernel, if the page came that far."""
        self.page.evaluate("() => window.jupyterapp?.shell.currentWidget?.sessionContext.shutdown()")
