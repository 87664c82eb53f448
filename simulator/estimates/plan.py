"""How many attempts a claim needs, before they are paid for."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Final

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from .difference import ALPHA
from .fisher import fisher_row, fisher_table
from .rate import CONFIDENCE, FloatArray

__all__ = ["Power", "clean_attempts", "power"]

_DRAWS: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """The chance that a comparison of two runs finds a drop in one of its turns."""

    base: float
    """The rate of all turns in the base, and of the others in the candidate."""
    drop: float
    n: int
    m: int
    turns: int
    power: float


def clean_attempts(rate: float, *, confidence: float = CONFIDENCE, turns: int = 1) -> int:
    """Return how many attempts without a failure show it to be rarer than *rate*, for each of *turns* at once.

    One-sided: the fewest n with (1 - rate)^n <= (1 - confidence) / turns (Clopper and Pearson 1934; Bonferroni over
    turns). 59 for 5% with 95% confidence, 104 for each of ten turns.
    """
    return ceil(log((1 - confidence) / turns) / log(1 - rate) - 1e-9)


def power(
    base: float,
    drop: float,
    *,
    n: int,
    m: int,
    turns: int,
    rng: np.random.Generator,
    alpha: float = ALPHA,
    draws: int = _DRAWS,
) -> Power:
    """Return the power of the step-down test, with one of *turns* independent turns lower by *drop* in the candidate.

    Exact over the counts of the turn that drops. For the turns that do not, totals are drawn; given all totals, the
    chance of a min-p as small under permutation is 1 - prod (1 - F_j(p)), F_j the exact distribution of Fisher's p
    for the total j. Turns that go together are corrected for less, so that the true power is then higher. Where not all
    permutations are gone through, a p-value that comes often and lies just below *alpha* costs a point or two of it.
    """
    chances = _chances(n, base)[:, None] * _chances(m, base - drop)
    levels, at = np.unique(fisher_table(n, m).ravel(), return_inverse=True)
    levels = levels[levels <= alpha]
    spared = np.log1p(-_reached(n, m, levels))
    others = rng.binomial(n + m, base, size=(draws, turns - 1))
    together = np.sum([spared[column] for column in others.T], axis=0) if turns > 1 else np.zeros((1, len(levels)))
    own = spared[np.add.outer(np.arange(n + 1), np.arange(m + 1)).ravel()]
    candidates = np.flatnonzero(at < len(levels))
    chosen = at[candidates]
    least = together[:, chosen] + own[candidates, chosen]
    found = (-np.expm1(least) <= alpha + 1e-12).mean(axis=0)
    return Power(base=base, drop=drop, n=n, m=m, turns=turns, power=float(chances.ravel()[candidates] @ found))


def _reached(n: int, m: int, levels: FloatArray) -> FloatArray:
    """Return totals x levels: the chance under permutation of a p at or below the level, for each total that passed."""
    rows = np.empty((n + m + 1, len(levels)))
    for passed in range(n + m + 1):
        p_values = np.sort(_occurring(n, m, passed))
        upto = np.searchsorted(p_values, levels * (1 + 1e-9), side="right")
        rows[passed] = np.where(upto > 0, p_values[upto - 1], 0)
    return rows


def _occurring(n: int, m: int, passed: int) -> FloatArray:
    """Return the p-values that can occur; the chance of one as small as the two-sided p is that p itself."""
    return fisher_row(n + m, passed, n)[max(0, passed - m) : min(n, passed) + 1]


def _chances(n: int, rate: float) -> FloatArray:
    """Return the probability of each count of *n* at *rate*."""
    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -rate))
