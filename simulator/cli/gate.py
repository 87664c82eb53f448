"""Whether a comparison may pass: what ``--fail-on`` makes of it, and of a run that is not complete."""

from __future__ import annotations

from collections.abc import Sequence

from ..diff import AttemptDiff, RunDiff, plural
from .streams import tell

__all__ = ["INCOMPLETE", "REGRESSION", "not_compared", "tell_some"]

REGRESSION = 1
INCOMPLETE = 3
"""Exit statuses."""

_MOST = 10


def not_compared(diff: AttemptDiff | RunDiff | None) -> str:
    """Return why *diff* says nothing: there is none, or no turn could be compared; empty where it says something."""
    if diff is None:
        return "there is no earlier run to compare with"
    if diff.compared:
        return ""
    return f"no turn of A and B could be compared: {'; '.join(diff.problems) or 'none is there'}"


def tell_some(lead: str, lines: Sequence[str]) -> None:
    """Print the first of *lines* on stderr, each behind *lead*, and how many more there are."""
    for line in lines[:_MOST]:
        tell(f"{lead}: {line}")
    if len(lines) > _MOST:
        tell(f"{lead}: and {plural(len(lines) - _MOST, 'more attempt')}")
