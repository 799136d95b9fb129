"""What a server sends is a model's answer, told as it was written, or the server's failure; never a mix."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from scripted_endpoint import Reply, ScriptedEndpoint, tool_call

from lcbkit.chat.failures import is_infrastructure_error, is_transient
from lcbkit.models import get_model

ANSWER = "It doubles.\n```python\nprint(2 * int(input()))\n```\n"
STREAM = {"Content-Type": "text/event-stream"}
both_ways = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])


@tool
def python_exec(code: str) -> str:
    """Run a program."""
    return code


def ask(endpoint: ScriptedEndpoint, streaming: bool) -> Any:
    model = get_model("scripted", base_url=endpoint.url, streaming=streaming)
    return model.bind_tools([python_exec])


def event(**choice: Any) -> str:
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return f"data: {json.dumps({**chunk, 'choices': [{'index': 0, 'finish_reason': None, **choice}]})}\n\n"


NO_ANSWERS = {
    "nothing": Reply(raw=""),
    "no content": Reply(status=204, raw=""),
    "cut JSON": Reply(raw='{"id": "x", "object": "chat.completion", "choi'),
    "cut connection": Reply(ANSWER, cut=True),
    "dropped connection": Reply(ANSWER, drop=True),
    "a web page": Reply(raw="<html>Sign in</html>", headers={"Content-Type": "text/html"}),
    "a list": Reply(raw="[]"),
    "a nest": Reply(raw="[" * 100_000),
    "null": Reply(raw="null"),
    "no text in UTF-8": Reply(raw="\xff\xfe", headers={"Content-Encoding": "gzip"}),
    "no message": Reply(raw='{"id": "x", "choices": [{"index": 0, "finish_reason": "stop"}]}'),
    "no choices": Reply(raw='{"id": "x", "choices": []}'),
}
BROKEN_STREAMS = {
    "ends without its end": event(delta={"role": "assistant", "content": ANSWER}),
    "is empty": "data: [DONE]\n\n",
    "has no choice": 'data: {"id": "x", "choices": []}\n\ndata: [DONE]\n\n',
    "is no JSON": 'data: {"id": "x", "cho\n\n',
    "tells an error": event(delta={"content": "I"}) + 'data: {"error": {"message": "out of memory"}}\n\n',
    "tells a status": event(delta={"content": "I"}) + 'data: {"error": {"message": "x", "code": 503}}\n\n',
}


@both_ways
@pytest.mark.parametrize("kind", NO_ANSWERS)
async def test_what_is_no_chat_completion_is_the_servers_failure(
    endpoint: ScriptedEndpoint, kind: str, streaming: bool
) -> None:
    endpoint.replies(NO_ANSWERS[kind])
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is, is the question
        await ask(endpoint, streaming).ainvoke("hello")
    assert is_transient(caught.value), caught.value
    with pytest.raises(type(caught.value)):
        ask(endpoint, streaming).invoke("hello")


@pytest.mark.parametrize("kind", BROKEN_STREAMS)
async def test_a_stream_that_breaks_off_is_no_answer_however_much_of_it_came(
    endpoint: ScriptedEndpoint, kind: str
) -> None:
    endpoint.replies(Reply(raw=BROKEN_STREAMS[kind], headers=STREAM))
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is, is the question
        await ask(endpoint, True).ainvoke("hello")
    assert is_transient(caught.value), caught.value
    with pytest.raises(type(caught.value)):
        ask(endpoint, True).invoke("hello")


@pytest.mark.parametrize("code", ['"context_length_exceeded"', "400"])
async def test_a_stream_that_tells_of_a_bad_request_is_no_infrastructure(
    endpoint: ScriptedEndpoint, code: str
) -> None:
    error = f'data: {{"error": {{"message": "too long", "code": {code}}}}}\n\n'
    endpoint.replies(Reply(raw=error, headers=STREAM))
    with pytest.raises(Exception, match="too long") as caught:
        await ask(endpoint, True).ainvoke("hello")
    assert not is_infrastructure_error(caught.value)


USAGES: list[tuple[Any, dict[str, int]]] = [
    ({"prompt_tokens": "many", "completion_tokens": 5}, {"input_tokens": 0, "output_tokens": 5}),
    ({"prompt_tokens": -1, "completion_tokens": 1.5, "total_tokens": [3]}, {}),
    ({"prompt_tokens": 4.0, "completion_tokens": 3, "prompt_tokens_details": 7}, {"total_tokens": 7}),
    ({"prompt_tokens": 4, "prompt_tokens_details": {"cached_tokens": "x"}}, {"input_tokens": 4}),
    ([7], {}),
    ("free", {}),
]


@both_ways
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # LangChain's, about a stream
@pytest.mark.parametrize(("usage", "read"), USAGES, ids=lambda value: repr(value)[:30])
async def test_an_answer_is_not_lost_to_what_a_server_tells_of_its_tokens(
    endpoint: ScriptedEndpoint, usage: Any, read: dict[str, int], streaming: bool
) -> None:
    last = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    stream = event(delta={"role": "assistant", "content": ANSWER}) + event(delta={}, finish_reason="stop")
    stream += f"data: {json.dumps(last | {'usage': usage})}\n\ndata: [DONE]\n\n"
    whole = Reply(ANSWER, prompt_tokens=None, extra={"usage": usage})
    endpoint.replies(Reply(raw=stream, headers=STREAM) if streaming else whole)
    answer = await ask(endpoint, streaming).ainvoke("hello")
    assert answer.text == ANSWER
    assert read.items() <= dict(answer.usage_metadata or {}).items()


ARGUMENTS = {
    '{"code": "print(1)"}': {"code": "print(1)"},
    '{"code": "a\nb"}': {"code": "a\nb"},
    "": {},
    "null": {},
    '{"code": "print(1': None,
    '{"code": "print(1)", "stdin": "3': None,
    "print(1)": None,
    "[1]": None,
    '"{}"': None,
    "[" * 20_000: None,
    '{"code": ' + "1" * 5_000 + "}": None,
}


@both_ways
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda text: repr(text[:30]))
async def test_a_calls_arguments_are_the_object_that_the_model_wrote_or_no_call(
    endpoint: ScriptedEndpoint, arguments: str, streaming: bool
) -> None:
    endpoint.replies(Reply("Try it.", tool_calls=[{"name": "python_exec", "arguments": arguments}]))
    answer = await ask(endpoint, streaming).ainvoke("hello")
    assert answer.text == "Try it."
    expected = ARGUMENTS[arguments]
    if expected is None:
        assert answer.tool_calls == []
        assert [call["args"] for call in answer.invalid_tool_calls] == [f"unreadable: {arguments}"]
    else:
        assert [call["args"] for call in answer.tool_calls] == [expected]
        assert answer.invalid_tool_calls == []


async def test_arguments_that_a_server_sends_as_an_object_are_taken(endpoint: ScriptedEndpoint) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "python_exec", "arguments": {"code": "1"}}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    endpoint.replies(Reply(raw=json.dumps({"id": "x", "choices": [choice]})))
    assert (await ask(endpoint, False).ainvoke("hello")).tool_calls[0]["args"] == {"code": "1"}


async def test_a_streamed_answer_is_the_same_as_a_whole_one(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(
        Reply(
            ANSWER,
            tool_calls=[tool_call("python_exec", code="print(1)"), {"name": "python_exec", "arguments": "{"}],
            prompt_tokens=70,
            completion_tokens=30,
            cached_tokens=20,
            reasoning_tokens=10,
            finish_reason="length",
        )
    )
    whole, streamed = [await ask(endpoint, streaming).ainvoke("hello") for streaming in (False, True)]
    assert isinstance(whole, AIMessage)
    assert (whole.text, whole.usage_metadata) == (streamed.text, streamed.usage_metadata)
    assert whole.response_metadata["finish_reason"] == streamed.response_metadata["finish_reason"] == "length"
    for calls in ("tool_calls", "invalid_tool_calls"):
        here, there = ([(c["name"], c["args"]) for c in getattr(m, calls)] for m in (whole, streamed))
        assert here == there
        assert len(here) == 1


async def test_the_words_of_a_stream_come_one_after_the_other(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply(ANSWER, tool_calls=[tool_call("python_exec", code="print(1)")]))
    pieces = [piece async for piece in ask(endpoint, True).astream("hello")]
    assert [piece.text for piece in pieces if piece.text] == ANSWER.splitlines(keepends=True)
    assert [piece.tool_calls[0]["args"] for piece in pieces if piece.tool_calls] == [{"code": "print(1)"}]
