"""How often two draws of one cell differ: one answer judged differently, one verdict rewritten differently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flips", "flips"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Flips:
    """How the draws of each cell agree. Only cells with two draws or more say anything, and only they are counted."""

    rate: float | None
    """The probability that two different draws of one cell differ, every cell counting the same; None without cells."""
    mixed: int
    """Cells in which not all draws are equal."""
    cells: int


def flips(codes: NDArray[np.int64]) -> Flips:
    """Return how often draws differ within a row of *codes* (cells x draws): equal where equal, none where below 0.

    For counts n_v of the values in a cell of n draws: 1 - sum n_v (n_v - 1) / (n (n - 1)), two drawn without
    replacement, which is unbiased for any n (Simpson 1949, Nature 163; for 0 and 1 it is twice the sample variance).
    """
    drawn = codes >= 0
    sizes = drawn.sum(axis=1)
    pairs = (codes[:, :, None] == codes[:, None, :]) & drawn[:, :, None] & drawn[:, None, :]
    equal = pairs.sum(axis=(1, 2)) - sizes
    told = sizes > 1
    differ = 1 - equal[told] / (sizes[told] * (sizes[told] - 1))
    return Flips(
        rate=float(differ.mean()) if told.any() else None,
        mixed=int((differ > 0).sum()),
        cells=int(told.sum()),
    )
