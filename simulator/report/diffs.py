"""What differs between two attempts, or two runs: the summary on top, regressions first, churn last."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from ..diff import (
    COUNTS_ONLY,
    GRAVITY,
    AttemptDiff,
    Change,
    Kind,
    Pair,
    RunDiff,
    ScenarioCounts,
    Tally,
    TurnCounts,
    TurnDiff,
)
from .layout import Field, field_list, heading, line, section, styled, whole
from .words import LEGEND, mark_words

__all__ = ["render_attempt_diff", "render_run_diff"]

_NAMES: Mapping[Kind, str] = {
    "regression": "regression",
    "lost_sight": "lost sight",
    "regained_sight": "regained sight",
    "improvement": "improvement",
    "changed": "changed",
    "churn": "churn",
}
_HEADS: Mapping[Kind, str] = {
    "regression": "regres-\nsion",
    "lost_sight": "lost\nsight",
    "regained_sight": "regained\nsight",
    "improvement": "improve-\nment",
    "changed": "changed",
    "churn": "churn",
}
"""In the order of ``GRAVITY``, broken so that a table of them fits 80 columns beside a name."""
_SAID_OF_EACH: Collection[Kind] = frozenset({"regression", "lost_sight", "regained_sight", "improvement"})
"""Kinds that are printed with each change; of the others the heading says enough."""


def render_attempt_diff(diff: AttemptDiff, *, only: Collection[Kind] = ()) -> RenderableType:
    """Return *diff* as a page; only turns of the kinds in *only*, if any are given. The summary is always of all."""
    parts = [*_head(str(diff.a), str(diff.b), diff.summary, diff.problems), *_model_changes(diff.changes)]
    for kind in _kinds(only):
        parts.extend(_attempt_section(kind, [turn for turn in diff.turns if turn.kind == kind]))
    if not only:
        parts.extend(_rest("unchanged", map(str, diff.unchanged)))
        parts.extend(_rest("played in neither", map(str, diff.not_played)))
    return Group(*parts)


def render_run_diff(diff: RunDiff, *, only: Collection[Kind] = ()) -> RenderableType:
    """Return *diff* as a page; only turns of the kinds in *only*, if any are given. Summary and table are of all."""
    parts = [*_head(str(diff.a), str(diff.b), diff.summary, diff.problems), line(COUNTS_ONLY)]
    if diff.turns:
        parts.extend([Text(), _overview(diff.scenarios)])
    for kind in _kinds(only):
        parts.extend(_run_section(kind, [turn for turn in diff.turns if turn.kind == kind]))
    if not only:
        parts.extend(_rest("unchanged", (f"{turn.scenario} {turn.number}" for turn in diff.turns if turn.kind is None)))
    return Group(*parts)


def _overview(scenarios: Collection[ScenarioCounts]) -> Table:
    """Return how many turns of each scenario came to what, zeros left blank."""
    heads = (Column(head, overflow="fold", justify="right") for head in ("turns", *_HEADS.values(), "un-\nchanged"))
    table = Table(
        Column("scenario", overflow="fold"),
        *heads,
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    for row in scenarios:
        counts = (styled(str(row.kinds[kind] or ""), kind) for kind in _HEADS)
        table.add_row(line(row.scenario), line(str(row.turns)), *counts, line(str(row.unchanged or "")))
    return table


def _kinds(only: Collection[Kind]) -> Iterator[Kind]:
    """Yield the kinds in *only*, the gravest first; all of them where it is empty."""
    return (kind for kind in GRAVITY if not only or kind in only)


def _head(a: str, b: str, summary: str, problems: Iterable[str]) -> Iterator[RenderableType]:
    yield heading(summary)
    yield whole(f"A  {a}")
    yield whole(f"B  {b}")
    yield line(LEGEND)
    for problem in problems:
        yield styled(f"problem: {problem}", "unknown")


def _model_changes(changes: Iterable[Change]) -> Iterator[RenderableType]:
    for change in changes:
        yield line(change.words)


def _rest(name: str, turns: Iterable[str]) -> Iterator[RenderableType]:
    listed = ", ".join(turns)
    if listed:
        yield Text()
        yield section(name, "")
        yield line(f"turns {listed}")


def _attempt_section(kind: Kind, turns: Collection[TurnDiff]) -> Iterator[RenderableType]:
    for place, turn in enumerate(turns):
        yield Text()
        if place == 0:
            yield section(_NAMES[kind], kind)
        yield heading(f"Turn {turn.number} · {turn.answer_from} · {turn.probe}")
        yield field_list([("customer", line(turn.say)), *map(_change, turn.changes)])


def _change(change: Change) -> Field:
    if change.text is None:
        return change.label, _of_kind(change.kind, change.step)
    if change.old == change.new == "text":
        return change.label, mark_words(change.text)
    return change.label, line(f"{change.step}\n").append_text(mark_words(change.text))


def _of_kind(kind: Kind | None, step: str) -> Text:
    if kind is not None and kind in _SAID_OF_EACH:
        return styled(f"{_NAMES[kind]}: {step}", kind)
    return line(step)


def _run_section(kind: Kind, turns: Collection[TurnCounts]) -> Iterator[RenderableType]:
    for place, turn in enumerate(turns):
        yield Text()
        if place == 0:
            yield section(_NAMES[kind], kind)
        yield heading(f"{turn.scenario}, turn {turn.number} · {turn.answer_from} · {turn.probe}")
        yield field_list([("customer", line(turn.say)), *_tallies(turn.tallies), *_pairs(turn)])


def _tallies(tallies: Collection[Tally]) -> Iterator[Field]:
    for tally in tallies:
        if tally.kind is not None:
            yield tally.label, _of_kind(tally.kind, tally.step)
    same = [tally.words for tally in tallies if tally.kind is None]
    if same:
        yield "no difference in", line("; ".join(same))


def _pairs(turn: TurnCounts) -> Iterator[Field]:
    if turn.closest is not None:
        yield "closest replies", _pair(turn.closest)
    if turn.furthest is not None and turn.furthest != turn.closest:
        yield "furthest replies", _pair(turn.furthest)
    if turn.note:
        yield "", line(turn.note)


def _pair(pair: Pair) -> Text:
    return line(f"A {pair.a} and B {pair.b}, {pair.text.in_common}\n").append_text(mark_words(pair.text))
