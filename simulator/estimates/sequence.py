"""Intervals that may be looked at after every attempt, so that the looking may decide when to stop.

An interval for a fixed n covers less than it says if one stops as soon as it looks good. A confidence sequence covers
at all n at once: the chance that it ever leaves out the rate is at most alpha (Ville 1939).
"""

from __future__ import annotations

from itertools import count
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, xlog1py, xlogy

from .rate import FloatArray, Interval

__all__ = ["confidence_sequence", "sequence_interval", "settled", "settled_after"]

_ALPHA: Final = 0.05
_PRIOR: Final = 0.5
_HALVINGS: Final = 50


def confidence_sequence(passed: ArrayLike, n: ArrayLike, *, alpha: float = _ALPHA) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the sequence at each of *n*, after *passed* of them; counts broadcast against each other.

    The rates p at which the mixture of likelihoods over Beta(1/2, 1/2) is less than 1/alpha times the likelihood:

        B(k + 1/2, n - k + 1/2) / B(1/2, 1/2)  <  p^k (1 - p)^(n - k) / alpha

    Beta-binomial mixture (Robbins 1970, Annals of Mathematical Statistics 41; Howard, Ramdas, McAuliffe and Sekhon
    2021, Annals of Statistics 49). The prior changes the width and not the coverage; this one suits rates near 0 and
    1.
    """
    k, size = np.broadcast_arrays(np.asarray(passed, dtype=np.float64), np.asarray(n, dtype=np.float64))
    return _lower(k, size, alpha), 1 - _lower(size - k, size, alpha)


def _lower(passed: FloatArray, n: FloatArray, alpha: float) -> FloatArray:
    """Return the lower end: the likelihood rises up to passed / n, so that halving finds where it crosses."""
    failed = n - passed
    least = np.asarray(betaln(passed + _PRIOR, failed + _PRIOR) - betaln(_PRIOR, _PRIOR) + np.log(alpha))
    low, high = np.zeros_like(passed), passed / np.maximum(n, 1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        outside = xlogy(passed, middle) + xlog1py(failed, -middle) <= least
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return low


def sequence_interval(passed: int, n: int, *, unknown: int = 0, turns: int = 1, alpha: float = _ALPHA) -> Interval:
    """Return the interval of one of *turns* turns after *n* attempts; 0 to 1 for n = 0.

    Each turn gets alpha / turns, so that all of them are covered at once (Bonferroni). However the unknown outcomes
    came out, the sequence of what really happened is inside this one, from all failing to all passing.
    """
    low, high = confidence_sequence([passed, passed + unknown], n, alpha=alpha / turns)
    return Interval(low=float(low[0]), high=float(high[1]))


def settled(passed: int, n: int, *, width: float, unknown: int = 0, turns: int = 1, alpha: float = _ALPHA) -> bool:
    """Return whether the interval is at most *width* wide, from end to end."""
    return sequence_interval(passed, n, unknown=unknown, turns=turns, alpha=alpha).width <= width


def settled_after(*, width: float, turns: int = 1, alpha: float = _ALPHA) -> int:
    """Return the fewest attempts that can settle a turn: as many as it takes where all come out alike."""
    return next(n for n in count(1) if settled(n, n, width=width, turns=turns, alpha=alpha))
