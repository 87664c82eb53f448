"""Which run a person means, RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT, LAST and PREVIOUS; and which runs there are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, RecordingError
from .files import is_run
from .reader import RunRecord, open_run

__all__ = ["Reference", "Runs", "UnreadableRun", "find_run", "list_runs", "parse_reference"]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadableRun:
    """A folder that holds a run, or what is left of one, which cannot be opened."""

    name: str
    reason: str
    """Why, with the file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Runs:
    """The runs that a folder holds."""

    readable: tuple[RunRecord, ...]
    """Oldest first by their manifests."""
    unreadable: tuple[UnreadableRun, ...]
    """By name."""


def list_runs(root: Path) -> Runs:
    """Return the runs under *root*. One that cannot be opened is no reason not to open another."""
    opened = [_open(folder) for folder in _folders(root)]
    readable = [run for run in opened if isinstance(run, RunRecord)]
    return Runs(
        readable=tuple(sorted(readable, key=lambda run: (run.manifest.started, run.name))),
        unreadable=tuple(run for run in opened if isinstance(run, UnreadableRun)),
    )


def _folders(root: Path) -> list[Path]:
    return sorted(filter(is_run, root.iterdir())) if root.is_dir() else []


def _open(folder: Path) -> RunRecord | UnreadableRun:
    if not _can_be_named(folder.name):
        return UnreadableRun(name=folder.name, reason=f"{folder}: {_CANNOT_BE_NAMED}")
    try:
        return open_run(folder)
    except RecordingError as error:
        return UnreadableRun(name=folder.name, reason=str(error))


_CANNOT_BE_NAMED = "a run of this name cannot be asked for; rename the folder, without : and #, not LAST nor PREVIOUS"


def _can_be_named(name: str) -> bool:
    """Return whether *name* is that of a folder, and means one run and nothing else."""
    match = _REFERENCE.fullmatch(name)
    whole = match is not None and match["run"] == name
    return whole and name not in ("LAST", "PREVIOUS", "..") and Path(name).name == name


def find_run(root: Path, reference: Reference) -> RunRecord:
    """Return the run that *reference* names, which is called by its folder.

    LAST is the newest run that ended and holds the scenario asked for, PREVIOUS the one before it; a run that cannot be
    opened is neither. Raises ``RecordingError`` naming what there is.
    """
    if reference.run in ("LAST", "PREVIOUS"):
        return _newest(list_runs(root), root, reference)
    if _can_be_named(reference.run) and is_run(root / reference.run):
        return open_run(root / reference.run)
    there = ", ".join(run.name for run in list_runs(root).readable) or "none"
    raise RecordingError(f"no run {reference.run} in {root}; there is {there}")


def _newest(runs: Runs, root: Path, reference: Reference) -> RunRecord:
    scenario = reference.scenario
    ended = [run for run in runs.readable if run.seal and (scenario is None or scenario in run.attempts)]
    place = 1 if reference.run == "LAST" else 2
    if len(ended) < place:
        told = f"{root} has {len(ended)} {_that_ended(len(ended), scenario)}"
        left_out = f"; {len(runs.unreadable)} more cannot be read, and `simulator list` says why"
        rest = left_out if runs.unreadable else "; `simulator replay` makes one"
        raise RecordingError(f"{reference.run}: {told}{rest}")
    return ended[-place]


def _that_ended(number: int, scenario: str | None) -> str:
    noun, verb = ("run", "holds") if number == 1 else ("runs", "hold")
    return f"{noun} that ended" if scenario is None else f"{noun} that {verb} {scenario} and ended"
