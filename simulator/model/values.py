"""The values of a call: what is asked, what came back, and how that reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..canonical import canonical_json, digest_bytes
from ..errors import InputError

__all__ = ["Exchange", "Message", "Outcome", "Reply", "Request", "Response", "Role", "Sampling", "Try", "Usage"]

Role = Literal["system", "user", "assistant"]
Outcome = Literal["reply", "truncated", "refused", "failed"]
"""reply: a whole text. truncated: cut by the token limit. refused: a filter or the model declined. failed: no text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


_OWN_FIELDS = {
    "messages": "the conversation is the scenario's",
    "model": "use --model",
    "stream": "replies are read whole",
    "n": "one reply is asked for at a time",
    "seed": "use --seed",
    "temperature": "use --temperature",
    "top_p": "use --top-p",
    "max_tokens": "use --max-tokens",
    "max_completion_tokens": "use --max-tokens and --max-tokens-field",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """Sampling parameters as they are sent; None is not sent.

    Raises ``InputError`` for a parameter that has an option of its own and for a value that JSON does not have.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the request body (``--param K=V``)."""

    def __post_init__(self) -> None:
        for name in self.params:
            if name in _OWN_FIELDS:
                raise InputError(f"--param {name} cannot be set: {_OWN_FIELDS[name]}")
        try:
            canonical_json(self.fields("max_tokens"))
        except (TypeError, ValueError) as error:
            raise InputError(f"a sampling parameter is not a JSON value: {error}") from None

    def fields(self, max_tokens_field: str) -> dict[str, Any]:
        """Return the fields of a request body, with the token limit under the name *max_tokens_field*."""
        named = {"temperature": self.temperature, "top_p": self.top_p, max_tokens_field: self.max_tokens}
        return {**self.params, **{name: value for name, value in named.items() if value is not None}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is asked: the body of one POST."""

    messages: tuple[Message, ...]
    body: Mapping[str, Any]
    """Everything of the request body except ``messages``: model, sampling, seed, response_format."""

    def full(self) -> dict[str, Any]:
        """Return the whole request body."""
        return {**self.body, "messages": [{"role": each.role, "content": each.content} for each in self.messages]}

    def content(self) -> bytes:
        """Return the bytes that are sent: the body as canonical JSON."""
        return canonical_json(self.full())

    @property
    def digest(self) -> str:
        """The SHA-256 of ``content()``."""
        return digest_bytes(self.content())


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """What came back, before any reading of it, with the API key taken out."""

    status: int
    headers: Mapping[str, str]
    """Lower-case names; only those that are worth keeping and safe to keep."""
    body: bytes
    """Decoded, whatever the content-encoding was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Try:
    """One HTTP request of a call."""

    started: str
    """UTC, ISO 8601 with milliseconds and Z."""
    seconds: float
    status: int | None
    fault: str
    """Empty where the try gave the call's response."""
    waited: float
    """Seconds slept before the next try; 0 where there was none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Token counts as the server reports them; None is unknown."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A response as read. ``text`` is a str (never empty) for reply and truncated (may be empty there), else None."""

    outcome: Outcome
    text: str | None
    detail: str = ""
    """One line, why there is no whole reply; empty for a reply."""
    finish: str | None = None
    """``finish_reason`` as the server wrote it, at most 200 characters of it."""
    reasoning: str | None = None
    refusal: str | None = None
    usage: Usage = Usage()
    model: str | None = None
    """The model that the server says answered, at most 200 characters of it."""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Revision and build: system_fingerprint, server header and the like."""
    retry: bool = False
    """Whether asking again may help."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """One call, whole: what was asked, every try, what came back, and how that reads."""

    request: Request
    response: Response | None
    """Of the last try; None where it gave none, or only a part of one."""
    reply: Reply
    tries: Sequence[Try]
    started: str
    seconds: float
