"""P-values of two counts, as tables: Fisher's exact test, and the sign test for pairs.

A table is computed once for its margins and kept; its arrays are read-only.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import gammaln

from .rate import FloatArray

__all__ = ["fisher_row", "fisher_table", "sign_row"]

_TIE: Final = 1 + 1e-7
"""Probabilities that agree to this are the same one, computed in another order."""


@lru_cache(maxsize=4096)
def fisher_row(total: int, passed: int, first: int) -> FloatArray:
    """Return the two-sided p by how many of *first* passed (0 to first), where *passed* of *total* passed in all.

    The two-sided p is the probability of all outcomes that are no more likely than the one seen, given the margins
    (Fisher 1934, Statistical Methods for Research Workers, 5th ed.; two-sided as Irwin 1935, Metron 12). 1 for what
    cannot occur.
    """
    low, high = max(0, first - (total - passed)), min(first, passed)
    seen = np.arange(low, high + 1)
    row = np.ones(first + 1)
    row[low : high + 1] = _no_likelier(
        np.exp(
            _log_choose(passed, seen)
            + _log_choose(total - passed, first - seen)
            - _log_choose(total, np.asarray(first))
        )
    )
    row.flags.writeable = False
    return row


@lru_cache(maxsize=64)
def fisher_table(n: int, m: int) -> FloatArray:
    """Return Fisher's two-sided p by how many of *n* and how many of *m* passed, (n + 1) x (m + 1)."""
    table = np.ones((n + 1, m + 1))
    for passed in range(n + m + 1):
        seen = np.arange(max(0, passed - m), min(n, passed) + 1)
        table[seen, passed - seen] = fisher_row(n + m, passed, n)[seen]
    table.flags.writeable = False
    return table


@lru_cache(maxsize=1024)
def sign_row(pairs: int) -> FloatArray:
    """Return the two-sided p by how many of *pairs* unlike pairs went one way (0 to pairs), by chance one in two.

    The exact sign test; for paired 0 and 1 it is McNemar's (1947, Psychometrika 12), exact.
    """
    ways = _log_choose(pairs, np.arange(pairs + 1))
    row = _no_likelier(np.exp(ways - pairs * np.log(2)))
    row.flags.writeable = False
    return row


def _no_likelier(probabilities: FloatArray) -> FloatArray:
    """Return for each outcome the probability of all that are no more likely."""
    ascending = np.sort(probabilities)
    upto = np.searchsorted(ascending, probabilities * _TIE, side="right")
    return np.minimum(np.cumsum(ascending)[upto - 1], 1.0)


def _log_choose(n: int, k: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)
