"""Chat models that ask a server: an OpenAI-compatible endpoint, or whatever LangChain can make of a name.

Retries are not the client's business (`failures.call_with_retries`), so it is told to make none.
"""

import math
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from langchain_openai import ChatOpenAI

from lcbkit.chat.endpoint import EndpointModel
from lcbkit.errors import ModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["DEFAULTS", "endpoint_model", "provider_model"]

DEFAULTS = {"temperature": 0.2, "top_p": 0.9, "max_tokens": 4096, "timeout": 600.0}
"""An ensemble at temperature 0 is one answer copied; the time-out is in seconds, for one request."""

# Pooled connections are bound to the event loop that opened them, and each `team.solve` in a script has a
# loop of its own. One connection per request costs nothing beside an answer of seconds.
_HEADERS = {"Connection": "close"}
_EXTRAS = ("top_k", "min_p", "repetition_penalty")


def endpoint_model(name: str, base_url: str, settings: dict[str, Any]) -> EndpointModel:
    """A model behind an OpenAI-compatible server; nothing is asked of it yet.

    Args:
        name: the model's name at that server.
        base_url: its address, with `/v1` where the server has it.
        settings: sampling values, `timeout` in seconds, anything else that `ChatOpenAI` takes, and vLLM's
            `top_k`, `min_p`, `repetition_penalty` and `enable_thinking`.

    Raises:
        ModelError: when the address or a setting is not usable.
    """
    _check_address(base_url)
    _check_numbers(name, settings)
    given = {
        "api_key": os.environ.get("OPENAI_API_KEY") or "EMPTY",
        "max_retries": 0,
        "stream_usage": True,
        "stream_chunk_timeout": settings.get("timeout"),
        "use_responses_api": False,
        "default_headers": _HEADERS,
        **_placed(name, settings),
    }
    try:
        return EndpointModel(model=name, base_url=base_url, **given)
    except (TypeError, ValueError) as error:
        raise _bad_settings(name, error) from error


def provider_model(name: str, settings: dict[str, Any]) -> "BaseChatModel":
    """A model by the name that `init_chat_model` takes, such as `anthropic:claude-…`.

    Raises:
        ModelError: when the provider is unknown, its package is not installed, or a key is missing.
    """
    from langchain.chat_models import init_chat_model

    if settings.get("base_url"):
        _check_address(settings["base_url"])
    _check_numbers(name, settings)
    given = {"max_retries": 0, **settings}
    if name.startswith("openai:"):
        given = {"default_headers": _HEADERS, **given}
    if name.startswith("ollama:"):  # it names the limit differently and ignores what it does not know
        given["num_predict"] = given.pop("max_tokens", None)
        given["client_kwargs"] = {"timeout": given.pop("timeout", None)}
    try:
        model: BaseChatModel = init_chat_model(name, **given)
    except ImportError as error:
        raise ModelError(f"{name} needs a package that is not installed: {error}") from error
    except Exception as error:
        raise _unusable(name, error) from error
    return model


def _check_address(base_url: str) -> None:
    """Refuse an address that no request can go to: the client would fail at each call, as if a model did."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not base_url.isprintable() or " " in base_url:
        raise ModelError(f"base_url {base_url!r} is no web address; it looks like http://localhost:8000/v1")


def _check_numbers(name: str, settings: dict[str, Any]) -> None:
    """Refuse what no server takes, or what cannot even be put into a request."""
    for field in ("temperature", "top_p", "timeout"):
        value = settings.get(field)
        if not isinstance(value, int | float):
            continue
        allowed = value >= 0 if field == "temperature" else value > 0
        if not math.isfinite(value) or not allowed or (field == "top_p" and value > 1):
            limits = {"temperature": "from 0 up", "top_p": "above 0, at most 1", "timeout": "seconds above 0"}
            raise ModelError(f"{name} cannot be asked with {field}={value!r}; give a number: {limits[field]}")


def _placed(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, those that only vLLM knows in `extra_body`."""
    extra = {field: settings[field] for field in _EXTRAS if field in settings}
    if "enable_thinking" in settings:
        extra["chat_template_kwargs"] = {"enable_thinking": settings["enable_thinking"]}
    kept = {field: value for field, value in settings.items() if field not in (*_EXTRAS, "enable_thinking")}
    fields = ChatOpenAI.model_fields
    known = {*fields, *(field.alias for field in fields.values())}
    if unknown := [field for field in kept if field not in known]:
        raise ModelError(
            f"{name} has no setting {', '.join(unknown)}; what only its server knows goes into "
            "extra_body={...}"
        )
    return {**kept, "extra_body": {**extra, **settings.get("extra_body", {})}} if extra else kept


def _unusable(name: str, error: Exception) -> ModelError:
    text = str(error)
    if "infer model provider" in text:
        return ModelError(
            f"no server is known for the model {name!r}: pass base_url=URL (--base-url URL), set "
            f"OPENAI_BASE_URL or VLLM_BASE_URL, or name a provider, as in openai:{name}"
        )
    if variable := re.search(r"\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\b", text):
        return ModelError(f"{name} needs a key: set the environment variable {variable[0]}")
    return _bad_settings(name, error)


def _bad_settings(name: str, error: Exception) -> ModelError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ModelError(f"the model {name} cannot be made with these settings: {' '.join(lines[:3])}")
