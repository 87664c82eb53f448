"""Any text as an endpoint or a proxy: a URL that can be asked, or one line that says what to write."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simulator.errors import InputError
from simulator.model import Endpoint, Message, Model, Sampling
from simulator.testing import ScriptedModel

HELLO = (Message(role="user", content="Hello"),)

PIECES = st.sampled_from(
    [
        *(
            "http://",
            "https://",
            "HTTP:",
            "//",
            "/",
            "?",
            "#",
            "@",
            ":",
            "user:pass@",
            "\\",
            "%",
            "%00",
            "%zz",
            "{",
            "}",
        ),
        *("xn--a", "xn--", "xn--ls8h", "a", "b.", "..", ".", "-", "_", "*", "localhost", "\u00df", "\u2603", "\uff41"),
        *("[", "]", "[::1]", "[::1%25eth0]", "[v1.x]", "1.2.3", "256.1.1.1", "0x7f.1", "\u0663", ":0", ":99999", ":-1"),
        *("\u200b", "\u202e", "\ufeff", " ", "\t", "\n", "\x00", "\ud800", "\U0001f55b", "a" * 64, "a." * 130, "/v1"),
    ]
)
URLS = st.lists(PIECES, max_size=7).map("".join) | st.text(max_size=12).map(lambda host: f"http://{host}/v1")


def endpoint_or_line(url: str) -> Endpoint | str:
    """Return the endpoint at *url*, or the line that says why there is none."""
    try:
        return Endpoint(base_url=url, model="m")
    except InputError as error:
        return str(error)


@given(url=URLS)
@settings(max_examples=400, deadline=None)
@example(url="http://xn--a/")
@example(url="http://xn--/")
@example(url="http://a..b/")
@example(url="http://[v1.x]/")
@example(url="http://[/")
@example(url="http://\u2603.net/")
def test_a_text_is_an_endpoint_or_an_error_of_one_line(url: str) -> None:
    """No other exception, neither where the endpoint is made nor where it is asked."""
    endpoint = endpoint_or_line(url)
    if isinstance(endpoint, str):
        assert endpoint.isprintable()
        assert "; write " in endpoint
        return
    with ScriptedModel(["Hello."], endpoint=endpoint) as model:
        assert model.send(model.request(HELLO, seed=1)).reply.text == "Hello."
        assert model.facts() == {}
    assert Endpoint(base_url=endpoint.base_url, model="m").base_url == endpoint.base_url
    if url.startswith("http://"):  # what https takes beside is slow to make
        Model(endpoint, Sampling()).close()


@pytest.mark.parametrize("host", ["xn--a", "a..b", "[v1.x]", "\u2603", "[", "a" * 64, "h:99999"])
def test_a_proxy_that_is_no_url_is_one_line(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """The proxy of the environment is read as strictly as the endpoint."""
    monkeypatch.setenv("http_proxy", f"http://me:hunter2@{host}/")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(
        InputError, match=r"^the proxy .* of the environment is not a URL; write http://HOST:PORT$"
    ) as error:
        Model(Endpoint(base_url="http://model.test", model="m"), Sampling())
    assert "hunter2" not in str(error.value)
