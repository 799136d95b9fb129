"""What a chat model object says of itself: its name, its sampling values, how it takes a seed."""

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["model_name", "sampling", "seeded"]

# As requests call them; a provider's own field name behind the general one.
_SAMPLING = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "top_k": ("top_k",),
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict"),
    "frequency_penalty": ("frequency_penalty",),
    "presence_penalty": ("presence_penalty",),
    "repetition_penalty": ("repetition_penalty", "repeat_penalty"),
    "reasoning_effort": ("reasoning_effort",),
    "stop": ("stop", "stop_sequences"),
}

_log = logging.getLogger(__name__)


def model_name(model: "BaseChatModel") -> str:
    """The name of the model behind a chat model object; the class's name when it has none."""
    for field in ("model_name", "model", "model_id", "deployment_name"):
        name = getattr(model, field, None)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__


def sampling(model: "BaseChatModel") -> dict[str, Any]:
    """The sampling values that go out with each request; what is not sent is not in it.

    A recorded model answers with the values of the recording.
    """
    own = getattr(model, "sampling_values", None)
    if isinstance(own, dict):
        return dict(own)
    values: dict[str, Any] = {}
    for name, fields in _SAMPLING.items():
        found = (getattr(model, field, None) for field in fields)
        value = next((value for value in found if value is not None), None)
        if value is not None:
            values[name] = value
    for extra in ("model_kwargs", "extra_body"):
        values.update(getattr(model, extra, None) or {})
    return values


def seeded(model: "BaseChatModel", seed: int) -> tuple["BaseChatModel", dict[str, Any]]:
    """Make a seed reach the server with or without tools bound.

    Args:
        model: the model before tools are bound; `model.bind(seed=…)` would be lost then.
        seed: for this call.

    Returns:
        The model to call and the call settings to give it. Classes of LangChain's provider packages take no
        unknown setting: those with a field for the seed come back as a copy, those without one as they are.
    """
    package = type(model).__module__.split(".")[0]
    if not package.startswith("langchain_") or package in {"langchain_core", "langchain_openai"}:
        return model, {"seed": seed}
    if "seed" in type(model).model_fields:
        return model.model_copy(update={"seed": seed}), {}
    _tell_once(package)
    return model, {}


_told: set[str] = set()


def _tell_once(package: str) -> None:
    if package not in _told:
        _told.add(package)
        _log.warning("models of %s take no seed: answers differ from run to run", package)
