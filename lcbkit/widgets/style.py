"""The look that all widgets share, and what stands in their place where they do not run."""

from pathlib import Path
from typing import Any

import ipywidgets

__all__ = ["STYLE", "style_sheet", "with_page"]

STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


def style_sheet(*more: str) -> ipywidgets.HTML:
    """An invisible widget that carries the style; put it first inside a box with the class `lcb`."""
    return ipywidgets.HTML(
        f"<style>{STYLE}{''.join(more)}</style>", layout=ipywidgets.Layout(display="none", margin="0")
    )


def with_page(view: ipywidgets.Widget, html: str, text: str, **options: Any) -> tuple[dict[str, Any], Any]:
    """What a notebook takes of a view: the widget, and a page and a line for viewers without widgets.

    A widget's state is kept out of files, so that these two are what an exported notebook shows.
    """
    bundle = view._repr_mimebundle_(**options)
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    return {**(data or {}), "text/html": html, "text/plain": text}, metadata
