"""Attempts drawn anew, and an interval of a mean over them.

The turns of one attempt are not independent, so what is drawn is the attempt with all its turns, within its group (the
scenario it played).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from .rate import CONFIDENCE, FloatArray, Interval

__all__ = ["DRAWS", "MIN_ATTEMPTS", "Mean", "drawn_counts", "mean_of_attempts", "percentiles"]

DRAWS: Final = 4999
MIN_ATTEMPTS: Final = 20
_CHUNK: Final = 2_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Mean:
    """A mean over the turns of attempts, every group counting the same."""

    observed: Interval | None
    """From all unknown turns failing to all passing; None where there are no attempts."""
    interval: Interval | None
    """The bootstrap's 95% interval; None under 20 attempts in a group, or where within no group attempts differ."""
    attempts: int
    """Of the group that has fewest."""


def mean_of_attempts(groups: Sequence[FloatArray], *, rng: np.random.Generator, draws: int = DRAWS) -> Mean:
    """Return the mean of *groups*, each attempts x turns of 1, 0 and NaN for unknown, over all turns of a group.

    The interval is the bootstrap's, bias-corrected and accelerated (Efron 1987, JASA 82). It covers less than it says
    where a few attempts of a single group hold all the failures: what the others are like was not seen.
    """
    attempts = min((len(group) for group in groups), default=0)
    if attempts == 0:
        return Mean(observed=None, interval=None, attempts=0)
    failing, passing = ([np.where(np.isnan(group), end, group).mean(axis=1) for group in groups] for end in (0.0, 1.0))
    observed = Interval(low=_mean(failing), high=_mean(passing))
    differ = all(any(np.ptp(rows) > 0 for rows in end) for end in (failing, passing))
    if attempts < MIN_ATTEMPTS or not differ:
        return Mean(observed=observed, interval=None, attempts=attempts)
    drawn = _drawn_means([np.stack(pair, axis=1) for pair in zip(failing, passing, strict=True)], rng, draws)
    interval = Interval(low=_accelerated(drawn[:, 0], failing).low, high=_accelerated(drawn[:, 1], passing).high)
    return Mean(observed=observed, interval=interval, attempts=attempts)


def _mean(rows: Sequence[FloatArray]) -> float:
    return float(np.mean([each.mean() for each in rows]))


def _drawn_means(groups: Sequence[FloatArray], rng: np.random.Generator, draws: int) -> FloatArray:
    """Return the mean of the groups' means, draws x columns, each group's attempts drawn on their own."""
    means = [
        np.concatenate([counts @ rows for counts in drawn_counts(len(rows), rng, draws)]) / len(rows) for rows in groups
    ]
    return np.mean(means, axis=0)


def drawn_counts(n: int, rng: np.random.Generator, draws: int) -> Iterator[FloatArray]:
    """Yield in pieces how often each of *n* was drawn, draws x n: n of them each time, with replacement."""
    step = max(1, _CHUNK // n)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        picked = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(picked.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _accelerated(drawn: FloatArray, groups: Sequence[FloatArray]) -> Interval:
    """Return the interval whose levels make up for the median's bias and for the skewness of the *groups*' rows."""
    below = (np.mean(drawn < _mean(groups)) + np.mean(drawn <= _mean(groups))) / 2
    bias = float(ndtri(np.clip(below, 1 / len(drawn), 1 - 1 / len(drawn))))
    shifted = bias + np.array([-1, 1]) * _reach(min(map(len, groups)))
    levels = np.asarray(ndtr(bias + shifted / (1 - _skew(groups) * shifted)), dtype=np.float64)
    low, high = np.quantile(drawn, levels)
    return Interval(low=float(low), high=float(high))


def _skew(groups: Sequence[FloatArray]) -> float:
    """Return the acceleration: a sixth of the skewness of the mean of the groups' means."""
    centred = [rows - rows.mean() for rows in groups]
    second, third = (sum(float((each**power).sum()) / len(each) ** power for each in centred) for power in (2, 3))
    return third / second**1.5 / 6


def percentiles(drawn: FloatArray, n: int) -> Interval:
    """Return the middle of what was *drawn* from *n* attempts, 95% of it and more for small n."""
    reach = _reach(n)
    low, high = np.quantile(drawn, np.asarray(ndtr([-reach, reach]), dtype=np.float64))
    return Interval(low=float(low), high=float(high))


def _reach(n: int) -> float:
    """Return how many standard errors 95% reaches to each side, by Student's distribution and for a spread over n - 1.

    The bootstrap's own are too narrow for small n by both (Hesterberg 2015, The American Statistician 69).
    """
    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * float(np.sqrt(n / (n - 1)))
