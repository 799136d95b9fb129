"""Chat models by name; recording and replaying their answers."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field

from lcbkit.chat.facts import model_name, sampling, seeded
from lcbkit.chat.failures import call_with_retries, is_infrastructure_error
from lcbkit.chat.live import DEFAULTS, endpoint_model, provider_model
from lcbkit.chat.recipes import Recipe, note_recipe
from lcbkit.chat.recording import Header, Recording
from lcbkit.chat.request_key import canonical_request, request_key
from lcbkit.errors import ModelError, RecordingError
from lcbkit.storage import shipped_folder

__all__ = [
    "RecordedModel",
    "RecordingModel",
    "call_with_retries",
    "get_model",
    "holds_python_exec",
    "is_infrastructure_error",
    "model_name",
    "note_python_exec",
    "sampling",
    "seeded",
]

_ALIASES = {"qwen": "Qwen/Qwen3.5-9B", "llama": "meta-llama/Llama-3.1-8B-Instruct"}
_PROVIDERS = {
    *("anthropic", "anthropic_bedrock", "azure_ai", "azure_openai", "baseten", "bedrock", "bedrock_converse"),
    *(
        "cohere",
        "deepseek",
        "fireworks",
        "google_anthropic_vertex",
        "google_genai",
        "google_vertexai",
        "groq",
    ),
    *("huggingface", "ibm", "litellm", "meta", "mistralai", "nvidia", "ollama", "openai", "openrouter"),
    *("perplexity", "together", "upstage", "xai"),
}


def get_model(
    name: str | BaseChatModel | None = None,
    *,
    base_url: str | None = None,
    record: str | os.PathLike[str] | None = None,
    **params: Any,
) -> BaseChatModel:
    """Get a chat model. Nothing is asked of a server yet, and a key alone never selects a live model.

    Args:
        name: None takes the environment variable `MODEL_ID`, else `recorded`. `recorded` replays the shipped
            answers, `recorded:FILE` those of a file. `qwen` and `llama` are short for two models at
            `VLLM_BASE_URL`; `provider:name` is what LangChain's `init_chat_model` takes; any other name is
            a model at an OpenAI-compatible server. A chat model object comes back as it is.
        base_url: that server's address; None takes `OPENAI_BASE_URL` or `VLLM_BASE_URL`.
        record: a file to add the answers to; requests that it holds already are answered from it.
        **params: `temperature` (0.2), `top_p` (0.9), `max_tokens` (4096), `request_timeout` (600 seconds),
            and what else the model's class takes; None leaves a value to the server.

    Raises:
        ModelError: when there is no such model, or a server's address, a key or a package is missing.
        RecordingError: when a recording cannot be read, or does not go with the model.
    """
    if isinstance(name, BaseChatModel):
        if base_url or params:
            raise ModelError("a chat model object has its own settings; pass base_url and the others by name")
        return _recorded_into(name, record)
    if name is None:
        name = os.environ.get("MODEL_ID") or "recorded"
    if not isinstance(name, str):
        raise ModelError(f"a model is a name or a LangChain chat model, not a {type(name).__name__}")
    if not name.strip():  # a shell variable that is not set: recorded answers in its place would be no answer
        raise ModelError(
            "the model's name is empty; name one, or leave it out for MODEL_ID or recorded answers"
        )
    if name == "recorded" or name.startswith("recorded:"):
        if base_url or record:
            raise ModelError(
                f"{name} asks no server: name the live model (--model NAME or MODEL_ID) that base_url or "
                "record is meant for"
            )
        model: BaseChatModel = _replaying(name, params)
    else:
        model = _live(name, base_url, params)
    address = getattr(model, "openai_api_base", None) or base_url
    note_recipe(model, Recipe(name=_from_anywhere(name), base_url=address, params=params))
    return _recorded_into(model, record)


def holds_python_exec(model: BaseChatModel) -> bool | None:
    """Whether the team whose answers a recording holds could call `python_exec`; None for a live model."""
    recording = getattr(model, "recording", None)
    return recording.header.python_exec if isinstance(recording, Recording) else None


def note_python_exec(model: BaseChatModel, held: bool) -> None:
    """Tell a model that records whether the team that asks can call `python_exec`; others do not care.

    Raises:
        RecordingError: when the file holds answers to teams of the other kind.
    """
    if isinstance(model, RecordingModel):
        model.recording.note_python_exec(held)


class _FromRecording(BaseChatModel):
    """What the two share: requests in canonical form, tools in OpenAI's."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    recording: Recording = Field(exclude=True, repr=False)

    @property
    def model_name(self) -> str:
        """The name of the model that answered."""
        return self.recording.header.model

    @property
    def sampling_values(self) -> dict[str, Any]:
        """The values that its requests carried."""
        return dict(self.recording.header.sampling)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools with each request."""
        offered = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=offered, tool_choice=tool_choice, **kwargs)

    def _key(
        self, messages: Sequence[BaseMessage], stop: list[str] | None, settings: Mapping[str, Any]
    ) -> str:
        given = {**settings, "stop": stop}
        return request_key(canonical_request(self.model_name, messages, self.sampling_values, given))

    def _result(self, answer: Mapping[str, Any]) -> ChatResult:
        message = _message(answer, self.model_name)
        return ChatResult(generations=[ChatGeneration(message=message)])


class RecordedModel(_FromRecording):
    """Answers from a recording, and refuses what it does not hold."""

    @property
    def _llm_type(self) -> str:
        return "lcbkit-recorded"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        answer = self.recording.answer(self._key(messages, stop, kwargs))
        if answer is None:
            parts = self.recording.parts
            reach = f", of the teams {', '.join(parts)}" if len(parts) > 1 else ""
            raise RecordingError(
                f"the recording {self.recording.name} holds no answer of {self.model_name} to this request "
                f"(seed {kwargs.get('seed')}): it covers certain problems, prompts and seeds only{reach}; "
                "ask a live model with --model NAME --base-url URL (get_model(NAME, base_url=URL)), or "
                "record what is missing with `lcb record --missing`"
            )
        return self._result(answer)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)


class RecordingModel(_FromRecording):
    """Asks a live model for what its recording does not hold yet, and adds the answers.

    It returns what a replay will return, so that nothing of an answer is used now and missing later.
    """

    live: BaseChatModel

    @property
    def _llm_type(self) -> str:
        return "lcbkit-recording"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        key = self._key(messages, stop, kwargs)
        answer = self.recording.answer(key)
        if answer is None:
            ask, settings = self._asking(kwargs)
            answer = self.recording.add(key, _plain(ask.invoke(messages, _SILENT, stop=stop, **settings)))
        return self._result(answer)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,
    ) -> ChatResult:
        key = self._key(messages, stop, kwargs)
        answer = self.recording.answer(key)
        if answer is None:
            ask, settings = self._asking(kwargs)
            message = await ask.ainvoke(messages, _SILENT, stop=stop, **settings)
            answer = self.recording.add(key, _plain(message))
        return self._result(answer)

    def _asking(
        self, kwargs: dict[str, Any]
    ) -> tuple[Runnable[LanguageModelInput, AIMessage], dict[str, Any]]:
        """The live model with the call's tools and seed, and the settings left to give it."""
        settings = {name: value for name, value in kwargs.items() if name not in ("tools", "seed")}
        model, seed = self.live, kwargs.get("seed")
        if seed is not None:
            model, carried = seeded(model, seed)
            settings.update(carried)
        if not kwargs.get("tools"):
            return model, settings
        choice = settings.pop("tool_choice", None)
        return model.bind_tools(kwargs["tools"], **({"tool_choice": choice} if choice else {})), settings


# The outer model reports to the callbacks; the inner one would count each call a second time.
_SILENT: RunnableConfig = {"callbacks": []}


def _recorded_into(model: BaseChatModel, record: str | os.PathLike[str] | None) -> BaseChatModel:
    if record is None:
        return model
    recording = Recording.open(Path(record).expanduser())
    recording.describe(Header(model=model_name(model), sampling=sampling(model)))
    return RecordingModel(recording=recording, live=model)


def _replaying(name: str, params: Mapping[str, Any]) -> RecordedModel:
    model = RecordedModel(recording=_find(name.partition(":")[2]))
    for field, value in params.items():
        held = model.sampling_values.get(field)
        if field not in ("timeout", "request_timeout") and value is not None and value != held:
            raise ModelError(
                f"the recorded answers were made with {field} {held}, not {value}; "
                "leave it out, or ask a live model with --model NAME --base-url URL"
            )
    return model


def _from_anywhere(name: str) -> str:
    """The name as it is understood in another folder."""
    kind, _, source = name.partition(":")
    path = Path(source).expanduser()
    return f"{kind}:{path.resolve()}" if kind == "recorded" and source and path.exists() else name


def _find(source: str) -> Recording:
    """The shipped recordings, or those of a file or folder; a shipped file goes by its bare name too."""
    shipped = shipped_folder("recordings")
    path = Path(source).expanduser() if source else shipped
    if source and not path.exists() and (shipped / f"{source}.jsonl").exists():
        path = shipped / f"{source}.jsonl"
    if not path.is_dir():
        return Recording.read([path])
    files = sorted(path.glob("*.jsonl"))
    if not files:
        raise RecordingError(
            f"{path} holds no recordings; name a file (recorded:FILE), or ask a live model with "
            "--model NAME --base-url URL"
        )
    return Recording.read(files, name=f"{path.name}/*.jsonl")


def _live(name: str, base_url: str | None, params: Mapping[str, Any]) -> BaseChatModel:
    given = {("timeout" if field == "request_timeout" else field): value for field, value in params.items()}
    settings = {field: value for field, value in {**DEFAULTS, **given}.items() if value is not None}
    if name in _ALIASES:
        address = base_url or os.environ.get("VLLM_BASE_URL")
        if not address:
            raise ModelError(
                f"{name} ({_ALIASES[name]}) needs its server: set VLLM_BASE_URL or pass base_url=URL "
                "(--base-url URL)"
            )
        return endpoint_model(_ALIASES[name], address, settings)
    if ":" in name and name.partition(":")[0] in _PROVIDERS:
        return provider_model(name, settings | ({"base_url": base_url} if base_url else {}))
    address = base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("VLLM_BASE_URL")
    return endpoint_model(name, address, settings) if address else provider_model(name, settings)


def _plain(message: AIMessage) -> dict[str, Any]:
    """An answer as the recording keeps it: what a team or a count of tokens can see."""
    endings = (
        message.response_metadata.get(name) for name in ("finish_reason", "stop_reason", "done_reason")
    )
    answer: dict[str, Any] = {
        "text": str(message.text),
        "finish_reason": next((str(ending) for ending in endings if ending), None),
        "usage": dict(message.usage_metadata) if message.usage_metadata else None,
    }
    if message.tool_calls:
        answer["tool_calls"] = [
            {"name": call["name"], "args": call["args"], "id": call["id"]} for call in message.tool_calls
        ]
    if message.invalid_tool_calls:
        answer["invalid_tool_calls"] = [
            {name: call[name] for name in ("name", "args", "id", "error")}
            for call in message.invalid_tool_calls
        ]
    return answer


def _message(answer: Mapping[str, Any], model: str) -> AIMessage:
    return AIMessage(
        content=answer["text"],
        tool_calls=[{**call, "type": "tool_call"} for call in answer.get("tool_calls", ())],
        invalid_tool_calls=[
            {**call, "type": "invalid_tool_call"} for call in answer.get("invalid_tool_calls", ())
        ],
        response_metadata={"finish_reason": answer.get("finish_reason"), "model_name": model},
        usage_metadata=answer.get("usage"),
    )
