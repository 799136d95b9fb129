"""A real OpenAI-compatible HTTP server on loopback whose answers a test writes.

    def test_something(endpoint):
        endpoint.script = lambda request: Reply("hello") if request.seed == 0 else Reply(status=500)
        model = get_model("any-name", base_url=endpoint.url)

A script takes the `Request` and returns a `Reply` or a plain string; it may be called from several threads
at once, and what it raises (a failed assert, say) fails the test. `endpoint.replies(...)` scripts a fixed
sequence. Everything received is in `endpoint.requests`.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Reply", "Request", "ScriptedEndpoint", "tool_call"]


@dataclass(frozen=True)
class Request:
    """One chat completion as it arrived."""

    index: int  # arrival order, from 0
    body: Mapping[str, Any]
    headers: Mapping[str, str]  # names in lower case

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def system(self) -> str:
        return "\n".join(_text(m) for m in self.messages if m["role"] in ("system", "developer"))

    @property
    def last(self) -> str:
        """The text of the last message, whatever its role."""
        return _text(self.messages[-1])

    @property
    def text(self) -> str:
        """All texts, one message after the other: handy to ask what a role could read."""
        return "\n".join(_text(m) for m in self.messages)

    @property
    def seed(self) -> int | None:
        return self.body.get("seed")

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]


@dataclass(frozen=True)
class Reply:
    """One answer, or one failure."""

    text: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()  # from `tool_call(...)`
    prompt_tokens: int | None = 10
    completion_tokens: int | None = 5  # either None: the answer reports no usage
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    reasoning: str | None = None  # sent as `reasoning_content`, as vLLM does
    finish_reason: str | None = None  # default: "tool_calls" with calls, else "stop"
    delay: float = 0.0  # seconds before the first byte
    status: int = 200
    error: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict)  # e.g. {"Retry-After": "1"}
    drop: bool = False  # reset the connection instead of answering; when streaming, after half the words
    extra: Mapping[str, Any] = field(default_factory=dict)  # more top-level fields of the answer
    cut: bool = False  # send half the answer: of a stream, that ends in order; else the connection is reset
    raw: str | None = None  # sent in place of an answer, with `headers`

    @property
    def ending(self) -> str:
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")

    @property
    def usage(self) -> dict[str, Any] | None:
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
        }


def tool_call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A call that a scripted answer makes; the endpoint gives it an id."""
    return {"name": name, "arguments": arguments}


class ScriptedEndpoint:
    """The server; a context manager. `url` is what goes into `base_url`.

    Args:
        script: gives the answers; None: all are empty.
        port: where to listen if that is free; 0: anywhere.
    """

    def __init__(self, script: Callable[[Request], Reply | str] | None = None, *, port: int = 0) -> None:
        self.script: Callable[[Request], Reply | str] = script or (lambda _request: "")
        self.requests: list[Request] = []
        self.peak = 0  # the most requests that were in work at one moment
        self.failures: list[Exception] = []  # what the script raised
        self._in_work = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        try:
            self._server = _Server(("127.0.0.1", port), _Handler)
        except OSError:
            self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def replies(self, *answers: Reply | str) -> None:
        """Answer with these in the order of arrival from now on; the last one then repeats."""
        first = len(self.requests)
        self.script = lambda request: answers[min(request.index - first, len(answers) - 1)]

    def __enter__(self) -> "ScriptedEndpoint":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()
        if self.failures:
            raise self.failures[0]

    def close(self) -> None:
        """Stop listening and end the answers that still wait; afterwards the port is dead."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[Request, Reply]:
        with self._lock:
            request = Request(len(self.requests), body, headers)
            self.requests.append(request)
            self._in_work += 1
            self.peak = max(self.peak, self._in_work)
        try:
            answer = self.script(request)
        except Exception as error:  # noqa: BLE001  # raised again in the test's own thread, by `__exit__`
            self.failures.append(error)
            answer = Reply(status=400, error=f"the script failed: {error!r}")
        reply = Reply(answer) if isinstance(answer, str) else answer
        self._closing.wait(reply.delay)
        return request, reply

    def done(self) -> None:
        with self._lock:
            self._in_work -= 1


class _Server(ThreadingHTTPServer):
    endpoint: ScriptedEndpoint
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_args: Any) -> None:
        """A client that went away is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30  # an idle keep-alive connection

    def log_message(self, *_args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/chat/completions"):
            self._send(404, {"error": {"message": f"no route {self.path}"}})
            return
        try:
            request, reply = self.server.endpoint.take(body, {k.lower(): v for k, v in self.headers.items()})
            self._answer(request, reply)
        finally:
            self.server.endpoint.done()

    def _answer(self, request: Request, reply: Reply) -> None:
        if reply.raw is not None:
            self._send(reply.status, reply.raw, reply.headers)
        elif reply.status != 200:
            error = {"error": {"message": reply.error, "type": "scripted", "code": reply.status}}
            self._send(reply.status, error, reply.headers)
        elif request.body.get("stream"):
            self._stream(request, reply)
        elif reply.drop:
            self._reset()
        else:
            choice = {"index": 0, "finish_reason": reply.ending, "message": _message(request, reply)}
            usage = {"usage": reply.usage} if reply.usage else {}
            kind = {"object": "chat.completion"}
            answer = _head(request) | kind | {"choices": [choice]} | usage | reply.extra
            self._send(200, answer, reply.headers, cut=reply.cut)

    def _send(
        self, status: int, value: Any, headers: Mapping[str, str] | None = None, *, cut: bool = False
    ) -> None:
        raw = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2] if cut else raw)
        if cut:
            self._reset()

    def _stream(self, request: Request, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        head = _head(request) | {"object": "chat.completion.chunk"}
        deltas = list(_deltas(request, reply))
        broken = reply.drop or reply.cut
        for delta in deltas[: len(deltas) // 2] if broken else deltas:
            self._event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.close_connection = True
        if broken:
            if reply.drop:
                self._reset()
            return
        self._event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": reply.ending}]})
        if reply.usage and (request.body.get("stream_options") or {}).get("include_usage"):
            self._event(head | {"choices": [], "usage": reply.usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, value: Any) -> None:
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        self.wfile.flush()

    def _reset(self) -> None:
        """Close with a reset, as a killed server does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


def _head(request: Request) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.index}", "created": 1_700_000_000, "model": request.body.get("model")}


def _message(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text or (None if reply.tool_calls else ""),
    }
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = _calls(request, reply)
    return message


def _calls(request: Request, reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{request.index}_{number}",
            "type": "function",
            "function": {"name": call["name"], "arguments": _arguments(call["arguments"])},
        }
        for number, call in enumerate(reply.tool_calls)
    ]


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)  # a string: bad JSON on purpose


def _deltas(request: Request, reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    if reply.reasoning is not None:
        yield {"reasoning_content": reply.reasoning}
    for word in reply.text.splitlines(keepends=True):
        yield {"content": word}
    for number, call in enumerate(_calls(request, reply)):
        whole = call["function"]["arguments"]
        half = len(whole) // 2
        first = {**call, "function": {**call["function"], "arguments": whole[:half]}}
        yield {"tool_calls": [{"index": number, **first}]}
        yield {"tool_calls": [{"index": number, "function": {"arguments": whole[half:]}}]}


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""
