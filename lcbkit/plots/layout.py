"""Where axes begin before matplotlib's layout moves them: it moves on from where it ended the last time."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

__all__ = ["hold_places", "restore_places"]

_NAME = "_lcbkit_places"


def hold_places(figure: Figure) -> None:
    """Remember where the axes are, before the first drawing."""
    places = {ax: Bbox(ax.get_position(original=True).get_points()) for ax in figure.axes}
    setattr(figure, _NAME, places)


def restore_places(figure: Figure) -> None:
    """Put the axes back, so that the next drawing comes out like the first; a fixed layout is left alone."""
    if figure.get_layout_engine() is None:
        return
    if not hasattr(figure, _NAME):
        hold_places(figure)
    places: dict[Axes, Bbox] = getattr(figure, _NAME)
    for ax in figure.axes:
        if ax in places:
            kept = ax.get_in_layout()
            ax.set_position(places[ax], which="both")
            ax.set_in_layout(kept)  # set_position takes axes out of the layout
