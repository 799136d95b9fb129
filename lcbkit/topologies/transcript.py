"""Reading chat messages: text without reasoning, how an answer ended, and what a record keeps of it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage

from lcbkit.extract import extract_code, strip_reasoning

__all__ = [
    "MALFORMED",
    "answer_text",
    "encodable",
    "last_program",
    "last_text",
    "plain",
    "repaired",
    "replayed",
    "was_cut",
]

MALFORMED = "malformed_arguments"
"""The argument under which a repaired tool call carries what the model wrote instead of valid JSON."""

_NO_ANSWER = "(no answer)"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ROLES = {"human": "user", "ai": "assistant"}
# Each provider has its own word for an answer that ended at the token limit.
_ENDINGS = ("finish_reason", "stop_reason", "done_reason")
_CUT = {"length", "max_tokens", "model_length"}


def answer_text(message: BaseMessage) -> str:
    """The text of a message: no reasoning blocks, nothing up to the last `</think>`, no outer blanks."""
    return strip_reasoning(message.text).strip()


def was_cut(message: BaseMessage) -> bool:
    """Whether an answer was cut off: at the token limit, or while it was still thinking."""
    endings = (message.response_metadata.get(name) for name in _ENDINGS)
    if any(str(ending).lower() in _CUT for ending in endings):
        return True
    raw = message.text.strip()
    return bool(raw) and not answer_text(message) and not raw.lower().endswith("</think>")


def last_text(messages: Sequence[BaseMessage]) -> str:
    """The last text that the agent itself wrote, or an empty one."""
    return next((text for message in _own(messages) if (text := answer_text(message))), "")


def last_program(messages: Sequence[BaseMessage], starter_code: str) -> str | None:
    """The program of the agent's last message that holds one; never one that it was shown."""
    programs = (extract_code(answer_text(message), starter_code=starter_code) for message in _own(messages))
    return next((program for program in programs if program is not None), None)


def encodable(value: Any) -> Any:
    """A JSON value without halves of characters, which JSON can spell and no request can carry."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {encodable(name): encodable(item) for name, item in value.items()}
    return [encodable(item) for item in value] if isinstance(value, list) else value


def repaired(message: AIMessage, number: int) -> AIMessage:
    """A message that can be sent back, whose every tool call can be executed and answered.

    Calls whose arguments are not JSON become calls with that text under `MALFORMED`, so that the model is
    told; left as they are, they would end the agent. Missing and repeated ids get new ones.

    Args:
        message: as the model wrote it.
        number: the message's place in the conversation; makes the new ids unique and the same in a replay.
    """
    if (content := encodable(message.content)) != message.content:
        message = message.model_copy(update={"content": content})
    if not message.tool_calls and not message.invalid_tool_calls:
        return message
    broken = [_mended(call) for call in message.invalid_tool_calls]
    calls: list[ToolCall] = []
    for place, call in enumerate([*message.tool_calls, *broken]):
        taken = {other["id"] for other in calls}
        known = call["id"] if call["id"] and call["id"] not in taken else f"call_{number}_{place}"
        calls.append({**call, "args": encodable(call["args"]), "id": known})
    # The provider's own copy of the calls would be sent back as it is; some servers refuse malformed ones.
    kept = {name: value for name, value in message.additional_kwargs.items() if name != "tool_calls"}
    return message.model_copy(
        update={"tool_calls": calls, "invalid_tool_calls": [], "additional_kwargs": kept}
    )


def plain(message: BaseMessage) -> dict[str, Any]:
    """A message as plain JSON values; of reasoning only its length is kept."""
    kept: dict[str, Any] = {"role": _ROLES.get(message.type, message.type), "content": message.text}
    if isinstance(message, AIMessage):
        kept["content"] = answer_text(message)
        calls = [
            {"name": call["name"], "args": call["args"], "id": call["id"]} for call in message.tool_calls
        ]
        extras = {
            "tool_calls": calls,
            "reasoning_chars": _reasoning_chars(message),
            "cut": was_cut(message),
            "usage": message.usage_metadata,
        }
        kept |= {name: value for name, value in extras.items() if value}
    elif isinstance(message, ToolMessage):
        kept |= {"tool_call_id": message.tool_call_id, "name": message.name}
    parsed: dict[str, Any] = json.loads(json.dumps(kept, default=str))
    return parsed


def replayed(conversation: Sequence[Mapping[str, Any]]) -> list[BaseMessage]:
    """A conversation as `plain` kept it, fit to be continued: without its system prompt and loose ends.

    Servers refuse calls without a result, empty answers and two turns of one side in a row. So such calls and
    answers are dropped, and a question that was left open gets a word that says so.
    """
    answered = {message["tool_call_id"] for message in conversation if message["role"] == "tool"}
    messages: list[BaseMessage] = []
    for message in conversation:
        text = message["content"]
        if message["role"] == "user":
            if messages and isinstance(messages[-1], HumanMessage):
                messages.append(AIMessage(_NO_ANSWER))
            messages.append(HumanMessage(text))
        elif message["role"] == "tool":
            call_id, name = message["tool_call_id"], message["name"]
            messages.append(ToolMessage(text, tool_call_id=call_id, name=name))
        elif message["role"] == "assistant":
            calls = [call for call in message.get("tool_calls", ()) if call["id"] in answered]
            if text or calls:
                messages.append(AIMessage(text, tool_calls=[{**call, "type": "tool_call"} for call in calls]))
    return messages


def _own(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    return [message for message in reversed(messages) if isinstance(message, AIMessage)]


def _mended(call: Mapping[str, Any]) -> ToolCall:
    name, arguments = call.get("name") or "unknown", call.get("args") or ""
    return {"name": name, "args": {MALFORMED: arguments}, "id": call.get("id"), "type": "tool_call"}


def _reasoning_chars(message: AIMessage) -> int:
    blocks = sum(
        len(str(block.get("reasoning", "")))
        for block in message.content_blocks
        if block["type"] == "reasoning"
    )
    return blocks + len(message.text) - len(strip_reasoning(message.text))
