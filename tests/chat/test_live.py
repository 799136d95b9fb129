"""What goes out to a server is what was asked for, and no more."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit.errors import ModelError
from lcbkit.models import get_model, sampling


@tool
def python_exec(code: str) -> str:
    """Run a program."""
    return code


def sent(endpoint: ScriptedEndpoint, **params: Any) -> dict[str, Any]:
    get_model("scripted", base_url=endpoint.url, **params).invoke("hello")
    return dict(endpoint.requests[-1].body)


def test_the_defaults_go_out_and_nothing_that_only_some_servers_know(endpoint: ScriptedEndpoint) -> None:
    assert sent(endpoint) == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.2,
        "top_p": 0.9,
        "max_tokens": 4096,
        "stream": False,
    }


def test_values_given_win_and_none_leaves_them_to_the_server(endpoint: ScriptedEndpoint) -> None:
    body = sent(endpoint, temperature=0.0, max_tokens=9, top_p=None)
    assert (body["temperature"], body["max_tokens"], "top_p" in body) == (0.0, 9, False)


def test_settings_of_vllm_go_out_when_asked_for(endpoint: ScriptedEndpoint) -> None:
    params = {"repetition_penalty": 1.05, "enable_thinking": False, "extra_body": {"own": 1}}
    body = sent(endpoint, **params)
    assert body["repetition_penalty"] == 1.05
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["own"] == 1
    values = sampling(get_model("scripted", base_url=endpoint.url, **params))
    assert values["repetition_penalty"] == 1.05
    assert values["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize("with_tools", [False, True])
async def test_the_seed_of_a_call_reaches_the_request(endpoint: ScriptedEndpoint, with_tools: bool) -> None:
    model = get_model("scripted", base_url=endpoint.url)
    bound = model.bind_tools([python_exec], seed=7) if with_tools else model.bind(seed=7)
    await bound.ainvoke("hello")
    assert endpoint.requests[0].seed == 7
    assert endpoint.requests[0].tools == (["python_exec"] if with_tools else [])


@pytest.mark.parametrize("name", ["gpt-5-pro", "codex-mini", "gpt-6-astra", "o1"])
def test_every_model_behind_an_address_is_asked_by_chat_completions(
    endpoint: ScriptedEndpoint, name: str
) -> None:
    endpoint.replies("there")
    model = get_model(name, base_url=endpoint.url)
    assert model.bind_tools([python_exec]).invoke("hello").text == "there"
    assert endpoint.requests[0].body["max_tokens"] == 4096


async def test_usage_is_reported_when_streaming_too(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply("one\ntwo\n", prompt_tokens=7, completion_tokens=3))
    model = get_model("scripted", base_url=endpoint.url)
    whole = [chunk async for chunk in model.astream("hello")]
    assert "".join(chunk.text for chunk in whole) == "one\ntwo\n"
    totals = [chunk.usage_metadata["total_tokens"] for chunk in whole if chunk.usage_metadata]  # type: ignore[attr-defined]
    assert totals == [10]


def test_the_time_out_is_ten_minutes_unless_given(endpoint: ScriptedEndpoint) -> None:
    for params, seconds in (({}, 600.0), ({"request_timeout": 5}, 5), ({"timeout": 6}, 6)):
        model = get_model("scripted", base_url=endpoint.url, **params)  # type: ignore[arg-type]
        assert model.request_timeout == seconds  # type: ignore[attr-defined]


def test_the_client_leaves_retries_to_us(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply(status=503))
    with pytest.raises(Exception, match="503"):
        get_model("scripted", base_url=endpoint.url).invoke("hello")
    assert len(endpoint.requests) == 1


def test_a_web_page_in_place_of_an_answer_is_the_servers_failure(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply(raw="<html>Sign in</html>", headers={"Content-Type": "text/html"}))
    with pytest.raises(Exception, match="no chat completion came from http://127"):
        get_model("scripted", base_url=endpoint.url).invoke("hello")


def test_earlier_messages_go_out_with_their_roles(endpoint: ScriptedEndpoint) -> None:
    get_model("scripted", base_url=endpoint.url).invoke(
        [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    )
    assert [(m["role"], m["content"]) for m in endpoint.requests[0].messages] == [
        ("user", "a"),
        ("assistant", "b"),
        ("user", "c"),
    ]


@pytest.mark.parametrize(
    "address",
    ["http://", "http://127.0.0.1:99999/v1", "http://a b/v1", "http://h:x/v1", "localhost:8000", "ftp://h"],
)
@pytest.mark.parametrize("name", ["scripted", "openai:gpt-5"])
def test_an_address_that_no_request_can_go_to_is_refused_at_once(name: str, address: str) -> None:
    with pytest.raises(ModelError, match="looks like http://localhost:8000/v1"):
        get_model(name, base_url=address)


@pytest.mark.parametrize(
    "setting",
    [
        {"temperature": float("nan")},
        {"temperature": -5.0},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"timeout": 0.0},
        {"request_timeout": -1.0},
        {"timeout": float("inf")},
    ],
    ids=str,
)
def test_a_number_that_no_server_takes_is_refused_at_once(setting: dict[str, float]) -> None:
    with pytest.raises(ModelError, match="give a number"):
        get_model("scripted", base_url="http://127.0.0.1:9/v1", **setting)
