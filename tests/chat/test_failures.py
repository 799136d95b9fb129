"""Failures of servers are told from failures of models by what the installed libraries really raise."""

import asyncio
import random
import time
from collections.abc import Callable
from email.utils import formatdate

import pytest
from langchain_core.exceptions import ContextOverflowError, ModelRefusalError
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit.chat import failures
from lcbkit.chat.failures import call_with_retries, is_infrastructure_error, is_transient
from lcbkit.models import get_model

TOO_LONG = "This model's maximum context length is 10 tokens (context_length_exceeded)"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)


async def failure_of(endpoint: ScriptedEndpoint, **params: float) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is, is the question
        await get_model("scripted", base_url=endpoint.url, **params).ainvoke("hello")
    return caught.value


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_overload_and_server_failures_are_worth_another_try(
    endpoint: ScriptedEndpoint, status: int
) -> None:
    endpoint.replies(Reply(status=status))
    error = await failure_of(endpoint)
    assert is_infrastructure_error(error)
    assert is_transient(error)


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_wrong_key_or_name_is_infrastructure_that_lasts(
    endpoint: ScriptedEndpoint, status: int
) -> None:
    endpoint.replies(Reply(status=status))
    error = await failure_of(endpoint)
    assert is_infrastructure_error(error)
    assert not is_transient(error)


@pytest.mark.parametrize("reply", [Reply(status=400), Reply(status=422), Reply(status=400, error=TOO_LONG)])
async def test_a_request_that_the_server_refuses_is_no_infrastructure(
    endpoint: ScriptedEndpoint, reply: Reply
) -> None:
    endpoint.replies(reply)
    assert not is_infrastructure_error(await failure_of(endpoint))


async def test_a_dead_server_is_infrastructure() -> None:
    with ScriptedEndpoint() as gone:
        pass
    assert is_transient(await failure_of(gone))


async def test_a_dropped_connection_is_infrastructure(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply(drop=True))
    assert is_transient(await failure_of(endpoint))


async def test_a_request_that_takes_too_long_is_infrastructure(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply("late", delay=30))
    assert is_transient(await failure_of(endpoint, request_timeout=0.2))


@pytest.mark.parametrize("extra", [{"choices": None}, {"choices": []}, {"error": {"message": "no GPU"}}])
async def test_an_answer_that_is_no_chat_completion_is_infrastructure(
    endpoint: ScriptedEndpoint, extra: dict[str, object]
) -> None:
    endpoint.replies(Reply("never seen", extra=extra))
    assert is_transient(await failure_of(endpoint))


@pytest.mark.parametrize(
    ("error", "infrastructure"),
    [
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (RuntimeError("Event loop is closed"), True),
        (RuntimeError("no such tool"), False),
        (ValueError("x"), False),
        (KeyError("x"), False),
        (ContextOverflowError(), False),
        (ModelRefusalError(), False),
    ],
)
def test_python_and_langchain_errors_are_sorted_by_class(error: Exception, infrastructure: bool) -> None:
    assert is_infrastructure_error(error) is infrastructure


@pytest.mark.parametrize(
    ("status", "infrastructure"), [(503, True), (401, True), (400, False), ("503", False)]
)
def test_errors_of_unknown_libraries_are_sorted_by_their_status(status: object, infrastructure: bool) -> None:
    class ProviderError(Exception):
        status_code = status

    assert is_infrastructure_error(ProviderError()) is infrastructure


def failing(times: int, error: Callable[[], Exception]) -> tuple[Callable[[], object], list[int]]:
    calls: list[int] = []

    async def ask() -> str:
        calls.append(len(calls))
        if len(calls) <= times:
            raise error()
        return "answer"

    return ask, calls


async def test_a_call_is_made_again_until_it_succeeds() -> None:
    ask, calls = failing(3, ConnectionError)
    seen: list[int] = []
    answer = await call_with_retries(ask, on_retry=lambda number, _error, _seconds: seen.append(number))
    assert (answer, len(calls), seen) == ("answer", 4, [1, 2, 3])


async def test_retries_are_bounded_and_the_last_error_shows() -> None:
    ask, calls = failing(99, ConnectionError)
    with pytest.raises(ConnectionError):
        await call_with_retries(ask)
    assert len(calls) == failures.ATTEMPTS
    ask, calls = failing(99, ConnectionError)
    with pytest.raises(ConnectionError):
        await call_with_retries(ask, attempts=2)
    assert len(calls) == 2


async def test_what_asking_again_cannot_mend_is_not_asked_again() -> None:
    ask, calls = failing(99, lambda: ValueError("refused"))
    with pytest.raises(ValueError, match="refused"):
        await call_with_retries(ask)
    assert len(calls) == 1


async def test_a_cancelled_call_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 30.0)
    ask, calls = failing(99, ConnectionError)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await call_with_retries(ask)
    assert len(calls) == 1


async def test_waits_double_up_to_a_bound_and_vary_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "LONGEST_WAIT_SECONDS", 0.04)

    async def waits(seed: int) -> list[float]:
        seen: list[float] = []
        ask, _ = failing(5, ConnectionError)
        await call_with_retries(
            ask, attempts=6, chance=random.Random(seed), on_retry=lambda *event: seen.append(event[2])
        )
        return seen

    first, second = await waits(1), await waits(2)
    assert first != second
    for wait, bound in zip(first, (0.01, 0.02, 0.04, 0.04, 0.04), strict=True):
        assert bound / 2 <= wait <= bound


@pytest.mark.parametrize("header", ["7", "date", "-3", "soon", ""])
async def test_the_wait_is_never_less_than_the_server_asks(endpoint: ScriptedEndpoint, header: str) -> None:
    text = formatdate(time.time() + 60, usegmt=True) if header == "date" else header
    endpoint.replies(Reply(status=429, headers={"Retry-After": text} if text else {}))
    error = await failure_of(endpoint)
    seconds = failures._wait_seconds(1, error, random.Random(0))
    low, high = {"7": (7, 7.1), "date": (50, 61)}.get(header, (0, 0.1))
    assert low <= seconds <= high


async def test_a_server_cannot_ask_for_more_than_two_minutes(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply(status=503, headers={"Retry-After": "86400"}))
    assert failures._wait_seconds(1, await failure_of(endpoint), random.Random(0)) < 121


async def test_retries_carry_a_call_over_a_rate_limit_and_a_drop(endpoint: ScriptedEndpoint) -> None:
    endpoint.replies(Reply(status=429, headers={"Retry-After": "0"}), Reply(drop=True), "there")
    model = get_model("scripted", base_url=endpoint.url)
    answer = await call_with_retries(lambda: model.ainvoke("hello"))
    assert answer.text == "there"
    assert len(endpoint.requests) == 3  # the client itself asked once each time
