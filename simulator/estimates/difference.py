"""How far two rates are apart, and the word for it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from .rate import FloatArray, Interval, Rate

__all__ = ["ALPHA", "MARGIN", "MOST", "POWER", "Difference", "More", "Word", "compare_rates", "newcombe", "wilson"]

Word = Literal["differs", "differs, but within the margin", "same within the margin", "cannot tell"]

ALPHA: Final = 0.05
MARGIN: Final = 0.1
POWER: Final = 0.8
MOST: Final = 10_000
_CONFIDENCE: Final = 0.9


@dataclass(frozen=True, kw_only=True, slots=True)
class More:
    """How many more attempts each run would need for one word, if the rates stay as observed; None for over 10,000."""

    to_differ: int | None
    """For Fisher's two-sided test of this cell alone to have a power of 80%: over 10,000 for a difference near zero."""
    to_be_same: int | None
    """Until the 90% interval lies inside the margin: over 10,000 for a difference near the margin or beyond it."""

    @property
    def nearest(self) -> tuple[Literal["differs", "same within the margin"], int] | None:
        """The word that takes fewer, and how many; None where both take over 10,000."""
        if self.to_be_same is not None and (self.to_differ is None or self.to_be_same <= self.to_differ):
            return "same within the margin", self.to_be_same
        return None if self.to_differ is None else ("differs", self.to_differ)


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The candidate's rate minus the base's."""

    observed: Interval | None
    """As a range over the unknown outcomes; None where a run has no attempts."""
    interval: Interval | None
    """The 90% interval, its ends likewise."""
    word: Word
    more: More | None
    """None where the word is not "cannot tell", or a run has no known outcome."""


def compare_rates(
    base: Rate,
    candidate: Rate,
    *,
    adjusted: float,
    margin: float = MARGIN,
    alpha: float = ALPHA,
    level: float = ALPHA,
) -> Difference:
    """Return what can be said of two rates whose difference has the p-value *adjusted*, corrected for all cells.

    It differs if that is at most *alpha*. It is the same within the margin if the 90% interval lies inside -margin to
    margin, which is two one-sided tests at 5% (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15).
    Both may hold.
    *level* is that of the test that more attempts are counted for: 5% uncorrected, or what a correction leaves of it.
    """
    if base.observed is None or candidate.observed is None:
        return Difference(observed=None, interval=None, word="cannot tell", more=None)
    interval = _outer(base, candidate, 0)
    word = _word(differs=adjusted <= alpha, same=interval.within(-margin, margin))
    known = min(base.n - base.unknown, candidate.n - candidate.unknown) > 0
    return Difference(
        observed=Interval(
            low=candidate.observed.low - base.observed.high, high=candidate.observed.high - base.observed.low
        ),
        interval=interval,
        word=word,
        more=_more(base, candidate, margin, level) if word == "cannot tell" and known else None,
    )


def _word(*, differs: bool, same: bool) -> Word:
    if differs:
        return "differs, but within the margin" if same else "differs"
    return "same within the margin" if same else "cannot tell"


# The interval.


def newcombe(
    base: ArrayLike, n: ArrayLike, candidate: ArrayLike, m: ArrayLike, *, confidence: float = _CONFIDENCE
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval of candidate / m minus base / n, counts broadcast against each other.

    The hybrid score interval: method 10 of Newcombe 1998, Statistics in Medicine 17:873-890.
    """
    first, second = np.divide(base, n), np.divide(candidate, m)
    (low1, high1), (low2, high2) = wilson(base, n, confidence), wilson(candidate, m, confidence)
    difference = second - first
    return (
        difference - np.hypot(second - low2, high1 - first),
        difference + np.hypot(high2 - second, first - low1),
    )


def wilson(passed: ArrayLike, n: ArrayLike, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the score interval of each rate (Wilson 1927, JASA 22)."""
    k, size = np.asarray(passed, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z = float(ndtri((1 + confidence) / 2))
    centre = (k + z**2 / 2) / (size + z**2)
    reach = z * np.sqrt(k * (size - k) / size + z**2 / 4) / (size + z**2)
    return np.where(k > 0, centre - reach, 0), np.where(k < size, centre + reach, 1)


def _outer(base: Rate, candidate: Rate, more: int) -> Interval:
    """Return the interval over the unknown outcomes, with *more* attempts per run that come out as those before."""
    grown, larger = 1 + more / base.n, 1 + more / candidate.n
    low, high = newcombe(
        np.array([base.passed + base.unknown, base.passed]) * grown,
        base.n + more,
        np.array([candidate.passed, candidate.passed + candidate.unknown]) * larger,
        candidate.n + more,
    )
    return Interval(low=float(low[0]), high=float(high[1]))


# How many more.


def _more(base: Rate, candidate: Rate, margin: float, level: float) -> More:
    steps = range(1, MOST + 1)
    same = bisect_left(steps, 1, key=lambda more: _outer(base, candidate, more).within(-margin, margin))
    differ = bisect_left(steps, POWER, key=lambda more: _power(base, candidate, more, level))
    return More(
        to_differ=steps[differ] if differ < MOST else None,
        to_be_same=steps[same] if same < MOST else None,
    )


def _power(base: Rate, candidate: Rate, more: int, level: float) -> float:
    """Return the power of Fisher's two-sided test at *level*, at the rates of the known outcomes, with *more* attempts.

    The approximation of Casagrande, Pike and Smith 1978 (Biometrics 34), as Fleiss, Tytun and Ury 1980 (Biometrics
    36) have it for unequal n; near rates of 0 and 1 it asks for a tenth too many, or a fifth.
    """
    known = (base.n - base.unknown) / base.n, (candidate.n - candidate.unknown) / candidate.n
    n, m = (base.n + more) * known[0], (candidate.n + more) * known[1]
    first, second = base.passed / (base.n - base.unknown), candidate.passed / (candidate.n - candidate.unknown)
    pooled = (n * first + m * second) / (n + m)
    beyond = abs(second - first) - (1 / n + 1 / m) / 2
    beyond -= float(ndtri(1 - level / 2)) * np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    spread = np.sqrt(first * (1 - first) / n + second * (1 - second) / m)
    return float(ndtr(beyond / spread)) if spread > 0 else float(beyond > 0)
