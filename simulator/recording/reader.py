"""A run read back: lines checked against their chain, texts put in place, calls whole again."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from ..canonical import digest_bytes, digest_text
from ..errors import RecordingError
from ..model import Message, Reply, Request, Response, Try, read_response
from ..prompt import Templates
from ..scenario import Scenario, read_scenario
from .lines import (
    FORMAT,
    TEXT,
    AttemptLine,
    CallLine,
    EndLine,
    Line,
    Manifest,
    OutcomeLine,
    ResponsePart,
    Seal,
    TextLine,
    ValuesLine,
)

__all__ = ["AttemptRecord", "RecordedCall", "RunRecord", "open_run"]

_LINE: TypeAdapter[Line] = TypeAdapter(Line)
_Model = TypeVar("_Model", bound=BaseModel)


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
    started: str
    calls: tuple[RecordedCall, ...]
    outcomes: Mapping[tuple[int, str], Mapping[str, Any]]
    """What was read or done, by turn and stage, with texts in place."""
    end: EndLine | None
    torn: bool
    """Whether a last line was cut off and left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """A recorded run: its manifest and where its attempts are."""

    folder: Path
    manifest: Manifest
    manifest_digest: str
    seal: Seal | None
    """None while the run is played, and after a crash."""
    attempts: Mapping[str, tuple[int, ...]]
    """The attempt numbers that have a file, by scenario."""

    def scenario(self, name: str) -> Scenario:
        """Return the scenario as it was played."""
        return read_scenario(_read(self.folder / "scenarios" / f"{name}.yaml"), f"{name}.yaml")

    def templates(self) -> Templates:
        """Return the templates as they were used."""
        return Templates(
            {name: _read(self.folder / "templates" / f"{name}.jinja").decode() for name in self.manifest.templates}
        )

    def numbers(self, scenario: str) -> tuple[int, ...]:
        """Return the attempts of *scenario*. Raises ``RecordingError`` where there is none, naming what there is."""
        if scenario not in self.attempts:
            there = ", ".join(self.attempts) or "no attempt at all"
            what = "attempt of" if scenario in self.manifest.scenarios else "scenario"
            raise RecordingError(f"run {self.manifest.run} has no {what} {scenario}; it has {there}")
        return self.attempts[scenario]

    def attempt(self, scenario: str, attempt: int) -> AttemptRecord:
        """Read one attempt. Raises ``RecordingError`` for a line that is damaged, naming it."""
        if attempt not in (there := self.numbers(scenario)):
            numbers = ", ".join(str(number) for number in there)
            raise RecordingError(f"run {self.manifest.run} has no attempt {attempt} of {scenario}; it has {numbers}")
        return _read_attempt(self.folder / scenario / f"{attempt}.jsonl", self.manifest_digest)


def open_run(folder: Path) -> RunRecord:
    """Open the run in *folder*. Raises ``RecordingError`` where it is none, is damaged or is of a newer format."""
    data = _read(folder / "run.json")
    _refuse_newer(data, folder / "run.json")
    manifest = _validate(Manifest, data, folder / "run.json")
    seal_path = folder / "sealed.json"
    seal = _validate(Seal, _read(seal_path), seal_path) if seal_path.exists() else None
    return RunRecord(
        folder=folder,
        manifest=manifest,
        manifest_digest=digest_bytes(data),
        seal=seal,
        attempts={name: numbers for name in manifest.scenarios if (numbers := _attempt_numbers(folder / name))},
    )


def _attempt_numbers(folder: Path) -> tuple[int, ...]:
    """Return the attempts that have begun; the process may have ended between making a file and its first line."""
    begun = (path for path in folder.glob("*.jsonl") if path.stem.isdecimal() and path.stat().st_size)
    return tuple(sorted(int(path.stem) for path in begun))


def _refuse_newer(data: bytes, path: Path) -> None:
    try:
        version = _loads(data)["format"]
    except (ValueError, KeyError, TypeError):
        return  # the strict reading that follows says what is wrong
    if isinstance(version, int) and version > FORMAT:
        raise RecordingError(f"{path}: format {version} is newer than {FORMAT}, the newest that this version reads")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise RecordingError(f"{path}: no such file; is {path.parent} a recorded run?") from error
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from error


def _validate(model: type[_Model], data: bytes, path: Path) -> _Model:
    try:
        return model.model_validate(_loads(data))
    except ValidationError as error:
        raise RecordingError(f"{path}: {_first_problem(error)}") from error
    except ValueError as error:
        raise RecordingError(f"{path}: {error}") from error


def _loads(data: bytes) -> Any:
    """Return *data* as JSON; raises ``ValueError``.

    Not by pydantic's own parser, which refuses a lone surrogate: a server that cuts a character in half leaves one.
    """
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


@dataclass(kw_only=True, slots=True)
class _Reading:
    """What has been read of a file so far."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    calls: dict[str, RecordedCall] = field(default_factory=dict[str, RecordedCall])
    outcomes: dict[tuple[int, str], Mapping[str, Any]] = field(default_factory=dict[tuple[int, str], Mapping[str, Any]])
    start: AttemptLine | None = None
    end: EndLine | None = None

    def take(self, line: Line) -> None:
        match line:
            case AttemptLine():
                self.start = line
            case TextLine():
                self.texts[line.id] = self._text_of(line)
            case ValuesLine():
                self.values[line.id] = self._resolve(line.values)
            case CallLine():
                self.calls[line.id] = self._call(line)
            case OutcomeLine():
                self.outcomes[line.turn, line.stage] = self._resolve(line.result)
            case EndLine():
                self.end = line

    def _text_of(self, line: TextLine) -> str:
        text = line.text if line.reply_of is None else self.calls[line.reply_of].reply.text
        if text is None or digest_text(text) != line.id:
            raise ValueError("the text does not have the digest that names it")
        return text

    def _call(self, line: CallLine) -> RecordedCall:
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


def _response(part: ResponsePart | None) -> Response | None:
    if part is None:
        return None
    body = base64.b64decode(part.body_base64) if part.body_base64 is not None else (part.body or "").encode()
    return Response(status=part.status, headers=part.headers, body=body)


def _chained(line: Line, head: str) -> Line:
    if line.prev != head:
        raise ValueError("the line is not chained to the one before it")
    return line


def _read_attempt(path: Path, manifest_digest: str) -> AttemptRecord:
    *whole, tail = _read(path).split(b"\n")
    reading = _Reading()
    head = manifest_digest
    for number, data in enumerate(whole, start=1):
        try:
            reading.take(_chained(_LINE.validate_python(_loads(data)), head))
        except ValidationError as error:
            raise RecordingError(f"{path}:{number}: {_first_problem(error)}") from error
        except KeyError as error:
            raise RecordingError(f"{path}:{number}: refers to {error}, which no earlier line holds") from error
        except ValueError as error:
            raise RecordingError(f"{path}:{number}: {error}") from error
        head = digest_bytes(data)
    if reading.start is None:
        raise RecordingError(f"{path}: holds no whole line; the attempt was cut off before it began")
    return AttemptRecord(
        scenario=reading.start.scenario,
        attempt=reading.start.attempt,
        started=reading.start.started,
        calls=tuple(reading.calls.values()),
        outcomes=reading.outcomes,
        end=reading.end,
        torn=bool(tail),
    )
