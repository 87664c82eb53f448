"""The lines of an attempt, what stages read or did, the manifest and the seal, as pydantic models: the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..model import Role
from ..outcome import Decision, ExpectationResult, RuleResult, Verdict, VerdictWord

__all__ = [
    "FORMAT",
    "TEXT",
    "AnswerResult",
    "AttemptLine",
    "CallLine",
    "EndLine",
    "Line",
    "Manifest",
    "OutcomeLine",
    "RecordedClaim",
    "RecordedStretch",
    "ResponsePart",
    "ReviewResult",
    "Seal",
    "SealedFile",
    "TextLine",
    "ValuesLine",
]

FORMAT = 1
"""The version of the format. A reader refuses a higher one and reads every lower one."""

TEXT = "$text"
"""``{"$text": ID}`` stands for the text that is stored under that id."""


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
"""The name of a scenario or a template, of which the names of files and folders are made."""

AttemptName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}/[1-9][0-9]{0,8}\.jsonl$")]

Timestamp = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$")]
"""UTC. Runs are put in order by it."""

Count = Annotated[int, Field(ge=1)]
Repeat = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class _Line(_Strict):
    prev: str
    """The SHA-256 of the line before."""


class AttemptLine(_Line):
    """The first line of an attempt."""

    kind: Literal["attempt"]
    scenario: str
    attempt: Count
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
    """``TURN.STAGE.REPEAT``"""
    turn: Count
    stage: Literal["answer", "check", "rewrite", "recheck", "control"]
    repeat: Repeat
    started: str
    seconds: float
    request: RequestPart
    prompt: PromptPart
    response: ResponsePart | None
    tries: list[TryPart]
    outcome: Literal["reply", "truncated", "refused", "failed"]
    detail: str


class OutcomeLine(_Line):
    """What was read or done at play time, when a turn was answered and when it was reviewed."""

    kind: Literal["outcome"]
    turn: Count
    stage: Literal["answer", "review"]
    result: dict[str, Any]
    """An ``AnswerResult`` or a ``ReviewResult``, in which ``{"$text": ID}`` stands for that text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedStretch:
    """A piece of a passage, ``passage.text[start:end]``, that was shown as evidence."""

    passage: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedClaim:
    """One claim of a reply, ``reply[start:end]``, as the evidence read it at play time."""

    text: str
    start: int
    end: int
    word: VerdictWord
    rule: str
    """By which rule of the checks' version."""
    detail: str
    evidence: tuple[RecordedStretch, ...]
    score: float
    missing: tuple[str, ...]


class _Result(BaseModel):
    # Not strict: a list of JSON is a tuple here, and an object one of our values.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class AnswerResult(_Result):
    """What was read of a reply by itself."""

    sources: tuple[str, ...]
    """The passages that were admitted."""
    rules: tuple[RuleResult, ...]
    expectation: ExpectationResult


class CheckedPart(_Result):
    """A verdict and what it was made of. Recordings of version 1 of the checks have the verdict alone."""

    verdict: Verdict
    claims: tuple[RecordedClaim, ...] = ()
    evidence: Verdict | None = None
    judge: Verdict | None = None


class ReviewResult(CheckedPart):
    """What a check said, what was decided, and what the customer saw."""

    control: CheckedPart | None = None
    decision: Decision | None
    rewrite: str | None
    rewrite_failures: tuple[str, ...]
    removed: tuple[str, ...]
    delivered: str | None
    rules: tuple[RuleResult, ...]
    """Of what was delivered, and so is the expectation."""
    expectation: ExpectationResult


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
    """The name it was given. It is called by the name of its folder."""
    started: Timestamp
    simulator: str
    """The version that played it."""
    checks: int
    """The version of the readings that were made at play time."""
    seed: int
    attempts: Count
    """Planned attempts of each scenario."""
    settings: dict[str, Any]
    endpoints: dict[str, dict[str, Any]]
    """What is known of the servers, by role: ``answer`` and ``checker``."""
    scenarios: dict[FileName, str]
    """The SHA-256 of each scenario file."""
    templates: dict[FileName, str]


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
    files: dict[AttemptName, SealedFile]
