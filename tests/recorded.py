"""Recordings made by hand, for tests: what a run writes, without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from simulator.canonical import canonical_json, digest_bytes
from simulator.model import Exchange, Message, Request, Response, Try, read_response
from simulator.prompt import Prompt, Templates
from simulator.recording import FORMAT, AttemptWriter, Manifest, RunWriter, create_run

LONG = "A book may be kept for 21 days. " * 20
STARTED = "2026-12-01T10:00:00.000Z"
ANSWERED: Mapping[str, Any] = {
    "sources": ["p"],
    "rules": [{"rule": "max_words", "standing": "kept", "detail": ""}],
    "expectation": {"met": "none", "detail": ""},
}
REVIEWED: Mapping[str, Any] = {
    "verdict": {"word": "supported", "reason": "verbatim", "spans": [], "score": None},
    "decision": {"word": "released", "reason": "verbatim"},
    "rewrite": None,
    "rewrite_failures": [],
    "removed": [],
    "delivered": "21 days.",
    "rules": [],
    "expectation": {"met": "none", "detail": ""},
}


def script(turns: int = 2, name: str = "library") -> bytes:
    """Return a scenario of so many turns."""
    asked = "".join(f'  - {{say: "How long? ({turn})", answer_from: document}}\n' for turn in range(1, turns + 1))
    passage = '  - {id: p, text: "A book may be kept for 21 days."}\n'
    return f"scenario: {name}\ntitle: Library\npassages:\n{passage}turns:\n{asked}".encode()


def manifest(scenarios: Mapping[str, bytes], **fields: Any) -> Manifest:
    """Return a manifest of a run that plays *scenarios*; *fields* replace what they name."""
    values: dict[str, Any] = {
        "format": FORMAT,
        "run": "first",
        "started": STARTED,
        "simulator": "0",
        "checks": 1,
        "seed": 7,
        "attempts": 1,
        "settings": {},
        "endpoints": {"answer": {"model": "m"}, "checker": {"model": "m"}},
        "scenarios": {name: digest_bytes(data) for name, data in scenarios.items()},
        "templates": {},
    }
    return Manifest(**{**values, **fields})


def make_run(root: Path, *, turns: int = 2, names: Iterable[str] = ("library",), **fields: Any) -> RunWriter:
    """Start a run that plays scenarios of so many turns; *fields* are those of its manifest."""
    scenarios = {name: script(turns, name) for name in names}
    return create_run(root, manifest(scenarios, **fields), scenarios, Templates({}))


def exchange(*messages: Message, text: str = "21 days.", body: bytes | None = None) -> Exchange:
    """Return one answered call."""
    answer = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "model": "m"}
    response = Response(status=200, headers={}, body=canonical_json(answer) if body is None else body)
    return Exchange(
        request=Request(messages=messages, body={"model": "m", "seed": 3}),
        response=response,
        reply=read_response(response),
        tries=[Try(started=STARTED, seconds=0.5, status=200, fault="", waited=0.0)],
        started=STARTED,
        seconds=0.5,
    )


def prompt(values: Mapping[str, Any] | None = None) -> Prompt:
    """Return a prompt; what matters here is that its values are kept."""
    return Prompt(messages=(), template="support", values=values or {"title": "Library"})


def play_turns(writer: AttemptWriter, turns: int = 2) -> None:
    """Record *turns* turns in which each prompt holds the whole conversation so far, and the end."""
    history: list[Message] = [Message(role="system", content=LONG)]
    for turn in range(1, turns + 1):
        history.append(Message(role="user", content=f"Question {turn}? {LONG}"))
        call = exchange(*history, text=f"Reply {turn}. {LONG}")
        writer.call(turn=turn, stage="answer", repeat=0, exchange=call, prompt=prompt({"passage": LONG}))
        writer.outcome(turn=turn, stage="answer", result=ANSWERED)
        writer.outcome(turn=turn, stage="review", result=REVIEWED)
        history.append(Message(role="assistant", content=call.reply.text or ""))
    writer.end(state="finished", turn=turns)
    writer.close()


def record_run(root: Path, *, attempts: int = 1, names: Iterable[str] = ("library",), **fields: Any) -> Path:
    """Record a whole run of two turns an attempt, sealed; return its folder."""
    names = list(names)
    run = make_run(root, names=names, attempts=attempts, **fields)
    for name in names:
        for number in range(1, attempts + 1):
            play_turns(run.attempt(name, number))
    run.seal(complete=True)
    return run.folder


Lines = list[dict[str, Any]]


def forge(folder: Path, change: Callable[[Lines], object], name: str = "library/1.jsonl") -> None:
    """Change the lines of an attempt and write them anew, chained and sealed as if they had been recorded so."""
    path = folder / name
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(lines)
    write_chained(folder, map(canonical_json, lines), name)


def write_chained(folder: Path, lines: Iterable[bytes], name: str = "library/1.jsonl") -> None:
    """Write *lines*, JSON objects, as an attempt, each with the digest of the one before, and have the seal say so."""
    head = digest_bytes((folder / "run.json").read_bytes())
    written: list[bytes] = []
    for line in lines:
        unchained = {key: value for key, value in json.loads(line).items() if key != "prev"}
        written.append(canonical_json({**unchained, "prev": head}))
        head = digest_bytes(written[-1])
    (folder / name).write_bytes(b"".join(line + b"\n" for line in written))
    reseal(folder, lambda seal: seal["files"].update({name: {"lines": len(written), "head": head}}))


def reseal(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what ``sealed.json`` holds."""
    edit(folder / "sealed.json", change)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the JSON object in *path*."""
    value = json.loads(path.read_bytes())
    change(value)
    path.write_bytes(json.dumps(value).encode())
