"""A scripted model and a scripted server, for tests: every answer is known, and so is every request.

A script is a sequence of steps that are used up in order, or a function from the parsed body of a request to a step.
A step is a text (the reply), a mapping (the whole body, see ``chat_body``), an ``Answer`` or, for a server, a
fault. ``ScriptedModel`` is the real client without a network; ``ScriptedServer`` is a real server on loopback.

A fault is a value that says what goes over the wire: bytes, pauses, and the end of the connection. The server carries
that out in one place, so that a new fault is a new class with a ``wire`` method, here or in a test.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self, TypeAlias, cast
from urllib.parse import urlsplit

import httpx

from .model import Endpoint, Limits, Model, Sampling

__all__ = [
    "HANG_UP",
    "Answer",
    "CloseAfter",
    "Content",
    "Cut",
    "Delay",
    "Drip",
    "Endless",
    "Fault",
    "NoAnswer",
    "Pause",
    "Raw",
    "ScriptedModel",
    "ScriptedServer",
    "SeenRequest",
    "Step",
    "by_text",
    "chat_body",
]

_USAGE: Mapping[str, Any] = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An HTTP answer. A mapping as body is sent as JSON."""

    status: int = 200
    body: str | bytes | Mapping[str, Any] = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})

    def content(self) -> bytes:
        """Return the body as bytes."""
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()

    def head(self) -> bytes:
        """Return status line and headers, with a content-length, as they go over the wire."""
        fields = {"content-length": str(len(self.content())), **self.headers}
        lines = [f"HTTP/1.1 {self.status} {_phrase(self.status)}", *(f"{name}: {fields[name]}" for name in fields)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


Content: TypeAlias = str | Mapping[str, Any] | Answer
"""A text (the reply), a whole body, or a whole answer."""

Body: TypeAlias = Mapping[str, Any]
"""The parsed body of a request."""


@dataclass(frozen=True, slots=True)
class Pause:
    """On the wire: nothing, for a while."""

    seconds: float


class _HangUp:
    """On the wire: the end of the connection."""


HANG_UP = _HangUp()

Wire: TypeAlias = bytes | Pause | _HangUp


class Fault(Protocol):
    """A bad way to answer."""

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield what goes over the wire in answer to *request*; after ``HANG_UP`` nothing more."""
        ...


Step: TypeAlias = Content | Fault
Script: TypeAlias = Sequence[Step] | Callable[[Body], Step]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenRequest:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    """Lower-case names."""
    content: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The content, parsed."""
        return json.loads(self.content)


def chat_body(
    text: str | None,
    *,
    finish: str | None = "stop",
    usage: Mapping[str, Any] | None = _USAGE,
    model: str = "scripted",
    **message: Any,
) -> dict[str, Any]:
    """Return the body of a chat completion; *message* holds further fields of the message, such as ``refusal``."""
    said = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return {"id": "scripted", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}


def by_text(cases: Mapping[str, Step]) -> Callable[[Body], Step]:
    """Return a script that takes the first case whose key stands in a message of the request; "" is in every one."""

    def script(body: Body) -> Step:
        said = "\n".join(str(message["content"]) for message in body["messages"])
        for key, step in cases.items():
            if key in said:
                return step
        raise LookupError(f"no case of the script is for this request: {said[-200:]!r}")

    return script


# Faults


@dataclass(frozen=True, kw_only=True, slots=True)
class Delay:
    """Nothing for some seconds, then *step*."""

    seconds: float
    step: Step

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield a pause, then the step."""
        yield Pause(self.seconds)
        yield from _wire(self.step, request)


@dataclass(frozen=True, kw_only=True, slots=True)
class Drip:
    """*content* in pieces of *size* bytes with a pause after each: the body, or with *head* the head as well."""

    content: Content
    seconds: float
    size: int = 1
    head: bool = False

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield pieces and pauses."""
        answer = _answer(self.content, request)
        slow = answer.content()
        if self.head:
            slow = answer.head() + slow
        else:
            yield answer.head()
        for start in range(0, len(slow), self.size):
            yield slow[start : start + self.size]
            yield Pause(self.seconds)


@dataclass(frozen=True, kw_only=True, slots=True)
class Endless:
    """An answer whose body never ends: *piece*, a pause, and so on."""

    piece: bytes = b" "
    seconds: float = 0.01

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield pieces and pauses for ever."""
        del request
        yield b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
        while True:
            yield self.piece
            yield Pause(self.seconds)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """*content*, but the connection ends after *after* bytes of its body."""

    content: Content
    after: int

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield the head and a part of the body that it promises."""
        answer = _answer(self.content, request)
        yield answer.head() + answer.content()[: self.after]
        yield HANG_UP


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The connection ends without a byte, as where an idle one is closed while the next request is under way."""

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield the end."""
        del request
        yield HANG_UP


@dataclass(frozen=True, kw_only=True, slots=True)
class CloseAfter:
    """*content*, whole and with the connection left open by its headers, and then its end all the same."""

    content: Content

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield the answer and the end."""
        yield from _wire(self.content, request)
        yield HANG_UP


@dataclass(frozen=True, kw_only=True, slots=True)
class Raw:
    """These bytes, whatever they are, and the end of the connection."""

    data: bytes

    def wire(self, request: Body) -> Iterator[Wire]:
        """Yield the bytes and the end."""
        del request
        yield self.data
        yield HANG_UP


def _wire(step: Step, request: Body) -> Iterator[Wire]:
    if isinstance(step, str | Mapping | Answer):
        answer = _answer(step, request)
        yield answer.head() + answer.content()
    else:
        yield from step.wire(request)


def _answer(content: Content, request: Body) -> Answer:
    if isinstance(content, Answer):
        return content
    if isinstance(content, str):
        return Answer(body=chat_body(content, model=str(request.get("model"))))
    return Answer(body=content)


def _phrase(status: int) -> str:
    with contextlib.suppress(ValueError):
        return HTTPStatus(status).phrase
    return "Unnamed"


class _Player:
    """A script under way, and the requests that it has seen. Safe to use from many threads."""

    def __init__(self, script: Script) -> None:
        self._lock = threading.Lock()
        self._choose = script if callable(script) else None
        self._steps = iter(()) if callable(script) else iter(script)
        self.requests: list[SeenRequest] = []

    def next(self, request: SeenRequest) -> Step:
        """Keep *request* and return its step; raises ``AssertionError`` where the script has ended."""
        with self._lock:
            self.requests.append(request)
            if self._choose is None:
                return self._next_in_order()
        return self._choose(request.body)

    def _next_in_order(self) -> Step:
        for step in self._steps:
            return step
        raise AssertionError(f"the script has ended; request {len(self.requests)} was not expected")


# The scripted model


class ScriptedModel(Model):
    """The real client, answered by a script instead of a network. Waits between tries are noted, not slept."""

    def __init__(
        self,
        script: Sequence[Content] | Callable[[Body], Content],
        *,
        endpoint: Endpoint | None = None,
        sampling: Sampling | None = None,
        limits: Limits | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._player = _Player(script)
        self.waits: list[float] = []
        super().__init__(
            endpoint or Endpoint(base_url="http://scripted.test/v1", model="scripted"),
            sampling or Sampling(),
            limits=limits,
            transport=httpx.MockTransport(self._respond),
            sleep=self.waits.append,
            rng=rng or random.Random(0),  # noqa: S311 - the same waits every time
        )

    @property
    def requests(self) -> Sequence[SeenRequest]:
        """The chat requests so far, in the order in which they came."""
        return self._player.requests

    def _respond(self, request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return httpx.Response(404, stream=httpx.ByteStream(b""))
        seen = SeenRequest(path=request.url.path, headers=dict(request.headers), content=request.content)
        step = self._player.next(seen)
        answer = _answer(cast("Content", step), seen.body)
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=httpx.ByteStream(answer.content()))


# The scripted server


class ScriptedServer:
    """A real HTTP server on 127.0.0.1 and a free port, answered by a script while the context is open.

    ``pages`` are steps for GET by path, beside ``/v1/models``, which lists *model*, and ``/health``. An exception
    in the script ends its connection, and is raised where the context ends.
    """

    def __init__(self, script: Script, *, model: str = "scripted", pages: Mapping[str, Step] | None = None) -> None:
        listing = {"object": "list", "data": [{"id": model, "object": "model", "owned_by": "scripted"}]}
        self._pages: Mapping[str, Step] = {"/v1/models": listing, "/health": {"status": "ok"}, **(pages or {})}
        self._player = _Player(script)

    @property
    def url(self) -> str:
        """The base URL of the endpoint, ``http://127.0.0.1:PORT/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> Sequence[SeenRequest]:
        """The chat requests so far, in the order in which they came."""
        return self._player.requests

    @property
    def connections(self) -> int:
        """How many connections were accepted so far."""
        return len(self._server.threads)

    def __enter__(self) -> Self:
        self._server = _Server(self._player, self._pages)
        # Shutting down waits for the end of one polling interval.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self.close()
        if kind is None and self._server.errors:
            raise self._server.errors[0]

    def close(self) -> None:
        """Close every connection and end every thread."""
        self._server.stop()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    """Keeps its threads and connections, so that both can be ended."""

    def __init__(self, player: _Player, pages: Mapping[str, Step]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.player = player
        self.pages = pages
        self.stopping = threading.Event()
        self.threads: list[threading.Thread] = []
        self.errors: list[BaseException] = []
        self._open: list[socket.socket] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve one connection in a thread of its own."""
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self._open.append(request)
        self.threads.append(thread)
        thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep an exception of the script; that a client has gone is none."""
        del request, client_address
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.errors.append(error)

    def stop(self) -> None:
        """End everything; a connection that waits for its next request, or for a pause to end, does so at once."""
        self.stopping.set()
        self.shutdown()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body may be written apart, and a fault wants every piece to leave at once.
    disable_nagle_algorithm = True

    @property
    def _server(self) -> _Server:
        return cast("_Server", self.server)

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self._perform(_wire(self._server.pages.get(path, _not_found(path)), {}))

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        content = self.rfile.read(int(headers.get("content-length", 0)))
        seen = SeenRequest(path=self.path, headers=headers, content=content)
        if not urlsplit(self.path).path.endswith("/chat/completions"):
            self._perform(_wire(_not_found(self.path), {}))
            return
        self._perform(_wire(self._server.player.next(seen), seen.body))

    def _perform(self, wire: Iterator[Wire]) -> None:
        """Do what *wire* says, until it or the server ends."""
        for action in wire:
            if isinstance(action, bytes):
                self.wfile.write(action)
            elif isinstance(action, _HangUp) or self._server.stopping.wait(action.seconds):
                self.close_connection = True
                return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""


def _not_found(path: str) -> Answer:
    return Answer(status=404, body={"error": {"message": f"nothing is at {path}"}})
