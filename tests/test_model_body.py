"""The body of an answer: how it is decompressed, and how much of it is taken."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

import pytest

from simulator.model import Endpoint, Exchange, Limits, Message, Model, Sampling
from simulator.testing import Answer, ScriptedModel, ScriptedServer, chat_body

HELLO = (Message(role="user", content="Hello"),)
PLAIN = json.dumps(chat_body("Hello.")).encode()
ONCE = Limits(tries=1, try_seconds=20, body_bytes=100_000)


def exchange_with(body: bytes, encoding: str, limits: Limits = ONCE) -> Exchange:
    """Return what a call comes to whose answer has this body under this content-encoding."""
    answer = Answer(body=body, headers={"content-type": "application/json", "content-encoding": encoding})
    with (
        ScriptedServer([answer] * limits.tries) as server,
        Model(Endpoint(base_url=server.url, model="m"), Sampling(), limits=limits, sleep=lambda _: None) as model,
    ):
        return model.send(model.request(HELLO, seed=1))


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (PLAIN, ""),
        (PLAIN, "identity"),
        (PLAIN, "Identity, identity"),
        (gzip.compress(PLAIN), "gzip"),
        (gzip.compress(PLAIN), "x-gzip"),
        (gzip.compress(PLAIN), " GZIP , identity"),
        (zlib.compress(PLAIN), "deflate"),
    ],
)
def test_a_compressed_body_is_read(body: bytes, encoding: str) -> None:
    """A server that compresses unasked is understood, and what is kept is plain."""
    exchange = exchange_with(body, encoding)
    assert exchange.reply.text == "Hello."
    assert exchange.response is not None
    assert exchange.response.body == PLAIN


def test_a_compressed_body_is_read_without_a_network() -> None:
    """A scripted model answers as a server does."""
    answer = Answer(body=gzip.compress(PLAIN), headers={"content-encoding": "gzip"})
    with ScriptedModel([answer]) as model:
        assert model.send(model.request(HELLO, seed=1)).reply.text == "Hello."


@pytest.mark.parametrize(
    ("body", "encoding", "why"),
    [
        (PLAIN, "gzip", "incorrect header check"),
        (PLAIN, "deflate", "incorrect header check"),
        (b"abc", "deflate", "incorrect header check"),
        (gzip.compress(PLAIN)[:-9], "gzip", "it ends too early"),
        (zlib.compress(PLAIN)[:4], "deflate", "it ends too early"),
        (gzip.compress(PLAIN) + PLAIN, "gzip", "there is more after its end"),
        (zlib.compress(PLAIN)[:-1] + b"!", "deflate", "incorrect data check"),
    ],
)
def test_a_body_that_is_not_what_it_is_called_fails(body: bytes, encoding: str, why: str) -> None:
    """It is a fault of the transport: no byte of it is a reply, and another try may do better."""
    exchange = exchange_with(body, encoding, Limits(tries=2, try_seconds=20))
    assert (exchange.response, exchange.reply.text, len(exchange.tries)) == (None, None, 2)
    assert exchange.reply.detail.startswith("the body is not what its content-encoding says: ")
    assert why in exchange.reply.detail


def test_nothing_is_an_empty_body_however_it_is_called() -> None:
    """An answer without a body may keep the header of one."""
    assert exchange_with(b"", "gzip").reply.detail == "HTTP 200 with application/json: an empty body"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("gzip, gzip", "'gzip, gzip'"),
        ("br", "'br'"),
        ("zstd, br", "'zstd, br'"),
        ("x" * 5000, f"'{'x' * 59}…'"),
    ],
)
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str, shown: str) -> None:
    """What would have to be decompressed twice, or by another library, is not taken and not asked for again."""
    body = gzip.compress(gzip.compress(PLAIN))
    exchange = exchange_with(body, encoding, Limits(tries=2))
    assert exchange.reply.detail == f"the body has the content-encoding {shown}, which was not asked for"
    assert (exchange.response, len(exchange.tries)) == (None, 1)


@pytest.mark.parametrize(("compress", "encoding"), [(gzip.compress, "gzip"), (zlib.compress, "deflate")])
def test_the_limit_is_that_of_the_plain_body(compress: Callable[[bytes], bytes], encoding: str) -> None:
    """A few kilobytes that unfold into more than any reply are not taken; those that unfold to the limit are."""
    padded = PLAIN + b" " * (ONCE.body_bytes - len(PLAIN))
    assert exchange_with(compress(padded), encoding).reply.text == "Hello."
    for longer in (padded + b" ", b" " * 50_000_000):
        exchange = exchange_with(compress(longer), encoding)
        assert exchange.reply.detail == "the answer is longer than 100000 bytes"
        assert exchange.response is None
