"""A team as plain data: what another process needs to build the same team, and nothing that is secret."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lcbkit import __version__
from lcbkit.chat.recipes import recipe_of
from lcbkit.errors import EngineError, ModelError
from lcbkit.models import RecordingModel, get_model, model_name
from lcbkit.topologies.team import Team, build_team

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["TeamSpecification"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSpecification:
    """What `build_team` and `get_model` take to build a team again; keys come from the other's environment.

    Attributes:
        model: the model's name.
        base_url: its server's address, None if the name says where it is.
        params: sampling values and the like.
        wiring: the other arguments of `build_team`, prompts among them.
        masked: the players that do not act.
        description: what the team says of itself, to see that the other one is the same.
    """

    model: str
    base_url: str | None
    params: Mapping[str, Any]
    wiring: Mapping[str, Any]
    masked: tuple[str, ...]
    description: Mapping[str, Any]

    @classmethod
    def of(cls, team: Team) -> "TeamSpecification":
        """The specification of a team.

        Raises:
            ModelError: its model is an object that was not made by name, or was given a key.
            EngineError: the team is not as `build_team` made it.
        """
        recipe = recipe_of(team.model)
        if recipe is None:
            raise ModelError(_unnamed(team.model))
        if hidden := next(_secrets(recipe.params), None) or _login(recipe.base_url):
            raise ModelError(
                f"the model {recipe.name} was given {hidden}, which must not travel; leave it out, and set "
                "the key (OPENAI_API_KEY or the provider's own) in the environment of the workers"
            )
        specification = cls(
            model=recipe.name,
            base_url=recipe.base_url,
            params=_plain(recipe.name, recipe.params),
            wiring={
                "topology": team.topology,
                "team_size": team.team_size,
                "message_format": team.message_format,
                "prompts": dict(team.prompts),
                "python_exec": team.python_exec,
                "rounds": team.plan.rounds,
            },
            masked=tuple(sorted(team.masked)),
            description=team.describe(),
        )
        specification._built_with(team.model)
        return specification

    def build(self) -> Team:
        """The team, with a model of this process.

        Raises:
            EngineError: it is another one, since the versions of lcbkit differ.
            LcbkitError: as `get_model` and `build_team`.
        """
        return self._built_with(get_model(self.model, base_url=self.base_url, **self.params))

    def _built_with(self, model: "BaseChatModel") -> Team:
        team = build_team(**self.wiring, model=model)
        if self.masked:
            team = team.without(*self.masked)
        found = team.describe()
        if differing := [name for name in found if found[name] != self.description.get(name)]:
            raise EngineError(
                f"the team cannot be built from names: {', '.join(differing)} would differ in lcbkit "
                f"{__version__} on the worker; install the same version there, and leave the team as "
                "build_team makes it"
            )
        return team


def _unnamed(model: "BaseChatModel") -> str:
    if isinstance(model, RecordingModel):
        return (
            "a recording is written by one process, so a team on a cluster cannot record; leave record out "
            "(--record), or the engine"
        )
    return (
        f"the model of this team is a live {type(model).__name__} object ({model_name(model)}), which stays "
        "in this process; name one for workers: build_team(..., model=get_model('NAME', base_url=URL))"
    )


_SECRET = re.compile(r"(?i)(key|secret|password|credentials?|authorization|headers?|tokens?)$")


def _secrets(values: Mapping[str, Any]) -> Iterator[str]:
    """Names, at any depth, of what may hold a key."""
    for name, value in values.items():
        if value is not None and _SECRET.search(name) and not isinstance(value, int | float):
            yield name
        if isinstance(value, Mapping):
            yield from _secrets(value)


def _login(base_url: str | None) -> str | None:
    host = base_url.partition("//")[2].split("/")[0] if base_url else ""
    return "an address with a login" if "@" in host else None


def _plain(name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(json.loads(json.dumps(dict(params))))
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"the model {name} was given a value that only this process knows ({error}); give plain values"
        ) from error
