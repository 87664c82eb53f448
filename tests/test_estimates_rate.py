from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.estimates import (
    Interval,
    Steadiness,
    clopper_pearson,
    flips,
    mean_pass_hat,
    pass_hat,
    rate,
    steady_after,
)


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    """Draw how many passed, and of how many."""
    n = draw(st.integers(1, 300))
    return draw(st.integers(0, n)), n


def ends(passed: int, n: int) -> tuple[float, float]:
    """Return the interval of one rate."""
    low, high = clopper_pearson(passed, n)
    return float(low), float(high)


def tail(n: int, fewest: int, p: float) -> float:
    """Return the probability that *fewest* or more of *n* pass."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(fewest, n + 1))


# The interval.


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [(10, 10, 0.6915, 1), (0, 10, 0, 0.3085), (5, 10, 0.1871, 0.8129), (19, 20, 0.7513, 0.9987), (1, 1, 0.025, 1)],
)
def test_the_interval_is_that_of_the_tables(passed: int, n: int, low: float, high: float) -> None:
    """The ends agree with published tables."""
    assert ends(passed, n) == pytest.approx((low, high), abs=5e-5)


@given(counts())
def test_an_end_leaves_half_of_five_percent(count: tuple[int, int]) -> None:
    """At the lower end as many or more come with a probability of 2.5%, at the upper end as many or fewer."""
    passed, n = count
    low, high = ends(passed, n)
    assert low == 0 if passed == 0 else tail(n, passed, low) == pytest.approx(0.025, rel=1e-6)
    assert high == 1 if passed == n else tail(n, n - passed, 1 - high) == pytest.approx(0.025, rel=1e-6)


@given(counts())
def test_the_interval_holds_what_was_seen(count: tuple[int, int]) -> None:
    """The observed rate lies between the ends, and strictly where both outcomes came."""
    passed, n = count
    low, high = ends(passed, n)
    assert low <= passed / n <= high
    assert low < high


@given(counts())
def test_swapping_the_outcomes_mirrors_the_interval(count: tuple[int, int]) -> None:
    """What fails is as sure as what passes."""
    passed, n = count
    low, high = ends(passed, n)
    assert ends(n - passed, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.integers(1, 300))
def test_more_passing_attempts_raise_both_ends(n: int) -> None:
    """The interval moves up with every attempt that passes."""
    low, high = clopper_pearson(np.arange(n + 1), n)
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()


# A rate.


def test_unknown_outcomes_make_a_rate_a_range() -> None:
    """The limits are those with all of them failing and with all of them passing."""
    found = rate(12, 20, unknown=3)
    assert found.observed == Interval(low=0.6, high=0.75)
    assert found.interval == Interval(low=ends(12, 20)[0], high=ends(15, 20)[1])


def test_ten_of_ten_may_still_fail_one_time_in_four() -> None:
    """A clean run comes with a one-sided limit, a mixed or a partly unknown one does not."""
    assert rate(10, 10).at_least == pytest.approx(1 - 0.2589, abs=5e-5)
    assert rate(0, 10).at_most == pytest.approx(0.2589, abs=5e-5)
    for other in (rate(9, 10), rate(9, 10, unknown=1), rate(0, 10, unknown=1)):
        assert (other.at_least, other.at_most) == (None, None)


def test_a_rate_of_nothing_says_nothing() -> None:
    """No attempts give no interval, and leave a turn undecided."""
    found = rate(0, 0)
    assert (found.observed, found.interval, found.at_least, found.at_most) == (None, None, None, None)
    assert found.steadiness == "undecided"


@pytest.mark.parametrize(
    ("passed", "n", "unknown", "word"),
    [
        (35, 35, 0, "undecided"),
        (36, 36, 0, "steady"),
        (0, 36, 0, "steady"),
        (35, 36, 1, "undecided"),
        (53, 54, 0, "steady"),
        (1, 54, 0, "steady"),
        (3, 5, 0, "undecided"),
        (3, 6, 0, "flaky"),
        (6, 10, 0, "flaky"),
        (7, 10, 0, "undecided"),
        (14, 20, 0, "flaky"),
        (6, 20, 0, "flaky"),
        (14, 20, 2, "undecided"),
        (40, 50, 0, "flaky"),
        (41, 50, 0, "undecided"),
    ],
)
def test_a_turn_is_steady_flaky_or_undecided(passed: int, n: int, unknown: int, word: Steadiness) -> None:
    """Steady and flaky take the whole interval on one side of nine in ten."""
    assert rate(passed, n, unknown=unknown).steadiness == word


@given(counts())
def test_steadiness_does_not_ask_which_outcome_is_the_good_one(count: tuple[int, int]) -> None:
    """A turn that always fails is as steady as one that always passes."""
    passed, n = count
    assert rate(passed, n).steadiness == rate(n - passed, n).steadiness


def test_each_exception_costs_attempts() -> None:
    """36 attempts make a turn steady, 54 with one exception, 70 with two; one fewer does not."""
    assert [steady_after(exceptions) for exceptions in range(3)] == [36, 54, 70]
    assert rate(68, 69).steadiness == "steady"
    assert rate(67, 69).steadiness == "undecided"


# Several attempts that all pass.


def test_pass_hat_counts_the_sets_that_hold_no_failure() -> None:
    """Of the 45 pairs of 10 attempts 28 hold none of the two that failed."""
    assert pass_hat(rate(8, 10), 2) == Interval(low=28 / 45, high=28 / 45)
    assert pass_hat(rate(6, 10, unknown=2), 2) == Interval(low=15 / 45, high=28 / 45)
    assert pass_hat(rate(8, 10), 9) == Interval(low=0, high=0)


def test_pass_hat_needs_k_attempts() -> None:
    """Beyond n there is no estimate, for one rate or for a mean that it belongs to."""
    assert pass_hat(rate(5, 5), 6) is None
    assert mean_pass_hat([rate(10, 10), rate(5, 5)], 6) is None
    assert mean_pass_hat([rate(10, 10), rate(4, 5)], 2) == Interval(low=0.8, high=0.8)
    assert mean_pass_hat([], 1) is None


@given(counts())
def test_pass_hat_falls_with_k(count: tuple[int, int]) -> None:
    """One more attempt that has to pass as well cannot make it likelier."""
    found = [pass_hat(rate(*count), k) for k in range(1, count[1] + 1)]
    lows = [each.low for each in found if each is not None]
    assert len(lows) == count[1]
    assert lows[0] == pytest.approx(count[0] / count[1])
    assert all(later <= earlier for earlier, later in pairwise(lows))


@pytest.mark.parametrize("k", [1, 3, 8])
def test_pass_hat_is_unbiased(k: int) -> None:
    """Its mean over all outcomes of eight attempts is the rate to the power of k."""
    each = [pass_hat(rate(passed, 8), k) for passed in range(9)]
    mean = sum(comb(8, c) * 0.7**c * 0.3 ** (8 - c) * found.low for c, found in enumerate(each) if found is not None)
    assert mean == pytest.approx(0.7**k)


# Draws that differ.


def test_flips_are_pairs_of_draws_that_differ() -> None:
    """Of three draws of which one differs two pairs of three do; a cell with one draw says nothing."""
    found = flips(np.array([[0, 0, 1], [2, 2, 2], [5, -1, -1], [-1, -1, -1]]))
    assert found.rate == pytest.approx((2 / 3 + 0) / 2)
    assert (found.mixed, found.cells) == (1, 2)
    assert flips(np.array([[1, -1]])).rate is None


# What comes with the package.


def test_the_slow_part_of_scipy_stays_away() -> None:
    """Importing the estimates does not import ``scipy.stats``."""
    told = "import sys, simulator.estimates; print('scipy.stats' in sys.modules, 'scipy.special' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["False", "True"]
