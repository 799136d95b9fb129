"""The chat models of a job: the task model at each of its endpoints, and the reflection model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lcbkit.errors import ModelError
from lcbkit.optimizers.interface import TeamSpec
from lcbkit.optimizers.protocol import TASK_MODELS

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Decoding", "Models", "decodings"]

TOY = "toy"
_REPETITION_PENALTY = 1.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Sampling values of one kind of request.

    Attributes:
        temperature: 0 is greedy.
        top_p: share of the probability that is sampled from.
        max_tokens: of one answer.
        thinking: whether the model may think first, where its server can switch that.
        repetition_penalty: None is not sent.
    """

    temperature: float
    top_p: float
    max_tokens: int
    thinking: bool
    repetition_penalty: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The values as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


def decodings(team: TeamSpec, *, max_tokens: int, reflection_max_tokens: int) -> dict[str, Decoding]:
    """The protocol's sampling values.

    Args:
        team: the wiring.
        max_tokens: of one answer of the task model.
        reflection_max_tokens: of one answer of the reflection model.

    Returns:
        Those of `search` (rollouts that are charged), `evaluation` (validation and test: greedy, except for
        teams of replicas, whose vote would be over copies) and `reflection`.
    """
    search = Decoding(
        temperature=0.2,
        top_p=0.9,
        max_tokens=max_tokens,
        thinking=False,
        repetition_penalty=_REPETITION_PENALTY,
    )
    return {
        "search": search,
        "evaluation": search if team.replicas > 1 else replace(search, temperature=0.0),
        "reflection": Decoding(temperature=1.0, top_p=1.0, max_tokens=reflection_max_tokens, thinking=True),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Names and addresses, from which chat models are made when they are needed.

    Attributes:
        task: name of the task model, `toy`, or a chat model object, which then has its own sampling values.
        reflection: the same for the reflection model.
        task_endpoints: addresses of servers of the task model, used in turn; empty takes the environment's.
        reflection_endpoint: address of the reflection model's server; None takes the environment's.
        request_timeout: seconds of one request; None takes the library's.
    """

    task: "str | BaseChatModel"
    reflection: "str | BaseChatModel"
    task_endpoints: tuple[str, ...] = ()
    reflection_endpoint: str | None = None
    request_timeout: float | None = None

    @property
    def task_name(self) -> str:
        """The task model's full name."""
        return _full_name(self.task)

    @property
    def reflection_name(self) -> str:
        """The reflection model's full name."""
        return _full_name(self.reflection)

    def for_teams(self, decoding: Decoding) -> "tuple[BaseChatModel, ...]":
        """The task model, once for each endpoint.

        Raises:
            ModelError: when it cannot be had.
        """
        endpoints: Sequence[str | None] = self.task_endpoints or _listed("LCB_TASK_ENDPOINTS") or (None,)
        return tuple(self._made(self.task, endpoint, decoding) for endpoint in endpoints)

    def for_reflection(self, decoding: Decoding) -> "BaseChatModel":
        """The reflection model.

        Raises:
            ModelError: when it cannot be had.
        """
        address = self.reflection_endpoint or os.environ.get("LCB_REFLECTION_ENDPOINT")
        return self._made(self.reflection, address, decoding)

    def _made(self, model: "str | BaseChatModel", address: str | None, decoding: Decoding) -> "BaseChatModel":
        from lcbkit.models import get_model

        if not isinstance(model, str):
            return model
        if model == TOY:
            from lcbkit.optimizers.toy import ToyModel

            return ToyModel()
        if model == "recorded" or model.startswith("recorded:"):
            raise ModelError(
                f"{model} cannot answer: an optimizer writes prompts that no recording holds. Name a live "
                "model (--model NAME --task-endpoints URL), or `toy` with --dataset toy"
            )
        settings: dict[str, Any] = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "max_tokens": decoding.max_tokens,
        }
        if self.request_timeout is not None:
            settings["request_timeout"] = self.request_timeout
        if ":" not in model:  # what only servers of open models know
            settings["enable_thinking"] = decoding.thinking
            if decoding.repetition_penalty is not None:
                settings["repetition_penalty"] = decoding.repetition_penalty
        return get_model(TASK_MODELS.get(model, model), base_url=address, **settings)


def _full_name(model: "str | BaseChatModel") -> str:
    if isinstance(model, str):
        return TASK_MODELS.get(model, model)
    from lcbkit.chat.facts import model_name

    return model_name(model)


def _listed(variable: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in os.environ.get(variable, "").split(",") if part.strip())
