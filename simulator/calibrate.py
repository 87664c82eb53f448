"""How good a checker is, measured on labelled replies.

The alarm is "unsupported": precision is the part of the alarms that are right, recall the part of the unsupported
replies that raise one, and balanced accuracy the mean of both labels' part that is read rightly.

Read by its word, a checker is measured with ``none`` counted as supported, since nothing stops such a reply, and with
``unknown`` as a range: all of them wrong to all of them right. Read by its score, a reply counts as supported from the
threshold on; rows without a score are left out.

Intervals are of the bootstrap (Efron 1979): rows drawn again with replacement, 2.5 to 97.5 percent of what comes out.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import InputError
from .evidence import Evidence, Prepared, prepare, read_evidence
from .outcome import VerdictWord

__all__ = [
    "FIT_RULE",
    "THRESHOLD",
    "Calibration",
    "Check",
    "Error",
    "Fit",
    "Interval",
    "LabelledReply",
    "ScoreFigures",
    "WordFigures",
    "auroc",
    "best_threshold",
    "evidence_check",
    "fit",
    "measure",
    "read_labels",
    "row_evidence",
]

_T = TypeVar("_T")

THRESHOLD: Final = 0.5
_PERCENT: Final = 0.95


class LabelledReply(BaseModel):
    """One reply with the label that a reader gave it."""

    model_config = ConfigDict(frozen=True, strict=True)

    document: str
    reply: str
    supported: bool
    context: str = ""
    """What the customer said before, or the question."""
    source: str = ""
    id: str = ""


Check = Callable[[LabelledReply], tuple[VerdictWord, float | None]]
"""A checker: its word on a reply, and a score from 0 (unsupported) to 1 (supported) where it has one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """From *low* to *high*; None where it cannot be computed."""

    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WordFigures:
    """A checker read by its word. Each figure from all unknowns wrong to all right; None: nothing to divide by.

    The interval of such a range begins with that of its low end and ends with that of its high end.
    """

    confusion: dict[str, dict[str, int]]
    """Label (supported, unsupported), then word, then how many."""
    precision: Interval
    precision_95: Interval
    recall: Interval
    recall_95: Interval
    balanced_accuracy: Interval
    balanced_accuracy_95: Interval
    unknown: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreFigures:
    """A checker read by its score at one threshold; None where a label is missing."""

    n: int
    threshold: float
    confusion: dict[str, dict[str, int]]
    """Label (supported, unsupported), then reading (likewise), then how many."""
    precision: float | None
    precision_95: Interval
    recall: float | None
    recall_95: Interval
    balanced_accuracy: float | None
    balanced_accuracy_95: Interval
    auroc: float | None
    auroc_95: Interval


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """One source read at the threshold that is best on all others."""

    source: str
    n: int
    threshold: float
    balanced_accuracy: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Error:
    """A reply that the checker read wrongly."""

    id: str
    source: str
    supported: bool
    word: VerdictWord
    score: float | None
    reply: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """All figures of one checker on one set of rows."""

    n: int
    supported: int
    words: WordFigures
    scores: ScoreFigures | None
    """None where no row has a score."""
    sources: dict[str, tuple[WordFigures, ScoreFigures | None]]
    left_out: tuple[LeftOut, ...]
    """Empty where there is one source only."""
    left_out_balanced_accuracy: float | None
    """All rows together, each read at the threshold of the other sources."""
    errors: tuple[Error, ...]
    """The worst first: by how far the score is on the wrong side, then without a score."""

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        plain = asdict(self)
        plain["sources"] = {
            name: {"words": asdict(words), "scores": asdict(scores) if scores else None}
            for name, (words, scores) in self.sources.items()
        }
        return plain


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    row: LabelledReply
    word: VerdictWord
    score: float | None


def read_labels(path: Path) -> tuple[LabelledReply, ...]:
    """Return the rows of a JSONL file with the fields ``document``, ``reply`` and ``supported``; others are optional.

    Raises ``InputError`` with one line per row that cannot be read, or for a file without rows.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a JSONL file of labelled replies") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    rows: list[LabelledReply] = []
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                rows.append(LabelledReply.model_validate(json.loads(line)))
            except (ValueError, RecursionError) as error:
                problems.append(f"{path}:{number}: {_problem(error)}")
    if problems:
        raise InputError("\n".join(problems))
    if not rows:
        raise InputError(f"{path}: no rows; write one JSON object with document, reply and supported per line")
    return tuple(rows)


def _problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the row"
        return f"{field}: {first['msg']}; write document and reply as text, supported as true or false"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON at column {error.colno} ({error.msg}); write one JSON object per line"
    return "nested too deeply; write one flat JSON object per line"


def evidence_check(row: LabelledReply) -> tuple[VerdictWord, float | None]:
    """Return what the deterministic evidence says of a row; without a claim the score is that of the threshold."""
    evidence = row_evidence(row)
    return evidence.word, evidence.score


def row_evidence(row: LabelledReply) -> Evidence:
    """Return the reply of a row read against its document, the context taken as what the customer said."""
    return read_evidence(row.reply, _prepared(row.document), said=[row.context] if row.context else [])


@lru_cache(maxsize=64)
def _prepared(document: str) -> Prepared:
    return prepare([("document", document)])


def measure(
    rows: Sequence[LabelledReply],
    check: Check,
    *,
    threshold: float = THRESHOLD,
    resamples: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Return the figures of *check* on *rows*, which are not empty. Equal arguments give equal figures."""
    reads = [_Read(row=row, word=word, score=score) for row in rows for word, score in (check(row),)]
    names = sorted({row.source for row in rows})
    by_source = {name: [read for read in reads if read.row.source == name] for name in names}
    left_out, together = _leave_out(by_source, threshold)
    return Calibration(
        n=len(reads),
        supported=sum(row.supported for row in rows),
        words=_by_word(reads, resamples, seed),
        scores=_by_score(reads, threshold, resamples, seed),
        sources={
            name: (_by_word(own, resamples, seed), _by_score(own, threshold, resamples, seed))
            for name, own in by_source.items()
        },
        left_out=left_out,
        left_out_balanced_accuracy=together,
        errors=tuple(_errors(reads, threshold)),
    )


# By word.


_Said = tuple[bool, VerdictWord]
"""A label (supported) and a word."""


def _by_word(reads: Sequence[_Read], resamples: int, seed: int) -> WordFigures:
    said: list[_Said] = [(read.row.supported, read.word) for read in reads]
    counts = Counter(said)
    rates = _word_rates(counts)
    drawn = [_word_rates(Counter(draw)) for draw in _draws(said, resamples, seed)]
    precision_95, recall_95, balanced_95 = (_outer([draw[at] for draw in drawn]) for at in range(3))
    words: tuple[VerdictWord, ...] = ("supported", "unsupported", "unknown", "none")
    return WordFigures(
        confusion={
            name: {word: counts[label, word] for word in words}
            for name, label in (("supported", True), ("unsupported", False))
        },
        precision=rates[0],
        precision_95=precision_95,
        recall=rates[1],
        recall_95=recall_95,
        balanced_accuracy=rates[2],
        balanced_accuracy_95=balanced_95,
        unknown=counts[True, "unknown"] + counts[False, "unknown"],
    )


def _word_rates(counts: Counter[_Said]) -> tuple[Interval, Interval, Interval]:
    """Return precision, recall and balanced accuracy. An unknown is wrong where it is read as the other label."""
    hit, missed = counts[False, "unsupported"], counts[False, "supported"] + counts[False, "none"]
    alarm, passed = counts[True, "unsupported"], counts[True, "supported"] + counts[True, "none"]
    bad, good = counts[False, "unknown"], counts[True, "unknown"]
    precision = Interval(low=_ratio(hit, hit + alarm + good), high=_ratio(hit + bad, hit + bad + alarm))
    recall = Interval(low=_ratio(hit, hit + missed + bad), high=_ratio(hit + bad, hit + missed + bad))
    spared = Interval(low=_ratio(passed, passed + alarm + good), high=_ratio(passed + good, passed + alarm + good))
    balanced = Interval(low=_mean(recall.low, spared.low), high=_mean(recall.high, spared.high))
    return precision, recall, balanced


def _outer(ranges: Sequence[Interval]) -> Interval:
    """Return where the low ends begin and the high ends end, 2.5 percent left out on either side."""
    return Interval(
        low=_interval([each.low for each in ranges]).low, high=_interval([each.high for each in ranges]).high
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else (one + other) / 2


# By score.

_Pair = tuple[bool, float]
"""A label (supported) and a score."""


def _pairs(reads: Sequence[_Read]) -> list[_Pair]:
    return [(read.row.supported, read.score) for read in reads if read.score is not None]


def _by_score(reads: Sequence[_Read], threshold: float, resamples: int, seed: int) -> ScoreFigures | None:
    pairs = _pairs(reads)
    if not pairs:
        return None
    counts = Counter((label, score >= threshold) for label, score in pairs)
    drawn = list(_draws(pairs, resamples, seed))
    precision, recall, balanced = _score_rates(pairs, threshold)
    rates = [_score_rates(draw, threshold) for draw in drawn]
    precision_95, recall_95, balanced_95 = (_interval([rate[at] for rate in rates]) for at in range(3))
    return ScoreFigures(
        n=len(pairs),
        threshold=threshold,
        confusion={
            name: {"supported": counts[label, True], "unsupported": counts[label, False]}
            for name, label in (("supported", True), ("unsupported", False))
        },
        precision=precision,
        precision_95=precision_95,
        recall=recall,
        recall_95=recall_95,
        balanced_accuracy=balanced,
        balanced_accuracy_95=balanced_95,
        auroc=auroc(pairs),
        auroc_95=_interval([auroc(draw) for draw in drawn]),
    )


def _score_rates(pairs: Sequence[_Pair], threshold: float) -> tuple[float | None, float | None, float | None]:
    """Return precision, recall and balanced accuracy."""
    counts = Counter((label, score >= threshold) for label, score in pairs)
    hit, missed = counts[False, False], counts[False, True]
    alarm, passed = counts[True, False], counts[True, True]
    recall = _ratio(hit, hit + missed)
    return _ratio(hit, hit + alarm), recall, _mean(recall, _ratio(passed, passed + alarm))


def _balanced(pairs: Sequence[_Pair], threshold: float) -> float | None:
    return _score_rates(pairs, threshold)[2]


def auroc(pairs: Sequence[tuple[bool, float]]) -> float | None:
    """Return the area under the ROC curve: how often a supported row scores above an unsupported one, ties as half.

    By the rank sum (Mann and Whitney 1947). None where a label is missing.
    """
    good = sum(label for label, _ in pairs)
    bad = len(pairs) - good
    if not good or not bad:
        return None
    counts = Counter(score for _, score in pairs)
    below, ranks = 0, dict[float, float]()
    for score in sorted(counts):
        ranks[score] = below + (counts[score] + 1) / 2
        below += counts[score]
    total = sum(ranks[score] for label, score in pairs if label)
    return (total - good * (good + 1) / 2) / (good * bad)


def _draws(rows: Sequence[_T], resamples: int, seed: int) -> Iterator[list[_T]]:
    source = random.Random(seed)  # noqa: S311 - a bootstrap, not a secret
    for _ in range(resamples):
        yield source.choices(rows, k=len(rows))


def _interval(values: Sequence[float | None]) -> Interval:
    """Return the middle 95 percent of those values that could be computed."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return Interval(low=None, high=None)
    tail = (1 - _PERCENT) / 2
    return Interval(low=known[round(tail * (len(known) - 1))], high=known[round((1 - tail) * (len(known) - 1))])


# Left out.


def best_threshold(pairs: Sequence[tuple[bool, float]], *, near: float = THRESHOLD) -> float:
    """Return the threshold of the best balanced accuracy on *pairs*; of equals the one nearest to *near*.

    Thresholds between two scores that follow one another are one, their middle; the lowest score lets all pass. Where a
    label is missing it is *near*.
    """
    scores = sorted({score for _, score in pairs})
    middles = [(one + other) / 2 for one, other in pairwise(scores)]
    return max([near, *middles, *scores[:1]], key=lambda value: (_balanced(pairs, value) or 0.0, -abs(value - near)))


def _leave_out(by_source: dict[str, list[_Read]], threshold: float) -> tuple[tuple[LeftOut, ...], float | None]:
    """Return each source at the threshold of the others, and the balanced accuracy of all rows so read."""
    pairs = {name: _pairs(reads) for name, reads in by_source.items()}
    if len(pairs) == 1:
        return (), None
    rows: list[LeftOut] = []
    shifted: list[_Pair] = []
    for name, own in pairs.items():
        others = [pair for other, each in pairs.items() if other != name for pair in each]
        cut = best_threshold(others, near=threshold)
        rows.append(LeftOut(source=name, n=len(own), threshold=cut, balanced_accuracy=_balanced(own, cut)))
        shifted += [(label, score - cut) for label, score in own]
    return tuple(rows), _balanced(shifted, 0.0)


# Fitted.

FIT_RULE: Final = (
    "threshold: of the best balanced accuracy, of equals the nearest to 0.5; band: on either side of it as far as more "
    "than a third of the scores from there to the threshold are on the wrong side, both labels weighing the same"
)
_DOUBTED: Final = Fraction(1, 3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """What ``FIT_RULE`` finds."""

    threshold: float
    band: tuple[float, float] | None
    """Both ends belong to it, and the threshold lies within; None where neither side has one."""
    n: int
    supported: int
    undecided: int
    """Of the scores that it was found on, how many lie in the band."""
    decided_balanced_accuracy: float | None
    """Of those outside of it."""


def fit(pairs: Sequence[tuple[bool, float]]) -> Fit:
    """Return threshold and unknown band for *pairs* of a label (supported) and a score, by ``FIT_RULE``.

    Raises ``InputError`` where a label is missing.
    """
    good = sum(label for label, _ in pairs)
    if not 0 < good < len(pairs):
        raise InputError(
            f"nothing to fit: {good} supported and {len(pairs) - good} unsupported rows have a grade; both are needed"
        )
    threshold = best_threshold(pairs)
    below = [(score, label) for label, score in pairs if score < threshold]
    above = [(score, not label) for label, score in pairs if score >= threshold]
    weights = (Fraction(1, good), Fraction(1, len(pairs) - good))
    low = _edge(sorted(below, reverse=True), wrong=weights[0], right=weights[1])
    high = _edge(sorted(above), wrong=weights[1], right=weights[0])
    band = None if low is None and high is None else (_or(low, threshold), _or(high, threshold))
    decided = [pair for pair in pairs if band is None or not band[0] <= pair[1] <= band[1]]
    return Fit(
        threshold=threshold,
        band=band,
        n=len(pairs),
        supported=good,
        undecided=len(pairs) - len(decided),
        decided_balanced_accuracy=_balanced(decided, threshold),
    )


def _edge(side: Sequence[tuple[float, bool]], *, wrong: Fraction, right: Fraction) -> float | None:
    """Return the farthest score up to which more than ``_DOUBTED`` of *side*, nearest first, is wrong; None for none.

    *side* has scores and whether each is on the wrong side; *wrong* and *right* are the weights of those. Equal scores
    count together.
    """
    edge, amiss, whole = None, Fraction(0), Fraction(0)
    for score, same in groupby(side, key=lambda each: each[0]):
        for _, is_wrong in same:
            amiss += wrong if is_wrong else 0
            whole += wrong if is_wrong else right
        if amiss > _DOUBTED * whole:
            edge = score
    return edge


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


# Errors.


def _errors(reads: Sequence[_Read], threshold: float) -> Iterator[Error]:
    wrong = [read for read in reads if _is_wrong(read, threshold)]
    for read in sorted(wrong, key=lambda read: (-_distance(read, threshold), read.row.id)):
        row = read.row
        yield Error(
            id=row.id, source=row.source, supported=row.supported, word=read.word, score=read.score, reply=row.reply
        )


def _is_wrong(read: _Read, threshold: float) -> bool:
    if read.score is not None:
        return (read.score >= threshold) != read.row.supported
    return read.word != "unknown" and (read.word != "unsupported") != read.row.supported


def _distance(read: _Read, threshold: float) -> float:
    return -1.0 if read.score is None else abs(read.score - threshold)
