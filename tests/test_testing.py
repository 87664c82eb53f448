"""The scripted model and the scripted server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from simulator.model import Endpoint, Message, Model, Sampling
from simulator.testing import (
    Answer,
    CloseAfter,
    Cut,
    Delay,
    Drip,
    Endless,
    NoAnswer,
    Raw,
    ScriptedModel,
    ScriptedServer,
    Step,
    by_text,
    chat_body,
)

HELLO = (Message(role="user", content="Hello"),)


def _post(server: ScriptedServer, client: httpx.Client, text: str = "Hello") -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return client.post(f"{server.url}/chat/completions", json=body)


def _ask(server: ScriptedServer) -> socket.socket:
    """Return a connection on which a request was sent; what comes back is not read."""
    body = b'{"model":"m","messages":[]}'
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0), timeout=10)
    connection.sendall(head.encode() + body)
    return connection


def _received(connection: socket.socket) -> bytes:
    """Return all bytes until the server ends the connection."""
    with connection, connection.makefile("rb") as stream:
        return stream.read()


def test_steps_in_order_are_used_up() -> None:
    """A text, a body and a whole answer are replies of the real client, one after another."""
    script = ["one", chat_body("two", finish="length"), Answer(status=400, body={"error": {"message": "three"}})]
    with ScriptedModel(script) as model:
        replies = [model.send(model.request(HELLO, seed=number)).reply for number in range(3)]
    assert [(reply.outcome, reply.text) for reply in replies] == [
        ("reply", "one"),
        ("truncated", "two"),
        ("failed", None),
    ]
    assert [seen.body["seed"] for seen in model.requests] == [0, 1, 2]


def test_a_request_beyond_the_script_is_loud() -> None:
    """A script that has ended raises through the client, which swallows only what servers do."""
    with ScriptedModel([]) as model, pytest.raises(AssertionError, match="request 1 was not expected"):
        model.send(model.request(HELLO, seed=None))


def test_a_function_decides_by_the_request() -> None:
    """A function receives the parsed body; a text answers under the name of the model that was asked."""
    with ScriptedModel(lambda body: f"{body['messages'][-1]['content']}, {body['model']}") as model:
        reply = model.send(model.request(HELLO, seed=None)).reply
    assert (reply.text, reply.model) == ("Hello, scripted", "scripted")


def test_by_text_takes_the_first_case_found() -> None:
    """Cases are looked for in every message, in their order, and none that fits is an error."""
    script = by_text({"verdict": "supported", "Hel": "Good day"})
    assert script({"messages": [{"content": "Hello"}, {"content": "a verdict"}]}) == "supported"
    assert script({"messages": [{"content": "Hello"}]}) == "Good day"
    with pytest.raises(LookupError, match="no case of the script"):
        script({"messages": [{"content": "Bye"}]})


def test_waits_of_a_scripted_model_are_noted_and_not_slept() -> None:
    """A retried step leaves one wait."""
    with ScriptedModel([Answer(status=503, headers={"retry-after": "7"}), "late"]) as model:
        assert model.send(model.request(HELLO, seed=None)).reply.text == "late"
    assert model.waits == [7.0]


def test_the_server_keeps_connections_and_requests() -> None:
    """Requests on one connection are counted, kept as they came, and served in order."""
    with ScriptedServer(["one", "two"]) as server, httpx.Client(trust_env=False) as client:
        texts = [_post(server, client, text).json()["choices"][0]["message"]["content"] for text in ("a", "b")]
        assert texts == ["one", "two"]
        assert server.connections == 1
        assert [seen.body["messages"][0]["content"] for seen in server.requests] == ["a", "b"]
        assert server.requests[0].path == "/v1/chat/completions"
        assert server.requests[0].headers["content-type"] == "application/json"


def test_the_server_has_pages() -> None:
    """The list of models and the health page are there, further pages by path, and everything else is 404."""
    with ScriptedServer([], model="m", pages={"/props": {"total_slots": 2}}) as server:
        root = server.url.removesuffix("/v1")
        with httpx.Client(trust_env=False) as client:
            assert client.get(f"{server.url}/models").json()["data"][0]["id"] == "m"
            assert client.get(f"{root}/health").json() == {"status": "ok"}
            assert client.get(f"{root}/props").json() == {"total_slots": 2}
            assert client.get(f"{root}/nothing").status_code == 404
            assert client.post(f"{server.url}/embeddings", json={}).status_code == 404


def test_many_threads_are_served_at_once() -> None:
    """Every thread gets the answer to its own request, and none waits for another to be served."""
    together = threading.Barrier(4)

    def script(body: Mapping[str, Any]) -> str:
        together.wait(timeout=10)
        return body["messages"][0]["content"]

    texts: dict[str, str] = {}
    with ScriptedServer(script) as server, httpx.Client(trust_env=False) as client:

        def ask(name: str) -> None:
            texts[name] = _post(server, client, name).json()["choices"][0]["message"]["content"]

        threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == {name: name for name in "abcd"}


@pytest.mark.parametrize(
    ("step", "start", "end"),
    [
        (Cut(content=Answer(body="abcdef"), after=2), b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n", b"\r\n\r\nab"),
        (NoAnswer(), b"", b""),
        (CloseAfter(content=Answer(status=599, body="x")), b"HTTP/1.1 599 Unnamed", b"\r\n\r\nx"),
        (Raw(data=b"SSH-2.0\r\n"), b"SSH-2.0", b"\r\n"),
    ],
)
def test_what_a_fault_sends_before_it_hangs_up(step: Step, start: bytes, end: bytes) -> None:
    """Each of these sends its bytes and ends the connection, although it was to be kept."""
    with ScriptedServer([step]) as server:
        received = _received(_ask(server))
    assert received.startswith(start)
    assert received.endswith(end)
    assert bool(received) == bool(start)


@pytest.mark.parametrize(
    "step",
    [
        Delay(seconds=0.01, step=Answer(body="abc")),
        Drip(content=Answer(body="abc"), seconds=0.001),
        Drip(content=Answer(body="abc"), seconds=0.001, size=7, head=True),
    ],
)
def test_a_slow_answer_is_whole(step: Step) -> None:
    """A delayed or dripping answer is the same answer, and its connection is kept."""
    with ScriptedServer([step, step]) as server, httpx.Client(trust_env=False) as client:
        assert [_post(server, client).text for _ in range(2)] == ["abc", "abc"]
        assert server.connections == 1


def test_closing_ends_what_never_would() -> None:
    """An endless answer, a long pause and an idle connection end where the server closes, and so do its threads."""
    before = threading.active_count()
    with ScriptedServer([Endless(), Delay(seconds=3600, step="never"), "idle"]) as server:
        connections = [_ask(server)]
        assert connections[0].recv(8) == b"HTTP/1.1"
        connections.append(_ask(server))
        while len(server.requests) < 2:
            time.sleep(0.001)
        connections.append(_ask(server))
        assert connections[2].recv(8) == b"HTTP/1.1"
        assert threading.active_count() == before + 4
    assert threading.active_count() == before
    for connection in connections:
        connection.close()


def test_an_error_of_the_script_is_raised_at_the_end() -> None:
    """A bug in a script does not hide behind a failed call."""

    def script(body: Mapping[str, Any]) -> str:
        return str(body["no such field"])

    with pytest.raises(KeyError, match="no such field"), ScriptedServer(script) as server:
        assert _received(_ask(server)) == b""


def test_the_real_client_and_the_real_server_agree() -> None:
    """What the client says that it sends is what the server sees."""
    with ScriptedServer(["Good day"]) as server:
        with Model(Endpoint(base_url=server.url, model="m"), Sampling(temperature=0.5)) as model:
            request = model.request(HELLO, seed=7)
            assert model.send(request).reply.text == "Good day"
        assert server.requests[0].content == request.content()
