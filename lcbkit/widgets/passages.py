"""Texts to read and to copy: samples, prompts, starter code."""

from pathlib import Path

import anywidget
import traitlets

__all__ = ["Passages"]

_FOLDER = Path(__file__).parent


class Passages(anywidget.AnyWidget):
    """Texts with a title and a copy button each; put it inside a box of class `lcb`.

    Attributes:
        groups: texts that belong together stand side by side; each is a dict with `title` and `text`.
        limit: characters of a text that are shown; the button copies all.
        empty: what stands there without texts.
    """

    _esm = _FOLDER / "passages.js"
    _css = _FOLDER / "passages.css"

    groups: traitlets.List[list[dict[str, str]]] = traitlets.List().tag(sync=True)
    limit = traitlets.Int(8_000).tag(sync=True)
    empty = traitlets.Unicode("Nothing to show.").tag(sync=True)
