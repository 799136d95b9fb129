"""The look that all widgets share."""

from pathlib import Path

import ipywidgets

__all__ = ["STYLE", "style_sheet"]

STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


def style_sheet(*more: str) -> ipywidgets.HTML:
    """An invisible widget that carries the style; put it first inside a box with the class `lcb`."""
    return ipywidgets.HTML(
        f"<style>{STYLE}{''.join(more)}</style>", layout=ipywidgets.Layout(display="none", margin="0")
    )
