"""One attempt read back: lines checked against their chain, texts put in place, calls whole again."""

from __future__ import annotations

import base64
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..canonical import digest_bytes, digest_json, digest_text
from ..errors import RecordingError
from ..model import Message, Reply, Request, Response, Try, read_response
from .lines import (
    TEXT,
    AnswerResult,
    AttemptLine,
    CallLine,
    EndLine,
    Line,
    OutcomeLine,
    ResponsePart,
    ReviewResult,
    SealedFile,
    TextLine,
    ValuesLine,
)
from .parsing import parse, problem

__all__ = ["AttemptRecord", "RecordedCall", "read_attempt"]

_LINE: TypeAdapter[Line] = TypeAdapter(Line)
_Key = TypeVar("_Key", str, int)
_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedCall:
    """One call read back. ``request`` is whole again, and its digest was compared with the recorded one."""

    id: str
    turn: int
    stage: str
    repeat: int
    started: str
    seconds: float
    request: Request
    template: str
    values: Mapping[str, Any]
    response: Response | None
    reply: Reply
    """The response as read today."""
    tries: tuple[Try, ...]
    outcome: str
    """The response as read at play time: reply, truncated, refused or failed."""
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptRecord:
    """One attempt read back: what was called and what was done, in the order of the file."""

    scenario: str
    attempt: int
    started: str | None
    """None where nothing but a part of the first line is left."""
    calls: tuple[RecordedCall, ...]
    answers: Mapping[int, AnswerResult]
    """What was read of the reply, by turn, with texts in place."""
    reviews: Mapping[int, ReviewResult]
    """What was said of it and done, by turn."""
    end: EndLine | None
    torn: bool
    """Whether a last line was cut off and left out."""


def read_attempt(
    path: Path, data: bytes, *, scenario: str, attempt: int, turns: int, manifest: str, sealed: SealedFile | None
) -> AttemptRecord:
    """Read *data*, the file *path* of one *attempt* at a *scenario* of so many *turns*.

    Its first line is chained to *manifest*, the SHA-256 of ``run.json``. Raises ``RecordingError`` naming the line that
    is damaged or out of place, and for a file that is not as it was *sealed*.
    """
    *lines, tail = data.split(b"\n")
    reading = _Reading(scenario=scenario, attempt=attempt, turns=turns)
    head = manifest
    for number, line in enumerate(lines, start=1):
        with _at(path, number):
            reading.take(_chained(_LINE.validate_python(parse(line)), head))
        head = digest_bytes(line)
    if sealed is not None and (tail or sealed != SealedFile(lines=len(lines), head=head)):
        raise RecordingError(f"{path}: {_unsealed(sealed, len(lines), tail)}; it was changed after the run ended")
    return reading.record(torn=bool(tail))


@contextmanager
def _at(path: Path, number: int) -> Generator[None, None, None]:
    """Say of which line an error is."""
    try:
        yield
    except ValidationError as error:
        raise RecordingError(f"{path}:{number}: {problem(error)}") from error
    except KeyError as error:
        raise RecordingError(f"{path}:{number}: refers to {error}, which no earlier line holds") from error
    except ValueError as error:
        raise RecordingError(f"{path}:{number}: {error}") from error


def _chained(line: Line, head: str) -> Line:
    if line.prev != head:
        before = "run.json" if isinstance(line, AttemptLine) else "the one before it"
        raise ValueError(f"the line is not chained to {before}")
    return line


def _unsealed(sealed: SealedFile, lines: int, tail: bytes) -> str:
    """Return in what a file of so many *lines*, and a *tail* that is no whole one, is not as it was sealed."""
    if lines == sealed.lines and not tail:
        return "its last line is another than the one that was sealed"
    return f"{sealed.lines} lines were sealed, and it has {lines}" + (" and a part of one" if tail else "")


@dataclass(kw_only=True, slots=True)
class _Reading:
    """What has been read of a file so far."""

    scenario: str
    attempt: int
    turns: int
    texts: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    calls: dict[str, RecordedCall] = field(default_factory=dict[str, RecordedCall])
    answers: dict[int, AnswerResult] = field(default_factory=dict[int, AnswerResult])
    reviews: dict[int, ReviewResult] = field(default_factory=dict[int, ReviewResult])
    start: AttemptLine | None = None
    end: EndLine | None = None

    def record(self, *, torn: bool) -> AttemptRecord:
        return AttemptRecord(
            scenario=self.scenario,
            attempt=self.attempt,
            started=self.start.started if self.start else None,
            calls=tuple(self.calls.values()),
            answers=self.answers,
            reviews=self.reviews,
            end=self.end,
            torn=torn,
        )

    def take(self, line: Line) -> None:
        if self.end is not None:
            raise ValueError("a line stands after the end of the attempt")
        if isinstance(line, AttemptLine) != (self.start is None):
            raise ValueError("the first line, and no other, says which attempt it is")
        match line:
            case AttemptLine():
                self.start = self._own(line)
            case TextLine():
                self.texts[line.id] = self._text_of(line)
            case ValuesLine():
                self.values[line.id] = self._values_of(line)
            case CallLine():
                _put(self.calls, line.id, self._call(line), "call")
            case OutcomeLine():
                self._outcome(line)
            case EndLine():
                self.end = line

    def _own(self, line: AttemptLine) -> AttemptLine:
        if (line.scenario, line.attempt) != (self.scenario, self.attempt):
            raise ValueError(f"this is attempt {line.attempt} of {line.scenario}, in a file of another name")
        return line

    def _text_of(self, line: TextLine) -> str:
        text = line.text if line.reply_of is None else self.calls[line.reply_of].reply.text
        if text is None or digest_text(text) != line.id:
            raise ValueError("the text does not have the digest that names it")
        return text

    def _values_of(self, line: ValuesLine) -> Mapping[str, Any]:
        if digest_json(line.values) != line.id:
            raise ValueError("the values do not have the digest that names them")
        return self._resolve(line.values)

    def _outcome(self, line: OutcomeLine) -> None:
        self._require(line.turn)
        result = self._resolve(line.result)
        if line.stage == "answer":
            _put(self.answers, line.turn, AnswerResult.model_validate(result), "answer of turn")
        else:
            _put(self.reviews, line.turn, ReviewResult.model_validate(result), "review of turn")

    def _require(self, turn: int) -> None:
        if turn > self.turns:
            raise ValueError(f"turn {turn} is recorded, and the scenario has {self.turns}")

    def _call(self, line: CallLine) -> RecordedCall:
        self._require(line.turn)
        if line.id != f"{line.turn}.{line.stage}.{line.repeat}":
            raise ValueError("the call is not called by its turn, stage and repeat")
        messages = tuple(Message(role=part.role, content=self.texts[part.text]) for part in line.request.messages)
        request = Request(messages=messages, body=line.request.body)
        if request.digest != line.request.sha256:
            raise ValueError("the request does not have its recorded digest")
        response = _response(line.response)
        return RecordedCall(
            id=line.id,
            turn=line.turn,
            stage=line.stage,
            repeat=line.repeat,
            started=line.started,
            seconds=line.seconds,
            request=request,
            template=line.prompt.template,
            values=self.values[line.prompt.values],
            response=response,
            reply=read_response(response) if response else Reply(outcome="failed", text=None, detail=line.detail),
            tries=tuple(Try(**part.model_dump()) for part in line.tries),
            outcome=line.outcome,
            detail=line.detail,
        )

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {TEXT} and isinstance(value[TEXT], str):  # pyright: ignore[reportUnknownArgumentType]
                return self.texts[value[TEXT]]
            return {key: self._resolve(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, list):
            return [self._resolve(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        return value


def _put(known: dict[_Key, _Value], key: _Key, value: _Value, what: str) -> None:
    if key in known:
        raise ValueError(f"{what} {key} is recorded already")
    known[key] = value


def _response(part: ResponsePart | None) -> Response | None:
    if part is None:
        return None
    body = (
        base64.b64decode(part.body_base64, validate=True)
        if part.body_base64 is not None
        else (part.body or "").encode()
    )
    return Response(status=part.status, headers=part.headers, body=body)
