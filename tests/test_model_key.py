"""The API key in what a server sends: however it is spelled, an exchange does not hold it."""

from __future__ import annotations

import base64
import html
import json
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import EndpointError
from simulator.model import Endpoint, Exchange, Limits, Message, Model, Sampling, Secret, read_response
from simulator.model.key import WITHHELD, KeyFilter
from simulator.testing import Answer, Raw, ScriptedModel, ScriptedServer, Step, chat_body

KEY = "sk-Test/Key+0123456789"
HELLO = (Message(role="user", content="Hello"),)
JSON = {"content-type": "application/json"}
ONCE = Limits(tries=1, try_seconds=5)


def exchange_of(answer: Answer, key: str = KEY) -> Exchange:
    """Return what one call with *key* comes to, with this answer."""
    endpoint = Endpoint(base_url="http://scripted.test/v1", model="m", api_key=Secret(key))
    with ScriptedModel([answer], endpoint=endpoint, limits=ONCE) as model:
        return model.send(model.request(HELLO, seed=1))


def exchange_with(step: Step) -> Exchange:
    """Return what one call with the key comes to, over a connection."""
    with ScriptedServer([step]) as server:
        endpoint = Endpoint(base_url=server.url, model="m", api_key=Secret(KEY))
        with Model(endpoint, Sampling(), limits=ONCE) as model:
            return model.send(model.request(HELLO, seed=1))


def json_escaped(text: str) -> str:
    """Return *text* as JSON usually writes it, without the quotes."""
    return json.dumps(text)[1:-1]


def unicode_escaped(text: str) -> str:
    r"""Return *text* as ``\uXXXX`` throughout."""
    return "".join(f"\\u{ord(each):04X}" for each in text)


def percent_escaped(text: str) -> str:
    """Return *text* as ``%XX`` throughout."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


def in_base64(text: str) -> str:
    """Return the base64 of *text*."""
    return base64.b64encode(text.encode()).decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": str.upper,
    "some as JSON escapes": lambda key: key.replace("+", "\\u002B").replace("/", "\\/"),
    "all as JSON escapes": unicode_escaped,
    "JSON escapes in JSON": lambda key: json_escaped(unicode_escaped(key)),
    "for a URL": lambda key: urllib.parse.quote(key, safe=""),
    "percent": percent_escaped,
    "percent twice": lambda key: urllib.parse.quote(percent_escaped(key)),
    "percent in JSON escapes": lambda key: unicode_escaped(percent_escaped(key)),
    "HTML, decimal": lambda key: "".join(f"&#{ord(each)};" for each in key),
    "HTML, hex": lambda key: "".join(f"&#x00{ord(each):x};" for each in key),
    "HTML twice": lambda key: html.escape("".join(f"&#{ord(each)};" for each in key)),
    "bytes of Python": lambda key: "".join(f"\\\\x{ord(each):02x}" for each in key),
    "hex": lambda key: key.encode().hex(),
    "base64": in_base64,
    "base64 of the header": lambda key: in_base64(f"Bearer {key}"),
    "base64 of user and key": lambda key: in_base64(f"me:{key}"),
    "base64 for a URL": lambda key: base64.urlsafe_b64encode(f">>{key}??".encode()).decode(),
}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("status", [200, 400])
def test_no_spelling_of_the_key_stays(spell: Callable[[str], str], status: int) -> None:
    """Neither the body that is kept nor what is read of it tells the key; the call says that there was one."""
    body = '{"error": {"message": "Wrong key: %s"}, "model": "m"}' % spell(KEY)  # noqa: UP031 - braces
    exchange = exchange_of(Answer(status=status, body=body))
    assert exchange.response is not None
    assert spell(KEY).encode() not in exchange.response.body
    assert "[key]" in exchange.reply.detail
    assert not KeyFilter(Secret(KEY)).is_in(repr(exchange).encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("spell", [str, unicode_escaped])
def test_wide_characters_do_not_hide_the_key(encoding: str, spell: Callable[[str], str]) -> None:
    """JSON may come in UTF-16 and UTF-32, and is read in them; with the key in it nothing of it is kept."""
    body = ('{"choices": [{"message": {"content": "It is %s."}}]}' % spell(KEY)).encode(encoding)  # noqa: UP031
    exchange = exchange_of(Answer(body=body))
    assert exchange.response is not None
    assert (exchange.response.body, exchange.reply.outcome) == (WITHHELD, "failed")


def test_wide_characters_without_the_key_are_kept() -> None:
    """A reply in UTF-16 is a reply, and its bytes are as they came."""
    body = json.dumps(chat_body("It is n\u00efce.")).encode("utf-16")
    exchange = exchange_of(Answer(body=body))
    assert exchange.response is not None
    assert (exchange.response.body, exchange.reply.text) == (body, "It is n\u00efce.")


def test_a_key_in_parts_is_not_put_together() -> None:
    """A content comes in parts; where they make up the key, nothing of the body is kept, nor what is read of it."""
    parts = [{"type": "text", "text": KEY[:9]}, {"type": "text", "text": KEY[9:]}]
    exchange = exchange_of(Answer(body={"choices": [{"message": {"content": parts}}]}))
    assert exchange.response is not None
    assert exchange.response.body == WITHHELD
    assert exchange.reply == read_response(exchange.response)
    assert exchange.reply.text is None


PARTS = st.sampled_from([str, unicode_escaped, percent_escaped, json_escaped])


@given(
    key=st.text(
        st.characters(
            min_codepoint=0x21, max_codepoint=0xFF, exclude_categories=["Cc", "Zs"], exclude_characters="\\%&"
        ),
        min_size=8,
    ),
    spells=st.lists(PARTS, min_size=1, max_size=40),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-32-be"]),
    around=st.tuples(
        st.sampled_from(["", "x", "\\\\", "\u00e9", "\U0001f55b"]), st.sampled_from(["", "0", "\\\\", "=="])
    ),
)
@settings(max_examples=150, deadline=None)
def test_no_mixture_of_spellings_tells_the_key(
    key: str, spells: list[Callable[[str], str]], encoding: str, around: tuple[str, str]
) -> None:
    """Whatever each character is written as, what JSON reads in the body that is kept is not the key."""
    written = "".join(spells[place % len(spells)](each) for place, each in enumerate(key))
    body = f'{{"choices": [{{"message": {{"content": "{around[0]}{written}{around[1]}"}}}}]}}'.encode(encoding)
    exchange = exchange_of(Answer(body=body), key)
    assert exchange.response is not None
    assert key not in (exchange.reply.text or "")
    assert key not in urllib.parse.unquote(exchange.reply.text or "")
    assert exchange.reply == read_response(exchange.response)


@pytest.mark.parametrize(
    "key", ["sk-\\Test\\/0123", "sk-100%41%42c", "sk-&amp;&#65;01", "\"sk\"-'0123'", "schl\u00fcssel-\u00ff"]
)
@pytest.mark.parametrize("spell", [json_escaped, unicode_escaped, percent_escaped, in_base64])
def test_a_key_of_odd_characters_is_found(key: str, spell: Callable[[str], str]) -> None:
    """A key may itself look escaped."""
    exchange = exchange_of(Answer(body='{"choices": [{"message": {"content": "%s"}}]}' % spell(key)), key)  # noqa: UP031
    assert "[key]" in f"{exchange.reply.text} {exchange.reply.detail}"
    assert not KeyFilter(Secret(key)).is_in(repr(exchange).encode())


@given(data=st.binary(max_size=80))
def test_what_does_not_hold_the_key_stays_as_it_is(data: bytes) -> None:
    """Filtering changes nothing else, whatever the bytes are."""
    assert KeyFilter(Secret(KEY)).clean(data) == data
    assert KeyFilter(None).clean(data + KEY.encode()) == data + KEY.encode()


@pytest.mark.parametrize("spell", [str, percent_escaped, in_base64])
def test_a_header_does_not_tell_the_key(spell: Callable[[str], str]) -> None:
    """Neither the name of a header, nor its value, nor what is read of it."""
    key = KEY.replace("/", "-")
    headers = {"server": spell(key), "location": f"http://other.test/{spell(key)}", f"x-ratelimit-{key}": "1"}
    exchange = exchange_of(Answer(status=302, headers=headers), key)
    assert exchange.response is not None
    assert set(exchange.response.headers) == {"server", "location", "x-ratelimit-[key]"}
    assert "[key]" in exchange.reply.detail
    assert not KeyFilter(Secret(key)).is_in(repr(exchange).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nbad header line %b %b\r\n\r\n" % (b"A" * filling, KEY.encode())
        for filling in range(220, 260, 3)
    ]
    + [
        b"HTPP/%b\r\n\r\n" % KEY.encode(),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%b\r\n" % KEY.encode(),
    ],
)
def test_an_error_of_the_connection_does_not_tell_a_piece_of_the_key(data: bytes) -> None:
    """What the HTTP library quotes of an answer is filtered before it is shortened."""
    detail = exchange_with(Raw(data=data)).reply.detail
    assert "the answer is cut, or not HTTP" in detail
    assert not any(KEY[start : start + 6] in detail for start in range(len(KEY) - 5))


def test_what_the_library_puts_in_brackets_is_read_at_once() -> None:
    """A status line of nothing but opening brackets is quoted, shortened and no more."""
    detail = exchange_with(Raw(data=b"[" * 90_000 + b"\r\n\r\n")).reply.detail
    assert detail.startswith("the answer is cut, or not HTTP: ")
    assert len(detail) < 400


def test_a_list_of_models_does_not_tell_the_key() -> None:
    """Nor does the line that says why there is none, nor what is recorded of the server."""
    pages: list[dict[str, Step]] = [
        {"/v1/models": {"data": [{"id": KEY, "owned_by": in_base64(KEY)}]}, "/props": {"build_info": KEY}},
        {"/v1/models": Answer(status=401, body=json.dumps({"error": f"Wrong key: {in_base64(KEY)}"}))},
    ]
    said: list[str] = []
    for each in pages:
        with ScriptedServer([], pages=each) as server:
            endpoint = Endpoint(base_url=server.url, model="[key]", api_key=Secret(KEY))
            with Model(endpoint, Sampling(), limits=ONCE) as model:
                said += [repr(model.facts()), listed_or_line(model)]
    assert said[:2] == ["{'llama_cpp': '[key]'}", "()"]
    assert said[3].endswith(f"HTTP 401 with application/json: {WITHHELD.decode()}; check the key in SIMULATOR_API_KEY")
    assert not KeyFilter(Secret(KEY)).is_in("".join(said).encode())


def listed_or_line(model: Model) -> str:
    """Return the models that a server lists, or the line that says why there is no list."""
    try:
        return repr(model.listed())
    except EndpointError as error:
        return str(error)
