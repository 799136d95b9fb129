"""What counts as a failure of the infrastructure rather than of a model, and asking again after one."""

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import TypeVar

__all__ = ["call_with_retries", "is_infrastructure_error", "is_transient"]

T = TypeVar("T")

ATTEMPTS = 5
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
LONGEST_RETRY_AFTER_SECONDS = 120.0

# Exceptions are recognised by class, in libraries that are loaded already: one that is not raised nothing.
_TRANSIENT = (
    ("langchain_core.exceptions", "ModelConnectionError ModelTimeoutError ModelRateLimitError ModelAPIError"),
    ("openai", "APIConnectionError RateLimitError InternalServerError"),
    ("httpx", "TransportError"),
    ("httpx2", "TransportError"),
)
_LASTING = (
    ("langchain_core.exceptions", "ModelAuthenticationError ModelPermissionDeniedError ModelNotFoundError"),
    ("openai", "AuthenticationError PermissionDeniedError NotFoundError"),
)
# A stream can break off with an error that has no HTTP status; these say that the request itself was bad.
_BAD_REQUEST = {"invalid_request_error", "BadRequestError", "context_length_exceeded"}
_TRANSIENT_STATUS = {408, 409, 425, 429}
_LASTING_STATUS = {401, 402, 403, 404}


def is_infrastructure_error(error: BaseException) -> bool:
    """Whether a failed model call says nothing about the model: no server, no key, overload, a time-out.

    A refusal, a request that is too long and anything a program of ours raises are not infrastructure.

    Args:
        error: what the call raised; the classes of LangChain, of the providers' libraries (by their HTTP
            status) and of Python itself are known.
    """
    return is_transient(error) or _is_one_of(error, _LASTING) or _status(error) in _LASTING_STATUS


def is_transient(error: BaseException) -> bool:
    """Whether asking again may help: no connection, a time-out, a rate limit, a failure of the server."""
    if isinstance(error, TimeoutError | ConnectionError) or _is_one_of(error, _TRANSIENT):
        return True
    if isinstance(error, RuntimeError) and "Event loop is closed" in str(error):
        return True  # a pooled connection of an earlier event loop; the next attempt opens a new one
    if isinstance(error, json.JSONDecodeError) or _broke_a_stream(error):
        return True
    status = _status(error)
    return status in _TRANSIENT_STATUS or 500 <= status < 600


async def call_with_retries(
    ask: Callable[[], Awaitable[T]],
    *,
    attempts: int | None = None,
    on_retry: Callable[[int, Exception, float], None] | None = None,
    chance: random.Random | None = None,
) -> T:
    """Await a model call, again after a transient failure: the one place where calls are retried.

    Between attempts it waits: twice as long each time, shortened by chance so that many callers spread out,
    but never less than the server's Retry-After (up to two minutes).

    Args:
        ask: makes one attempt.
        attempts: how many at most; None means 5.
        on_retry: told the number of the failed attempt (from 1), its error and the seconds until the next.
        chance: the source of the jitter.

    Returns:
        What the first attempt that succeeds returns.

    Raises:
        Exception: the last attempt's error, or at once one that asking again would not mend.
    """
    limit = ATTEMPTS if attempts is None else attempts
    chance = chance or random.Random()
    attempt = 1
    while True:
        try:
            return await ask()
        except Exception as error:
            if attempt >= limit or not is_transient(error):
                raise
            seconds = _wait_seconds(attempt, error, chance)
            if on_retry is not None:
                on_retry(attempt, error, seconds)
        await asyncio.sleep(seconds)
        attempt += 1


def _wait_seconds(attempt: int, error: Exception, chance: random.Random) -> float:
    backoff = min(FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1), LONGEST_WAIT_SECONDS)
    asked = min(_retry_after(error), LONGEST_RETRY_AFTER_SECONDS)
    return asked + backoff * chance.uniform(0.5, 1.0)


def _retry_after(error: Exception) -> float:
    """Seconds that the server asks to wait, 0 when it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    text = headers.get("retry-after")
    if not text:
        return 0.0
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return 0.0


def _is_one_of(error: BaseException, classes: tuple[tuple[str, str], ...]) -> bool:
    for module_name, names in classes:
        module = sys.modules.get(module_name)
        known = tuple(getattr(module, name) for name in names.split() if hasattr(module, name))
        if isinstance(error, known):
            return True
    return False


def _broke_a_stream(error: BaseException) -> bool:
    """Whether the server failed in the middle of an answer, for a reason that is not the request."""
    if not _is_one_of(error, (("openai", "APIError"),)) or _status(error):
        return False
    told = {str(getattr(error, name, None)) for name in ("type", "code")}
    statuses = {int(text) for text in told if text.isdecimal()}
    refused = any(400 <= status < 500 and status not in _TRANSIENT_STATUS for status in statuses)
    return not refused and not told & _BAD_REQUEST


def _status(error: BaseException) -> int:
    """The HTTP status that an error carries, 0 when it carries none."""
    response = getattr(error, "response", None)
    found = (getattr(error, "status_code", None), getattr(response, "status_code", None))
    return next((status for status in (*found, getattr(error, "code", None)) if isinstance(status, int)), 0)
