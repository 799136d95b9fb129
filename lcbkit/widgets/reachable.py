"""Widgets whose buttons work while a cell runs.

JupyterLab sends what a widget says to a subshell, a thread of the kernel beside the one that runs cells. From
ipykernel 7.4 on, a kernel routes it to the thread that wrote to the widget last, which is the busy one if a
cell did. What is written under `unattached` belongs to no cell, so the front end's choice stands.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from IPython.core.getipython import get_ipython

__all__ = ["unattached"]


@contextmanager
def unattached() -> Iterator[None]:
    """Make and update a widget in here, always, to hear from it while a cell runs.

    Kernels that keep no parent message in a context variable need no such help, and get none.
    """
    kernel = getattr(get_ipython(), "kernel", None)
    parent = getattr(kernel, "_shell_parent", None)
    if not isinstance(parent, ContextVar):
        yield
        return
    token = parent.set({})
    try:
        yield
    finally:
        parent.reset(token)
