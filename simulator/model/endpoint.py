"""Where a model is: a URL, a name and a key, what that server puts up with, and how long a call may take."""

from __future__ import annotations

import re
import urllib.parse
from dataclasses import dataclass
from typing import Literal

import httpx

from ..errors import InputError
from ..visible import one_line
from .key import API_KEY_ENV, Secret

__all__ = ["Endpoint", "Limits", "readable_url", "shown_url"]


def shown_url(url: str) -> str:
    """Return *url*, quoted, without what stands before an ``@`` and after a ``?``."""
    return repr(one_line(url.rpartition("@")[2].partition("?")[0], 200))


def readable_url(text: str) -> httpx.URL:
    """Return *text* as a URL whose host and port can be connected to; raises ``ValueError`` for any other."""
    try:
        url, _ = httpx.URL(text), urllib.parse.urlsplit(text).port
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from None
    # The library reads the host when it connects, and the socket module then reads it in its own way.
    for host in (url.host, url.raw_host.decode("ascii")):
        host.encode("idna")
    return url


def _normal_url(url: str) -> str:
    """Return *url* as the part before ``/chat/completions``; raises ``InputError`` with what to write instead."""
    wrong = f"the endpoint {shown_url(url)} "
    if "#" in url or any(each.isspace() or not each.isprintable() for each in url):
        raise InputError(f"{wrong}holds a space, a control character or a '#'; write it without")
    try:
        parts, read = urllib.parse.urlsplit(url), readable_url(url)
    except ValueError:
        raise InputError(f"{wrong}is not a URL; write one like http://localhost:8080/v1") from None
    if parts.scheme not in ("http", "https") or not read.host:
        raise InputError(f"{wrong}is not an http:// or https:// URL; write one like http://localhost:8080/v1")
    if "@" in parts.netloc or re.search(r"(?i)key|token|secret|sig|pass|auth", parts.query):
        raise InputError(f"{wrong}holds a credential; write the URL without it and put the key in {API_KEY_ENV}")
    path = parts.path.rstrip("/").removesuffix("/chat/completions").rstrip("/") or "/v1"
    return urllib.parse.urlunsplit(parts._replace(path=path))


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """A model on a server, and what that server puts up with."""

    base_url: str
    """No trailing slash, and ``/v1`` where no path was given. ``InputError`` for anything but a plain http(s) URL."""
    model: str
    api_key: Secret | None = None
    api_key_env: str = API_KEY_ENV
    """Where the key comes from, for messages."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    fold_system: bool = False
    """Whether the system text goes into the first user turn, for templates that refuse a system role."""
    send_seed: bool = True
    response_format: Literal["json_schema", "none"] = "json_schema"
    """Whether a format that is asked of a reply is sent to the server."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", _normal_url(self.base_url))
        if not self.model.strip() or not self.model.isprintable():
            raise InputError(
                f"the model's name {one_line(self.model, 100)!r} is empty or not printable; write --model NAME"
            )

    def url(self, path: str) -> str:
        """Return the URL of *path* below the base, with the base's query."""
        parts = urllib.parse.urlsplit(self.base_url)
        return urllib.parse.urlunsplit(parts._replace(path=parts.path + path))

    def root_url(self, path: str) -> str:
        """Return the URL of *path* at the server's root, which is the base without ``/v1``."""
        parts = urllib.parse.urlsplit(self.base_url)
        return urllib.parse.urlunsplit(parts._replace(path=parts.path.removesuffix("/v1") + path, query=""))

    def name_for_recording(self) -> str:
        """Return the base URL without its query: nothing in it is secret."""
        return urllib.parse.urlunsplit(urllib.parse.urlsplit(self.base_url)._replace(query=""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How long and how much one call may take. Raises ``InputError`` for a limit that is not positive."""

    connect_seconds: float = 10.0
    try_seconds: float = 120.0
    """For one try, from connecting to the last byte of the answer."""
    deadline_seconds: float = 300.0
    """For the whole call, waits between tries included."""
    tries: int = 4
    body_bytes: int = 8 * 2**20

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise InputError(f"the limit {name} is {getattr(self, name)}; write a number above 0")
