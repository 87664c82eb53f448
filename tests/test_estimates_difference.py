from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.estimates import Difference, Word, compare_rates, fisher_table, newcombe, rate
from simulator.estimates.difference import MOST


def compared(base: tuple[int, int], candidate: tuple[int, int], *, adjusted: float = 1.0) -> Difference:
    """Return what is said of two rates with the default margin."""
    return compare_rates(rate(*base), rate(*candidate), adjusted=adjusted)


# The interval.


@pytest.mark.parametrize(
    ("candidate", "base", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_the_interval_is_that_of_the_paper(
    candidate: tuple[int, int], base: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe's table II, method 10, at 95%."""
    assert newcombe(*base, *candidate, confidence=0.95) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(st.integers(0, 20), st.integers(0, 30))
def test_the_interval_holds_the_difference_and_turns_with_it(base: int, candidate: int) -> None:
    """It lies around what was seen, within -1 to 1, and swapping runs or outcomes mirrors it."""
    low, high = newcombe(base, 20, candidate, 30)
    assert -1 - 1e-12 <= low <= candidate / 30 - base / 20 <= high <= 1 + 1e-12
    assert newcombe(candidate, 30, base, 20) == (pytest.approx(-high), pytest.approx(-low))
    assert newcombe(20 - base, 20, 30 - candidate, 30) == (pytest.approx(-high), pytest.approx(-low))


def test_unknown_outcomes_widen_the_difference() -> None:
    """The ends are those of the worst and the best that the unknown ones may be."""
    found = compare_rates(rate(15, 20, unknown=5), rate(18, 20, unknown=2), adjusted=1)
    assert found.observed is not None
    assert found.interval is not None
    assert (found.observed.low, found.observed.high) == (pytest.approx(-0.1), pytest.approx(0.25))
    assert found.interval.low == newcombe(20, 20, 18, 20)[0]
    assert found.interval.high == newcombe(15, 20, 20, 20)[1]


# The word.


@pytest.mark.parametrize(
    ("base", "candidate", "adjusted", "word"),
    [
        ((20, 20), (11, 20), 0.01, "differs"),
        ((980, 1000), (950, 1000), 0.01, "differs, but within the margin"),
        ((980, 1000), (950, 1000), 0.06, "same within the margin"),
        ((30, 30), (30, 30), 1, "same within the margin"),
        ((20, 20), (20, 20), 1, "cannot tell"),
        ((20, 20), (16, 20), 0.05, "differs"),
        ((20, 20), (16, 20), 0.2, "cannot tell"),
        ((0, 0), (20, 20), 1, "cannot tell"),
    ],
)
def test_there_is_one_word_for_a_difference(
    base: tuple[int, int], candidate: tuple[int, int], adjusted: float, word: Word
) -> None:
    """Differs by the corrected p-value, the same by the interval, and otherwise it cannot be told."""
    assert compared(base, candidate, adjusted=adjusted).word == word


def test_the_margin_is_what_the_reader_chooses() -> None:
    """With a wider margin fewer attempts are the same."""
    assert compare_rates(rate(20, 20), rate(20, 20), adjusted=1, margin=0.15).word == "same within the margin"


def test_unknown_outcomes_are_not_the_same() -> None:
    """Runs whose known outcomes agree cannot be told to be the same while a fifth is unknown."""
    assert compare_rates(rate(200, 200), rate(200, 200), adjusted=1).word == "same within the margin"
    assert compare_rates(rate(160, 200, unknown=40), rate(200, 200), adjusted=1).word == "cannot tell"


# How many more.


def test_more_attempts_are_told_only_where_they_would_tell() -> None:
    """A word that is found needs none, and rates of nothing cannot say how many."""
    assert compared((30, 30), (30, 30)).more is None
    assert compared((0, 0), (20, 20)).more is None
    assert compare_rates(rate(0, 5, unknown=5), rate(5, 5), adjusted=1).more is None


def test_equal_rates_need_more_to_be_the_same() -> None:
    """Five more for each of two clean runs of twenty, and not four; no number would make them differ."""
    more = compared((20, 20), (20, 20)).more
    assert more is not None
    assert (more.to_differ, more.to_be_same) == (None, 5)
    assert more.nearest == ("same within the margin", 5)
    assert compared((25, 25), (25, 25)).word == "same within the margin"
    assert compared((24, 24), (24, 24)).word == "cannot tell"


def test_a_difference_at_the_margin_is_never_shown_to_be_within() -> None:
    """19 and 17 of 20 are 10 points apart: they may yet differ."""
    more = compared((19, 20), (17, 20)).more
    assert more is not None
    assert more.to_be_same is None
    assert more.nearest is not None
    assert more.nearest[0] == "differs"


def test_over_ten_thousand_is_not_a_number() -> None:
    """A difference just inside the margin that no test would find soon has no number at all."""
    more = compare_rates(rate(500, 1000), rate(501, 1000), adjusted=1, margin=0.001).more
    assert more is not None
    assert (more.to_differ, more.to_be_same, more.nearest) == (None, None, None)
    assert MOST == 10_000


@pytest.mark.parametrize(("base", "candidate"), [((19, 20), (16, 20)), ((10, 10), (8, 10)), ((16, 20), (11, 20))])
def test_with_that_many_the_test_finds_it_four_times_in_five(base: tuple[int, int], candidate: tuple[int, int]) -> None:
    """The exact power of Fisher's test at the observed rates is 0.8, and up to 0.9 near a rate of 1."""
    more = compared(base, candidate).more
    assert more is not None
    assert more.to_differ is not None
    n = base[1] + more.to_differ
    assert 0.8 <= exact_power(n, base[0] / base[1], candidate[0] / candidate[1]) <= 0.9


def exact_power(n: int, first: float, second: float) -> float:
    """Return the probability that Fisher's p of two runs of *n* is at most 5%."""
    found = fisher_table(n, n) <= 0.05
    chances = [np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]) for p in (first, second)]
    return float(chances[0] @ found @ chances[1])


def test_a_stricter_level_needs_more() -> None:
    """What a correction leaves of 5% can be asked for."""
    usual, strict = (compare_rates(rate(19, 20), rate(16, 20), adjusted=1, level=level).more for level in (0.05, 0.005))
    assert usual is not None
    assert strict is not None
    assert usual.to_differ is not None
    assert strict.to_differ is not None
    assert strict.to_differ > 1.4 * usual.to_differ
