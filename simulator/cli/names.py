"""The names that a shell completes: scenarios, and runs with what they hold. No file is read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import typer

from .places import RECORDINGS, scenario_folder

__all__ = ["complete_reference", "complete_run", "complete_scenario"]


def complete_scenario(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of the scenario files that begin with *incomplete*."""
    return _beginning(incomplete, _scenarios(scenario_folder(ctx.params.get("scenarios"))))


def complete_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of the runs that begin with *incomplete*."""
    return _beginning(incomplete, _runs(ctx.params.get("recordings") or RECORDINGS))


def complete_reference(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the runs that begin with *incomplete*; after ``RUN:`` its scenarios, after ``#`` their attempts."""
    root: Path = ctx.params.get("recordings") or RECORDINGS
    run, colon, _ = incomplete.partition(":")
    return _beginning(incomplete, _parts(root, run, numbered="#" in incomplete) if colon else _runs(root))


def _beginning(incomplete: str, names: Iterator[str]) -> list[str]:
    with contextlib.suppress(OSError):  # what cannot be read completes nothing
        return sorted({name for name in names if name.startswith(incomplete)})
    return []


def _scenarios(folder: Path) -> Iterator[str]:
    return (path.stem for path in folder.rglob("*.y*ml") if path.name != "suites.yaml")


def _runs(root: Path) -> Iterator[str]:
    yield from ("LAST", "PREVIOUS")
    yield from (folder.name for folder in _folders(root))


def _folders(root: Path) -> Iterator[Path]:
    return (path.parent for path in root.glob("*/run.json"))


def _parts(root: Path, run: str, *, numbered: bool) -> Iterator[str]:
    """Yield the ``RUN:SCENARIO`` or ``RUN:SCENARIO#ATTEMPT`` that *run* holds; for LAST what any run holds."""
    for folder in _folders(root):
        if run in ("LAST", "PREVIOUS", folder.name):
            for path in folder.glob("*/*.jsonl"):
                yield f"{run}:{path.parent.name}" + (f"#{path.stem}" if numbered else "")
