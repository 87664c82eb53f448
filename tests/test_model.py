"""The client of a model: what it sends, how answers read, how it tries again, and what it keeps to itself."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.canonical import canonical_json, digest_bytes
from simulator.errors import EndpointError, InputError
from simulator.model import (
    Endpoint,
    Exchange,
    Limits,
    Message,
    Model,
    Reply,
    Response,
    Role,
    Sampling,
    Secret,
    Usage,
    api_key_from_env,
    list_models,
    read_response,
)
from simulator.testing import (
    Answer,
    CloseAfter,
    Content,
    Cut,
    Delay,
    Drip,
    Endless,
    NoAnswer,
    Raw,
    ScriptedModel,
    ScriptedServer,
    Step,
    chat_body,
)

HELLO = (Message(role="user", content="Hello"),)
KEY = "sk-Test/Key.0123456789"
JSON = {"content-type": "application/json"}
QUICK = Limits(try_seconds=5, deadline_seconds=20)


def read(body: object, status: int = 200, **headers: str) -> Reply:
    """Return the reading of a body, given as JSON or as bytes."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return read_response(Response(status=status, headers=JSON | named, body=content))


def reply_with(message: Mapping[str, Any] | None, finish: object = "stop", **fields: Any) -> dict[str, Any]:
    """Return the body of a completion with *message* as it stands."""
    return {"choices": [{"message": message, "finish_reason": finish}], **fields}


def ask(model: Model) -> Exchange:
    """Send one request."""
    return model.send(model.request(HELLO, seed=1))


def scripted(*steps: Content, limits: Limits | None = None) -> ScriptedModel:
    """Return a model with these answers."""
    return ScriptedModel(steps, limits=limits)


def at(server: ScriptedServer, limits: Limits = QUICK, *, connections: int = 4, **fields: Any) -> Model:
    """Return a client of *server* that does not sleep between tries."""
    endpoint = Endpoint(base_url=server.url, model="scripted", **fields)
    return Model(endpoint, Sampling(), limits=limits, sleep=lambda _: None, connections=connections)


# How a response reads


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": " Hello.\n"}, " Hello.\n", None),
        ({"content": [{"type": "text", "text": "Hel"}, {"type": "output_text", "text": "lo."}]}, "Hello.", None),
        ({"content": ["Hel", "lo."]}, "Hello.", None),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"text": "Hello."}]},
            "Hello.",
            "hm",
        ),
        ({"content": "Hello.", "reasoning_content": "hm"}, "Hello.", "hm"),
        ({"content": "Hello.", "reasoning": "hm"}, "Hello.", "hm"),
        ({"content": "\n<think>\nhm\n</think>\n\nHello."}, "Hello.", "hm"),
        ({"content": "hm\n</think>\n\nHello."}, "Hello.", "hm"),
        ({"content": "<think></think>Hello."}, "Hello.", None),
        ({"content": "<think>hm, Hello."}, "<think>hm, Hello.", None),
        ({"content": "Use <think>a</think> tags."}, "Use <think>a</think> tags.", None),
        ({"content": "First I think. Then I say hello."}, "First I think. Then I say hello.", None),
        ({"content": "Hello.", "tool_calls": [{"type": "function"}]}, "Hello.", None),
        ({"content": "Hello.", "refusal": None}, "Hello.", None),
    ],
)
def test_a_reply_is_read(message: dict[str, Any], text: str, reasoning: str | None) -> None:
    """The text is the content byte for byte; reasoning is kept apart where it is delimited, and never guessed at."""
    reply = read(reply_with(message))
    assert (reply.outcome, reply.text, reply.reasoning, reply.detail) == ("reply", text, reasoning, "")


@pytest.mark.parametrize("finish", ["stop", "", None, "eos_token", "a_new_one", 7])
def test_an_unknown_finish_is_tolerated(finish: object) -> None:
    """Whatever else the server calls the end of a reply, the reply stands; what it wrote is kept."""
    reply = read(reply_with({"content": "Hello."}, finish))
    assert (reply.outcome, reply.finish) == ("reply", finish if isinstance(finish, str) else None)


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "Hel"}, "Hel", None),
        ({"content": "<think>hm"}, "", "hm"),
        ({"content": "", "reasoning_content": "hm"}, "", "hm"),
        ({"content": None}, "", None),
        ({"content": "I think that"}, "I think that", None),
    ],
)
@pytest.mark.parametrize("finish", ["length", "max_tokens"])
def test_a_cut_reply_is_truncated(message: dict[str, Any], text: str, reasoning: str | None, finish: str) -> None:
    """A reply cut by the limit is truncated, and has no text where it was cut while thinking."""
    reply = read(reply_with(message, finish))
    assert (reply.outcome, reply.text, reply.reasoning) == ("truncated", text, reasoning)
    assert "token limit" in reply.detail


FILTERED = {"hate": {"filtered": True, "severity": "high"}, "violence": {"filtered": False}}


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"choices": [], "prompt_filter_results": [{"content_filter_results": FILTERED}]}, 200, "filter: hate"),
        ({"choices": [], "prompt_filter_results": []}, 200, "no category named"),
        (reply_with(None, "content_filter"), 200, "content filter"),
        (reply_with(None, None, choices=[{"message": None, "content_filter_results": FILTERED}]), 200, "filter: hate"),
        (reply_with({"content": "Hel"}, "content_filter"), 200, "content filter"),
        (reply_with({"content": None, "refusal": "I cannot\nhelp."}), 200, "the model refuses: I cannot help."),
        (reply_with({"content": [{"type": "refusal", "refusal": "No."}]}), 200, "the model refuses: No."),
        ({"error": {"code": "content_filter", "message": "policy"}}, 400, "HTTP 400: policy"),
    ],
)
def test_a_refusal_is_refused(body: dict[str, Any], status: int, detail: str) -> None:
    """A content filter or a declining model is neither a failure nor a reply, and asking again does not help."""
    reply = read(body, status)
    assert (reply.outcome, reply.text, reply.retry) == ("refused", None, False)
    assert detail in reply.detail


@pytest.mark.parametrize(
    ("body", "retry", "detail"),
    [
        ({"id": None, "model": None, "choices": None, "object": None, "usage": None}, True, "has no choices"),
        ({}, True, "has no choices"),
        ({"choices": []}, True, "has no choices"),
        ({"choices": "none"}, True, "has no choices"),
        ({"choices": [None]}, True, "no message in its first choice"),
        ({"choices": [{"message": "Hello."}]}, True, "no message in its first choice"),
        (reply_with(None), True, "no message in its first choice"),
        (reply_with({"content": "Hel"}, "error"), True, "finish_reason 'error'"),
        (reply_with(None, "error", choices=[{"message": {}, "error": {"message": "lost"}}]), True, "error: lost"),
        ({"error": {"message": "overloaded", "code": 503}}, True, "error: overloaded"),
        ({"error": {"message": "no such model", "code": 404}}, False, "error: no such model"),
        ({"error": {"message": "busy", "code": 429}, "choices": None}, True, "error: busy"),
        ({"error": "out of memory"}, True, "error: out of memory"),
        ({"error": {"type": "server_error"}}, True, "error: server_error"),
        ({"error": {"why": "?"}}, True, "an error without a message"),
        ({"object": "error", "message": "bad"}, True, "error: bad"),
        (reply_with({"content": ""}), False, "empty reply"),
        (reply_with({"content": " \n"}), False, "empty reply"),
        (reply_with({"content": []}), False, "empty reply"),
        (reply_with({"role": "assistant"}), False, "empty reply"),
        (reply_with({"content": "<think>hm</think>"}), False, "empty reply"),
        (reply_with({"content": None, "tool_calls": [{"type": "function"}]}), False, "a tool call instead of a text"),
        (reply_with({"content": 7}), False, "not a text but int"),
        ([1], False, "is not a JSON object"),
        ("unsupported model", False, "is not a JSON object"),
        (b'{"choices": [{"mess', True, "damaged JSON"),
        (b'{"choices": "\xff"}', True, "damaged JSON"),
        (b"[" * 200_000, True, "damaged JSON: nested too deeply"),
        (b'{"created": ' + b"9" * 5000 + b"}", True, "damaged JSON"),
        (b"", False, "an empty body"),
        (b"unsupported model qwen", False, "HTTP 200 with application/json: unsupported model qwen"),
    ],
)
def test_a_success_without_a_reply_failed(body: object, retry: bool, detail: str) -> None:  # noqa: FBT001 - a column
    """HTTP 200 without a usable reply is a failed call with a reason, and is tried again where that may help."""
    reply = read(body)
    assert (reply.outcome, reply.text, reply.retry) == ("failed", None, retry)
    assert detail in reply.detail
    assert reply.detail.isprintable()


@pytest.mark.parametrize(
    ("status", "retry"),
    [
        *((status, True) for status in (408, 409, 425, 429, 500, 502, 503, 529)),
        *((status, False) for status in (100, 302, 304, 400, 401, 403, 404, 413, 422)),
    ],
)
def test_which_statuses_are_tried_again(status: int, retry: bool) -> None:  # noqa: FBT001 - a column
    """Timeouts, conflicts, rate limits and server errors may pass; any other status will not."""
    reply = read({"error": {"message": "why", "param": "seed"}}, status)
    assert (reply.outcome, reply.retry) == ("failed", retry)
    assert f"HTTP {status}" in reply.detail


AS_IT_STANDS = 'HTTP 400 with application/json: {"detail": '
FLOOD = "\nerror: all is lost\x1b[2J\u202e" * 5000


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"error": {"message": "wrong", "param": "seed"}}, "HTTP 400: wrong (seed)"),
        ({"error": {"message": "wrong seed", "param": "seed"}}, "HTTP 400: wrong seed"),
        ({"error": "wrong"}, "HTTP 400: wrong"),
        ({"message": "wrong"}, "HTTP 400: wrong"),
        ({"detail": "wrong"}, "HTTP 400: wrong"),
        ({"detail": [{"loc": ["body", "n", 0], "msg": "wrong"}]}, "HTTP 400: body.n.0: wrong"),
        ({"detail": [{"msg": "wrong"}, {"loc": None, "msg": "odd"}]}, "HTTP 400: wrong; odd"),
        ({"detail": [{"loc": ["n"], "msg": None}, {"loc": ["m"], "msg": ""}]}, "HTTP 400: n; m"),
        ({"detail": [{"loc": [True, 1.5], "msg": 7}, 7]}, f'{AS_IT_STANDS}[{{"loc": [true, 1.5], "msg": 7}}, 7]}}'),
        ({"error": {"message": "x" * 400}}, "HTTP 400: " + "x" * 299 + "…"),
        (b"<html>\n<b>Bad</b>", "HTTP 400 with application/json: <html> <b>Bad</b>"),
        (b"", "HTTP 400 with application/json: an empty body"),
    ],
)
def test_the_words_of_a_server_are_one_line(body: object, detail: str) -> None:
    """The server's own message is found wherever servers put it, and cut at 300 characters."""
    assert read(body, 400).detail == detail


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"message": FLOOD, "param": FLOOD}}, 400),
        ({"detail": [{"loc": [FLOOD], "msg": FLOOD}]}, 422),
        ({"choices": [{"content_filter_results": {FLOOD: {"filtered": True}}}]}, 200),
        (reply_with({"refusal": FLOOD}), 200),
        (FLOOD.encode(), 200),
        (b"{" + FLOOD.encode(), 200),
        (b"", 302),
    ],
)
def test_no_server_floods_a_line(body: object, status: int) -> None:
    """Whatever text of a server stands in a detail is on its one line, printable and short."""
    detail = read(body, status, content_type=FLOOD, location=FLOOD).detail
    assert "error: all is lost" in detail
    assert detail.isprintable()
    assert len(detail) < 450


def test_names_of_a_server_are_short() -> None:
    """What a server calls a model, an ending or itself is cut where it is longer than any name."""
    reply = read(reply_with({"content": "Hello."}, FLOOD, model=FLOOD, system_fingerprint=FLOOD), server=FLOOD)
    assert [len(each) for each in (reply.finish or "", reply.model or "", *reply.facts.values())] == [200] * 4


def test_a_gateways_page_is_quoted() -> None:
    """An HTML page from a gateway names status and type, and shows how it starts."""
    page = read(b"<html><h1>Bad\x1b[31m Gateway</h1>" + b"x" * 999, 502, content_type="text/html")
    assert page.detail.startswith("HTTP 502 with text/html: <html><h1>Bad [31m Gateway</h1>xx")
    assert len(page.detail) < 250


def test_json_under_another_type_is_accepted() -> None:
    """A body is judged by what it is: JSON labelled text/plain, or with a byte order mark, is a reply."""
    body = json.dumps(chat_body("Hello.")).encode()
    assert read(body, content_type="text/plain").text == "Hello."
    assert read(b"\xef\xbb\xbf" + body).text == "Hello."


def test_a_lone_surrogate_survives() -> None:
    """Half of a pair, escaped in JSON, stays in the text and can be sent again."""
    reply = read(b'{"choices": [{"message": {"content": "Hi \\ud83d"}}], "x": NaN, "x": 1}')
    assert reply.text == "Hi \ud83d"
    with scripted() as model:
        content = model.request((Message(role="assistant", content=reply.text),), seed=None).content()
    assert json.loads(content)["messages"][0]["content"] == reply.text


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 3}, Usage(prompt_tokens=0, completion_tokens=3)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(prompt_tokens=9)),
        ({"prompt_tokens_details": {"cached_tokens": 4}}, Usage(cached_tokens=4)),
        ({"completion_tokens_details": {"reasoning_tokens": 4}}, Usage(reasoning_tokens=4)),
        ({"prompt_tokens": True, "completion_tokens": -1}, Usage()),
        ({"prompt_tokens": 1.5, "completion_tokens": 10**40}, Usage()),
    ],
)
def test_unknown_usage_is_unknown(usage: object, expected: Usage) -> None:
    """A count that is missing, null or no count is None, never 0, and the reply is kept."""
    reply = read(reply_with({"content": "Hello."}, usage=usage))
    assert (reply.text, reply.usage) == ("Hello.", expected)


def test_what_the_server_says_of_itself_is_kept() -> None:
    """The model that answered, and revision and build."""
    reply = read(reply_with({"content": "Hello."}, model="other", system_fingerprint="fp_1"), server="llama.cpp")
    assert reply.model == "other"
    assert reply.facts == {"system_fingerprint": "fp_1", "server": "llama.cpp"}


FIELDS = [
    *("choices", "message", "content", "finish_reason", "refusal", "type", "text", "tool_calls", "usage"),
    *("error", "code", "param", "detail", "loc", "msg", "prompt_filter_results", "content_filter_results"),
]
WORDS = ["stop", "length", "error", "content_filter", "<think>", "</think>"]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=25,
)
BODIES = JSON_VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60)


@given(body=BODIES, status=st.integers(100, 599))
def test_reading_is_total(body: bytes, status: int) -> None:
    """Whatever comes back reads as something: a text only for a reply or a cut one, a reason for what is no reply."""
    reply = read(body, status)
    assert (reply.text is not None) == (reply.outcome in ("reply", "truncated"))
    assert bool(reply.detail) == (reply.outcome != "reply")
    assert reply.detail.isprintable()


@given(message=JSON_VALUES, finish=JSON_VALUES)
def test_reading_a_message_is_total(message: object, finish: object) -> None:
    """The same for any message in an otherwise sound answer."""
    reply = read({"choices": [{"message": message, "finish_reason": finish}]})
    assert reply.text is None or reply.outcome in ("reply", "truncated")


# What is sent


def test_a_request_is_what_is_sent() -> None:
    """The body has what is set and nothing else; its bytes are canonical, and its digest is theirs."""
    sampling = Sampling(temperature=0.0, max_tokens=50, params={"top_k": 40})
    with ScriptedModel(["Hello."], sampling=sampling) as model:
        request = model.request(HELLO, seed=3, response_format={"type": "json_object"})
        model.send(request)
    assert request.full() == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.0,
        "max_tokens": 50,
        "top_k": 40,
        "seed": 3,
        "response_format": {"type": "json_object"},
    }
    assert model.requests[0].content == request.content() == canonical_json(request.full())
    assert request.digest == digest_bytes(request.content())


def test_what_a_server_does_not_take_is_left_out() -> None:
    """The name of the token limit, the seed and the response format follow the endpoint."""
    endpoint = Endpoint(
        base_url="http://scripted.test",
        model="m",
        max_tokens_field="max_completion_tokens",
        send_seed=False,
        response_format="none",
    )
    with ScriptedModel([], endpoint=endpoint, sampling=Sampling(max_tokens=5)) as model:
        request = model.request(HELLO, seed=3, response_format={"type": "json_object"})
        assert request.body == {"model": "m", "max_completion_tokens": 5}
        assert model.request(HELLO, seed=None).body == {"model": "m", "max_completion_tokens": 5}


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("s u a u", [("user", "0\n\n1"), ("assistant", "2"), ("user", "3")]),
        ("s s u", [("user", "0\n\n1\n\n2")]),
        ("u a", [("user", "0"), ("assistant", "1")]),
        ("s a u", [("assistant", "1"), ("user", "0\n\n2")]),
        ("u a s", [("user", "0"), ("assistant", "1"), ("user", "2")]),
    ],
)
def test_a_system_text_is_folded(roles: str, expected: list[tuple[str, str]]) -> None:
    """With folding no system role is sent: its text stands before the next user message, in the request as recorded."""
    names: dict[str, Role] = {"s": "system", "u": "user", "a": "assistant"}
    messages = [Message(role=names[role], content=str(place)) for place, role in enumerate(roles.split())]
    with ScriptedModel([], endpoint=Endpoint(base_url="http://scripted.test", model="m", fold_system=True)) as model:
        request = model.request(messages, seed=None)
    assert [(each.role, each.content) for each in request.messages] == expected


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Sampling(params={"stream": True}), "--param stream cannot be set: replies are read whole"),
        (lambda: Sampling(params={"temperature": 1}), "use --temperature"),
        (lambda: Sampling(temperature=float("nan")), "not a JSON value"),
        (lambda: Sampling(params={"a": {1}}), "not a JSON value"),
        (lambda: Limits(tries=0), "the limit tries is 0; write a number above 0"),
        (lambda: Limits(deadline_seconds=float("nan")), "the limit deadline_seconds is nan"),
        (lambda: Endpoint(base_url="http://h", model=" "), "write --model NAME"),
        (lambda: Endpoint(base_url="http://h", model="a\nb"), "write --model NAME"),
    ],
)
def test_wrong_settings_are_one_line(make: Callable[[], object], line: str) -> None:
    """A setting that cannot be sent is refused where it is made, with what to write."""
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        make()
    assert line in str(error.value)


# Where it goes


@pytest.mark.parametrize(
    ("given_url", "base"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("https://h/openai/v1", "https://h/openai/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_a_base_url_is_normal(given_url: str, base: str) -> None:
    """The same server is the same URL, however it was written."""
    endpoint = Endpoint(base_url=given_url, model="m")
    assert endpoint.base_url == endpoint.name_for_recording() == base
    assert endpoint.url("/models") == f"{base}/models"
    assert endpoint.root_url("/props") == f"{base.removesuffix('/v1')}/props"


def test_a_query_is_sent_and_not_recorded() -> None:
    """A harmless query of the base is part of every URL, and of no recording."""
    endpoint = Endpoint(base_url="https://h/d?api-version=2024-10-21", model="m")
    assert endpoint.url("/chat/completions") == "https://h/d/chat/completions?api-version=2024-10-21"
    assert endpoint.name_for_recording() == "https://h/d"


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("localhost:11434", "write one like http://localhost:8080/v1"),
        ("", "write one like http://localhost:8080/v1"),
        ("ftp://h/v1", "not an http:// or https:// URL"),
        ("http:///v1", "not an http:// or https:// URL"),
        ("http://h:port/v1", "is not a URL"),
        ("http://[::1/v1", "is not a URL"),
        ("http://" + "a" * 70 + ".org/v1", "is not a URL"),
        ("http://h/v 1", "holds a space"),
        ("http://h/\nv1", "holds a space"),
        ("http://h/v1#top", "holds a space, a control character or a '#'"),
        ("http://user:hunter2@h/v1", "holds a credential"),
        ("http://hunter2@h/v1", "holds a credential"),
        ("https://h/v1?api_key=hunter2", "holds a credential"),
        ("https://h:x/v1?api_key=hunter2", "is not a URL"),
    ],
)
def test_a_wrong_url_is_one_line(url: str, line: str) -> None:
    """What is no plain URL is refused in one line that shows it without what may be a credential."""
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        Endpoint(base_url=url, model="m")
    assert line in str(error.value)
    assert "hunter2" not in str(error.value)


# The key


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is unset or empty is no key."""
    monkeypatch.setenv("SIMULATOR_API_KEY", KEY)
    monkeypatch.setenv("EMPTY_KEY", "")
    key = api_key_from_env()
    assert key is not None
    assert key.reveal() == KEY
    assert api_key_from_env("EMPTY_KEY") is None
    assert api_key_from_env("NO_SUCH_VARIABLE_AT_ALL") is None


@pytest.mark.parametrize("value", ["hunter2\n", " hunter2", "hunter2\x00"[:7] + "\x1b", "hunter2\u20ac", "hun\rter2"])
def test_a_key_that_no_header_carries_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """The line says so without showing the key."""
    monkeypatch.setenv("SIMULATOR_API_KEY", value)
    with pytest.raises(InputError, match="SIMULATOR_API_KEY") as error:
        api_key_from_env()
    assert "hun" not in str(error.value)


def test_a_key_given_as_the_name_is_not_shown() -> None:
    """Who writes the key where its variable's name belongs does not see it printed."""
    with pytest.raises(InputError, match="name of an environment variable") as error:
        api_key_from_env(KEY)
    assert KEY not in str(error.value)


def test_a_secret_does_not_show_itself() -> None:
    """No way of printing a secret, alone or inside another value, shows it; equal keys are equal."""
    endpoint = Endpoint(base_url="http://h", model="m", api_key=Secret(KEY))
    for text in (str(Secret(KEY)), repr(Secret(KEY)), f"{Secret(KEY)}", repr(endpoint), str(asdict(endpoint))):
        assert KEY not in text
    assert Secret(KEY) == Secret(KEY)
    assert Secret(KEY) != Secret(KEY.lower())
    assert len({Secret(KEY), Secret(KEY)}) == 1


@pytest.mark.parametrize("echo", [KEY, KEY.upper(), KEY.replace("/", "\\/"), "sk-Test%2FKey.0123456789"])
@pytest.mark.parametrize("status", [200, 401, 503])
def test_an_echoed_key_is_taken_out(echo: str, status: int) -> None:
    """A server that sends the key back, in any case, leaves no trace of it in an exchange."""
    body = '{"error": {"message": "Wrong key: %s"}, "choices": null}' % echo  # noqa: UP031 - braces
    answer = Answer(status=status, body=body, headers=JSON | {"x-request-id": echo, "set-cookie": echo})
    endpoint = Endpoint(base_url="http://scripted.test", model="m", api_key=Secret(KEY))
    with ScriptedModel([answer] * 2, endpoint=endpoint, limits=Limits(tries=2)) as model:
        exchange = ask(model)
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert exchange.response is not None
    assert b"Wrong key: [key]" in exchange.response.body
    assert exchange.response.headers == {"content-type": "application/json", "x-request-id": "[key]"}
    assert "0123456789" not in repr(exchange)
    assert "[key]" in exchange.reply.detail


def test_a_placeholder_is_no_secret() -> None:
    """A key such as "ollama" is not taken out of what the server says."""
    endpoint = Endpoint(base_url="http://scripted.test", model="m", api_key=Secret("ollama"))
    with ScriptedModel(["Ask ollama."], endpoint=endpoint) as model:
        assert ask(model).reply.text == "Ask ollama."


def test_a_key_outside_ascii_is_sent_as_latin_1() -> None:
    """A header is Latin-1, and so is a key in it."""
    with ScriptedServer(["Hello."]) as server, at(server, api_key=Secret("schlüssel")) as model:
        assert ask(model).reply.text == "Hello."
        assert server.requests[0].headers["authorization"] == "Bearer schlüssel"


def test_only_headers_worth_keeping_are_kept() -> None:
    """Headers that identify an account, a session or a broken encoding are not part of a response."""
    kept = {
        "content-type": "application/json",
        "x-ratelimit-remaining-tokens": "9",
        "openai-version": "v",
        "server": "s",
    }
    dropped = {"set-cookie": "a=b", "openai-organization": "me", "authorization": "x", "Content-Length": "1"}
    with scripted(Answer(body=chat_body("Hello."), headers=kept | dropped | {"Content-Length": "0"})) as model:
        response = ask(model).response
    assert response is not None
    assert response.headers == kept


# What to try


@pytest.mark.parametrize(
    ("fields", "status", "message", "advice"),
    [
        (
            {},
            400,
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'",
            "--max-tokens-field max_completion_tokens",
        ),
        (
            {"max_tokens_field": "max_completion_tokens"},
            422,
            "max_completion_tokens: Extra inputs are not permitted",
            "--max-tokens-field max_tokens",
        ),
        ({}, 400, "Unrecognized request argument: seed", "--no-seed-field"),
        ({}, 400, "response_format is not supported", "--response-format none"),
        ({}, 400, "System role not supported", "--fold-system"),
        ({}, 500, "Conversation roles must alternate user/assistant", "--fold-system"),
        ({}, 401, "Wrong key", "no key was sent; set MY_KEY"),
        ({"api_key": Secret(KEY)}, 403, "Wrong key", "check the key in MY_KEY"),
        ({}, 404, "Not found", "is there a model 'm' at http://scripted.test/v1?"),
    ],
)
def test_an_error_names_what_to_try(fields: dict[str, Any], status: int, message: str, advice: str) -> None:
    """A refusal of what was sent names the option that leaves it out; a wrong key its variable; a 404 model and URL."""
    endpoint = Endpoint(base_url="http://scripted.test", model="m", api_key_env="MY_KEY", **fields)
    answer = Answer(status=status, body={"error": {"message": message}})
    with ScriptedModel([answer], endpoint=endpoint, limits=Limits(tries=1)) as model:
        assert ask(model).reply.detail == f"HTTP {status}: {message}; {advice if advice[0] != '-' else 'try ' + advice}"


@pytest.mark.parametrize(
    "message",
    ["max_tokens is too large: 9000 > 4096", "The seeds of doubt", "Invalid max_tokens value", "role of a system"],
)
def test_no_advice_is_better_than_wrong_advice(message: str) -> None:
    """A message that names a field without refusing it is passed on as it is."""
    with scripted(Answer(status=400, body={"error": {"message": message}})) as model:
        assert ask(model).reply.detail == f"HTTP 400: {message}"


def test_a_redirect_is_not_followed() -> None:
    """A redirect is a failed call that says where to, without the secrets of that URL."""
    headers = {"location": "https://me:pw@other.test/login?token=hunter2"}
    with scripted(Answer(status=302, headers=headers)) as model:
        exchange = ask(model)
    assert exchange.reply.detail.startswith("HTTP 302: a redirect to https://other.test/login, which is not followed")
    assert "hunter2" not in repr(exchange)
    assert len(model.requests) == 1


# Trying again


def test_every_try_is_logged() -> None:
    """Each try has its status, what was wrong with it and the wait after it; the last one gave the response."""
    steps = [Answer(status=500, body={"error": "hm"}), Answer(body={"choices": None}), "Hello."]
    with scripted(*steps) as model:
        exchange = ask(model)
    assert exchange.reply.text == "Hello."
    assert [(each.status, each.fault) for each in exchange.tries] == [
        (500, "HTTP 500: hm"),
        (200, "the answer has no choices"),
        (200, ""),
    ]
    assert [each.waited for each in exchange.tries] == [*(round(wait, 3) for wait in model.waits), 0.0]
    assert len({seen.content for seen in model.requests}) == 1


def test_tries_end() -> None:
    """After the last try the call failed, with the last response and the number of tries in its detail."""
    with scripted(*[Answer(status=500, body={"error": "hm"})] * 4) as model:
        exchange = ask(model)
    assert exchange.reply.detail == "HTTP 500: hm (4 tries)"
    assert exchange.response is not None
    assert exchange.response.status == 500
    assert [each.fault for each in exchange.tries] == ["HTTP 500: hm"] * 3 + [""]


def test_what_cannot_be_helped_is_not_tried_again() -> None:
    """A wrong request, an empty reply and a refusal cost one call."""
    for step in (Answer(status=400), "", Answer(status=451), chat_body(None, refusal="No.")):
        with scripted(step) as model:
            ask(model)
        assert len(model.requests) == 1


def test_waits_are_drawn_below_a_growing_ceiling() -> None:
    """Full jitter: each wait lies between nothing and twice the ceiling of the one before."""
    waits: list[float] = []
    for start in range(40):
        with ScriptedModel([Answer(status=503)] * 4, rng=random.Random(start)) as model:  # noqa: S311
            ask(model)
        waits += model.waits
    assert all(0 <= wait <= ceiling for wait, ceiling in zip(waits, [0.5, 1.0, 2.0] * 40, strict=True))
    assert max(waits[2::3]) > 1.5
    assert min(waits[2::3]) < 0.5


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "Tue, 01 Dec 2026 10:00:09 GMT", "date": "Tue, 01 Dec 2026 10:00:00 GMT"}, 9.0),
        ({"retry-after": "Tue, 01 Dec 1970 10:00:00 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-1e999"}, None),
        ({"retry-after": "1_0"}, None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -9999"}, None),
        ({"retry-after": "Tue, 99 Dec 2026 10:00:00 GMT"}, None),
    ],
)
def test_retry_after_is_honoured(headers: dict[str, str], wait: float | None) -> None:
    """Seconds and dates are waited for, a date by the server's own clock; nonsense is as if it were not there."""
    with scripted(Answer(status=429, headers=headers), "Hello.") as model:
        assert ask(model).reply.text == "Hello."
    assert model.waits == [wait] if wait else model.waits[0] < 0.5


def test_a_wait_beyond_the_deadline_ends_the_call() -> None:
    """Where the server asks for more time than there is, the call fails at once and says so."""
    with scripted(Answer(status=429, body={"error": "slow down"}, headers={"retry-after": "600"})) as model:
        exchange = ask(model)
    assert exchange.reply.detail == (
        "HTTP 429: slow down (the server asks to wait 600 s, but the deadline of 300 s leaves no time for another try)"
    )
    assert (len(exchange.tries), model.waits) == (1, [])


@pytest.mark.parametrize(
    "value",
    ["604801", "1e999", "1" + "0" * 30, "9" * 5000, "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 -0100"],
)
def test_a_wait_without_end_ends_the_call(value: str) -> None:
    """However long the server asks to wait, it is more than there is."""
    with scripted(Answer(status=503, body={"error": "closed"}, headers={"retry-after": value})) as model:
        detail = ask(model).reply.detail
    assert detail.startswith("HTTP 503: closed (the server asks to wait more than a week, but the deadline of 300 s ")
    assert model.waits == []


# The wire


@pytest.mark.parametrize(
    ("step", "fault", "status"),
    [
        (NoAnswer(), "the connection was closed before an answer came", None),
        (Cut(content=chat_body("Hello."), after=20), "the answer is cut, or not HTTP: peer closed connection", 200),
        (Raw(data=b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nHel"), "the answer is cut", 200),
        (Raw(data=b"HTTP/1.1 200 OK\r\ncontent-le"), "the answer is cut, or not HTTP", None),
        (Raw(data=b"SSH-2.0-server\r\n\r\n"), "the answer is cut, or not HTTP", None),
        (
            Answer(body=chat_body("Hello."), headers={"content-encoding": "gzip"}),
            "the body is not what its content-encoding says",
            200,
        ),
    ],
)
def test_a_broken_answer_is_tried_again(step: Step, fault: str, status: int | None) -> None:
    """An answer that does not come whole is never a reply: it is a try with a fault, and the next one may succeed."""
    with ScriptedServer([step, "Hello."]) as server, at(server) as model:
        exchange = ask(model)
    assert exchange.reply.text == "Hello."
    assert exchange.tries[0].fault.startswith(fault)
    assert [each.status for each in exchange.tries] == [status, 200]


def test_a_broken_answer_leaves_no_response() -> None:
    """The part of an answer that came is not kept."""
    with ScriptedServer([Cut(content=chat_body("Hello."), after=200)]) as server, at(server, Limits(tries=1)) as model:
        exchange = ask(model)
    assert (exchange.response, exchange.reply.outcome, exchange.reply.text) == (None, "failed", None)
    assert exchange.reply.detail == exchange.tries[0].fault


def test_a_closed_idle_connection_costs_no_wait() -> None:
    """Where the server closes a kept connection under the next request, it is sent again at once on a new one."""
    waits: list[float] = []
    with ScriptedServer(["one", NoAnswer(), "two", NoAnswer(), NoAnswer(), "three"]) as server:
        endpoint = Endpoint(base_url=server.url, model="m")
        with Model(endpoint, Sampling(), sleep=waits.append) as model:
            texts = [ask(model).reply.text for _ in range(2)]
            assert (texts, waits) == (["one", "two"], [0.0])
            exchange = ask(model)
        assert (exchange.reply.text, server.connections) == ("three", 4)
    assert [each.waited for each in exchange.tries] == [0.0, round(waits[2], 3), 0.0]


def test_a_connection_closed_in_time_is_not_used() -> None:
    """A connection that the server closed after its answer is noticed before the next request, which costs nothing."""
    with ScriptedServer([CloseAfter(content="one"), "two"]) as server, at(server) as model:
        assert ask(model).reply.text == "one"
        exchange = ask(model)
    assert exchange.reply.text == "two"
    assert server.connections == 2


SHORT = Limits(try_seconds=60, deadline_seconds=0.3)


@pytest.mark.parametrize(
    "step",
    [
        Endless(),
        Drip(content="Hello.", seconds=0.02, head=True),
        Drip(content="Hello.", seconds=3600),
        Drip(content="Hello.", seconds=3600, head=True),
        Delay(seconds=3600, step="never"),
    ],
)
def test_a_dripping_answer_ends_at_the_deadline(step: Step) -> None:
    """However slowly bytes come, and whether they are head or body, the call ends at its deadline, in its first try."""
    with ScriptedServer([step]) as server, at(server, SHORT) as model:
        exchange = ask(model)
    assert (exchange.reply.outcome, exchange.response) == ("failed", None)
    assert exchange.reply.detail.endswith("within the call's deadline of 0.3 s")
    assert [each.fault for each in exchange.tries] == [exchange.reply.detail]


def test_a_late_answer_and_none_are_told_apart() -> None:
    """A try that times out says whether anything had come."""
    limits = Limits(try_seconds=1, deadline_seconds=60, tries=2)
    with ScriptedServer([Delay(seconds=3600, step="never"), Endless()]) as server, at(server, limits) as model:
        exchange = ask(model)
    assert [each.fault for each in exchange.tries] == ["no answer within 1 s", "the answer was not whole within 1 s"]
    assert exchange.reply.detail == "the answer was not whole within 1 s (2 tries)"


def test_a_silent_server_is_tried_again() -> None:
    """Each try has a time of its own, after which the next one may succeed."""
    limits = Limits(try_seconds=0.3, deadline_seconds=60, tries=20)
    with ScriptedServer([Delay(seconds=3600, step="never"), *["Hello."] * 19]) as server, at(server, limits) as model:
        exchange = ask(model)
    assert exchange.reply.text == "Hello."
    assert exchange.tries[0].fault == "no answer within 0.3 s"


def test_a_body_has_a_limit() -> None:
    """An answer that is longer than any reply ends the call, and is not asked for again."""
    limits = Limits(body_bytes=1000, deadline_seconds=20)
    with ScriptedServer([Endless(piece=b"x" * 500, seconds=0)]) as server, at(server, limits) as model:
        exchange = ask(model)
    assert exchange.reply.detail == "the answer is longer than 1000 bytes"
    assert len(exchange.tries) == 1


def test_a_body_at_the_limit_is_read() -> None:
    """The limit itself is allowed."""
    size = len(json.dumps(chat_body("Hello.")))
    for limit, outcome in ((size, "reply"), (size - 1, "failed")):
        with scripted(chat_body("Hello."), limits=Limits(body_bytes=limit)) as model:
            assert ask(model).reply.outcome == outcome


def test_threads_share_a_model() -> None:
    """Every thread gets its own reply, over no more connections than were asked for."""
    with ScriptedServer(lambda body: f"you said {body['messages'][0]['content']}") as server, at(server) as model:

        def say(number: int) -> str | None:
            return model.send(model.request((Message(role="user", content=str(number)),), seed=None)).reply.text

        with ThreadPoolExecutor(8) as pool:
            texts = list(pool.map(say, range(40)))
        assert server.connections <= 4
        assert len(server.requests) == 40
    assert texts == [f"you said {number}" for number in range(40)]


def test_a_connection_that_never_gets_free_is_a_failed_call() -> None:
    """A call that waits for a connection waits within its own deadline."""
    release = threading.Event()

    def script(body: Mapping[str, Any]) -> Step:
        return "patient" if release.wait(10) else str(body)

    with ScriptedServer(script) as server, at(server, connections=1) as model, ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, model)
        while not server.requests:
            time.sleep(0.001)
        model.limits = SHORT
        assert ask(model).reply.detail == "no connection in time"
        release.set()
        assert first.result().reply.text == "patient"


def test_no_cookie_is_sent_back() -> None:
    """A request is what the recording says: what the server set with an earlier answer is not part of it."""
    with ScriptedServer([Answer(body=chat_body("one"), headers={"set-cookie": "a=b; Path=/"}), "two"]) as server:
        with at(server) as model:
            assert [ask(model).reply.text for _ in range(2)] == ["one", "two"]
        assert "cookie" not in server.requests[1].headers


def test_a_try_in_one_thread_does_not_shorten_another() -> None:
    """The deadline of a call is its own: a call that runs out of time beside it leaves another whole."""
    release = threading.Event()

    def script(body: Mapping[str, Any]) -> Step:
        if body["messages"][0]["content"] == "Hello":
            return Endless()
        release.wait(10)
        return "patient"

    with (
        ScriptedServer(script) as server,
        at(server, SHORT) as hasty,
        at(server) as patient,
        ThreadPoolExecutor(1) as pool,
    ):
        slow = pool.submit(patient.send, patient.request((Message(role="user", content="wait"),), seed=None))
        assert ask(hasty).reply.outcome == "failed"
        release.set()
        assert slow.result().reply.text == "patient"


# Proxies


PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Return an environment without proxies."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("no_proxy", ["", "localhost", "10.0.0.0/8, [::1, http://[, *.x"])
def test_loopback_goes_direct(no_proxies: pytest.MonkeyPatch, variable: str, no_proxy: str) -> None:
    """A proxy in the environment is not for this machine, whatever NO_PROXY says or fails to say."""
    no_proxies.setenv(variable, "http://127.0.0.1:9")
    no_proxies.setenv("NO_PROXY", no_proxy)
    with ScriptedServer(["Hello."]) as server, at(server) as model:
        assert ask(model).reply.text == "Hello."


def test_another_host_goes_through_the_proxy(no_proxies: pytest.MonkeyPatch) -> None:
    """The proxy of the environment is asked for any other host, with the credentials of its URL."""
    with ScriptedServer(["Hello."]) as proxy:
        no_proxies.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1").replace("//", "//me:pw@"))
        no_proxies.setenv("NO_PROXY", "10.0.0.0/8,localhost,http://[")
        with Model(Endpoint(base_url="http://model.test", model="m"), Sampling(), limits=QUICK) as model:
            assert ask(model).reply.text == "Hello."
        assert proxy.requests[0].path == "http://model.test/v1/chat/completions"
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic bWU6cHc="


def test_a_dead_proxy_is_named(no_proxies: pytest.MonkeyPatch) -> None:
    """Where the proxy is what cannot be reached, the line names it, without its password."""
    with ScriptedServer([]) as server:
        proxy = server.url.removesuffix("/v1")
    no_proxies.setenv("ALL_PROXY", proxy.replace("//", "//me:hunter2@"))
    endpoint = Endpoint(base_url="http://model.test", model="m")
    with Model(endpoint, Sampling()) as model, pytest.raises(EndpointError) as error:
        model.facts()
    line = f"http://model.test/v1: no connection: Connection refused (through the proxy {proxy});"
    assert str(error.value).startswith(line)


def test_an_exempt_range_goes_direct(no_proxies: pytest.MonkeyPatch) -> None:
    """NO_PROXY may name a range of addresses: the proxy, which would answer, is not asked."""
    with ScriptedServer(["Hello."]) as proxy:
        no_proxies.setenv("HTTP_PROXY", proxy.url)
        no_proxies.setenv("NO_PROXY", "192.0.2.0/24")
        limits = Limits(try_seconds=0.05, tries=1)
        with Model(Endpoint(base_url="http://192.0.2.1", model="m"), Sampling(), limits=limits) as model:
            assert ask(model).reply.outcome == "failed"
        assert proxy.requests == []


@pytest.mark.parametrize(
    ("proxy", "line"),
    [("socks5://me:hunter2@h:1", "is no HTTP proxy"), ("http://me:hunter2@h:port", "is not a URL")],
)
def test_a_proxy_that_cannot_be_used_is_one_line(no_proxies: pytest.MonkeyPatch, proxy: str, line: str) -> None:
    """A proxy of another kind is refused before anything is asked, without its password."""
    no_proxies.setenv("ALL_PROXY", proxy)
    with pytest.raises(InputError, match=line) as error:
        Model(Endpoint(base_url="http://model.test", model="m"), Sampling())
    assert "hunter2" not in str(error.value)


def test_a_certificate_file_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """SSL_CERT_FILE is honoured, and a wrong one named."""
    monkeypatch.setenv("SSL_CERT_FILE", "no/such/file")
    with pytest.raises(InputError, match="SSL_CERT_FILE"):
        Model(Endpoint(base_url="https://model.test", model="m"), Sampling())


# What a server says of itself


def test_facts_are_what_the_server_tells() -> None:
    """Build, slots and context come from its pages; a path of its machine does not."""
    props = {
        "build_info": "b1-abc",
        "total_slots": 2,
        "model_path": "/home/me/m.gguf",
        "chat_template": "{{ x }}",
        "default_generation_settings": {"n_ctx": 2048},
    }
    with ScriptedServer([], pages={"/props": props}) as server, at(server) as model:
        facts = model.facts()
    assert facts == {
        "listed": True,
        "owned_by": "scripted",
        "context": 2048,
        "slots": 2,
        "llama_cpp": "b1-abc",
        "chat_template_sha256": digest_bytes(b"{{ x }}"),
    }


@pytest.mark.parametrize(
    "page", [{"data": None}, "text", Answer(body=b"[]"), Answer(status=500), NoAnswer(), Answer(body=b"[" * 99999)]
)
def test_facts_that_are_not_told_are_unknown(page: Step) -> None:
    """Whatever the pages hold, facts are fewer, and nothing is raised."""
    with ScriptedServer([], pages={"/v1/models": page, "/props": page}) as server, at(server) as model:
        assert model.facts() == {}


def test_a_model_that_is_not_listed_shows() -> None:
    """A server that lists models without this one says so."""
    with ScriptedServer([], model="another") as server, at(server) as model:
        assert model.facts() == {"listed": False}


def test_models_are_listed() -> None:
    """The names of the models, in the server's order."""
    page = {"data": [{"id": "b"}, {"id": "a"}, {"id": None}, 7]}
    with ScriptedServer([], pages={"/v1/models": page}) as server:
        assert list_models(Endpoint(base_url=server.url, model="any")) == ("b", "a")


def test_a_refused_list_says_why() -> None:
    """A list that is not given raises in one line with what to try."""
    page = Answer(status=401, body={"error": "no key"})
    with ScriptedServer([], pages={"/v1/models": page}) as server:
        line = f"{server.url} gives no list of its models: HTTP 401: no key; no key was sent; set SIMULATOR_API_KEY"
        with pytest.raises(EndpointError) as error:
            list_models(Endpoint(base_url=server.url, model="any"))
    assert str(error.value) == line


def test_a_dead_endpoint_is_one_line() -> None:
    """Before anything is asked, a server that cannot be reached raises; a call that is under way fails."""
    with ScriptedServer([]) as server:
        url = server.url
    with Model(Endpoint(base_url=url, model="m"), Sampling(), limits=Limits(tries=2), sleep=lambda _: None) as model:
        with pytest.raises(EndpointError) as error:
            model.facts()
        exchange = ask(model)
    advice = "start the server, or name another with --endpoint URL"
    assert str(error.value) == f"{url}: no connection: Connection refused; {advice}"
    assert exchange.reply.detail == "no connection: Connection refused (2 tries)"
    assert error.value.__context__ is None


def test_https_to_a_server_without_it_is_explained() -> None:
    """The usual mistake with a local server has a hint."""
    with ScriptedServer([]) as server:
        endpoint = Endpoint(base_url=server.url.replace("http", "https"), model="m")
        with Model(endpoint, Sampling()) as model, pytest.raises(EndpointError, match="http:// only"):
            model.facts()
