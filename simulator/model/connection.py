"""The connections to a server: lent to one thread at a time, with a deadline, and through a proxy or not."""

from __future__ import annotations

import contextlib
import ipaddress
import queue
import ssl
import time
import urllib.request
from collections.abc import Callable, Generator, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import httpcore
import httpx

from ..errors import InputError
from .endpoint import Endpoint, readable_url, shown_url

__all__ = ["WATCH", "Clients", "Watch", "proxy_for", "transports_to"]

_T = TypeVar("_T")


@dataclass(kw_only=True, slots=True)
class Watch:
    """One try on the wire: when it must have ended, and what was seen of it."""

    until: float
    """On the monotonic clock."""
    span: str
    """The same, for a person: "120 s"."""
    opened: bool = False
    """Whether the connection is a new one."""
    received: int = 0
    status: int | None = None

    def left(self, timeout: float | None = None) -> float:
        """Return the seconds left, at most *timeout*; never 0, which would mean "do not wait" to a socket."""
        left = self.until - time.monotonic()
        return max(0.001, left if timeout is None else min(left, timeout))


WATCH: ContextVar[Watch] = ContextVar("watch")


class _WatchedStream(httpcore.NetworkStream):
    """A connection whose every operation shares the time of the try, so that a dripping server cannot stretch it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        watch = WATCH.get()
        if time.monotonic() >= watch.until:
            raise httpcore.ReadTimeout
        data = self._stream.read(max_bytes, watch.left(timeout))
        watch.received += len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, WATCH.get().left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _WatchedStream(self._stream.start_tls(ssl_context, server_hostname, WATCH.get().left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _WatchedBackend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        watch = WATCH.get()
        watch.opened = True
        options = socket_options or ()
        return _WatchedStream(self._backend.connect_tcp(host, port, watch.left(timeout), local_address, options))


class _Transport(httpx.HTTPTransport):
    """The library's transport over a pool with watched connections, for which it has no argument."""

    def __init__(self, pool: httpcore.ConnectionPool) -> None:
        self._pool = pool


def transports_to(endpoint: Endpoint, proxy: httpx.Proxy | None, connections: int) -> Sequence[httpx.BaseTransport]:
    """Return so many transports of one connection each to the endpoint's server, through *proxy* if there is one.

    Raises ``InputError`` for a file of certificates that cannot be used.
    """
    # Many servers close an idle connection after 5 s. Letting go of it a little earlier avoids the race.
    shared: dict[str, Any] = {"max_connections": 1, "keepalive_expiry": 4.0, "network_backend": _WatchedBackend()}
    if endpoint.base_url.startswith("https:"):
        shared["ssl_context"] = _ssl_context()
    if proxy is None:
        return [_Transport(httpcore.ConnectionPool(**shared)) for _ in range(connections)]
    shared["proxy_auth"] = proxy.raw_auth
    if proxy.url.scheme == "https":
        shared["proxy_ssl_context"] = _ssl_context()
    return [_Transport(httpcore.HTTPProxy(str(proxy.url), **shared)) for _ in range(connections)]


class Clients:
    """HTTP clients of one connection each, lent to one thread at a time.

    A pool that threads share may close a connection under a thread that has just begun to use it: it takes an idle
    connection that is readable for one that the server has closed, and by then it may be readable because the answer
    has come.
    """

    def __init__(self, clients: Sequence[httpx.Client]) -> None:
        self._clients = clients
        # The last one used is the next one lent: its connection is the least likely to have been closed.
        self._free: queue.LifoQueue[httpx.Client] = queue.LifoQueue()
        for client in clients:
            self._free.put(client)

    @contextlib.contextmanager
    def lend(self, seconds: float) -> Generator[httpx.Client, None, None]:
        """Lend a client, waiting for one for at most *seconds*; then raises ``httpx.PoolTimeout``."""
        try:
            client = self._free.get(timeout=seconds)
        except queue.Empty:
            raise httpx.PoolTimeout("") from None
        try:
            yield client
        finally:
            self._free.put(client)

    def close(self) -> None:
        """Close every connection, lent ones too."""
        for client in self._clients:
            client.close()


def _ssl_context() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise InputError(f"SSL_CERT_FILE or SSL_CERT_DIR cannot be used: {error}; unset it or mend the file") from None


def proxy_for(endpoint: Endpoint) -> httpx.Proxy | None:
    """Return the proxy that the environment names for *endpoint*; loopback never has one.

    Raises ``InputError`` for a proxy that cannot be used.
    """
    url = httpx.URL(endpoint.base_url)
    named = urllib.request.getproxies()
    value = named.get(url.scheme) or named.get("all")
    if not value or _is_loopback(url.host) or _goes_direct(url, named.get("no", "")):
        return None
    try:
        proxy = httpx.Proxy(readable_url(value if "://" in value else f"http://{value}"))
    except ValueError:
        raise InputError(
            f"the proxy {shown_url(value)} of the environment is not a URL; write http://HOST:PORT"
        ) from None
    if proxy.url.scheme not in ("http", "https"):
        advice = f"write http://HOST:PORT, or NO_PROXY={url.host}"
        raise InputError(f"the proxy {shown_url(value)} of the environment is no HTTP proxy; {advice}")
    return proxy


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _parsed(ipaddress.ip_address, host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def _goes_direct(url: httpx.URL, no_proxy: str) -> bool:
    """Whether NO_PROXY exempts *url*: by name, or by address range. An entry that is neither exempts nothing."""
    if urllib.request.proxy_bypass(url.netloc.decode("ascii")):
        return True
    address = _parsed(ipaddress.ip_address, url.host)
    ranges = [_parsed(ipaddress.ip_network, entry.strip().strip("[]")) for entry in no_proxy.split(",")]
    return address is not None and any(address in each for each in ranges if each is not None)


def _parsed(parse: Callable[[str], _T], text: str) -> _T | None:
    with contextlib.suppress(ValueError):
        return parse(text)
    return None
