"""``simulator diff``: two attempts in words, or two runs in counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..diff import AttemptDiff, RunDiff, diff_attempts, diff_runs
from ..errors import InputError
from ..recording import parse_reference
from ..report import render_attempt_diff, render_run_diff
from .choosing import ChosenAttempts, choose_attempts
from .gate import INCOMPLETE, REGRESSION, not_compared, tell_some
from .output import print_json, print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Print the diff, and return the exit status."""
    a, b = _sides(options)
    diff = diff_runs(a.attempts, b.attempts) if a.reference.attempt is None else diff_attempts(*a.attempts, *b.attempts)
    status = _status(diff, b) if options["fail_on"] else 0
    if options["json"]:
        print_json(_only(diff.to_json(), options["only"]))
    elif isinstance(diff, AttemptDiff):
        print_page(render_attempt_diff(diff, only=_kinds(options["only"])))
    else:
        print_page(render_run_diff(diff, only=_kinds(options["only"])))
    return status


def _sides(options: dict[str, Any]) -> tuple[ChosenAttempts, ChosenAttempts]:
    named = [parse_reference(options[side]).attempt is not None for side in ("a", "b")]
    if named[0] != named[1]:
        raise InputError("A and B: name an attempt (RUN:SCENARIO#1) on both sides, or on neither")
    a, b = (choose_attempts(options["recordings"], options[side]) for side in ("a", "b"))
    return a, b


def _status(diff: AttemptDiff | RunDiff, b: ChosenAttempts) -> int:
    """Return 1 for a regression, and 3 where B is not complete: what it did not play cannot have passed.

    Where no turn could be compared there is nothing to pass on, which is an error.
    """
    if b.missing:
        tell_some("--fail-on: B is not complete", b.missing)
        return INCOMPLETE
    if why := not_compared(diff):
        raise InputError(f"--fail-on: {why}")
    return REGRESSION if diff.regressions else 0


def _kinds(only: str | None) -> Sequence[Any]:
    return ("regression",) if only else ()


def _only(diff: dict[str, Any], only: str | None) -> dict[str, Any]:
    kinds = _kinds(only)
    turns = [turn for turn in diff["turns"] if not kinds or turn["kind"] in kinds]
    return {**diff, "turns": turns}
