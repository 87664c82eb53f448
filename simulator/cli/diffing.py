"""``simulator diff``: two attempts in words, or two runs in counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..diff import AttemptDiff, RunDiff, diff_attempts, diff_runs
from ..errors import InputError
from ..recording import Reference, find_run, parse_reference
from ..report import render_attempt_diff, render_run_diff
from ..transcript import Transcript, read_transcript, read_transcripts
from .output import print_json, print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Print the diff, and return the exit status."""
    diff = _diff(options)
    status = _status(diff) if options["fail_on"] else 0
    if options["json"]:
        print_json(_only(diff.to_json(), options["only"]))
    elif isinstance(diff, AttemptDiff):
        print_page(render_attempt_diff(diff, only=_kinds(options["only"])))
    else:
        print_page(render_run_diff(diff, only=_kinds(options["only"])))
    return status


def _status(diff: AttemptDiff | RunDiff) -> int:
    """Return 1 for a regression. Where no turn could be compared there is nothing to pass on, which is an error."""
    compared = [*diff.turns, *(diff.unchanged if isinstance(diff, AttemptDiff) else ())]
    if not compared:
        raise InputError(
            f"--fail-on: no turn of A and B could be compared: {'; '.join(diff.problems) or 'none is there'}"
        )
    return 1 if diff.regressions else 0


def _kinds(only: str | None) -> Sequence[Any]:
    return ("regression",) if only else ()


def _only(diff: dict[str, Any], only: str | None) -> dict[str, Any]:
    kinds = _kinds(only)
    turns = [turn for turn in diff["turns"] if not kinds or turn["kind"] in kinds]
    return {**diff, "turns": turns}


def _diff(options: dict[str, Any]) -> AttemptDiff | RunDiff:
    a, b = parse_reference(options["a"]), parse_reference(options["b"])
    if (a.attempt is None) != (b.attempt is None):
        raise InputError("A and B: name an attempt (RUN:SCENARIO#1) on both sides, or on neither")
    if a.attempt is None:
        return diff_runs(_read(options, a), _read(options, b))
    return diff_attempts(_read(options, a)[0], _read(options, b)[0])


def _read(options: dict[str, Any], reference: Reference) -> Sequence[Transcript]:
    run = find_run(options["recordings"], reference)
    if reference.scenario is not None and reference.attempt is not None:
        return (read_transcript(run, reference.scenario, reference.attempt),)
    names = list(run.attempts) if reference.scenario is None else [reference.scenario]
    return [attempt for name in names for attempt in read_transcripts(run, name)]
