"""A checker measured: what it said of either label, its figures, each source, and the worst of its errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from ..calibrate import Calibration, Error, Interval, LeftOut, ScoreFigures, WordFigures
from ..judged import JudgeFacts
from .layout import Field, field_list, heading, line, styled, whole

__all__ = ["render_calibration"]

_NOTE = (
    "The alarm is unsupported. In brackets the 95% interval of the bootstrap, which takes rows as independent. "
    "By its word, unknowns make a figure a range, and none counts as supported."
)
_FITTED_HERE = 'The threshold was found on these very rows: only what stands under "of the others" is free of that.'
_WORDS = ("supported", "unsupported", "unknown", "none")


def render_calibration(
    figures: Calibration, name: str, check: str, *, worst: int, judge: JudgeFacts | None = None
) -> RenderableType:
    """Return *figures* of the checker *check* on the rows of the file *name* as a page, with *worst* errors at most."""
    unsupported = figures.n - figures.supported
    rows = f"{figures.n} rows, {figures.supported} labelled supported, {unsupported} unsupported"
    return Group(
        whole(f"{check} on {name}", "bold"),
        heading(rows),
        *(_judge(judge) if judge else ()),
        Text(),
        _confusion(figures.words, figures.scores),
        Text(),
        _figures(figures.words, figures.scores),
        line(_NOTE),
        *_sources(figures),
        *_errors(figures.errors, worst),
    )


def _judge(judge: JudgeFacts) -> Iterator[RenderableType]:
    yield field_list(_judge_fields(judge))
    if judge.fit is not None:
        yield line(_FITTED_HERE)


def _judge_fields(judge: JudgeFacts) -> Iterator[Field]:
    reported = ", ".join(judge.reported)
    yield "judge", line(judge.model + (f", which answers as {reported}" if reported not in {"", judge.model} else ""))
    yield "calls", line(f"{judge.calls}; P(supported) could be read of {judge.graded} rows")
    if judge.calibration is not None:
        fitted = judge.calibration
        band = "none" if fitted.band is None else f"{fitted.band[0]:.3f} to {fitted.band[1]:.3f}"
        yield "its calibration", line(f"supported from {fitted.threshold:.3f} on, unknown band {band}")
    if judge.fit is not None:
        outside = _number(judge.fit.decided_balanced_accuracy)
        yield (
            "fitted on",
            line(
                f"{judge.fit.n} rows, {judge.fit.undecided} of them in the band; "
                f"balanced accuracy outside of it {outside}"
            ),
        )


def _table(*heads: str) -> Table:
    columns = (Column(line(head), overflow="fold") for head in heads)
    return Table(*columns, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def _confusion(words: WordFigures, scores: ScoreFigures | None) -> Table:
    by_score = (
        [] if scores is None else [f"score from\n{scores.threshold:.3g} on", f"score below\n{scores.threshold:.3g}"]
    )
    table = _table("labelled", "supported", "un-\nsupported", "unknown", "none", *by_score)
    for label in ("supported", "unsupported"):
        said = [words.confusion[label][word] for word in _WORDS]
        read = [] if scores is None else [scores.confusion[label][word] for word in ("supported", "unsupported")]
        table.add_row(styled(label, label), *(line(str(number)) for number in (*said, *read)))
    return table


def _figures(words: WordFigures, scores: ScoreFigures | None) -> Table:
    table = _table("", "by its word", *([] if scores is None else [f"by its score, of {scores.n} rows"]))
    for name, low_high, within, score, score_within in _measures(words, scores):
        by_score = [] if scores is None else [line(_figure(Interval(low=score, high=score), score_within))]
        table.add_row(line(name), line(_figure(low_high, within)), *by_score)
    return table


_NONE = Interval(low=None, high=None)
_Measure = tuple[str, Interval, Interval, float | None, Interval]
"""Name; by word its range and interval; by score its value and interval."""


def _measures(words: WordFigures, scores: ScoreFigures | None) -> Iterator[_Measure]:
    own = (
        ("precision", words.precision, words.precision_95),
        ("recall", words.recall, words.recall_95),
        ("balanced accuracy", words.balanced_accuracy, words.balanced_accuracy_95),
        ("AUROC", _NONE, _NONE),
    )
    by_score: Sequence[tuple[float | None, Interval]] = [(None, _NONE)] * len(own)
    if scores is not None:
        by_score = (
            (scores.precision, scores.precision_95),
            (scores.recall, scores.recall_95),
            (scores.balanced_accuracy, scores.balanced_accuracy_95),
            (scores.auroc, scores.auroc_95),
        )
    for (name, low_high, within), (score, score_within) in zip(own, by_score, strict=True):
        yield name, low_high, within, score, score_within


def _figure(value: Interval, within: Interval) -> str:
    """Return "0.81 (0.75 to 0.86)", "0.70 to 0.81 (0.64 to 0.86)" where unknowns make a range, and "none"."""
    if value.low is None and value.high is None:
        return "none"
    shown = _number(value.low) if value.low == value.high else f"{_number(value.low)} to {_number(value.high)}"
    return f"{shown} ({_number(within.low)} to {_number(within.high)})"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _sources(figures: Calibration) -> Iterator[RenderableType]:
    if len(figures.sources) == 1:
        return
    left_out = {each.source: each for each in figures.left_out}
    table = _table(
        "source",
        "rows",
        "un-\nknown",
        "balanced\naccuracy\nby its word",
        "by its\nscore",
        "AUROC",
        "threshold\nof the\nothers",
        "balanced\naccuracy\nby that",
    )
    for name, (words, scores) in figures.sources.items():
        rows = sum(sum(label.values()) for label in words.confusion.values())
        table.add_row(*map(line, (name or "not named", str(rows), *_source(words, scores, left_out.get(name)))))
    table.add_section()
    together = _number(figures.left_out_balanced_accuracy)
    table.add_row(*map(line, ("all", str(figures.n), *_source(figures.words, figures.scores, None)[:-1], together)))
    yield Text()
    yield table


def _source(words: WordFigures, scores: ScoreFigures | None, left_out: LeftOut | None) -> Sequence[str]:
    balanced = words.balanced_accuracy
    return (
        str(words.unknown),
        _number(balanced.low)
        if balanced.low == balanced.high
        else f"{_number(balanced.low)} to {_number(balanced.high)}",
        _number(scores.balanced_accuracy if scores else None),
        _number(scores.auroc if scores else None),
        "" if left_out is None else f"{left_out.threshold:.3f}",
        "" if left_out is None else _number(left_out.balanced_accuracy),
    )


def _errors(errors: Sequence[Error], worst: int) -> Iterator[RenderableType]:
    yield Text()
    shown = f", the worst {worst} of them" if 0 < worst < len(errors) else ""
    yield heading(f"errors: {len(errors) or 'none'}{shown}")
    for error in errors[:worst]:
        yield Text()
        yield field_list(_error(error))


def _error(error: Error) -> Iterator[Field]:
    label = "supported" if error.supported else "unsupported"
    yield "row", line(", ".join(part for part in (error.id, error.source) if part) or "without an id")
    yield "labelled", styled(label, label)
    yield "read as", styled(error.word + ("" if error.score is None else f", score {error.score:.3f}"), error.word)
    yield "reply", line(error.reply)
