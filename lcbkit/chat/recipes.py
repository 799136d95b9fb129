"""How a chat model was made, so that another process can make the same one; its keys are not part of that."""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lcbkit.chat.facts import sampling

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Recipe", "note_recipe", "recipe_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What `get_model` was given.

    Attributes:
        name: the model's.
        base_url: the server's address, None if the name says where it is.
        params: sampling values and what else was passed.
    """

    name: str
    base_url: str | None
    params: Mapping[str, Any]


_known: dict[int, tuple[Recipe, dict[str, Any]]] = {}  # by the model's identity: a copy is another model


def note_recipe(model: "BaseChatModel", recipe: Recipe) -> None:
    """Remember how a model was made, as long as it lives."""
    _known[id(model)] = recipe, sampling(model)
    weakref.finalize(model, _known.pop, id(model), None).atexit = False


def recipe_of(model: "BaseChatModel") -> Recipe | None:
    """How a model was made; None if not by name, or if its sampling values were changed since."""
    recipe, values = _known.get(id(model), (None, None))
    return recipe if values == sampling(model) else None
