import json

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from lcbkit.topologies.transcript import (
    MALFORMED,
    answer_text,
    last_program,
    last_text,
    plain,
    repaired,
    was_cut,
)

PROGRAM = "```python\nprint(input())\n```"


def ended(text: str, **metadata: str) -> AIMessage:
    return AIMessage(text, response_metadata=metadata)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("  plain \n", "plain"),
        ("<think>draft</think>\nanswer", "answer"),
        ("a</think>b</THINK>answer", "answer"),
        ("<think>never closed", ""),
        ([{"type": "text", "text": "one "}, {"type": "text", "text": "two"}], "one two"),
        ([{"type": "reasoning", "reasoning": "draft"}, {"type": "text", "text": "answer"}], "answer"),
        ([{"type": "thinking", "thinking": "draft"}, {"type": "text", "text": "answer"}], "answer"),
    ],
)
def test_the_text_of_an_answer_holds_no_reasoning(
    content: str | list[str | dict[str, str]], text: str
) -> None:
    assert answer_text(AIMessage(content)) == text


@pytest.mark.parametrize(
    ("message", "cut"),
    [
        (ended("x", finish_reason="length"), True),
        (ended("x", finish_reason="MAX_TOKENS"), True),
        (ended("x", stop_reason="max_tokens"), True),
        (ended("x", done_reason="length"), True),
        (ended("x", finish_reason="stop"), False),
        (ended("", finish_reason="stop"), False),
        (ended("<think>and then", finish_reason="stop"), True),
        (ended("<think>a</think>b<think>c", finish_reason="stop"), True),
        (ended("<think>all</think>", finish_reason="stop"), False),
    ],
)
def test_an_answer_is_cut_at_the_token_limit_or_while_it_thinks(message: AIMessage, cut: bool) -> None:
    assert was_cut(message) is cut


def test_the_last_program_is_the_agents_own() -> None:
    shown = "```python\nprint('shown')\n```"
    own: list[BaseMessage] = [AIMessage(PROGRAM), ToolMessage(shown, tool_call_id="1"), AIMessage("done")]
    assert last_program([*own, HumanMessage(shown)], "") == "print(input())"
    assert last_program([HumanMessage(shown), AIMessage("I agree")], "") is None


def test_the_untouched_starter_is_no_program() -> None:
    starter = "class Solution:\n    def f(self) -> int:\n        "
    assert last_program([AIMessage(f"```python\n{starter}\n```")], starter) is None


def test_a_draft_inside_unclosed_reasoning_is_no_program() -> None:
    assert last_program([AIMessage(f"<think>{PROGRAM}")], "") is None


def test_the_last_text_skips_messages_that_only_call_a_tool() -> None:
    assert last_text([AIMessage("plan"), AIMessage(""), ToolMessage("2", tool_call_id="1")]) == "plan"
    assert last_text([HumanMessage("task")]) == ""


def test_calls_that_are_not_json_become_calls_that_can_be_refused() -> None:
    broken = invalid_tool_call(name="python_exec", args='{"code": "pri', id="b", error=None)
    message = AIMessage(
        "",
        tool_calls=[tool_call(name="python_exec", args={"code": "1"}, id="a")],
        invalid_tool_calls=[broken],
        additional_kwargs={"tool_calls": ["as the provider wrote them"], "refusal": None},
    )
    mended = repaired(message, 3)
    assert [(call["id"], call["args"]) for call in mended.tool_calls] == [
        ("a", {"code": "1"}),
        ("b", {MALFORMED: '{"code": "pri'}),
    ]
    assert mended.invalid_tool_calls == []
    assert mended.additional_kwargs == {"refusal": None}


def test_missing_and_repeated_call_ids_are_replaced() -> None:
    calls = [tool_call(name="python_exec", args={"code": "1"}, id=name) for name in ("a", "a", None)]
    mended = repaired(AIMessage("", tool_calls=calls), 3)
    assert [call["id"] for call in mended.tool_calls] == ["a", "call_3_1", "call_3_2"]


def test_a_message_as_plain_values_survives_json_and_keeps_of_reasoning_only_the_length() -> None:
    message = AIMessage(
        "<think>0123456789</think>answer",
        tool_calls=[tool_call(name="python_exec", args={"code": "1"}, id="a")],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    )
    value = plain(message)
    assert json.loads(json.dumps(value)) == value
    assert value["content"] == "answer"
    assert value["reasoning_chars"] == len("<think>0123456789</think>")
    assert value["tool_calls"] == [{"name": "python_exec", "args": {"code": "1"}, "id": "a"}]
    assert value["usage"]["total_tokens"] == 3


def test_reasoning_that_a_provider_sends_apart_is_counted() -> None:
    message = AIMessage([{"type": "reasoning", "reasoning": "12345"}, {"type": "text", "text": "answer"}])
    assert plain(message) == {"role": "assistant", "content": "answer", "reasoning_chars": 5}


def test_prompts_and_tool_results_are_kept_as_they_are() -> None:
    assert plain(SystemMessage("a </think> b")) == {"role": "system", "content": "a </think> b"}
    assert plain(HumanMessage(" task </think> ")) == {"role": "user", "content": " task </think> "}
    assert plain(ToolMessage("out </think>", tool_call_id="a", name="python_exec")) == {
        "role": "tool",
        "content": "out </think>",
        "tool_call_id": "a",
        "name": "python_exec",
    }
