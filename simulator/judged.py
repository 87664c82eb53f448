"""The judge asked about labelled replies, each of its calls a line of a file.

The file holds what cannot be had again; every figure is read from it, with no model and no network once each row is
there. Its first line says what all calls share: the server, the request's fields, the check template and the seed. Each
further line is one call, whole. A row that has its call is not asked again; a call that came to nothing for a reason
that is not its row's is not written.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from .calibrate import Fit, LabelledReply, row_evidence
from .canonical import canonical_json, digest_json, digest_text
from .errors import IncompleteError, InputError
from .model import Exchange, Message, Model, Reply, Request, Response, Role, Try, read_response
from .model.shapes import is_success
from .outcome import Verdict, VerdictWord
from .prompt import DEFAULT_TEMPLATES, Templates, check_prompt
from .scenario import Passage, Scenario
from .stages.check import ask_judge, combine, combined_score
from .stages.graded import JudgeCalibration
from .stages.verdict import response_format, shown_text
from .visible import one_line

__all__ = ["SCENARIO", "CallFile", "JudgeFacts", "Opened", "RowJudge"]

_FORMAT: Final = 1
_TEMPLATE: Final = DEFAULT_TEMPLATES["check"]
_HALF: Final = 0.5
_OF_A_REQUEST: Final = frozenset({400, 413, 422})
"""The statuses with which a server turns one request down; before any was answered, it may be the settings of all."""

SCENARIO: Final = Scenario.model_validate(
    {"scenario": "labelled", "title": "Labelled replies", "turns": [{"say": "A row.", "answer_from": "document"}]}
)
"""What rows are judged under: no rules of form, the templates by their usual names."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Head(_Line):
    kind: Literal["judge"]
    format: int
    server: dict[str, Any]
    body: dict[str, Any]
    """Of every request, but for its seed and its messages."""
    template_sha256: str
    seed: int


class _Message(_Line):
    role: Role
    content: str


class _Try(_Line):
    started: str
    seconds: float
    status: int | None
    fault: str
    waited: float


class _Call(_Line):
    kind: Literal["call"]
    row: str
    """The SHA-256 of document, context and reply."""
    id: str
    """The row's, for people."""
    repeat: int
    """0, or 1 for the fresh answer."""
    started: str
    seconds: float
    messages: list[_Message]
    body: dict[str, Any]
    sha256: str
    status: int | None
    headers: dict[str, str]
    response: str | None
    response_base64: str | None
    """Where it is no UTF-8."""
    tries: list[_Try]
    outcome: str
    detail: str

    def exchange(self) -> Exchange:
        """Return the call as it was. Raises ``ValueError`` where the request does not have its digest."""
        messages = tuple(Message(role=each.role, content=each.content) for each in self.messages)
        request = Request(messages=messages, body=self.body)
        if request.digest != self.sha256:
            raise ValueError("the request does not have its recorded digest")
        response = self._response()
        return Exchange(
            request=request,
            response=response,
            reply=read_response(response) if response else Reply(outcome="failed", text=None, detail=self.detail),
            tries=[Try(**each.model_dump()) for each in self.tries],
            started=self.started,
            seconds=self.seconds,
        )

    def _response(self) -> Response | None:
        if self.status is None:
            return None
        coded = self.response_base64
        body = (self.response or "").encode() if coded is None else base64.b64decode(coded)
        return Response(status=self.status, headers=self.headers, body=body)


_L = TypeVar("_L", bound=_Line)
_Key = tuple[str, int]


class CallFile:
    """The calls of a judge, in a file that grows by a line for each. Raises ``InputError`` for a file that is damaged.

    A last line that was cut off is left out, and goes when the next one is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._head: _Head | None = None
        self._calls: dict[_Key, Exchange] = {}
        self._whole = 0
        """Bytes up to the end of the last whole line."""
        self._size = 0
        """Bytes of the file, a line that was cut off included."""
        if path.exists():
            self._read(self._bytes())

    def __len__(self) -> int:
        return len(self._calls)

    def get(self, row: str, repeat: int) -> Exchange | None:
        """Return the call about the row of this digest; None where there is none."""
        return self._calls.get((row, repeat))

    @property
    def body(self) -> Mapping[str, Any]:
        """The fields that all requests share; empty before the first call."""
        return self._head.body if self._head else {}

    @property
    def server(self) -> Mapping[str, Any]:
        """What is known of the server; empty before the first call."""
        return self._head.server if self._head else {}

    @property
    def reported(self) -> tuple[str, ...]:
        """The models that the server says answered, each once."""
        return tuple(sorted({call.reply.model for call in self._calls.values() if call.reply.model is not None}))

    def begin(self, *, server: Mapping[str, Any], body: Mapping[str, Any], template: str, seed: int) -> None:
        """Write what all calls share, or hold it against what is written. Raises ``InputError`` where it differs."""
        if self._head is not None:
            self.refuse_other(body, template=template, seed=seed, server=server)
            for field in self._head.body.keys() - body.keys():
                raise self._differs(field, self._head.body[field], None)
            return
        head: dict[str, Any] = {"kind": "judge", "format": _FORMAT, "server": dict(server), "body": dict(body)}
        head |= {"template_sha256": template, "seed": seed}
        self._head = _Head.model_validate(head)
        self._append(head)

    def refuse_other(
        self, body: Mapping[str, Any], *, template: str, seed: int, server: Mapping[str, Any] | None = None
    ) -> None:
        """Raise ``InputError`` where a field of *body*, or another of what all calls share, is not as it is written."""
        if self._head is None:
            return
        for field, value in body.items():
            if self._head.body.get(field) != value:
                raise self._differs(field, self._head.body.get(field), value)
        if self._head.template_sha256 != template:
            raise self._differs("check template", self._head.template_sha256[:12], template[:12])
        if self._head.seed != seed:
            raise self._differs("seed", self._head.seed, seed)
        file = "model_sha256"
        if server is not None and server.get(file) != self._head.server.get(file):
            raise self._differs("model file", self._head.server.get(file), server.get(file))

    def _differs(self, what: str, was: object, now: object) -> InputError:
        return InputError(
            f"{self.path}: its calls were made with {what} {_brief(was)}, and not {_brief(now)}; "
            "give the options that it was made with, or name another file with --calls"
        )

    def add(self, row: LabelledReply, repeat: int, exchange: Exchange) -> None:
        """Write a call, durable on return."""
        self._calls[_digest(row), repeat] = exchange
        self._append(_call_line(row, repeat, exchange))

    def _append(self, line: Mapping[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("r+b" if self.path.exists() else "xb") as file:
                if file.seek(0, os.SEEK_END) != self._size:
                    raise InputError(f"{self.path}: something else writes to it too; name another with --calls")
                file.truncate(self._whole)
                file.seek(self._whole)
                file.write(canonical_json(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
                self._whole = self._size = file.tell()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror}; name another with --calls") from error

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}; name another with --calls") from error

    def _read(self, data: bytes) -> None:
        *lines, tail = data.split(b"\n")
        self._whole, self._size = len(data) - len(tail), len(data)
        for number, line in enumerate(lines, start=1):
            try:
                self._take(json.loads(line))
            except (ValueError, RecursionError) as error:
                why = one_line(_problem(error))
                raise InputError(
                    f"{self.path}:{number}: {why}; name a file that --calls wrote, or a new one"
                ) from error

    def _take(self, line: Any) -> None:
        if self._head is None:
            self._head = _validated(_Head, line)
            if self._head.format > _FORMAT:
                raise ValueError(f"format {self._head.format} is newer than {_FORMAT}, the newest that is read here")
            return
        call = _validated(_Call, line)
        self._calls[call.row, call.repeat] = call.exchange()


def _validated(kind: type[_L], line: Any) -> _L:
    return kind.model_validate(line)


def _brief(value: object) -> str:
    return one_line(repr(value), 100)


def _problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}"
    return f"not JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)


def _digest(row: LabelledReply) -> str:
    return digest_json([row.document, row.context, row.reply])


def _call_line(row: LabelledReply, repeat: int, exchange: Exchange) -> dict[str, Any]:
    response = exchange.response
    return {
        "kind": "call",
        "row": _digest(row),
        "id": row.id,
        "repeat": repeat,
        "started": exchange.started,
        "seconds": exchange.seconds,
        "messages": [{"role": each.role, "content": each.content} for each in exchange.request.messages],
        "body": dict(exchange.request.body),
        "sha256": exchange.request.digest,
        "status": response.status if response else None,
        "headers": dict(response.headers) if response else {},
        **_coded(response.body if response else None),
        "tries": [_Try.model_validate(each, from_attributes=True).model_dump() for each in exchange.tries],
        "outcome": exchange.reply.outcome,
        "detail": exchange.reply.detail,
    }


def _coded(body: bytes | None) -> dict[str, str | None]:
    if body is None:
        return {"response": None, "response_base64": None}
    try:
        return {"response": body.decode(), "response_base64": None}
    except UnicodeDecodeError:
        return {"response": None, "response_base64": base64.b64encode(body).decode()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A model that was opened, and what is known of its server."""

    model: Model
    server: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeFacts:
    """Which judge figures are about."""

    model: str
    """That was asked."""
    reported: tuple[str, ...]
    """The names under which the server answered."""
    server: Mapping[str, Any]
    template_sha256: str
    calls: int
    graded: int
    """Rows whose P(supported) could be read."""
    calibration: JudgeCalibration | None
    fit: Fit | None
    """How the calibration came about, where that was on these rows."""


class RowJudge:
    """Asks a judge about rows, as the check of a document turn does.

    *open_model* is called once, for the first row whose call is not in *calls*. Raises ``InputError`` where the calls
    there were made otherwise, and ``IncompleteError`` where the server does not answer.
    """

    def __init__(
        self,
        calls: CallFile,
        templates: Templates,
        open_model: Callable[[], Opened],
        *,
        calibration: JudgeCalibration | None = None,
        seed: int = 0,
    ) -> None:
        self.calls = calls
        self.template_sha256 = digest_text(templates.sources[_TEMPLATE])
        self._templates = templates
        self._open_model = open_model
        self.calibration = calibration
        self._seed = seed

    @cached_property
    def _model(self) -> Model:
        opened = self._open_model()
        body = opened.model.request((), seed=None, response_format=response_format()).body
        self.calls.begin(server=opened.server, body=body, template=self.template_sha256, seed=self._seed)
        return opened.model

    def calibrated(self, calibration: JudgeCalibration) -> RowJudge:
        """Return this judge under *calibration*: the same calls, read otherwise."""
        return RowJudge(self.calls, self._templates, self._open_model, calibration=calibration, seed=self._seed)

    def verdict(self, row: LabelledReply) -> Verdict:
        """Return the judge's verdict on a row, with its grade as the score."""
        shown = shown_text(row.reply, SCENARIO)
        if not shown:
            return Verdict(word="none", reason="the reply makes no claim that could be judged")
        return ask_judge(
            lambda repeat: self._exchange(row, shown, repeat),
            shown=shown,
            text=row.reply,
            calibration=self.calibration,
        )

    def judge(self, row: LabelledReply) -> tuple[VerdictWord, float | None]:
        """Return what the judge says of a row: a checker for ``measure``."""
        verdict = self.verdict(row)
        return verdict.word, verdict.score

    def both(self, row: LabelledReply) -> tuple[VerdictWord, float | None]:
        """Return what evidence and judge say of a row together: a checker for ``measure``."""
        read = row_evidence(row)
        if read.word == "none":
            return "none", read.score
        verdict = self.verdict(row)
        threshold = self.calibration.threshold if self.calibration else _HALF
        return combine(read, verdict).word, combined_score(read, verdict, threshold=threshold)

    def graded(self, rows: Sequence[LabelledReply]) -> list[tuple[bool, float]]:
        """Return label and grade of those rows that have a call and a grade. Nothing is asked."""
        there = (row for row in rows if self.calls.get(_digest(row), 0) is not None)
        return [(row.supported, grade) for row in there if (grade := self.verdict(row).score) is not None]

    def facts(self, rows: Sequence[LabelledReply], fitted: Fit | None) -> JudgeFacts:
        """Return which judge it is that was measured on *rows*."""
        return JudgeFacts(
            model=str(self.calls.body.get("model", "none")),
            reported=self.calls.reported,
            server=self.calls.server,
            template_sha256=self.template_sha256,
            calls=len(self.calls),
            graded=len(self.graded(rows)),
            calibration=self.calibration,
            fit=fitted,
        )

    def _exchange(self, row: LabelledReply, shown: str, repeat: int) -> Exchange:
        known = self.calls.get(_digest(row), repeat)
        if known is not None:
            return known
        # A row's document was read as a text, and whatever text it is, it is shown.
        passage = Passage.model_construct(id="document", text=row.document)
        prompt = check_prompt(self._templates, SCENARIO, [passage], row.context, shown)
        model = self._model
        seed = int(digest_json([self._seed, _digest(row), repeat])[:8], 16) & 0x7FFFFFFF
        exchange = model.send(model.request(prompt.messages, seed=seed, response_format=response_format()))
        if not self._concerns_row(exchange):
            raise IncompleteError(
                f"row {row.id or row.reply[:40]!r}: {exchange.reply.detail}; "
                f"what was judged stands in {self.calls.path}, give the same command again to go on"
            )
        self.calls.add(row, repeat, exchange)
        return exchange

    def _concerns_row(self, exchange: Exchange) -> bool:
        """Whether what came of a call is about its row, and not about the server, the key or the settings."""
        reply, response = exchange.reply, exchange.response
        if reply.outcome != "failed":
            return True
        if reply.retry or response is None:
            return False
        return is_success(response.status) or (response.status in _OF_A_REQUEST and len(self.calls) > 0)
