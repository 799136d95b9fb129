"""The name of a model request: a digest of what the model sees, in our own canonical JSON.

Nothing that a library makes up enters it (message ids, tool-call ids, metadata, how a schema is dressed), so
that a recording outlives upgrades; nor does the endpoint.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = ["canonical_request", "request_key"]

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_SETTINGS = {
    *("temperature", "top_p", "top_k", "min_p", "max_tokens", "seed", "stop", "tool_choice"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty", "response_format"),
}
_SCHEMA = {"type", "properties", "required", "items", "enum", "anyOf", "default", "description"}


def request_key(request: Mapping[str, Any]) -> str:
    """The SHA-256 of a canonical request."""
    text = json.dumps(request, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_request(
    model: str, messages: Sequence["BaseMessage"], sampling: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """A request as plain JSON data.

    Args:
        model: its name.
        messages: the conversation.
        sampling: the values that go out with every request to this model.
        settings: those of this call (they win), with `tools` in OpenAI's form; settings that do not
            change what the model sees are passed over.
    """
    own = {name: value for name, value in settings.items() if name in _SETTINGS and value is not None}
    if own.get("tool_choice") == "auto":  # what a model with tools does anyway
        del own["tool_choice"]
    return {
        "model": model,
        "messages": _messages(messages),
        "tools": [_tool(tool) for tool in settings.get("tools") or ()],
        "settings": {**sampling, **own},
    }


def _messages(messages: Sequence["BaseMessage"]) -> list[dict[str, Any]]:
    order: dict[Any, int] = {}  # a call's id is the server's or a library's: only which call it is counts
    return [_message(message, order) for message in messages]


def _message(message: Any, order: dict[Any, int]) -> dict[str, Any]:
    plain = {"role": _ROLES.get(message.type, message.type), "content": str(message.text)}
    if message.type == "human" and message.name:
        plain["name"] = message.name
    if message.type == "tool":
        plain["answers"] = order.setdefault(message.tool_call_id, len(order))
    if message.type == "ai" and (calls := [*message.tool_calls, *message.invalid_tool_calls]):
        plain["calls"] = [
            {"number": order.setdefault(call["id"], len(order)), "name": call["name"], "args": call["args"]}
            for call in calls
        ]
    return plain


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool.get("function", tool)
    return {
        "name": function["name"],
        "description": _words(function.get("description")),
        "parameters": _schema(function.get("parameters") or {}),
    }


def _schema(node: Any) -> Any:
    """A JSON schema without titles and other dress."""
    if isinstance(node, list):
        return [_schema(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    kept = {name: value for name, value in node.items() if name in _SCHEMA}
    for name, value in kept.items():
        if name == "properties":
            kept[name] = {field: _schema(schema) for field, schema in value.items()}
        elif name == "description":
            kept[name] = _words(value)
        elif name != "default":
            kept[name] = _schema(value)
    return kept


def _words(text: str | None) -> str:
    return " ".join((text or "").split())
