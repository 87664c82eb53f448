"""What went wrong, in words, and which option or variable may cure it."""

from __future__ import annotations

import re
from dataclasses import replace

import httpx

from ..visible import one_line
from .connection import Watch
from .endpoint import Endpoint
from .key import KeyFilter
from .reading import failed
from .tries import Tried
from .values import Reply

__all__ = ["advised", "read_fault"]


_LOST = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
_UNREACHABLE = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
_HINT_HTTP = " (does the server speak http:// only?)"
_HOPELESS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)


def read_fault(error: httpx.RequestError, watch: Watch, key: KeyFilter) -> Tried:
    """Return how a failed HTTP request reads, without *key*; all but one that cannot be sent are worth another try."""
    lost = isinstance(error, _LOST) and not watch.received
    return Tried(
        response=None,
        reply=failed(_in_words(error, key.clean_text(str(error)), watch), retry=not isinstance(error, _HOPELESS)),
        stale=lost and not watch.opened,
        unreachable=isinstance(error, _UNREACHABLE),
    )


_NOISE = re.compile(r"\[(?:Errno|WinError|SSL|X509)\b[^\[\]]*\] ?|\(_ssl\.c:\d+\)")


def _in_words(error: httpx.RequestError, said: str, watch: Watch) -> str:
    """Return what *error* comes to, which said *said*."""
    reason = one_line(_NOISE.sub("", said))
    answer = "the answer was not whole" if watch.received else "no answer"
    kinds = (
        ((httpx.ConnectTimeout, httpx.PoolTimeout), "no connection in time"),
        (httpx.TimeoutException, f"{answer} within {watch.span}"),
        (httpx.ProxyError, f"the proxy refuses: {reason}"),
        (httpx.ConnectError, f"no connection: {reason}{_HINT_HTTP if 'WRONG_VERSION' in said else ''}"),
        (httpx.DecodingError, f"the body is not what its content-encoding says: {reason}"),
        (() if watch.received else _LOST, "the connection was closed before an answer came"),
        ((httpx.ReadError, httpx.WriteError), f"the connection broke in the middle of the answer: {reason}"),
        (httpx.RemoteProtocolError, f"the answer is cut, or not HTTP: {reason}"),
    )
    return next((words for kind, words in kinds if isinstance(error, kind)), f"the request cannot be sent: {reason}")


def advised(tried: Tried, endpoint: Endpoint) -> Reply:
    """Return the reply with what to try added to its detail, where the status tells."""
    reply, response = tried.reply, tried.response
    if response is None or reply.outcome != "failed":
        return reply
    advice = _advice(response.status, reply.detail, endpoint)
    return replace(reply, detail=f"{reply.detail}; {advice}") if advice else reply


def _advice(status: int, detail: str, endpoint: Endpoint) -> str:
    key = endpoint.api_key_env
    if status in (401, 403):
        return f"check the key in {key}" if endpoint.api_key else f"no key was sent; set {key}"
    if status == 404:  # noqa: PLR2004 - HTTP's
        return f"is there a model {one_line(endpoint.model, 100)!r} at {endpoint.name_for_recording()}?"
    options = _options_against(detail, endpoint) if status >= 400 else []  # noqa: PLR2004 - HTTP's classes
    return f"try {' '.join(options)}" if options else ""


_REFUSES = re.compile(
    r"(?i)unsupported|not supported|does not support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|no longer"
)
_REFUSES_SYSTEM = re.compile(
    r"(?i)system (role|message|prompt)|role\W{1,4}system|roles must alternate|only user and assistant roles"
)


def _options_against(detail: str, endpoint: Endpoint) -> list[str]:
    """Return the options that leave out what the server's message refuses."""
    options: list[str] = []
    if _REFUSES_SYSTEM.search(detail):
        options += [] if endpoint.fold_system else ["--fold-system"]
    if not _REFUSES.search(detail):
        return options
    if re.search(rf"\b{endpoint.max_tokens_field}\b", detail):
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
        options.append(f"--max-tokens-field {other[endpoint.max_tokens_field]}")
    if endpoint.send_seed and re.search(r"\bseed\b", detail):
        options.append("--no-seed-field")
    if endpoint.response_format != "none" and re.search(r"response_format|json_schema|guided", detail):
        options.append("--response-format none")
    return options
