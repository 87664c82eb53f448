"""How good a checker is, measured on labelled replies.

The alarm is "unsupported": precision is the part of the alarms that are right, recall the part of the unsupported
replies that raise one, and balanced accuracy the mean of both labels' part that is read rightly.

Read by its word, a checker is measured with ``none`` counted as supported, since nothing stops such a reply, and with
``unknown`` as a range: all of them wrong to all of them right. Read by its score, a reply counts as supported from the
threshold on; rows without a score are left out.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import InputError
from .evidence import Prepared, prepare, read_evidence
from .outcome import VerdictWord

__all__ = [
    "Calibration",
    "Check",
    "Error",
    "Interval",
    "LabelledReply",
    "ScoreFigures",
    "WordFigures",
    "auroc",
    "best_threshold",
    "evidence_check",
    "measure",
    "read_labels",
]

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
    """A checker read by its word. Each figure from all unknowns wrong to all right; None: nothing to divide by."""

    confusion: dict[str, dict[str, int]]
    """Label (supported, unsupported), then word, then how many."""
    precision: Interval
    recall: Interval
    balanced_accuracy: Interval
    unknown: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreFigures:
    """A checker read by its score at one threshold; None where a label is missing."""

    n: int
    threshold: float
    confusion: dict[str, dict[str, int]]
    """Label (supported, unsupported), then reading (likewise), then how many."""
    precision: float | None
    recall: float | None
    balanced_accuracy: float | None
    balanced_accuracy_95: Interval
    """Of the bootstrap: rows drawn again, 2.5 to 97.5 percent."""
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
    """Return what the deterministic evidence says of a row; without a claim there is no score."""
    evidence = read_evidence(row.reply, _prepared(row.document), said=[row.context] if row.context else [])
    return evidence.word, evidence.score


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
        words=_by_word(reads),
        scores=_by_score(reads, threshold, resamples, seed),
        sources={name: (_by_word(own), _by_score(own, threshold, resamples, seed)) for name, own in by_source.items()},
        left_out=left_out,
        left_out_balanced_accuracy=together,
        errors=tuple(_errors(reads, threshold)),
    )


# By word.


def _by_word(reads: Sequence[_Read]) -> WordFigures:
    counts = Counter((read.row.supported, read.word) for read in reads)
    words: tuple[VerdictWord, ...] = ("supported", "unsupported", "unknown", "none")
    bad, good = ({word: counts[label, word] for word in words} for label in (False, True))
    return WordFigures(
        confusion={"supported": good, "unsupported": bad},
        # An unknown is wrong where it is read as the other label.
        precision=Interval(
            low=_ratio(bad["unsupported"], bad["unsupported"] + good["unsupported"] + good["unknown"]),
            high=_ratio(
                bad["unsupported"] + bad["unknown"],
                sum(bad[w] for w in ("unsupported", "unknown")) + good["unsupported"],
            ),
        ),
        recall=Interval(
            low=_ratio(bad["unsupported"], sum(bad.values())),
            high=_ratio(bad["unsupported"] + bad["unknown"], sum(bad.values())),
        ),
        balanced_accuracy=Interval(
            low=_mean(
                _ratio(bad["unsupported"], sum(bad.values())),
                _ratio(good["supported"] + good["none"], sum(good.values())),
            ),
            high=_mean(
                _ratio(bad["unsupported"] + bad["unknown"], sum(bad.values())),
                _ratio(sum(good.values()) - good["unsupported"], sum(good.values())),
            ),
        ),
        unknown=bad["unknown"] + good["unknown"],
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
    return ScoreFigures(
        n=len(pairs),
        threshold=threshold,
        confusion={
            name: {"supported": counts[label, True], "unsupported": counts[label, False]}
            for name, label in (("supported", True), ("unsupported", False))
        },
        precision=_ratio(counts[False, False], counts[False, False] + counts[True, False]),
        recall=_ratio(counts[False, False], counts[False, False] + counts[False, True]),
        balanced_accuracy=_balanced(pairs, threshold),
        balanced_accuracy_95=_interval([_balanced(draw, threshold) for draw in drawn]),
        auroc=auroc(pairs),
        auroc_95=_interval([auroc(draw) for draw in drawn]),
    )


def _balanced(pairs: Sequence[_Pair], threshold: float) -> float | None:
    counts = Counter((label, score >= threshold) for label, score in pairs)
    return _mean(
        _ratio(counts[True, True], counts[True, True] + counts[True, False]),
        _ratio(counts[False, False], counts[False, True] + counts[False, False]),
    )


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


def _draws(pairs: Sequence[_Pair], resamples: int, seed: int) -> Iterator[list[_Pair]]:
    source = random.Random(seed)  # noqa: S311 - a bootstrap, not a secret
    for _ in range(resamples):
        yield source.choices(pairs, k=len(pairs))


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
