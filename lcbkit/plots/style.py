"""How figures look: sizes, fonts, and one palette that reads in colour, in grey and to the colour-blind."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import matplotlib.style
from matplotlib.colors import LinearSegmentedColormap, to_rgb

from lcbkit.errors import BadValueError

__all__ = [
    "FONT",
    "LOOKS",
    "NOTE_SIZE",
    "SMALL",
    "THEMES",
    "Look",
    "Theme",
    "ThemeName",
    "Width",
    "heat_colours",
    "inches",
    "lightness",
    "look_of",
    "styled",
    "theme_named",
]

ThemeName = Literal["light", "dark"]
Width = Literal["column", "wide"] | float

FONT = "DejaVu Sans"  # comes with matplotlib, so that a figure is the same everywhere
SMALL = 7.0
NOTE_SIZE = 6.0

_WIDTHS = {"column": 3.3, "wide": 6.9}
_LOCK = threading.RLock()  # matplotlib's settings are one for all threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours around the data.

    Attributes:
        paper: the background.
        ink: text, axes, whiskers.
        faint: grid lines and the small print's lines.
        pale: areas that hold no score.
        last: the colour of the eighth series, which the two themes cannot share.
    """

    paper: str
    ink: str
    faint: str
    pale: str
    last: str


THEMES: dict[str, Theme] = {
    "light": Theme(paper="#ffffff", ink="#1a1a1a", faint="#d0d0d0", pale="#ededed", last="#4d4d4d"),
    "dark": Theme(paper="#111111", ink="#e8e8e8", faint="#454545", pale="#2b2b2b", last="#e8e8e8"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How one series differs from the others: each of the four alone tells it apart.

    Attributes:
        colour: from Okabe and Ito's set, without its yellow, which vanishes on white.
        hatch: of its bars.
        marker: of its points.
        line: of the lines between them.
    """

    colour: str
    hatch: str
    marker: str
    line: Any


# Neighbours differ in lightness, so that the usual two or three runs need no hatch to be told apart in grey.
LOOKS = (
    Look(colour="#0072B2", hatch="", marker="o", line="-"),
    Look(colour="#E69F00", hatch="/////", marker="s", line="--"),
    Look(colour="#009E73", hatch=".....", marker="^", line="-."),
    Look(colour="#56B4E9", hatch="\\\\\\\\\\", marker="D", line=(0, (1, 1))),
    Look(colour="#D55E00", hatch="xxxxx", marker="v", line=(0, (5, 1, 1, 1, 1, 1))),
    Look(colour="#CC79A7", hatch="-----", marker="P", line=(0, (7, 2))),
    Look(colour="#999999", hatch="+++++", marker="X", line=(0, (2, 2))),
    Look(colour="", hatch="|||||", marker="*", line=(0, (3, 1, 1, 1))),
)


def look_of(number: int, theme: Theme) -> Look:
    """The look of the series with this number, from 0."""
    look = LOOKS[number]
    if look.colour:
        return look
    return Look(colour=theme.last, hatch=look.hatch, marker=look.marker, line=look.line)


def theme_named(name: str) -> Theme:
    """The theme of this name.

    Raises:
        BadValueError: for another word.
    """
    if name not in THEMES:
        raise BadValueError(f"theme is {' or '.join(THEMES)}, not {name!r}")
    return THEMES[name]


def inches(width: Width) -> float:
    """A width in inches.

    Raises:
        BadValueError: for another word, or a number that no page has.
    """
    if isinstance(width, str) and width in _WIDTHS:
        return _WIDTHS[width]
    if isinstance(width, int | float) and not isinstance(width, bool) and 2 <= width <= 40:
        return float(width)
    raise BadValueError(f"width is column, wide, or inches from 2 to 40, not {width!r}")


def lightness(colour: str) -> float:
    """CIE L* of a colour, 0 (black) to 100 (white): what remains of it in a grey print."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = sum(part * share for part, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def heat_colours(theme: Theme) -> LinearSegmentedColormap:
    """From the paper's side to blue; lightness never turns, so that grey keeps the order."""
    ends = (
        ("#f4f7fb", "#56B4E9", "#003a63") if theme.paper == "#ffffff" else ("#1c2630", "#0072B2", "#b9e2fb")
    )
    return LinearSegmentedColormap.from_list("lcbkit", ends)


@contextmanager
def styled(theme: Theme) -> Iterator[None]:
    """Our settings instead of the reader's own, for drawing and for saving alike; restored afterwards."""
    with _LOCK, mpl.style.context(_settings(theme), after_reset=True):
        yield


def _settings(theme: Theme) -> dict[str, Any]:
    return {
        "font.family": FONT,
        "font.size": SMALL,
        "axes.titlesize": SMALL + 0.5,
        "axes.labelsize": SMALL + 0.5,
        "text.parse_math": False,  # a model's name may hold a dollar sign
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.ink,
        "axes.facecolor": theme.paper,
        "figure.facecolor": theme.paper,
        "figure.dpi": 200,
        "savefig.dpi": 400,
        "savefig.facecolor": "auto",
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.color": theme.faint,
        "grid.linewidth": 0.5,
        "grid.alpha": 1.0,
        **{f"{axis}tick.{part}": theme.ink for axis in "xy" for part in ("color", "labelcolor")},
        **{
            f"{axis}tick.major.{part}": value
            for axis in "xy"
            for part, value in (("width", 0.6), ("size", 2.5))
        },
        "hatch.linewidth": 0.5,
        "lines.linewidth": 1.0,
        "lines.markersize": 4.0,
        "legend.frameon": False,
        "legend.fontsize": SMALL,
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "lcbkit",  # else its ids are random
        "pdf.fonttype": 42,  # TrueType, which publishers ask for
        "ps.fonttype": 42,
    }
