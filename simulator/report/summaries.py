"""A run as a table: per scenario and attempt what was played, kept, checked, decided and met."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from ..summary import AttemptSummary, Counts, RunSummary
from .layout import line, styled

__all__ = ["render_summary"]

_HEADS = (
    "scenario",
    "#",
    "turns\nplayed",
    "keeping\nevery\nrule",
    "document\nturns\nchecked",
    "supported/\nunsupported/\nunknown",
    "decisions",
    "expecta-\ntions met",
)
"""Broken so that the table fits 80 columns with the longest decisions."""


def render_summary(summary: RunSummary) -> RenderableType:
    """Return *summary* as a table, and below it why attempts are not complete."""
    heads = (Column(line(head), overflow="fold") for head in _HEADS)
    table = Table(*heads, box=SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    for attempt in summary.attempts:
        name = attempt.scenario + ("" if attempt.complete else "\nincomplete")
        table.add_row(line(name), line(str(attempt.attempt)), *_cells(attempt.counts))
    if len(summary.attempts) > 1:
        table.add_section()
        table.add_row(line("all"), Text(), *_cells(summary.total))
    return Group(table, *map(_incomplete, summary.incomplete))


def _cells(counts: Counts) -> Iterator[Text]:
    verdicts = counts.verdicts
    yield line(_of(counts.played, counts.turns))
    yield line(_of(counts.kept, counts.ruled, unknown=counts.rules_unknown))
    elsewhere = f"\n{counts.checked_elsewhere} other" if counts.checked_elsewhere else ""
    yield line(_of(counts.checked, counts.documents) + elsewhere)
    yield line(f"{verdicts['supported']} / {verdicts['unsupported']} / {verdicts['unknown']}")
    yield line("\n".join(f"{number} {word}" for word, number in counts.decisions.items() if number) or "none")
    yield line(_of(counts.met, counts.expected, unknown=counts.expectations_unknown))


def _of(number: int, total: int, *, unknown: int = 0) -> str:
    """Return "9 of 10" and below it "1 unknown"; "none" where there is nothing to count."""
    if not total:
        return "none"
    return f"{number} of {total}" + (f"\n{unknown} unknown" if unknown else "")


def _incomplete(attempt: AttemptSummary) -> Text:
    why = attempt.problem or "no reason recorded"
    return styled(f"{attempt.scenario} attempt {attempt.attempt} is not complete: {why}", "unknown")
