"""Which of many cells differ between two runs, corrected together for being many.

Step-down min-p by permutation (Westfall and Young 1993, Resampling-Based Multiple Testing, algorithms 2.8 and 4.1).
What is permuted is which whole attempts, with all their cells, belong to which run, and only within a group (the
scenario they played); or, where attempts of the two runs form pairs, which of a pair is whose. The null is that
attempts are exchangeable.

If no cell differs, the chance that any adjusted p is at or below 5% is at most 5%, however the cells go together.
That this also holds for the cells that do not differ while others do takes more: that these cells are exchangeable
together, and not only each with the same rate in both runs (Westfall and Troendle 2008, Biometrical Journal 50).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .fisher import fisher_row, sign_row
from .rate import FloatArray

__all__ = ["PERMUTATIONS", "Block", "StepDown", "step_down"]

PERMUTATIONS: Final = 9999
_CHUNK: Final = 2_000_000
_TIE: Final = 1 + 1e-9
"""P-values that agree to this are the same one, computed from another margin."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """The attempts of one group in both runs, attempts x cells each: 1, 0, and NaN for unknown.

    A cell is tested on the outcomes that are known. Whether a reading was lost more often is a cell of its own.
    """

    base: FloatArray
    candidate: FloatArray


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StepDown:
    """The p-values of all cells, an array of cells for each block."""

    raw: tuple[FloatArray, ...]
    """Of each cell alone, two-sided: Fisher's exact test, or the exact sign test on unlike pairs."""
    adjusted: tuple[FloatArray, ...]
    """Corrected for all cells of all blocks together; never below raw."""
    permutations: int
    """How many were drawn; or all there are."""
    complete: bool
    """Whether these are all."""


def step_down(
    blocks: Sequence[Block], *, rng: np.random.Generator, permutations: int = PERMUTATIONS, paired: bool = False
) -> StepDown:
    """Return the p-values of all cells of *blocks*; *paired* where row i of both runs had the same seeds.

    Of B permutations drawn, b with a min-p as small give p = (1 + b) / (1 + B) (Phipson and Smyth 2010, Statistical
    Applications in Genetics and Molecular Biology 9); where all of them are at most B, all are gone through, and p =
    b / all.
    """
    shufflings = [(_Paired if paired else _Unpaired)(block) for block in blocks]
    raw = np.concatenate([np.empty(0), *(each.observed for each in shufflings)])
    every = prod(each.ways for each in shufflings)
    complete = every <= permutations
    pieces = _all_of(shufflings) if complete else _some_of(shufflings, rng, permutations)
    order = np.argsort(raw, kind="stable")
    as_small = _count_as_small(pieces, raw[order], order)
    counted = as_small / every if complete else (1 + as_small) / (1 + permutations)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.maximum(np.maximum.accumulate(counted), raw[order])
    ends = np.cumsum([len(each.observed) for each in shufflings])[:-1]
    return StepDown(
        raw=tuple(np.split(raw, ends)) if blocks else (),
        adjusted=tuple(np.split(adjusted, ends)) if blocks else (),
        permutations=every if complete else permutations,
        complete=complete,
    )


def _count_as_small(pieces: Iterator[FloatArray], ascending: FloatArray, order: NDArray[np.int64]) -> FloatArray:
    """Return for each cell, by ascending p, how many permutations have one as small among it and the cells after it."""
    found = np.zeros(len(order))
    for piece in pieces:
        least = np.minimum.accumulate(piece[:, order[::-1]], axis=1)[:, ::-1]
        found += (least <= ascending * _TIE).sum(axis=0)
    return found


# The ways to share out the attempts of a block.


class _Unpaired:
    """Any n of all attempts may be the base's."""

    def __init__(self, block: Block) -> None:
        self.n, self.attempts = len(block.base), len(block.base) + len(block.candidate)
        pooled = np.concatenate([block.base, block.candidate])
        self.known = (~np.isnan(pooled)).astype(np.float32)
        self.passed = np.nan_to_num(pooled).astype(np.float32)
        totals = self.known.sum(axis=0).astype(np.int64)
        fewest = np.maximum(0, self.n - (self.attempts - totals))
        tables = [
            self._table(int(total), int(passed), int(least))
            for total, passed, least in zip(totals, self.passed.sum(axis=0), fewest, strict=True)
        ]
        self.table = np.concatenate([np.empty(0), *tables])
        self.starts = np.cumsum([0, *map(len, tables)])[:-1] - fewest * (self.n + 1)
        self.ways = comb(self.attempts, self.n)
        self.observed = self.p_values(self._first()[None, :])[0]

    def _first(self) -> NDArray[np.float32]:
        return (np.arange(self.attempts) < self.n).astype(np.float32)

    def _table(self, total: int, passed: int, fewest: int) -> FloatArray:
        """Return p by how many known attempts the base gets, n + 1 places for each, and how many passing ones."""
        table = np.ones((min(self.n, total) - fewest + 1, self.n + 1))
        for row, first in enumerate(range(fewest, min(self.n, total) + 1)):
            table[row, : first + 1] = fisher_row(total, passed, first)
        return table.ravel()

    def p_values(self, chosen: NDArray[np.float32]) -> FloatArray:
        """Return ways x cells, for *chosen* (ways x attempts): 1 for an attempt of the base."""
        known, passed = ((chosen @ counted).astype(np.int64) for counted in (self.known, self.passed))
        return self.table[self.starts + known * (self.n + 1) + passed]

    def drawn(self, rng: np.random.Generator, size: int) -> FloatArray:
        return self.p_values(rng.permuted(np.tile(self._first(), (size, 1)), axis=1))

    def every(self) -> FloatArray:
        chosen = np.zeros((self.ways, self.attempts), dtype=np.float32)
        for row, base in enumerate(combinations(range(self.attempts), self.n)):
            chosen[row, list(base)] = 1
        return self.p_values(chosen)


class _Paired:
    """Either of each pair may be the base's; a pair with an unknown outcome says nothing."""

    def __init__(self, block: Block) -> None:
        difference = np.nan_to_num(block.base - block.candidate)
        self.attempts = len(difference)
        self.difference = difference.astype(np.float32)
        tables = [sign_row(int(unlike)) for unlike in (difference != 0).sum(axis=0)]
        self.table = np.concatenate([np.empty(0), *tables])
        self.starts = np.cumsum([0, *map(len, tables)])[:-1] + (difference < 0).sum(axis=0)
        self.ways = 2**self.attempts
        self.observed = self.p_values(np.ones((1, self.attempts), dtype=np.float32))[0]

    def p_values(self, kept: NDArray[np.float32]) -> FloatArray:
        """Return ways x cells, for *kept* (ways x pairs): 1 for a pair that is not swapped."""
        return self.table[(kept @ self.difference).astype(np.int64) + self.starts]

    def drawn(self, rng: np.random.Generator, size: int) -> FloatArray:
        return self.p_values(rng.integers(0, 2, size=(size, self.attempts)).astype(np.float32))

    def every(self) -> FloatArray:
        return self.p_values(np.array(list(product((0, 1), repeat=self.attempts)), dtype=np.float32))


def _some_of(
    shufflings: Sequence[_Unpaired | _Paired], rng: np.random.Generator, permutations: int
) -> Iterator[FloatArray]:
    """Yield permutations x all cells, each block shared out on its own."""
    step = max(1, _CHUNK // max(1, sum(each.attempts + len(each.observed) for each in shufflings)))
    for start in range(0, permutations, step):
        size = min(step, permutations - start)
        yield np.concatenate([each.drawn(rng, size) for each in shufflings], axis=1)


def _all_of(shufflings: Sequence[_Unpaired | _Paired]) -> Iterator[FloatArray]:
    """Yield the permutations there are, every way of one block with every way of the others."""
    every = [each.every() for each in shufflings]
    index = np.indices([len(ways) for ways in every]).reshape(len(every), prod(len(ways) for ways in every))
    yield np.concatenate(
        [np.empty((index.shape[1], 0)), *(ways[at] for ways, at in zip(every, index, strict=True))], axis=1
    )
