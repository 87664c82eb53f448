"""The client: messages sent, one reply received."""

from __future__ import annotations

import random
import time
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self

import httpx

from .. import __version__
from ..errors import EndpointError
from .advice import advised, read_fault
from .body import RefusedBodyError, read_body
from .connection import WATCH, Clients, Watch, proxy_for, transports_to
from .endpoint import Endpoint, Limits
from .facts import facts_of_server, models_of
from .key import WITHHELD, KeyFilter
from .reading import failed, read_response
from .shapes import is_success, string
from .tries import Call, Tried
from .values import Exchange, Message, Request, Response, Sampling

__all__ = ["Model", "list_models"]

_KEPT_HEADERS = frozenset(
    {"content-type", "date", "location", "request-id", "retry-after", "server", "x-request-id", "x-sha"}
)
_NAMES_OF_ACCOUNTS = frozenset({"openai-organization", "openai-project"})

_PAGE_SECONDS = 10.0
"""For a page of facts, which a server that works has at hand."""


class Model:
    """A model behind an endpoint, for many threads, of which as many are served at once as there are *connections*."""

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling,
        *,
        limits: Limits | None = None,
        connections: int = 8,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.sampling = sampling
        self.limits = limits or Limits()
        self._sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 - it spreads waits, and guards nothing
        self._key = KeyFilter(endpoint.api_key)
        proxy = None if transport else proxy_for(endpoint)
        self._through = f" (through the proxy {proxy.url})" if proxy else ""
        transports = [transport] * connections if transport else transports_to(endpoint, proxy, connections)
        self._clients = Clients([_client(each, endpoint) for each in transports])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. A closed model cannot be asked."""
        self._clients.close()

    def request(
        self, messages: Sequence[Message], *, seed: int | None, response_format: Mapping[str, Any] | None = None
    ) -> Request:
        """Return what would be sent: *messages*, folded where the endpoint wants that, and the rest of the body.

        *response_format* is that field of the body, whole.
        """
        endpoint = self.endpoint
        body = {"model": endpoint.model, **self.sampling.fields(endpoint.max_tokens_field)}
        if seed is not None and endpoint.send_seed:
            body["seed"] = seed
        if response_format is not None and endpoint.response_format == "json_schema":
            body["response_format"] = response_format
        return Request(messages=_folded(messages) if endpoint.fold_system else tuple(messages), body=body)

    def send(self, request: Request) -> Exchange:
        """Send *request*, again where that may help, and return all that came of it; nothing a server does raises."""
        content = request.content()

        def ask(watch: Watch) -> Tried:
            tried = self._ask("POST", self.endpoint.url("/chat/completions"), watch, content)
            return replace(tried, reply=advised(tried, self.endpoint))

        return Call(ask, limits=self.limits, sleep=self._sleep, rng=self._rng).exchange(request)

    def facts(self) -> dict[str, Any]:
        """Return what the server says of itself and the model; a fact that it does not give is not there.

        ``listed``: whether it lists the model. ``server``, ``owned_by``: names. ``context``: tokens. ``slots``:
        requests at once. ``llama_cpp``: its build. ``chat_template_sha256``. Raises ``EndpointError`` where no
        connection is to be had.
        """
        listing = self._page(self.endpoint.url("/models"))
        props = self._page(self.endpoint.root_url("/props"))
        return facts_of_server(self.endpoint.model, listing.response, props.response)

    def listed(self) -> tuple[str, ...]:
        """Return the names of the models that the server lists; raises ``EndpointError`` where it gives no list."""
        tried = self._page(self.endpoint.url("/models"))
        if tried.response is None or not is_success(tried.response.status):
            why = advised(tried, self.endpoint).detail
            raise EndpointError(f"{self.endpoint.name_for_recording()} gives no list of its models: {why}")
        return tuple(name for each in models_of(tried.response) if (name := string(each.get("id"))))

    def _page(self, url: str) -> Tried:
        seconds = min(_PAGE_SECONDS, self.limits.try_seconds)
        tried = self._ask("GET", url, Watch(until=time.monotonic() + seconds, span=f"{seconds:g} s"))
        if tried.unreachable:
            advice = "start the server, or name another with --endpoint URL"
            raise EndpointError(f"{self.endpoint.name_for_recording()}: {tried.reply.detail}; {advice}")
        return tried

    def _ask(self, method: str, url: str, watch: Watch, content: bytes | None = None) -> Tried:
        """Return what one HTTP request comes to; nothing of the key is in it."""
        try:
            response = self._receive(method, url, watch, content)
        except RefusedBodyError as error:
            return Tried(response=None, reply=failed(self._key.clean_text(str(error))))
        except httpx.RequestError as error:
            tried = read_fault(error, watch, self._key)
            detail = tried.reply.detail + (self._through if tried.unreachable else "")
            return replace(tried, reply=replace(tried.reply, detail=detail))
        reply = read_response(response)
        if self._key.is_in(repr(reply).encode()):  # put together by the reading, from parts of a content
            response = replace(response, body=WITHHELD)
            reply = read_response(response)
        return Tried(response=response, reply=reply)

    def _receive(self, method: str, url: str, watch: Watch, content: bytes | None) -> Response:
        token = WATCH.set(watch)
        left = watch.left()
        timeout = httpx.Timeout(left, connect=min(left, self.limits.connect_seconds))
        try:
            with (
                self._clients.lend(left) as client,
                client.stream(method, url, content=content, timeout=timeout) as answer,
            ):
                watch.status = answer.status_code
                body = read_body(answer, watch, self.limits.body_bytes)
                return Response(
                    status=answer.status_code, headers=self._kept(answer.headers), body=self._key.clean(body)
                )
        finally:
            WATCH.reset(token)

    def _kept(self, headers: httpx.Headers) -> dict[str, str]:
        kept = {name: value for name, value in headers.items() if _is_kept(name)}
        if "location" in kept:
            kept["location"] = _without_secrets(kept["location"])
        return {self._key.clean_text(name): self._key.clean_text(value) for name, value in kept.items()}


def list_models(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the names of the models that a server lists; raises ``EndpointError`` where it gives no list."""
    with Model(endpoint, Sampling()) as model:
        return model.listed()


def _client(transport: httpx.BaseTransport, endpoint: Endpoint) -> httpx.Client:
    return httpx.Client(
        transport=transport,
        headers=_request_headers(endpoint),
        # What is sent is what the recording says: no cookie of an earlier answer, no credential of ~/.netrc.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        trust_env=False,
    )


def _request_headers(endpoint: Endpoint) -> httpx.Headers:
    headers = {
        "accept": "application/json",
        # Replies are small, and what is not compressed cannot be compressed wrongly.
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": f"simulator/{__version__}",
    }
    if endpoint.api_key:
        headers["authorization"] = f"Bearer {endpoint.api_key.reveal()}"
    return httpx.Headers(headers, encoding="latin-1")


def _folded(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return *messages* without a system role: its text stands before that of the next user message."""
    folded: list[Message] = []
    waiting: list[str] = []
    for message in messages:
        if message.role == "system":
            waiting.append(message.content)
        elif message.role == "user" and waiting:
            folded.append(Message(role="user", content="\n\n".join([*waiting, message.content])))
            waiting = []
        else:
            folded.append(message)
    return tuple(folded) if not waiting else (*folded, Message(role="user", content="\n\n".join(waiting)))


def _is_kept(name: str) -> bool:
    """Whether a response header is worth keeping, and safe to keep: no cookie, no credential, no account."""
    return name in _KEPT_HEADERS or (name.startswith(("openai-", "x-ratelimit-")) and name not in _NAMES_OF_ACCOUNTS)


def _without_secrets(url: str) -> str:
    """Return *url* without user, query and fragment."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        return "an unreadable URL"
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
