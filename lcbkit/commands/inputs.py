"""From options to what the library takes: problems, a team, a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import lcbkit
from lcbkit.errors import NothingToDoError

if TYPE_CHECKING:
    from lcbkit.scoring.costs import Prices

__all__ = ["FILTERS", "MODEL", "chat_model", "known_prices", "team", "wanted_problems", "without"]

FILTERS = ("limit", "offset", "only", "difficulty", "platform", "start_date", "end_date", "errata")
MODEL = ("model", "base_url", "temperature", "top_p", "max_tokens", "request_timeout", "record")


def without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Take these options out and return them."""
    return {name: options.pop(name) for name in names}


def wanted_problems(filters: dict[str, Any]) -> "lcbkit.ProblemSet":
    """The problems that `--source` and the filters name.

    Raises:
        NothingToDoError: when there is none.
    """
    given = {name: value for name, value in filters.items() if value not in (None, ())}
    found = lcbkit.load_problems(given.pop("source", None), **given)
    if not found:
        usable = " and has usable tests" if found.skipped else ""
        raise NothingToDoError(
            f"no problem of {found.source} matches these filters{usable}; `lcb problems` lists them all"
        )
    return found


def known_prices(path: Path | None, team: "lcbkit.Team") -> "Prices | None":
    """The prices in a file, checked to hold the team's model before anything is asked of it."""
    from lcbkit.models import model_name
    from lcbkit.scoring.costs import Prices

    if path is None:
        return None
    prices = Prices.of(path)
    prices.price(model_name(team.model))
    return prices


def chat_model(options: dict[str, Any]) -> Any:
    """The model that the options name; takes them out."""
    given = {name: value for name, value in without(options, *MODEL).items() if value is not None}
    return lcbkit.get_model(given.pop("model", None), **given)


def team(topology: str, options: dict[str, Any]) -> "lcbkit.Team":
    """The team that the options describe; takes them out."""
    return lcbkit.build_team(
        topology,
        team_size=int(options.pop("team_size")),
        message_format=options.pop("message_format"),
        rounds=options.pop("rounds"),
        python_exec=False if options.pop("no_python_exec") else None,
        model=chat_model(options),
    )
