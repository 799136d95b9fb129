"""Execute the notebooks that are read on the web, and store them without what changes or does not show there.

python tools/execute_notebooks.py            # the kept ones, in place
python tools/execute_notebooks.py --strip    # the others: no outputs, no counts
"""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

__all__ = ["KEPT_EXECUTED", "NOTEBOOKS", "clean", "execute", "strip"]

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
KEPT_EXECUTED = {"00_quickstart", "05_figures"}


def execute(path: Path, *, store_widget_state: bool = False) -> NotebookNode:
    """Run a notebook top to bottom in a fresh kernel and an empty folder; the first error is raised."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as sockets:
        # A port is chosen before the kernel takes it, so another process may come first; a file is its own.
        on_files = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        NotebookClient(
            notebook,
            config=Config({"KernelManager": on_files}),
            timeout=240,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            store_widget_state=store_widget_state,
        ).execute()
    return notebook


def clean(notebook: NotebookNode) -> NotebookNode:
    """Drop widget state (GitHub refuses it) and times of execution (each run would be a change)."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def strip(notebook: NotebookNode) -> NotebookNode:
    """Drop all that a run leaves behind."""
    for cell in clean(notebook).cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def main() -> None:
    """Rewrite the notebooks in place."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if "--strip" in sys.argv and path.stem not in KEPT_EXECUTED:
            nbformat.write(strip(nbformat.read(path, as_version=4)), path)
        elif "--strip" not in sys.argv and path.stem in KEPT_EXECUTED:
            nbformat.write(clean(execute(path)), path)


if __name__ == "__main__":
    main()
