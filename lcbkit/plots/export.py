"""Figures as files: the same bytes each time, text as text, and inside them where the numbers come from."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.colors import same_color, to_hex
from matplotlib.figure import Figure

from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.plots.layout import restore_places
from lcbkit.plots.provenance import provenance
from lcbkit.plots.style import THEMES, styled
from lcbkit.storage import write_atomic

__all__ = ["FORMATS", "chosen_formats", "save_figure"]

FORMATS = ("png", "svg", "pdf")
_SOFTWARE = "lcbkit"  # without a version of anybody, so that an update of matplotlib changes no byte here


def save_figure(
    fig: Figure, stem: str | Path, formats: str | Sequence[str] = FORMATS, *, dpi: float = 400
) -> list[Path]:
    """Write a figure to files, with its provenance in the metadata of each.

    Args:
        fig: a figure of `lcbkit.plots`, or any other of matplotlib.
        stem: the files' path without an ending; missing folders are made.
        formats: of png, svg and pdf. In an SVG text stays text (in DejaVu Sans, else the viewer's sans
            serif); in a PDF it is embedded as TrueType.
        dpi: pixels per inch of the PNG.

    Returns:
        The paths, in the order of `formats`. Writing the same figure again gives the same bytes.

    Raises:
        BadValueError: for another format.
        LcbkitError: when a file cannot be written.
    """
    wanted = chosen_formats(formats)
    base = Path(stem).expanduser()
    if base.suffix.removeprefix(".") in FORMATS:
        base = base.with_suffix("")
    paths = [base.with_name(f"{base.name}.{name}") for name in wanted]
    for name, path in zip(wanted, paths, strict=True):
        data = _rendered(fig, name, dpi)
        try:
            write_atomic(path, data)
        except OSError as error:
            raise LcbkitError(
                f"cannot write {path}: {error.strerror or error}; give a folder that you may write"
            ) from error
    return paths


def chosen_formats(formats: str | Sequence[str]) -> list[str]:
    """The formats as a list.

    Raises:
        BadValueError: for another format, or none.
    """
    wanted = [formats] if isinstance(formats, str) else list(formats)
    if strange := [name for name in wanted if name not in FORMATS] or ["none"] * (not wanted):
        raise BadValueError(f"formats are {', '.join(FORMATS)}, not {strange[0]!r}")
    return wanted


def _rendered(fig: Figure, name: str, dpi: float) -> bytes:
    memory = io.BytesIO()
    dark = same_color(to_hex(fig.get_facecolor()), THEMES["dark"].paper)
    with styled(THEMES["dark" if dark else "light"]):
        restore_places(fig)
        fig.savefig(memory, format=name, dpi=dpi, metadata=_metadata(fig, name))
    return memory.getvalue()


def _metadata(fig: Figure, name: str) -> dict[str, Any]:
    """What each format has a place for: a title for people, the facts as JSON."""
    facts = provenance(fig)
    title = "; ".join(panel["shows"] for panel in facts["panels"]) or "figure"
    text = json.dumps(facts, sort_keys=True)
    if name == "png":
        return {"Title": title, "Description": text, "Software": _SOFTWARE}
    if name == "svg":
        return {"Title": title, "Description": text, "Creator": _SOFTWARE, "Date": None}
    return {
        "Title": title,
        "Subject": text,
        "Creator": _SOFTWARE,
        "Producer": _SOFTWARE,
        "CreationDate": None,
        "ModDate": None,
    }
