"""A run as it is written: one writer per file, one write per line."""

from __future__ import annotations

import base64
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from ..canonical import canonical_json, digest_bytes, digest_json, digest_text
from ..clock import now
from ..errors import InputError, RecordingError
from ..model import Exchange, Reply, Response
from ..prompt import Prompt, Templates
from .lines import FORMAT, TEXT, Manifest, Seal, SealedFile

__all__ = ["AttemptWriter", "RunWriter", "create_run", "refuse_run_name"]

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MEANT_OTHERWISE = {"last", "previous"}
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
"""What Windows takes for a device, whatever follows after a full stop: recordings are copied between machines."""
_KEPT_INLINE = 200
"""Characters up to which a text among template values is written in place; a longer one is stored once."""


class AttemptWriter:
    """Appends the lines of one attempt; one writer per file, one write per line. Safe to use from two threads."""

    def __init__(self, path: Path, scenario: str, attempt: int, manifest_digest: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._head = manifest_digest
        self._lines = 0
        self._known: set[str] = set()
        self._file = _create(path)
        self._append({"kind": "attempt", "scenario": scenario, "attempt": attempt, "started": now()})

    @property
    def sealed(self) -> SealedFile:
        """Lines written and the SHA-256 of the last."""
        return SealedFile(lines=self._lines, head=self._head)

    def call(self, *, turn: int, stage: str, repeat: int, exchange: Exchange, prompt: Prompt) -> str:
        """Record one call, durable on return, and return its id, ``TURN.STAGE.REPEAT``."""
        name = f"{turn}.{stage}.{repeat}"
        with self._lock:
            messages = [
                {"role": message.role, "text": self._text(message.content)} for message in exchange.request.messages
            ]
            self._append(
                {
                    "kind": "call",
                    "id": name,
                    "turn": turn,
                    "stage": stage,
                    "repeat": repeat,
                    "started": exchange.started,
                    "seconds": exchange.seconds,
                    "request": {
                        "messages": messages,
                        "body": dict(exchange.request.body),
                        "sha256": exchange.request.digest,
                    },
                    "prompt": {"template": prompt.template, "values": self._values(prompt.values)},
                    "response": _response_part(exchange.response),
                    "tries": [asdict(each) for each in exchange.tries],
                    "outcome": exchange.reply.outcome,
                    "detail": exchange.reply.detail,
                }
            )
            self._reply_text(name, exchange.reply)
            self._make_durable()
        return name

    def outcome(self, *, turn: int, stage: str, result: Mapping[str, Any]) -> None:
        """Record what *stage* read or did; long texts in *result* are stored once, as ``{"$text": ID}``."""
        with self._lock:
            self._append({"kind": "outcome", "turn": turn, "stage": stage, "result": self._refer(result)})

    def close(self) -> None:
        """Close the file; what was written stays. Closing twice does nothing."""
        with self._lock:
            self._close()

    def end(self, *, state: Literal["finished", "failed", "interrupted"], turn: int, reason: str = "") -> None:
        """Record that the attempt ended at *turn*."""
        with self._lock:
            self._append({"kind": "end", "state": state, "turn": turn, "reason": reason, "ended": now()})
            self._make_durable()

    def _text(self, text: str) -> str:
        name = digest_text(text)
        if name not in self._known:
            self._known.add(name)
            self._append({"kind": "text", "id": name, "text": text})
        return name

    def _reply_text(self, call: str, reply: Reply) -> None:
        if reply.text is None:
            return
        name = digest_text(reply.text)
        if name not in self._known:
            self._known.add(name)
            self._append({"kind": "text", "id": name, "reply_of": call})

    def _values(self, values: Mapping[str, Any]) -> str:
        stored = self._refer(values)
        name = digest_json(stored)
        if name not in self._known:
            self._known.add(name)
            self._append({"kind": "values", "id": name, "values": stored})
        return name

    def _refer(self, value: Any) -> Any:
        """Return *value* with every long text replaced by a reference to where it is stored."""
        if isinstance(value, str):
            return {TEXT: self._text(value)} if len(value) > _KEPT_INLINE else value
        if isinstance(value, Mapping):
            return {str(key): self._refer(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(value, Sequence):
            return [self._refer(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        return value

    def _append(self, line: Mapping[str, Any]) -> None:
        data = canonical_json({**line, "prev": self._head})
        try:
            written = os.write(self._file, data + b"\n")
        except OSError as error:
            raise self._failed(error.strerror or "no reason given") from error
        if written != len(data) + 1:
            raise self._failed("only part of a line went in; is the disk full?")
        self._head = digest_bytes(data)
        self._lines += 1

    def _make_durable(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._failed(error.strerror or "no reason given") from error

    def _failed(self, why: str) -> RecordingError:
        """Return the error to raise. Nothing more is written: a line after a part of one would be a damaged file."""
        self._close()
        return RecordingError(f"{self._path}: cannot be written: {why}")

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _create(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError as error:
        raise RecordingError(f"{path} exists already; an attempt is written once") from error
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written: {error.strerror}") from error


def _response_part(response: Response | None) -> dict[str, Any] | None:
    if response is None:
        return None
    part: dict[str, Any] = {"status": response.status, "headers": dict(response.headers)}
    try:
        return {**part, "body": response.body.decode()}
    except UnicodeDecodeError:
        return {**part, "body_base64": base64.b64encode(response.body).decode()}


class RunWriter:
    """A run that is being played. Made by ``create_run``."""

    def __init__(self, folder: Path, manifest: Manifest, manifest_digest: str) -> None:
        self.folder = folder
        self.manifest = manifest
        self._digest = manifest_digest
        self._writers: dict[str, AttemptWriter] = {}
        self._lock = threading.Lock()

    def attempt(self, scenario: str, attempt: int) -> AttemptWriter:
        """Start the file of one attempt, counted from 1."""
        name = f"{scenario}/{attempt}.jsonl"
        writer = AttemptWriter(self.folder / name, scenario, attempt, self._digest)
        with self._lock:
            self._writers[name] = writer
        return writer

    def seal(self, *, complete: bool) -> None:
        """Write ``sealed.json``. Raises ``RecordingError``."""
        files = {name: writer.sealed for name, writer in sorted(self._writers.items())}
        seal = Seal(format=FORMAT, ended=now(), complete=complete, manifest=self._digest, files=files)
        path = self.folder / "sealed.json"
        try:
            _write_atomically(path, _pretty(seal))
        except OSError as error:
            raise RecordingError(f"{path}: cannot be written: {error.strerror}") from error


def create_run(
    root: Path,
    manifest: Manifest,
    scenarios: Mapping[str, bytes],
    templates: Templates,
) -> RunWriter:
    """Make the folder ``root/manifest.run`` with its manifest and the snapshots of what will be played.

    Raises ``InputError`` for a name that exists or is not one, and for a folder that cannot be written.
    """
    refuse_run_name(root, manifest.run)
    folder = root / manifest.run
    try:
        folder.mkdir(parents=True)
        _snapshot(folder / "scenarios", {f"{name}.yaml": data for name, data in scenarios.items()})
        _snapshot(folder / "templates", {f"{name}.jinja": text.encode() for name, text in templates.sources.items()})
        data = _pretty(manifest)
        _write_atomically(folder / "run.json", data)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written: {error.strerror}; choose another folder with --recordings"
        ) from error
    return RunWriter(folder, manifest, digest_bytes(data))


def refuse_run_name(root: Path, name: str) -> None:
    """Raise ``InputError`` for a *name* that no run may have, or that one in *root* has."""
    folded = name.lower()
    reserved = folded in _MEANT_OTHERWISE or folded.partition(".")[0] in _DEVICES
    if not _RUN_NAME.fullmatch(name) or reserved or name.endswith("."):
        raise InputError(
            f"run name {name!r}: use letters, digits, - _ and . only, begin with a letter or digit, do not end with a "
            "full stop, and leave LAST, PREVIOUS and device names such as con, nul and com1 to what they mean"
        )
    if os.path.lexists(root / name):
        raise InputError(f"run {name} exists already in {root}; choose another name with --run")


def _snapshot(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def _pretty(value: BaseModel) -> bytes:
    """Return *value* as JSON for people, in ASCII: half a character from a server is no UTF-8."""
    return json.dumps(value.model_dump(), indent=2).encode() + b"\n"


def _write_atomically(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
