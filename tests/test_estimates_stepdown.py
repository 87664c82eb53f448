from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from simulator.estimates import Block, StepDown, fisher_table, step_down
from simulator.estimates.fisher import sign_row

FloatArray = NDArray[np.float64]
UNKNOWN = np.nan


def run(seed: int, attempts: int, cells: int, p: float, unknown: float = 0.0) -> FloatArray:
    """Return attempts x cells outcomes of rate p, some unknown."""
    rng = np.random.default_rng(seed)
    outcomes = (rng.random((attempts, cells)) < p).astype(np.float64)
    outcomes[rng.random(outcomes.shape) < unknown] = UNKNOWN
    return outcomes


def compared(*blocks: Block, permutations: int = 9999, paired: bool = False) -> StepDown:
    """Return the p-values under a fixed seed."""
    return step_down(blocks, rng=np.random.default_rng(7), permutations=permutations, paired=paired)


def outcomes(attempts: int, cells: int) -> st.SearchStrategy[FloatArray]:
    """Draw attempts x cells of 1, 0 and unknown."""
    row = st.lists(st.sampled_from([0.0, 1.0, 1.0, UNKNOWN]), min_size=cells, max_size=cells)
    return st.lists(row, min_size=attempts, max_size=attempts).map(lambda rows: np.array(rows).reshape(attempts, cells))


BLOCK = st.builds(Block, base=outcomes(4, 3), candidate=outcomes(3, 3))
PAIRS = st.builds(Block, base=outcomes(5, 3), candidate=outcomes(5, 3))


# Tables.


def exact_p(n: int, m: int, first: int, second: int) -> Fraction:
    """Return Fisher's two-sided p in fractions."""
    total = first + second
    ways = [comb(n, k) * comb(m, total - k) for k in range(max(0, total - m), min(n, total) + 1)]
    return Fraction(sum(each for each in ways if each <= comb(n, first) * comb(m, second)), comb(n + m, total))


@pytest.mark.parametrize(("n", "m"), [(4, 4), (10, 3), (1, 9), (20, 20)])
def test_the_table_holds_fishers_p(n: int, m: int) -> None:
    """Every entry is the exact sum of the outcomes that are no likelier."""
    exact = [[float(exact_p(n, m, first, second)) for second in range(m + 1)] for first in range(n + 1)]
    np.testing.assert_allclose(fisher_table(n, m), exact, rtol=1e-10)


def test_the_lady_tasting_tea_may_be_guessing() -> None:
    """Three of four cups told rightly: p = 0.486."""
    assert fisher_table(4, 4)[3, 1] == pytest.approx(34 / 70)


def test_a_table_cannot_be_written_to() -> None:
    """It is shared by all who ask for it."""
    with pytest.raises(ValueError, match="read-only"):
        fisher_table(4, 4)[0, 0] = 0


def test_the_sign_test_is_that_of_a_fair_coin() -> None:
    """Six of six one way: 2 in 64."""
    assert sign_row(6) == pytest.approx(np.array([2, 14, 44, 64, 44, 14, 2]) / 64)
    assert sign_row(0) == pytest.approx([1])


# The correction.


@settings(max_examples=40)
@given(st.lists(BLOCK, min_size=1, max_size=3))
def test_a_correction_never_lowers_a_p_value_nor_changes_the_order(blocks: list[Block]) -> None:
    """Drawn or complete, adjusted is at least raw, and rises with it over the cells of all blocks."""
    for permutations in (99, 99_999):
        found = compared(*blocks, permutations=permutations)
        raw, adjusted = np.concatenate(found.raw), np.concatenate(found.adjusted)
        assert (adjusted >= raw).all()
        assert (adjusted <= 1 + 1e-12).all()
        assert (np.diff(adjusted[np.argsort(raw, kind="stable")]) >= 0).all()


@settings(max_examples=40)
@given(PAIRS)
def test_the_same_holds_within_pairs(block: Block) -> None:
    """Adjusted is at least raw, and rises with it."""
    found = compared(block, paired=True)
    assert (found.permutations, found.complete) == (32, True)
    assert (found.adjusted[0] >= found.raw[0]).all()
    assert (np.diff(found.adjusted[0][np.argsort(found.raw[0], kind="stable")]) >= 0).all()


@settings(max_examples=40)
@given(BLOCK, st.permutations(range(4)), st.permutations(range(3)), st.permutations(range(3)))
def test_order_and_names_do_not_matter(block: Block, base: list[int], candidate: list[int], cells: list[int]) -> None:
    """Other orders of attempts and cells, runs swapped, or outcomes swapped give the same p-values."""
    found = compared(block).adjusted[0]
    shuffled = Block(base=block.base[base][:, cells], candidate=block.candidate[candidate][:, cells])
    swapped = Block(base=block.candidate, candidate=block.base)
    turned = Block(base=1 - block.base, candidate=1 - block.candidate)
    np.testing.assert_allclose(compared(shuffled).adjusted[0], found[cells])
    np.testing.assert_allclose(compared(swapped).adjusted[0], found)
    np.testing.assert_allclose(compared(turned).adjusted[0], found)


@settings(max_examples=20)
@given(BLOCK, BLOCK)
def test_the_order_of_blocks_does_not_matter(first: Block, second: Block) -> None:
    """Cells of all blocks are corrected together, whichever comes first."""
    found, swapped = compared(first, second), compared(second, first)
    assert (found.permutations, found.complete) == (35 * 35, True)
    np.testing.assert_allclose(swapped.adjusted[0], found.adjusted[1])
    np.testing.assert_allclose(swapped.adjusted[1], found.adjusted[0])


def by_hand(base: FloatArray, candidate: FloatArray) -> list[float]:
    """Return the adjusted p-values by the letter of the algorithm, one permutation at a time."""
    pooled, n = np.concatenate([base, candidate]), len(base)

    def p_values(chosen: tuple[int, ...]) -> list[float]:
        rest = [at for at in range(len(pooled)) if at not in chosen]
        first, second = pooled[list(chosen)].sum(axis=0), pooled[rest].sum(axis=0)
        return [float(exact_p(n, len(rest), int(a), int(b))) for a, b in zip(first, second, strict=True)]

    observed = p_values(tuple(range(n)))
    order = sorted(range(len(observed)), key=observed.__getitem__)
    every = [p_values(chosen) for chosen in combinations(range(len(pooled)), n)]
    adjusted, highest = [0.0] * len(observed), 0.0
    for place, cell in enumerate(order):
        as_small = sum(min(each[other] for other in order[place:]) <= observed[cell] + 1e-9 for each in every)
        highest = max(highest, as_small / len(every))
        adjusted[cell] = highest
    return adjusted


def test_the_p_values_are_those_of_the_algorithm() -> None:
    """Going through all permutations by hand gives the same."""
    base, candidate = run(1, 5, 4, 0.9), run(2, 4, 4, 0.3)
    assert compared(Block(base=base, candidate=candidate)).adjusted[0] == pytest.approx(by_hand(base, candidate))


def test_one_cell_alone_needs_no_correction() -> None:
    """The permutation p of Fisher's p is Fisher's p, and that of the sign test is its own."""
    block = Block(base=run(1, 6, 1, 0.9), candidate=run(2, 6, 1, 0.2))
    for paired in (False, True):
        found = compared(block, paired=paired)
        assert found.complete
        assert found.adjusted[0] == pytest.approx(found.raw[0])


def test_drawn_permutations_come_close_to_all_of_them() -> None:
    """9,999 of the 63,504 there are give the same p-values within four standard errors."""
    blocks = [Block(base=run(seed, 5, 3, 0.9), candidate=run(seed + 9, 5, 3, 0.4)) for seed in (1, 2)]
    drawn, every = (np.concatenate(compared(*blocks, permutations=size).adjusted) for size in (9999, 99_999))
    assert not compared(*blocks).complete
    assert (np.abs(drawn - every) <= 4 * np.sqrt(every * (1 - every) / 9999) + 1e-4).all()


def test_the_smallest_p_value_is_one_in_ten_thousand() -> None:
    """No permutation of those drawn is as extreme, and none drawn does not mean none."""
    found = compared(Block(base=np.ones((20, 2)), candidate=np.zeros((20, 2))))
    assert found.adjusted[0] == pytest.approx([1e-4, 1e-4])


def test_equal_seeds_give_equal_p_values() -> None:
    """Chance comes from the generator alone."""
    block = Block(base=run(1, 20, 5, 0.9), candidate=run(2, 20, 5, 0.6))
    np.testing.assert_array_equal(compared(block).adjusted[0], compared(block).adjusted[0])


def test_cells_that_always_go_together_are_corrected_as_one() -> None:
    """Ten copies of a cell cost nothing, ten cells of their own do."""
    base, candidate = run(1, 20, 10, 0.6), run(2, 20, 10, 0.6)
    base[:, 0], candidate[:, 0] = 1, np.arange(20) >= 6
    alone = compared(Block(base=base[:, :1], candidate=candidate[:, :1])).adjusted[0][0]
    copies = compared(Block(base=base[:, [0] * 10], candidate=candidate[:, [0] * 10])).adjusted[0]
    others = compared(Block(base=base, candidate=candidate)).adjusted[0][0]
    assert copies == pytest.approx([alone] * 10)
    assert others > 2 * alone


def test_cells_that_never_vary_cost_nothing() -> None:
    """A cell that always passed cannot differ under any permutation."""
    block = Block(base=run(1, 20, 2, 0.95), candidate=run(2, 20, 2, 0.5))
    padded = Block(
        base=np.hstack([block.base, np.ones((20, 50))]), candidate=np.hstack([block.candidate, np.ones((20, 50))])
    )
    found = compared(padded)
    np.testing.assert_array_equal(found.adjusted[0][:2], compared(block).adjusted[0])
    assert (found.adjusted[0][2:] == 1).all()


# What is unknown.


def test_a_cell_is_tested_on_its_known_outcomes() -> None:
    """Raw is Fisher's p of what is known on each side."""
    base, candidate = np.ones((8, 1)), np.zeros((8, 1))
    base[:2], candidate[5:] = UNKNOWN, UNKNOWN
    assert compared(Block(base=base, candidate=candidate)).raw[0] == pytest.approx(fisher_table(6, 5)[6, 0])


def test_a_cell_with_nothing_known_does_not_differ() -> None:
    """All unknown on one side or on both: p = 1."""
    base, candidate = np.ones((6, 2)), np.zeros((6, 2))
    base[:, 0], candidate[:, 0], base[:, 1] = UNKNOWN, UNKNOWN, UNKNOWN
    for paired in (False, True):
        found = compared(Block(base=base, candidate=candidate), paired=paired)
        assert found.adjusted[0] == pytest.approx([1, 1])


def test_a_pair_with_an_unknown_outcome_says_nothing() -> None:
    """Raw is the sign test's p of the pairs that are known and unlike."""
    base, candidate = np.ones((9, 1)), np.zeros((9, 1))
    base[0], candidate[1], candidate[2] = UNKNOWN, UNKNOWN, 1
    assert compared(Block(base=base, candidate=candidate), paired=True).raw[0] == pytest.approx(2 / 64)


def test_nothing_to_compare_is_no_error() -> None:
    """No blocks give no p-values, and a block without cells an empty array."""
    assert compared().adjusted == ()
    found = compared(Block(base=np.ones((3, 0)), candidate=np.ones((3, 0))))
    assert [each.shape for each in found.adjusted] == [(0,)]
