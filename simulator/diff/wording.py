"""How differences are summed up in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .kinds import Kind, rank

__all__ = ["plural", "sum_up"]

_TOLD: Mapping[Kind | None, str] = {
    "regression": "regressed",
    "lost_sight": "lost sight",
    "regained_sight": "regained sight",
    "improvement": "improved",
    "changed": "changed",
    "churn": "churned",
    None: "unchanged",
}


def sum_up(kinds: Iterable[Kind | None], problems: Sequence[str], *, not_played: int = 0) -> str:
    """Return "10 turns: 1 regressed, 6 churned, 3 unchanged; 1 problem" for turns of *kinds*, None being unchanged."""
    counts = Counter(kinds)
    told = [f"{counts[kind]} {_TOLD[kind]}" for kind in sorted(counts, key=rank)]
    if not_played:
        told.append(f"{not_played} played in neither")
    turns = plural(counts.total() + not_played, "turn")
    trouble = f"; {plural(len(problems), 'problem')}" if problems else ""
    return (f"{turns}: {', '.join(told)}" if told else "no turn compared") + trouble


def plural(number: int, noun: str) -> str:
    """Return "1 turn" or "2 turns"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
