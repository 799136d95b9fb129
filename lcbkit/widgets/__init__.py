"""Browsers of problems and runs, live progress and the `%%judge` magic, for notebooks.

Each part is loaded when it is first used.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcbkit.problems import Problem
    from lcbkit.results import Run

__all__ = ["browse", "live_progress"]

_HOME = {"live_progress": "progress"}


def browse(what: "Iterable[Problem] | Run", **options: Any) -> Any:
    """Show problems or a run in a notebook, to look through by mouse, keyboard and code.

    Args:
        what: a `ProblemSet` or other problems; or a `Run`.
        **options: as in `ProblemBrowser` or `RunBrowser`.

    Returns:
        The `ProblemBrowser` or `RunBrowser`; as the last value of a cell it shows itself.
    """
    from lcbkit.results import Run

    kind = ("run_browser", "RunBrowser") if isinstance(what, Run) else ("problem_browser", "ProblemBrowser")
    return getattr(import_module(f"lcbkit.widgets.{kind[0]}"), kind[1])(what, **options)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lcbkit.widgets' has no attribute {name!r}")
    return getattr(import_module(f"lcbkit.widgets.{_HOME[name]}"), name)
