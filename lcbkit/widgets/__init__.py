"""Browsers of problems and runs, live progress and the `%%judge` magic, for notebooks.

Each part is loaded when it is first used.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lcbkit.errors import BadValueError

if TYPE_CHECKING:
    from lcbkit.problems import Problem
    from lcbkit.results import Run

__all__ = ["browse", "live_progress"]

_HOME = {"live_progress": "progress"}


def browse(what: "Iterable[Problem] | Run", other: "Run | None" = None, **options: Any) -> Any:
    """Show problems, a run, or two runs side by side, to look through by mouse, keyboard and code.

    Args:
        what: a `ProblemSet` or other problems; or a `Run`.
        other: a second run, to see where the two differ.
        **options: as in `ProblemBrowser` or `RunBrowser`.

    Returns:
        The `ProblemBrowser` or `RunBrowser`; as the last value of a cell it shows itself.

    Raises:
        BadValueError: for what is neither, or problems beside a run.
    """
    from lcbkit.results import Run

    if isinstance(what, Run):
        from lcbkit.widgets.run_browser import RunBrowser

        return RunBrowser(what, other, **options)
    if isinstance(what, str) or not isinstance(what, Iterable):
        raise BadValueError(
            f"browse shows problems or runs, not {what!r:.80}; load_problems(...) and load_run(...) give them"
        )
    from lcbkit.widgets.problem_browser import ProblemBrowser

    if other is not None:
        raise BadValueError("browse shows two runs side by side, but problems alone")
    return ProblemBrowser(what, **options)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lcbkit.widgets' has no attribute {name!r}")
    return getattr(import_module(f"lcbkit.widgets.{_HOME[name]}"), name)
