"""Which stage the variance of a yes-or-no outcome comes from: answer, check or rewrite.

The design is nested: some answers, several checks of each, several rewrites of each check. By the law of total variance

    Var(Y) = Var E(Y | answer)  +  E Var(E(Y | answer, check) | answer)  +  E Var(Y | answer, check)
             answer                check                                    rewrite

What the parts say holds for the histories that the answers were given in, and claims nothing about whole conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from .rate import CONFIDENCE, FloatArray, Interval
from .resample import DRAWS, drawn_counts, percentiles

__all__ = ["MIN_ANSWERS", "STAGES", "Component", "Components", "Nested", "Stage", "components"]

Stage = Literal["answer", "check", "rewrite"]
STAGES: Final[tuple[Stage, ...]] = get_args(Stage)

MIN_ANSWERS: Final = 40
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Nested:
    """The outcomes of one turn."""

    outcomes: FloatArray
    """Answers x checks x rewrites of 1 and 0; NaN where there is none or it is unknown: cells may be unequal."""
    structural: NDArray[np.bool_]
    """Answers x checks: the cells that no rewrite follows. Their one outcome stands for any number of equal ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Component:
    """What one stage adds to the variance."""

    variance: float | None
    """Unbiased, and so below 0 at times; None where the design cannot tell it."""
    share: float | None
    """Of the sum, with what is below 0 taken as 0; None where a component is unknown or there is no variance."""
    variance_interval: Interval | None
    share_interval: Interval | None
    """95%, by the bootstrap over answers; None where there is no share, or all draws agree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Components:
    """The variance of an outcome, by stage; over several turns, the mean of their components."""

    answer: Component
    check: Component
    rewrite: Component
    total: float | None
    """The sum, never below 0; None where a component is unknown."""
    leading: Stage | None
    """The stage that adds most in 95% of the bootstrap's draws or more; None where none does."""
    answers: int
    """Of the turn that has fewest."""
    exploratory: bool
    """Whether there are fewer than 40 answers: too few for intervals that cover as often as they say."""


def components(turns: Sequence[Nested], *, rng: np.random.Generator, draws: int = DRAWS) -> Components:
    """Return the components of *turns*, at least one, all with the same attempts along their first axis.

    Method of moments on unweighted means (Thomas and Hultquist 1978, Annals of Statistics 6; Burdick and Graybill
    1992, Confidence Intervals on Variance Components). For equal cells it is the classical analysis of variance
    (Searle, Casella and McCulloch 1992, Variance Components, chapter 3). For unequal ones it stays unbiased where
    their sizes go with the outcome, as with replies that are rewritten and therefore lost more often, as long as
    every answer has two checks and every cell is structural or has two outcomes; what has fewer is made up for by the
    mean of the others.

    Intervals are percentiles over whole answers drawn anew, with the spread between answers multiplied by A / (A - 1),
    which drawing with replacement takes away. They cover too little for few answers, and for what happens rarely.
    """
    rows = np.stack([_statistics(turn) for turn in turns], axis=1)
    answers = int(rows[:, :, 0].sum(axis=0).min())
    variances = _mean_over_turns(rows.sum(axis=0), widened=1.0)
    drawn = _drawn(rows, rng, draws) if answers > 1 else np.full((1, len(STAGES)), np.nan)
    total = _sum(variances)
    shares, drawn_shares = _shares(variances), _shares(drawn)
    parts = {
        stage: Component(
            variance=_known(variances[at]),
            share=_known(shares[at]),
            variance_interval=_interval(drawn[:, at], answers) if total else None,
            share_interval=_interval(drawn_shares[:, at], answers) if total else None,
        )
        for at, stage in enumerate(STAGES)
    }
    return Components(
        **parts,
        total=total,
        leading=_leading(drawn_shares) if total else None,
        answers=answers,
        exploratory=answers < MIN_ANSWERS,
    )


# What each answer contributes; all else is made of sums of it.


class _Parts(NamedTuple):
    """One number of each answer, or a sum over answers. An answer without an outcome is 0 throughout."""

    there: FloatArray
    """1 for an answer with an outcome."""
    mean: FloatArray
    """Of the means of its cells."""
    square: FloatArray
    """Of that mean."""
    within: FloatArray
    """The variance within a cell, mean over the cells that tell it: structural ones, or of two outcomes or more."""
    told: FloatArray
    """1 for an answer with such a cell."""
    between: FloatArray
    """The variance of the means of its cells, less what rewrites add to it, as far as the cells tell that."""
    between_untold: FloatArray
    """How many times the variance within a cell is still to be taken off."""
    several: FloatArray
    """1 for an answer with two checks or more, which alone have the two above."""
    noise: FloatArray
    """The variance of its mean given the answer; for an answer with one check, what rewrites add to it."""
    noise_untold: FloatArray
    """How many times the variance within a cell is to be added to that."""
    alone: FloatArray
    """How many times the check's component is to be added to it: 1 for an answer with one check."""


def _statistics(turn: Nested) -> FloatArray:
    """Return answers x parts."""
    sizes = (~np.isnan(turn.outcomes)).sum(axis=2)
    there, cells = sizes > 0, (sizes > 0).sum(axis=1)
    several, alone, checks = cells > 1, cells == 1, np.maximum(cells, 1)
    means = np.nansum(turn.outcomes, axis=2) / np.maximum(sizes, 1)
    within = np.nansum((turn.outcomes - means[:, :, None]) ** 2, axis=2) / np.maximum(sizes - 1, 1)
    within = np.where(turn.structural, 0.0, within)
    told = there & (turn.structural | (sizes > 1))

    mean = _over(means, there)
    spread = np.where(there, (means - mean[:, None]) ** 2, 0).sum(axis=1) / np.maximum(cells - 1, 1)
    rewrites = np.where(told, within / np.maximum(sizes, 1), 0).sum(axis=1) / checks
    untold = (there & ~told).sum(axis=1) / checks
    parts = _Parts(
        there=(cells > 0).astype(np.float64),
        mean=mean,
        square=mean**2,
        within=_over(within, told),
        told=told.any(axis=1).astype(np.float64),
        between=(spread - rewrites) * several,
        between_untold=untold * several,
        several=several.astype(np.float64),
        noise=np.where(alone, rewrites, spread / checks),
        noise_untold=untold * alone,
        alone=alone.astype(np.float64),
    )
    return np.stack(parts, axis=1)


def _over(values: FloatArray, where: NDArray[np.bool_]) -> FloatArray:
    """Return the mean along the second axis of those *values* that are to count, 0 where none is."""
    return np.where(where, values, 0).sum(axis=1) / np.maximum(where.sum(axis=1), 1)


def _components(sums: FloatArray, widened: float) -> FloatArray:
    """Return ... x stages from ... x parts, summed over answers; NaN where there is not enough to tell."""
    of = _Parts(*np.moveaxis(sums, -1, 0))
    rewrite = _ratio(of.within, of.told)
    check = _ratio(of.between - _times(of.between_untold, rewrite), of.several)
    spread = _ratio(of.square - of.mean**2 / np.maximum(of.there, 1), of.there - 1)
    noise = _ratio(of.noise + _times(of.noise_untold, rewrite) + _times(of.alone, check), of.there)
    return np.stack([widened * spread - noise, check, rewrite], axis=-1)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)


def _times(weight: FloatArray, value: FloatArray) -> FloatArray:
    """Return the product, 0 where nothing has weight although the value is unknown."""
    return np.where(weight > 0, weight * value, 0)


def _mean_over_turns(sums: FloatArray, widened: float) -> FloatArray:
    """Return ... x stages from ... x turns x parts, summed over answers."""
    return _components(sums, widened).mean(axis=-2)


def _drawn(rows: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
    """Return draws x stages, whole attempts drawn with all their turns."""
    attempts, turns, _ = rows.shape
    flat = rows.reshape(attempts, -1)
    sums = np.concatenate([counts @ flat for counts in drawn_counts(attempts, rng, draws)])
    return _mean_over_turns(sums.reshape(-1, turns, len(_Parts._fields)), widened=attempts / (attempts - 1))


# What is said of them.


def _sum(variances: FloatArray) -> float | None:
    total = _known(variances.sum())
    return total if total is None or total > _NOTHING else 0.0


def _shares(variances: FloatArray) -> FloatArray:
    shown = np.maximum(variances, 0)
    return _ratio(shown, np.where(shown.sum(axis=-1, keepdims=True) > _NOTHING, shown.sum(axis=-1, keepdims=True), 0))


def _known(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(drawn: FloatArray, n: int) -> Interval | None:
    """Return the bootstrap's interval; draws without variance have no share, and are left out."""
    told = drawn[~np.isnan(drawn)]
    return percentiles(told, n) if told.size and np.ptp(told) > _NOTHING else None


def _leading(shares: FloatArray) -> Stage | None:
    first = np.bincount(shares[~np.isnan(shares).any(axis=1)].argmax(axis=1), minlength=len(STAGES))
    at = int(first.argmax())
    return STAGES[at] if first[at] >= CONFIDENCE * len(shares) else None
