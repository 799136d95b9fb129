"""What a live view shows of a search for better prompts: its phase, the best so far, the learning curve."""

from html import escape
from typing import Any

from lcbkit.search_events import EvaluationAdvanced, IncumbentReported, PhaseStarted, SearchEvent

__all__ = ["SearchShown", "curve_svg", "plain"]

_WIDTH, _HEIGHT = 320, 72

_WORDS = {"optimize": "searching", "validate": "validating", "test": "testing"}


class SearchShown:
    """Keeps what events of a search tell, as plain values.

    Attributes:
        budget: rollouts that the search may spend; the curve's width.
        curve: (rollouts charged, best mean score) whenever the method told one.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.curve: list[tuple[int, float]] = []
        self._phase = ""
        self._rows: dict[tuple[str, str], str] = {}

    def take(self, event: SearchEvent) -> None:
        """Note what an event tells."""
        match event:
            case PhaseStarted():
                self._phase = _WORDS.get(event.phase, event.phase)
            case IncumbentReported(best=float(best)):
                self.curve.append((event.charged, best))
            case EvaluationAdvanced():
                said = f"{event.passed}/{event.done}" + (
                    f", {event.total - event.done} open" if event.done < event.total else ""
                )
                self._rows[(event.split, event.candidate)] = said

    @property
    def facts(self) -> list[list[str]]:
        """Value and words of each number that stands on top."""
        facts = [["searching" if not self._phase else self._phase, "phase"]]
        if self.curve:
            facts.append([f"{self.curve[-1][1]:.1%}", "best so far, on the method's own problems"])
        return facts + [
            [said, f"{split} solved, {candidate}"] for (split, candidate), said in self._rows.items()
        ]

    @property
    def words(self) -> str:
        """The facts as a line."""
        return ", ".join(f"{words} {value}" for value, words in self.facts)


def curve_svg(curve: list[tuple[int, float]], budget: int) -> str:
    """The learning curve as a small drawing with a text for those who cannot see it; empty without points."""
    if not curve:
        return ""
    points = _steps(curve, budget)
    last = f"best {curve[-1][1]:.1%} after {curve[-1][0]} of {budget} rollouts"
    return (
        f'<svg class="lcb-live-curve" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img" aria-label="{escape(last)}"><title>{escape(last)}</title>'
        f'<polyline fill="none" stroke="currentColor" stroke-width="2" points="{points}"/></svg>'
    )


def _steps(curve: list[tuple[int, float]], budget: int) -> str:
    """The corners of a step line: a score holds until the next one."""
    corners: list[tuple[float, float]] = []
    for charged, best in curve:
        x, y = charged / max(budget, 1) * _WIDTH, 2 + (1 - best) * (_HEIGHT - 4)
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def plain(shown: SearchShown | None) -> dict[str, Any]:
    """What the widget gets of it."""
    if shown is None:
        return {"facts": [], "curve": [], "budget": 0}
    return {"facts": shown.facts, "curve": [list(point) for point in shown.curve], "budget": shown.budget}
