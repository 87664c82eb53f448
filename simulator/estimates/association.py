"""How much of an outcome's variance goes with something that came before it: association, which is not cause."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .rate import FloatArray, Rate, rate

__all__ = ["Association", "associate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Association:
    """An outcome after something came before it, and where it did not."""

    after: Rate
    otherwise: Rate
    share: float | None
    """The part of the known outcomes' variance that lies between the two; below 0 at times. None where one of the two
    has no known outcome, where there are fewer than three in all, or where all are equal."""


def associate(outcomes: FloatArray, before: NDArray[np.bool_]) -> Association:
    """Return how *outcomes* (1, 0, NaN for unknown) go with what came *before*, one attempt a place in both.

    The share is the correlation ratio with its bias taken off: 1 - (n - 1) / (n - 2) x within / total, sums of squares
    (Kelley 1935, PNAS 21, epsilon squared).
    """
    return Association(
        after=_rate(outcomes[before]),
        otherwise=_rate(outcomes[~before]),
        share=_share(outcomes[~np.isnan(outcomes)], before[~np.isnan(outcomes)]),
    )


def _rate(outcomes: FloatArray) -> Rate:
    return rate(int(np.nansum(outcomes)), len(outcomes), unknown=int(np.isnan(outcomes).sum()))


def _share(known: FloatArray, before: NDArray[np.bool_]) -> float | None:
    n, groups = len(known), (known[before], known[~before])
    if n < 3 or min(map(len, groups)) == 0 or np.ptp(known) == 0:  # noqa: PLR2004 - two means leave no spread in two
        return None
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    return 1 - (n - 1) / (n - 2) * within / float(((known - known.mean()) ** 2).sum())
