"""ChatOpenAI for servers of others: what they send is a chat completion, or it is their failure.

A proxy's notice, half an answer, a stream that just ends: none of these says anything about a model. And what
a model wrote as arguments of a call reaches its agent as it was written, streamed or not: LangChain completes
cut JSON of a stream by guesses, and takes JSON that is no object for a failed request.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from langchain_core.exceptions import ModelAPIError
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, ValidationError

from lcbkit.records import count_of

__all__ = ["EndpointModel"]

# A body that is cut or no JSON at all; the second: no text at all; the third: nested too deeply.
_NO_JSON = (json.JSONDecodeError, UnicodeDecodeError, RecursionError)
# JSON of another shape than an answer's.
_NO_ANSWER = (*_NO_JSON, AttributeError, KeyError, TypeError, ValidationError)


class EndpointModel(ChatOpenAI):
    """ChatOpenAI for servers of others, which know `max_tokens` under its old name only."""

    def _get_request_payload(
        self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        if "max_completion_tokens" in payload:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        return payload

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        try:
            return super()._generate(*args, **kwargs)
        except _NO_JSON as error:
            raise self._failure(error) from error

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        try:
            return await super()._agenerate(*args, **kwargs)
        except _NO_JSON as error:
            raise self._failure(error) from error

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        try:
            _tidy_calls(response)
            if getattr(response, "usage", None) is not None:
                response.usage = _counts(response.usage)
            result = super()._create_chat_result(response, generation_info)
            if not result.generations:
                raise ValueError("it holds no choice")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._failure(error) from error
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> ChatGenerationChunk | None:
        told = {**chunk, "usage": _counts(chunk["usage"])} if chunk.get("usage") else chunk
        return super()._convert_chunk_to_generation_chunk(told, *args, **kwargs)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        pieces = _Pieces()
        try:
            for chunk in super()._stream(*args, **kwargs):
                yield pieces.passed_on(chunk)
        except _NO_ANSWER as error:
            raise self._failure(error) from error
        if not pieces.ended:
            raise self._failure("it ended before the answer did")
        yield from pieces.calls()

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        pieces = _Pieces()
        try:
            async for chunk in super()._astream(*args, **kwargs):
                yield pieces.passed_on(chunk)
        except _NO_ANSWER as error:
            raise self._failure(error) from error
        if not pieces.ended:
            raise self._failure("it ended before the answer did")
        for chunk in pieces.calls():
            yield chunk

    def _failure(self, reason: Exception | str) -> ModelAPIError:
        return ModelAPIError(f"no chat completion came from {self.openai_api_base}: {reason}")


class _Pieces:
    """A streamed answer on its way: texts pass at once, calls when they are whole."""

    def __init__(self) -> None:
        self.ended = False
        self._calls: list[AIMessageChunk] = []

    def passed_on(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        """The piece without its part of a call, which is kept."""
        self.ended = self.ended or bool((chunk.generation_info or {}).get("finish_reason"))
        message = chunk.message
        if not isinstance(message, AIMessageChunk) or not message.tool_call_chunks:
            return chunk
        self._calls.append(AIMessageChunk(content="", tool_call_chunks=message.tool_call_chunks))
        without: dict[str, list[Any]] = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}
        return ChatGenerationChunk(
            message=message.model_copy(update=without), generation_info=chunk.generation_info
        )

    def calls(self) -> Iterator[ChatGenerationChunk]:
        """One more piece with the calls, if there are any."""
        if self._calls:
            first, *others = self._calls
            whole = first + others if others else first
            for call in whole.tool_call_chunks:
                call["args"] = _as_told(call["args"])
            message = AIMessageChunk(content="", tool_call_chunks=whole.tool_call_chunks)
            yield ChatGenerationChunk(message=message)


def _tidy_calls(response: Any) -> None:
    """Make the arguments of each call in an answer what `_as_told` says, in place."""
    for choice in getattr(response, "choices", None) or ():
        for call in getattr(choice.message, "tool_calls", None) or ():
            if (function := getattr(call, "function", None)) is not None:
                function.arguments = _as_told(function.arguments)


def _counts(usage: Any) -> dict[str, Any] | None:
    """What a server tells of its tokens without what is no count: an answer is not lost to its bookkeeping.

    Args:
        usage: an object, as JSON or as the client's, of numbers and of details like it; or anything else.
    """
    if isinstance(usage, BaseModel):
        usage = usage.model_dump(warnings=False)
    if not isinstance(usage, Mapping):
        return None
    kept = {name: (_counts if name.endswith("_details") else count_of)(told) for name, told in usage.items()}
    return {name: told for name, told in kept.items() if told is not None}


def _as_told(arguments: Any) -> str:
    """A call's arguments as a JSON object, or as a text that nobody can take for JSON.

    Args:
        arguments: what the model wrote; some servers send the object itself, or nothing.
    """
    if isinstance(arguments, Mapping):
        return json.dumps(arguments)
    try:
        value = json.loads(arguments or "{}", strict=False)
    except (TypeError, ValueError, RecursionError):  # the last: nested too deeply
        return f"unreadable: {arguments}"
    if value is None:
        return "{}"
    return arguments or "{}" if isinstance(value, dict) else f"unreadable: {arguments}"
