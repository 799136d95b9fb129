"""A model is had by name; what is recorded replays exactly, and nothing else is answered."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit import models
from lcbkit.errors import ModelError, RecordingError
from lcbkit.models import get_model, holds_python_exec, model_name, note_python_exec, sampling


@tool
def python_exec(code: str, stdin: str = "") -> str:
    """Run a program."""
    return f"ran {code} with {stdin!r}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def recorder(endpoint: ScriptedEndpoint, file: Path, **params: Any) -> BaseChatModel:
    return get_model("scripted", base_url=endpoint.url, record=file, **params)


def replayer(file: Path) -> BaseChatModel:
    return get_model(f"recorded:{file}")


def test_a_name_with_an_address_is_a_model_at_that_server(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies("there")
    assert get_model("org/name:tag", base_url=endpoint.url).invoke("hello").text == "there"
    body = endpoint.requests[0].body
    assert body["model"] == "org/name:tag"
    assert endpoint.requests[0].headers["authorization"] == "Bearer EMPTY"


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "VLLM_BASE_URL"])
def test_the_address_may_come_from_the_environment(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own")
    endpoint.replies("there")
    assert get_model("any").invoke("hello").text == "there"
    assert endpoint.requests[0].headers["authorization"] == "Bearer sk-own"


@pytest.mark.parametrize(
    ("alias", "full"), [("qwen", "Qwen/Qwen3.5-9B"), ("llama", "meta-llama/Llama-3.1-8B-Instruct")]
)
def test_an_alias_is_a_model_at_the_vllm_server(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch, alias: str, full: str
) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", endpoint.url)
    model = get_model(alias)
    model.invoke("hello")
    assert model_name(model) == endpoint.requests[0].body["model"] == full


def test_a_key_alone_never_selects_a_live_model(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-own")
    monkeypatch.setattr(models, "shipped_folder", lambda _name: file.parent)
    file.write_text('{"lcbkit_recording": 1, "model": "m", "sampling": {}}\n')
    assert get_model()._llm_type == "lcbkit-recorded"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert get_model()._llm_type == "lcbkit-recorded"


def test_the_environment_may_name_the_model(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_ID", "from-environment")
    assert model_name(get_model(base_url=endpoint.url)) == "from-environment"
    assert model_name(get_model("given", base_url=endpoint.url)) == "given"


def test_a_provider_and_name_goes_to_that_provider(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own")
    endpoint.replies("there")
    model = get_model("openai:gpt-test", base_url=endpoint.url, temperature=0.0)
    assert model.invoke("hello").text == "there"
    body = endpoint.requests[0].body
    assert (body["model"], body["temperature"], body["top_p"]) == ("gpt-test", 0.0, 0.9)


def test_a_chat_model_object_comes_back_as_it_is(endpoint: ScriptedEndpoint) -> None:
    model = get_model("scripted", base_url=endpoint.url)
    assert get_model(model) is model
    with pytest.raises(ModelError, match="own settings"):
        get_model(model, temperature=0.0)


@pytest.mark.parametrize(
    ("name", "arguments", "cause", "next_step"),
    [
        ("nonsense", {}, "no server is known for the model 'nonsense'", "base_url=URL"),
        ("llama3:8b", {}, "'llama3:8b'", "--base-url URL"),
        ("qwen", {}, "Qwen/Qwen3.5-9B", "set VLLM_BASE_URL"),
        ("openai:gpt-4o", {}, "openai:gpt-4o needs a key", "OPENAI_API_KEY"),
        ("gpt-4o", {}, "gpt-4o needs a key", "OPENAI_API_KEY"),
        ("anthropic:claude", {}, "anthropic:claude needs a package", "langchain-anthropic"),
        (
            "m",
            {"base_url": "localhost:8000"},
            "'localhost:8000' is no web address",
            "http://localhost:8000/v1",
        ),
        ("m", {"base_url": "http://x", "temperature": "hot"}, "the model m cannot be made", "temperature"),
        ("m", {"base_url": "http://x", "temprature": 1}, "m has no setting temprature", "extra_body"),
        ("recorded", {"base_url": "http://x"}, "recorded asks no server", "name the live model"),
        ("recorded", {"record": "file"}, "recorded asks no server", "name the live model"),
        (None, {"base_url": "http://x"}, "recorded asks no server", "name the live model"),
        (5, {}, "not a int", "a name or a LangChain chat model"),
        ("", {}, "the model's name is empty", "leave it out"),
        (" ", {"base_url": "http://x"}, "the model's name is empty", "leave it out"),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: Any, arguments: dict[str, Any], cause: str, next_step: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError) as caught:
        get_model(name, **arguments)
    assert cause in str(caught.value)
    assert next_step in str(caught.value)
    assert "\n" not in str(caught.value)


def test_recorded_answers_replay_exactly(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.script = lambda request: Reply(
        f"answer {request.seed}", prompt_tokens=7, completion_tokens=3, cached_tokens=2, reasoning_tokens=1
    )
    live = [recorder(endpoint, file).bind(seed=seed).invoke("hello") for seed in (0, 1)]
    endpoint.close()
    again = [replayer(file).bind(seed=seed).invoke("hello") for seed in (0, 1)]
    assert [message.text for message in again] == ["answer 0", "answer 1"]
    for one, other in zip(live, again, strict=True):
        assert one.model_dump(exclude={"id"}) == other.model_dump(exclude={"id"})
    assert again[0].usage_metadata == {
        "input_tokens": 7,
        "output_tokens": 3,
        "total_tokens": 10,
        "input_token_details": {"cache_read": 2},
        "output_token_details": {"reasoning": 1},
    }


@pytest.mark.parametrize(
    "reply", [Reply("cut off", finish_reason="length"), Reply("", completion_tokens=None)]
)
def test_how_an_answer_ended_and_missing_usage_replay_too(
    endpoint: ScriptedEndpoint, file: Path, reply: Reply
) -> None:
    endpoint.replies(reply)
    recorder(endpoint, file).invoke("hello")
    message = replayer(file).invoke("hello")
    assert message.text == reply.text
    assert message.response_metadata["finish_reason"] == reply.ending
    assert (message.usage_metadata is None) == (reply.usage is None)


def agent_answer(model: BaseChatModel) -> list[Any]:
    agent = create_agent(model, [python_exec], system_prompt="Be brief.")
    state = agent.invoke({"messages": [("user", "double")]}, {"recursion_limit": 9})
    return [(message.type, message.text, getattr(message, "tool_calls", [])) for message in state["messages"]]


def test_a_conversation_with_tools_replays(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.replies(
        Reply(tool_calls=[tool_call("python_exec", code="1"), tool_call("python_exec", code="2")]), "ok"
    )
    live = agent_answer(recorder(endpoint, file))
    assert endpoint.requests[0].tools == ["python_exec"]
    assert "ran 2" in endpoint.requests[1].text
    endpoint.close()
    assert agent_answer(replayer(file)) == live


def test_a_tool_call_that_is_no_json_replays(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.replies(Reply(tool_calls=[{"name": "python_exec", "arguments": "{broken"}]))
    live = recorder(endpoint, file).bind_tools([python_exec]).invoke("double")
    again = replayer(file).bind_tools([python_exec]).invoke("double")
    assert isinstance(live, AIMessage)
    assert isinstance(again, AIMessage)
    assert again.invalid_tool_calls == live.invalid_tool_calls
    assert str(again.invalid_tool_calls[0]["args"]).endswith("{broken")


def test_replay_works_in_any_event_loop_and_many_at_once(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.script = lambda request: f"answer {request.seed}"

    async def ask(model: BaseChatModel) -> list[str]:
        messages = await asyncio.gather(*(model.bind(seed=seed % 5).ainvoke("hello") for seed in range(20)))
        return [message.text for message in messages]

    expected = [f"answer {seed % 5}" for seed in range(20)]
    assert asyncio.run(ask(recorder(endpoint, file))) == expected
    assert len(file.read_text().splitlines()) == 6
    for _ in range(2):
        assert asyncio.run(ask(replayer(file))) == expected


def test_a_live_model_works_in_one_event_loop_after_another(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies("there")
    model = get_model("scripted", base_url=endpoint.url)
    assert [asyncio.run(model.ainvoke("hello")).text for _ in range(3)] == ["there"] * 3


def test_a_recording_grows_by_what_it_lacks_only(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.replies("first", "second", "third")
    recorder(endpoint, file).invoke("a")
    later = recorder(endpoint, file)
    assert [later.invoke(text).text for text in ("a", "b", "a")] == ["first", "second", "first"]
    assert len(endpoint.requests) == 2


def test_identical_requests_at_once_get_one_answer(endpoint: ScriptedEndpoint, file: Path) -> None:
    def script(request: Request) -> Reply:
        return Reply(f"answer {request.index}", delay=0.1)

    async def ask() -> set[str]:
        model = recorder(endpoint, file)
        return {message.text for message in await asyncio.gather(*(model.ainvoke("a") for _ in range(4)))}

    endpoint.script = script
    answers = asyncio.run(ask())
    assert answers == {replayer(file).invoke("a").text}


def test_a_failed_call_is_not_recorded(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.replies(Reply(status=500), "answer")
    model = recorder(endpoint, file)
    with pytest.raises(Exception, match="500"):
        model.invoke("a")
    assert not file.exists()
    assert model.invoke("a").text == "answer"


def test_a_request_that_was_not_recorded_says_how_to_go_on(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.replies("answer")
    recorder(endpoint, file).bind(seed=1).invoke("a")
    for model, text in ((replayer(file).bind(seed=2), "a"), (replayer(file).bind(seed=1), "b")):
        with pytest.raises(
            RecordingError, match=r"answers\.jsonl.*scripted.*--model NAME --base-url URL.*lcb rec"
        ):
            model.invoke(text)
        with pytest.raises(RecordingError):
            asyncio.run(model.ainvoke(text))


def test_the_endpoint_and_the_key_are_not_in_the_file(
    endpoint: ScriptedEndpoint, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    recorder(endpoint, file).invoke("a")
    text = file.read_text()
    assert "127.0.0.1" not in text
    assert "secret" not in text
    assert sorted(json.loads(text.splitlines()[1])["answer"]) == ["finish_reason", "text", "usage"]


def test_a_recording_says_its_model_sampling_and_tools(endpoint: ScriptedEndpoint, file: Path) -> None:
    live = recorder(endpoint, file, max_tokens=1024)
    assert holds_python_exec(live) is None
    note_python_exec(live, False)
    live.invoke("a")
    model = replayer(file)
    assert model_name(model) == model_name(live) == "scripted"
    assert sampling(model) == sampling(live) == {"temperature": 0.2, "top_p": 0.9, "max_tokens": 1024}
    assert holds_python_exec(model) is False
    with pytest.raises(RecordingError):
        note_python_exec(recorder(endpoint, file, max_tokens=1024), True)
    with pytest.raises(RecordingError):
        recorder(endpoint, file, max_tokens=2048)


def test_noting_tools_on_other_models_does_nothing(endpoint: ScriptedEndpoint) -> None:
    model = get_model("scripted", base_url=endpoint.url)
    note_python_exec(model, True)
    assert holds_python_exec(model) is None


def test_settings_of_recorded_answers_cannot_be_changed(endpoint: ScriptedEndpoint, file: Path) -> None:
    recorder(endpoint, file).invoke("a")
    same = get_model(f"recorded:{file}", temperature=0.2, max_tokens=4096, request_timeout=5)
    assert same.invoke("a").text == ""
    with pytest.raises(ModelError, match=r"made with temperature 0\.2, not 0\.7"):
        get_model(f"recorded:{file}", temperature=0.7)


def test_the_shipped_recordings_are_read_as_one(
    endpoint: ScriptedEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "shipped_folder", lambda _name: tmp_path)
    with pytest.raises(RecordingError, match="holds no recordings"):
        get_model("recorded")
    endpoint.script = lambda request: request.last.upper()
    for text in ("a", "b"):
        recorder(endpoint, tmp_path / f"{text}.jsonl").invoke(text)
    assert [get_model("recorded").invoke(text).text for text in ("a", "b")] == ["A", "B"]
    assert get_model("recorded:b").invoke("b").text == "B"
    with pytest.raises(
        RecordingError, match=r"certain problems, prompts and seeds only, of the teams a, b; ask"
    ):
        get_model("recorded").invoke("c")
    with pytest.raises(RecordingError):
        get_model("recorded:b").invoke("a")
    get_model("another", base_url=endpoint.url, record=tmp_path / "c.jsonl").invoke("a")
    with pytest.raises(RecordingError, match=r"another.*recorded:FILE"):
        get_model("recorded")


def test_callbacks_count_each_recorded_call_once(endpoint: ScriptedEndpoint, file: Path) -> None:
    endpoint.replies(Reply("answer", prompt_tokens=7, completion_tokens=3))
    for get in (lambda: recorder(endpoint, file), lambda: replayer(file)):
        handler = UsageMetadataCallbackHandler()
        get().invoke("a", {"callbacks": [handler]})
        assert handler.usage_metadata["scripted"]["total_tokens"] == 10


def test_any_chat_model_object_can_be_recorded(file: Path) -> None:
    from langchain_core.language_models import GenericFakeChatModel

    live = GenericFakeChatModel(messages=iter([AIMessage("one"), AIMessage("two")]))
    model = get_model(live, record=file)
    assert [model.invoke(text).text for text in ("a", "b", "a")] == ["one", "two", "one"]
    assert replayer(file).invoke("b").text == "two"
