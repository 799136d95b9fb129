"""A request's key depends on everything the model sees, and on nothing else."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from lcbkit.chat.request_key import canonical_request, request_key


@tool
def python_exec(code: str, stdin: str = "") -> str:
    """Run a program.

    It has the judge's prelude.
    """
    return code + stdin


def conversation(call_id: str = "call_1", code: str = "print(1)", **dress: Any) -> list[BaseMessage]:
    call = {"name": "python_exec", "args": {"code": code}, "id": call_id, "type": "tool_call"}
    return [
        SystemMessage("You write programs."),
        HumanMessage("Double it.", **dress),
        AIMessage("Trying.", tool_calls=[call], **dress),
        ToolMessage("1", tool_call_id=call_id, **dress),
    ]


def key(messages: list[BaseMessage] | None = None, **settings: Any) -> str:
    given = {"seed": 0, "tools": [convert_to_openai_tool(python_exec)], **settings}
    sampling = given.pop("sampling", {"temperature": 0.2, "max_tokens": 100})
    model = given.pop("model", "m")
    return request_key(canonical_request(model, messages or conversation(), sampling, given))


def test_the_key_of_a_request_never_changes() -> None:
    """Pinned: another value would make every recording that exists useless."""
    assert key() == "2e76a4a02489de301499be0ba2703bb0527abe45f1f35b6cb4676f89b679e9c0"


@pytest.mark.parametrize(
    "other",
    [
        {"model": "n"},
        {"seed": 1},
        {"seed": None},
        {"sampling": {"temperature": 0.3, "max_tokens": 100}},
        {"sampling": {"temperature": 0.2}},
        {"temperature": 0.0},
        {"stop": ["END"]},
        {"tools": []},
        {"tool_choice": "required"},
        {"messages": conversation(code="print(2)")},
        {"messages": conversation()[:-1]},
        {"messages": [HumanMessage("You write programs."), *conversation()[1:]]},
        {"messages": [*conversation()[:-1], ToolMessage("2", tool_call_id="call_1")]},
    ],
)
def test_whatever_the_model_sees_changes_the_key(other: dict[str, Any]) -> None:
    assert key(**other) != key()


def test_the_description_of_a_tool_changes_the_key_and_its_layout_does_not() -> None:
    schema = convert_to_openai_tool(python_exec)
    other = json.loads(json.dumps(schema))
    other["function"]["description"] = "Run a program. It has\n  the judge's prelude."
    assert key(tools=[other]) == key()
    other["function"]["description"] = "Run a program."
    assert key(tools=[other]) != key()
    other = json.loads(json.dumps(schema))
    other["function"]["parameters"]["properties"]["stdin"]["default"] = "0"
    assert key(tools=[other]) != key()


@pytest.mark.parametrize(
    "dress",
    [
        {"id": "lc_run--1"},
        {"response_metadata": {"model_provider": "openai"}},
        {"additional_kwargs": {"refusal": None}},
    ],
)
def test_what_libraries_add_to_messages_does_not_change_the_key(dress: dict[str, Any]) -> None:
    assert key(conversation(**dress)) == key()


def test_the_ids_of_tool_calls_do_not_matter_but_what_answers_what_does() -> None:
    assert key(conversation("another-id")) == key()
    calls = [
        {"name": "python_exec", "args": {"code": code}, "id": code, "type": "tool_call"}
        for code in ("a", "b")
    ]
    asked = AIMessage("", tool_calls=calls)
    results = [ToolMessage("A", tool_call_id="a"), ToolMessage("B", tool_call_id="b")]
    swapped = [ToolMessage("A", tool_call_id="b"), ToolMessage("B", tool_call_id="a")]
    assert key([asked, *results]) != key([asked, *swapped])


def test_how_a_library_dresses_a_schema_does_not_matter() -> None:
    dressed = json.loads(json.dumps(convert_to_openai_tool(python_exec)))
    dressed["function"]["strict"] = False
    parameters = dressed["function"]["parameters"]
    parameters |= {"title": "python_exec", "additionalProperties": False, "$schema": "draft"}
    parameters["properties"]["code"]["title"] = "Code"
    assert key(tools=[dressed]) == key()


def test_a_field_may_be_called_title() -> None:
    named = {"function": {"name": "f", "parameters": {"properties": {"title": {"type": "string"}}}}}
    renamed = {"function": {"name": "f", "parameters": {"properties": {"heading": {"type": "string"}}}}}
    assert key(tools=[named]) != key(tools=[renamed])


def test_content_as_text_and_as_blocks_is_the_same_request() -> None:
    blocks = [{"type": "text", "text": "Double "}, {"type": "text", "text": "it."}]
    assert key([HumanMessage(content=blocks)]) == key([HumanMessage("Double it.")])
    thoughtful = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Yes."}]
    assert key([AIMessage(content=thoughtful)]) == key([AIMessage("Yes.")])


def test_settings_without_effect_on_the_answer_are_left_out() -> None:
    assert key(stream=True, tool_choice="auto", timeout=3, stop=None, ls_format={}) == key()


def test_half_a_surrogate_pair_has_a_key() -> None:
    assert key([HumanMessage("\ud83d")]) != key([HumanMessage("\ude00")])
