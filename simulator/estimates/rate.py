"""How often of n, with its exact interval, and whether that is steady.

Of n independent attempts some passed and some are unknown; the others failed. An unknown one may be either, so a rate
with some is a range, and its interval reaches from the lower limit with all of them failing to the upper with all
passing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from math import comb, fsum
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

__all__ = [
    "CONFIDENCE",
    "STEADY",
    "FloatArray",
    "Interval",
    "Rate",
    "Steadiness",
    "clopper_pearson",
    "mean_pass_hat",
    "pass_hat",
    "rate",
    "steady_after",
]

FloatArray = NDArray[np.float64]

Steadiness = Literal["steady", "flaky", "undecided"]

CONFIDENCE: Final = 0.95
STEADY: Final = 0.9


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """From low to high, both included: the limits of an estimate, or what the unknown outcomes leave open."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """The full width."""
        return self.high - self.low

    def within(self, low: float, high: float) -> bool:
        """Whether all of it lies between *low* and *high*, ends included."""
        return low <= self.low and self.high <= high


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """How many of n passed, with what that says of the next ones."""

    passed: int
    unknown: int
    n: int
    observed: Interval | None
    """From all unknown ones failing to all passing; None for n = 0."""
    interval: Interval | None
    """The exact two-sided 95% interval; None for n = 0."""
    at_least: float | None
    """Where n of n passed, the one-sided 95% limit: the rate is at least this, and up to 1 - this may fail."""
    at_most: float | None
    """Where n of n failed, the one-sided 95% limit: the rate is at most this."""
    steadiness: Steadiness


def rate(passed: int, n: int, *, unknown: int = 0) -> Rate:
    """Return the rate of *passed* in *n* independent attempts of which *unknown* others may have passed.

    It is **steady** if all of its 95% interval lies at 0.9 or above, or at 0.1 or below: one outcome surely comes at
    least nine times in ten. It is **flaky** if all of it lies between: neither does. Otherwise it is **undecided**.
    Either word is wrong for at most 2.5% of the runs of a turn that does not deserve it, and with enough attempts
    every turn whose rate is not just at the border gets one. Steady takes 36 attempts with no exception or 54 with
    one (see ``steady_after``); flaky takes at least 6, and 10 suffice for four or five exceptions, 20 for six, 50 for
    ten.
    """
    if n == 0:
        return Rate(
            passed=0, unknown=0, n=0, observed=None, interval=None, at_least=None, at_most=None, steadiness="undecided"
        )
    interval = _outer(passed, passed + unknown, n, CONFIDENCE)
    tail = (1 - CONFIDENCE) ** (1 / n)
    return Rate(
        passed=passed,
        unknown=unknown,
        n=n,
        observed=Interval(low=passed / n, high=(passed + unknown) / n),
        interval=interval,
        at_least=tail if passed == n else None,
        at_most=1 - tail if passed + unknown == 0 else None,
        steadiness=_steadiness(interval),
    )


def _outer(least: int, most: int, n: int, confidence: float) -> Interval:
    low, high = clopper_pearson([least, most], n, confidence)
    return Interval(low=float(low[0]), high=float(high[1]))


def _steadiness(interval: Interval) -> Steadiness:
    if interval.within(STEADY, 1) or interval.within(0, 1 - STEADY):
        return "steady"
    return "flaky" if interval.low > 1 - STEADY and interval.high < STEADY else "undecided"


def steady_after(exceptions: int = 0) -> int:
    """Return the fewest attempts that make a rate steady although *exceptions* of them came out the other way."""
    return next(n for n in count(exceptions + 1) if clopper_pearson(n - exceptions, n)[0] >= STEADY)


def clopper_pearson(passed: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the exact two-sided interval of each rate, counts broadcast against each other.

    The ends are the rates at which as many or more, and as many or fewer, come with a probability of half of what the
    confidence leaves, so that it covers at least as often as it says (Clopper and Pearson 1934, Biometrika 26). As
    quantiles of the beta distribution: Johnson, Kemp and Kotz 2005, Univariate Discrete Distributions, section 3.8.
    """
    k, size = np.broadcast_arrays(np.asarray(passed, dtype=np.float64), np.asarray(n, dtype=np.float64))
    return _lower(k, size, (1 - confidence) / 2), 1 - _lower(size - k, size, (1 - confidence) / 2)


def _lower(passed: FloatArray, n: FloatArray, tail: float) -> FloatArray:
    found = np.asarray(betaincinv(np.maximum(passed, 1), n - passed + 1, tail), dtype=np.float64)
    return np.where(passed > 0, found, 0.0)


# Several attempts that all pass.


def pass_hat(rate: Rate, k: int) -> Interval | None:
    """Return the estimated probability that *k* attempts all pass, as a range over the unknown ones; None for k > n.

    C(passed, k) / C(n, k), the share of all sets of k attempts that hold none but passing ones: unbiased (as for
    pass@k, Chen et al. 2021, "Evaluating Large Language Models Trained on Code"; pass^k is named in Yao et al. 2024,
    tau-bench).
    """
    if k > rate.n:
        return None
    ways = comb(rate.n, k)
    return Interval(low=comb(rate.passed, k) / ways, high=comb(rate.passed + rate.unknown, k) / ways)


def mean_pass_hat(rates: Iterable[Rate], k: int) -> Interval | None:
    """Return the mean of ``pass_hat`` over *rates*, each counting the same; None if one has fewer than k attempts."""
    each = [pass_hat(rate, k) for rate in rates]
    known = [one for one in each if one is not None]
    if not known or len(known) < len(each):
        return None
    return Interval(low=fsum(one.low for one in known) / len(known), high=fsum(one.high for one in known) / len(known))
