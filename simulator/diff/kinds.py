"""What a difference means, and which is gravest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

__all__ = ["GRAVITY", "Kind", "gravest", "kind_between", "kind_between_counts", "rank", "total_rated"]

Kind = Literal["regression", "lost_sight", "regained_sight", "improvement", "changed", "churn"]
"""regression: kept to broken, met to missed, supported to unsupported. lost_sight: anything to unknown.
regained_sight: unknown to anything. improvement: a regression read backwards. changed: any other word, such as
another decision. churn: another text with the same standing."""

GRAVITY: tuple[Kind, ...] = ("regression", "lost_sight", "regained_sight", "improvement", "changed", "churn")
"""The gravest first: the order of everything listed."""

_BAD_OF_GOOD: Mapping[str, str] = {"kept": "broken", "met": "missed", "supported": "unsupported"}
_GOOD = frozenset({*_BAD_OF_GOOD, "played"})
_BAD = frozenset(_BAD_OF_GOOD.values())
_UNKNOWN = frozenset({"unknown", "failed", "refused", "not_run"})


def kind_between(old: str, new: str) -> Kind:
    """Return the kind of the step from reading *old* to reading *new*; churn where they are the same word."""
    if old == new:
        return "churn"
    if (old in _UNKNOWN) != (new in _UNKNOWN):
        return "lost_sight" if new in _UNKNOWN else "regained_sight"
    if _BAD_OF_GOOD.get(old) == new:
        return "regression"
    if _BAD_OF_GOOD.get(new) == old:
        return "improvement"
    return "changed"


def kind_between_counts(a: Mapping[str, int], b: Mapping[str, int]) -> Kind | None:
    """Return the kind of the step between two counts of readings, word to attempts.

    None: equal shares, or a side is empty. Rates are of the attempts in which the reading was good, bad or unknown.
    A lower rate of good is a regression where the rate of bad is higher, and lost sight where all of it became unknown.
    """
    if not sum(a.values()) or not sum(b.values()):
        return None
    good, bad, unknown = (_step(a, b, words) for words in (_GOOD, _BAD, _UNKNOWN))
    if good < 0 < bad:
        return "regression"
    if bad < 0 < good:
        return "improvement"
    if unknown:
        return "lost_sight" if unknown > 0 else "regained_sight"
    return None if _same_shares(a, b) else "changed"


def total_rated(counts: Mapping[str, int]) -> int:
    """Return in how many attempts the reading was good, bad or unknown: the n of its rate."""
    return _count(counts, _GOOD | _BAD | _UNKNOWN)


def _count(counts: Mapping[str, int], words: frozenset[str]) -> int:
    return sum(number for word, number in counts.items() if word in words)


def _step(a: Mapping[str, int], b: Mapping[str, int], words: frozenset[str]) -> int:
    """Return a number with the sign of the change in the rate of *words*; nothing rated is a rate of 0."""
    of_a, of_b = total_rated(a) or 1, total_rated(b) or 1
    return _count(b, words) * of_a - _count(a, words) * of_b


def _same_shares(a: Mapping[str, int], b: Mapping[str, int]) -> bool:
    of_a, of_b = sum(a.values()), sum(b.values())
    return all(a.get(word, 0) * of_b == b.get(word, 0) * of_a for word in {*a, *b})


def rank(kind: Kind | None) -> int:
    """Return the place of *kind* in a list, the gravest first; no change at all is last."""
    return len(GRAVITY) if kind is None else GRAVITY.index(kind)


def gravest(kinds: Iterable[Kind | None]) -> Kind | None:
    """Return the gravest of *kinds*; None where there is none."""
    return min(kinds, key=rank, default=None)
