"""Which run a person means: RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT, LAST and PREVIOUS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, RecordingError
from .reader import RunRecord, open_run
from .writer import RUN_NAME

__all__ = ["Reference", "find_run", "list_runs", "parse_reference"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT as a person types it."""

    run: str
    scenario: str | None = None
    attempt: int | None = None


_REFERENCE = re.compile(r"(?P<run>[^:#]+)(:(?P<scenario>[^:#]+)(#(?P<attempt>[0-9]{1,9}))?)?")


def parse_reference(text: str) -> Reference:
    """Read *text* as a reference. Raises ``InputError``."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r}: write RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT, such as LAST:arches#1")
    attempt = match["attempt"]
    return Reference(run=match["run"], scenario=match["scenario"], attempt=int(attempt) if attempt else None)


def list_runs(root: Path) -> tuple[RunRecord, ...]:
    """Return the runs under *root*, oldest first by their manifests. Folders that hold no readable run are left out."""
    runs = [run for folder in _folders(root) if (run := _try_open(folder)) is not None]
    return tuple(sorted(runs, key=lambda run: (run.manifest.started, run.manifest.run)))


def _folders(root: Path) -> Iterator[Path]:
    if root.is_dir():
        yield from (path for path in root.iterdir() if (path / "run.json").is_file())


def _try_open(folder: Path) -> RunRecord | None:
    try:
        return open_run(folder)
    except RecordingError:
        return None


def find_run(root: Path, reference: Reference, *, before: str | None = None) -> RunRecord:
    """Return the run that *reference* names.

    LAST is the newest run that ended and holds the scenario asked for, PREVIOUS the one before it; with *before*,
    runs from that start time on are left out. Raises ``RecordingError`` naming what there is.
    """
    if reference.run in ("LAST", "PREVIOUS"):
        return _newest(root, reference, before)
    if RUN_NAME.fullmatch(reference.run) and (root / reference.run / "run.json").is_file():
        return open_run(root / reference.run)
    there = ", ".join(run.manifest.run for run in list_runs(root)) or "none"
    raise RecordingError(f"no run {reference.run} in {root}; there is {there}")


def _newest(root: Path, reference: Reference, before: str | None) -> RunRecord:
    ended = [
        run
        for run in list_runs(root)
        if run.seal is not None
        and (reference.scenario is None or reference.scenario in run.attempts)
        and (before is None or run.manifest.started < before)
    ]
    place = 1 if reference.run == "LAST" else 2
    if len(ended) < place:
        what = f"that hold {reference.scenario} and ended" if reference.scenario else "that ended"
        raise RecordingError(f"{reference.run}: {root} has {len(ended)} runs {what}; `simulator replay` makes one")
    return ended[-place]
