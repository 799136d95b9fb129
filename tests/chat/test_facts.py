"""A chat model object says its name and values, and takes a seed the way its class can."""

import logging
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI

from lcbkit.chat import facts
from lcbkit.chat.facts import model_name, sampling, seeded


class Provider(BaseChatModel):
    """Stands for the classes of provider packages: they refuse settings that they do not know."""

    model: str = "theirs"
    max_output_tokens: int = 50
    temperature: float | None = None

    @property
    def _llm_type(self) -> str:
        return "provider"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError


class SeededProvider(Provider):
    seed: int | None = None


Provider.__module__ = SeededProvider.__module__ = "langchain_theirs.chat_models"


def test_names_are_found_where_classes_keep_them() -> None:
    assert model_name(ChatOpenAI(model="gpt", api_key="EMPTY")) == "gpt"
    assert model_name(Provider()) == "theirs"
    assert model_name(GenericFakeChatModel(messages=iter([]))) == "GenericFakeChatModel"


def test_sampling_holds_what_is_sent_under_the_general_names() -> None:
    model = ChatOpenAI(model="gpt", api_key="EMPTY", temperature=0.0, max_tokens=9, extra_body={"top_k": 3})
    assert sampling(model) == {"temperature": 0.0, "max_tokens": 9, "top_k": 3}
    assert sampling(Provider()) == {"max_tokens": 50}


def test_a_seed_is_a_call_setting_where_the_class_takes_any() -> None:
    for model in (ChatOpenAI(model="gpt", api_key="EMPTY"), GenericFakeChatModel(messages=iter([]))):
        assert seeded(model, 3) == (model, {"seed": 3})


def test_a_seed_is_a_field_of_a_copy_where_the_class_has_one() -> None:
    model = SeededProvider()
    copy, settings = seeded(model, 3)
    assert settings == {}
    assert isinstance(copy, SeededProvider)
    assert (copy.seed, model.seed) == (3, None)


def test_a_provider_without_seeds_is_told_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "_told", set())
    model = Provider()
    with caplog.at_level(logging.WARNING):
        assert seeded(model, 3) == seeded(model, 4) == (model, {})
    assert [record.message for record in caplog.records] == [
        "models of langchain_theirs take no seed: answers differ from run to run"
    ]
