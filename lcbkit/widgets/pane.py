"""A widget that shows HTML of ours, with copy buttons, and keeps open what the reader opened."""

from pathlib import Path

import anywidget
import traitlets

__all__ = ["Pane"]

_FOLDER = Path(__file__).parent


class Pane(anywidget.AnyWidget):
    """Shows a piece of HTML in which everything from data is escaped already.

    A part that opens and closes (`details` with a `data-key`) stays as the reader left it when other HTML
    comes. A button of class `lcbv-copy` copies the block that it stands in.

    Attributes:
        html: what is shown.
        label: what a screen reader says.
    """

    _esm = _FOLDER / "pane.js"

    html = traitlets.Unicode("").tag(sync=True)
    label = traitlets.Unicode("Details").tag(sync=True)
