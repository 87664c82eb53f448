"""A run as a table: per scenario and attempt what was played, kept, checked, decided and met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.table import Column, Table
from rich.text import Text

from ..summary import AttemptSummary, Counts, RunSummary
from .layout import line, styled, whole

__all__ = ["render_summary"]

_HEADS = (
    "#",
    "turns\nplayed",
    "keeping\nevery\nrule",
    "document\nturns\nchecked",
    "other\nturns\nchecked",
    "supported/\nunsupported/\nunknown",
    "decisions",
    "expecta-\ntions met",
)
"""Broken so that the table fits 80 columns with the longest decisions."""

_LEGEND = (
    "# is the attempt. Rules and expectations: of the reply as the model gave it. Other turns are answered from the "
    "conversation. Supported, unsupported and unknown: of all turns checked."
)

_Row = Sequence[Text]


def render_summary(summary: RunSummary) -> RenderableType:
    """Return *summary* as a table, and below it what its columns count and why attempts are not complete.

    Each scenario stands on a line of its own above its attempts: names are never broken.
    """
    sections: list[tuple[str, list[_Row]]] = [
        (
            scenario,
            [[line(str(attempt.attempt)), *_cells(attempt.counts, complete=attempt.complete)] for attempt in attempts],
        )
        for scenario, attempts in groupby(summary.attempts, key=lambda attempt: attempt.scenario)
    ]
    if len(summary.attempts) > 1:
        sections.append(("all attempts", [[Text(), *_cells(summary.total)]]))
    widths = _widths([list(map(line, _HEADS)), *(row for _, rows in sections for row in rows)])
    tables = (part for name, rows in sections for part in (whole(name, "bold"), _table(rows, widths)))
    return Group(_table([], widths, heads=_HEADS), *tables, line(_LEGEND, "dim"), *map(_incomplete, summary.incomplete))


def _widths(rows: Sequence[_Row]) -> list[int]:
    """Return how wide each column is, so that those of all tables stand below each other."""
    return [max(map(_width, column)) for column in zip(*rows, strict=True)]


def _width(cell: Text) -> int:
    return max(map(cell_len, cell.plain.split("\n")))


def _table(rows: Sequence[_Row], widths: Sequence[int], *, heads: Sequence[str] = ()) -> RenderableType:
    """Return *rows* in columns of *widths*, or narrower in proportion where the screen is."""
    columns = [
        Column(line(head), ratio=width, overflow="fold")
        for head, width in zip(heads or [""] * len(widths), widths, strict=True)
    ]
    table = Table(
        *columns, box=SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False, show_header=bool(heads), expand=True
    )
    for row in rows:
        table.add_row(*row)
    return Constrain(table, sum(widths) + len(widths) - 1)


def _cells(counts: Counts, *, complete: bool = True) -> Iterator[Text]:
    verdicts = counts.verdicts
    yield line(_of(counts.played, counts.turns) + ("" if complete else "\nincomplete"))
    yield line(_of(counts.kept, counts.ruled, unknown=counts.rules_unknown))
    yield line(_of(counts.checked, counts.documents))
    yield line(_of(counts.checked_elsewhere, counts.turns - counts.documents))
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
