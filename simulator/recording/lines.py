"""The lines of an attempt, the manifest and the seal, as pydantic models: the format of a recording."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..model import Role

__all__ = [
    "FORMAT",
    "TEXT",
    "AttemptLine",
    "CallLine",
    "EndLine",
    "Line",
    "Manifest",
    "OutcomeLine",
    "ResponsePart",
    "Seal",
    "SealedFile",
    "TextLine",
    "ValuesLine",
]

FORMAT = 1
"""The version of the format. A reader refuses a higher one and reads every lower one."""

TEXT = "$text"
"""``{"$text": ID}`` stands for the text that is stored under that id."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Line(_Strict):
    prev: str
    """The SHA-256 of the line before."""


class AttemptLine(_Line):
    """The first line of an attempt."""

    kind: Literal["attempt"]
    scenario: str
    attempt: int
    started: str


class TextLine(_Line):
    """A text, or where it stands: in the reply of a call."""

    kind: Literal["text"]
    id: str
    text: str | None = None
    reply_of: str | None = None


class ValuesLine(_Line):
    """What a template was given. ``{"$text": ID}`` in it stands for that text."""

    kind: Literal["values"]
    id: str
    values: dict[str, Any]


class MessagePart(_Strict):
    role: Role
    text: str


class RequestPart(_Strict):
    messages: list[MessagePart]
    body: dict[str, Any]
    sha256: str


class PromptPart(_Strict):
    template: str
    values: str


class ResponsePart(_Strict):
    """What came back: the body as text, or in Base64 where it is not UTF-8."""

    status: int
    headers: dict[str, str]
    body: str | None = None
    body_base64: str | None = None


class TryPart(_Strict):
    started: str
    seconds: float
    status: int | None
    fault: str
    waited: float


class CallLine(_Line):
    """One request and what came of it."""

    kind: Literal["call"]
    id: str
    turn: int
    stage: str
    repeat: int
    started: str
    seconds: float
    request: RequestPart
    prompt: PromptPart
    response: ResponsePart | None
    tries: list[TryPart]
    outcome: Literal["reply", "truncated", "refused", "failed"]
    detail: str


class OutcomeLine(_Line):
    """What a stage read or did at play time."""

    kind: Literal["outcome"]
    turn: int
    stage: str
    result: dict[str, Any]


class EndLine(_Line):
    """The last line of an attempt that ended."""

    kind: Literal["end"]
    state: Literal["finished", "failed", "interrupted"]
    turn: int
    reason: str
    ended: str


Line = Annotated[AttemptLine | TextLine | ValuesLine | CallLine | OutcomeLine | EndLine, Field(discriminator="kind")]


class Manifest(_Strict):
    """What a run was set to do, and with what. No secret and no path of a machine is in it."""

    format: int
    run: str
    started: str
    simulator: str
    """The version that played it."""
    checks: int
    """The version of the readings that were made at play time."""
    seed: int
    attempts: int
    """Planned attempts of each scenario."""
    settings: dict[str, Any]
    endpoints: dict[str, dict[str, Any]]
    """What is known of the servers, by role: ``answer`` and ``checker``."""
    scenarios: dict[str, str]
    """The SHA-256 of each scenario file."""
    templates: dict[str, str]


class SealedFile(_Strict):
    """How many lines a file has, and the SHA-256 of the last."""

    lines: int
    head: str


class Seal(_Strict):
    """What a run held when it ended."""

    format: int
    ended: str
    complete: bool
    """Whether every planned attempt was played to its last turn."""
    manifest: str
    """The SHA-256 of ``run.json``."""
    files: dict[str, SealedFile]
