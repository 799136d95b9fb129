"""Make the API reference from the docstrings: `python tools/api_reference.py [FOLDER]` (default: build/api).

It is HTML for a browser without network. It holds the public names, and the records that they take and give,
which have pages of their own.
"""

import sys
from importlib import import_module
from pathlib import Path

import pdoc
import pdoc.render

__all__ = ["MODULES", "load", "make"]

MODULES = (
    "lcbkit",  # with lcbkit.plots, which is a public name
    "lcbkit.errors",
    "lcbkit.judging.many",
    "lcbkit.judging.pool",
    "lcbkit.judging.sandbox",
    "lcbkit.notebook",
    "lcbkit.optimizers.aggregation",
    "lcbkit.optimizers.optimized",
    "lcbkit.records",
    "lcbkit.rows.stored",
    "lcbkit.runs.folder",
    "lcbkit.runs.progress",
    "lcbkit.scoring.comparison",
    "lcbkit.scoring.costs",
    "lcbkit.scoring.scores",
    "lcbkit.scoring.tables",
    "lcbkit.search_events",
    "lcbkit.topologies.answer",
    "lcbkit.topologies.events",
    "lcbkit.topologies.roles",
    "lcbkit.topologies.team",
    "lcbkit.widgets",
    "lcbkit.widgets.problem_browser",
    "lcbkit.widgets.progress",
    "lcbkit.widgets.run_browser",
)


def load() -> None:
    """Put into each module what it else loads at its first use: pdoc reads only what is there."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            vars(module)[name] = getattr(module, name)


def make(folder: Path) -> None:
    """Write the reference into a folder; its `index.html` leads to all pages."""
    load()
    pdoc.render.configure(docformat="google", show_source=False)
    pdoc.pdoc(*MODULES, output_directory=folder)


if __name__ == "__main__":
    target = Path(*sys.argv[1:2] or ["build/api"])
    make(target)
    sys.stdout.write(f"{target / 'index.html'}\n")
