from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import betaln, xlog1py, xlogy

from simulator.estimates import (
    Interval,
    Power,
    clean_attempts,
    clopper_pearson,
    confidence_sequence,
    fisher_table,
    power,
    sequence_interval,
    settled,
    settled_after,
)

SIZES = st.integers(1, 300)


@given(SIZES, st.sampled_from([0.05, 0.005]))
def test_the_sequence_holds_what_was_seen_and_rises_with_it(n: int, alpha: float) -> None:
    """The observed rate lies between the ends; both rise with every attempt that passes; outcomes may be swapped."""
    passed = np.arange(n + 1)
    low, high = confidence_sequence(passed, n, alpha=alpha)
    assert ((low <= passed / n) & (passed / n <= high)).all()
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()
    np.testing.assert_allclose(1 - high[::-1], low, atol=1e-12)


@given(SIZES, st.floats(0.01, 0.99))
def test_the_likelihood_at_an_end_is_alpha_times_the_mixture(n: int, share: float) -> None:
    """That is where the rate is just left out."""
    passed = round(share * n)
    assume(0 < passed < n)
    for end in confidence_sequence(passed, n):
        likelihood = xlogy(passed, end) + xlog1py(n - passed, -end)
        mixture = betaln(passed + 0.5, n - passed + 0.5) - betaln(0.5, 0.5)
        assert likelihood - mixture == pytest.approx(np.log(0.05), abs=1e-6)


@given(SIZES)
def test_looking_often_costs_width(n: int) -> None:
    """The sequence is wider than the interval for one fixed n, and wider still for more turns."""
    passed = np.arange(n + 1)
    low, high = confidence_sequence(passed, n)
    fixed_low, fixed_high = clopper_pearson(passed, n)
    strict_low, strict_high = confidence_sequence(passed, n, alpha=0.005)
    assert (high - low > fixed_high - fixed_low).mean() > 0.9
    assert (strict_high - strict_low > high - low).all()


def test_nothing_played_leaves_everything_open() -> None:
    """After no attempt any rate is possible."""
    assert sequence_interval(0, 0) == Interval(low=0, high=1)


def test_unknown_outcomes_keep_a_turn_open() -> None:
    """The interval reaches from all of them failing to all passing."""
    low, _ = confidence_sequence(50, 60, alpha=0.005)
    _, high = confidence_sequence(58, 60, alpha=0.005)
    assert sequence_interval(50, 60, unknown=8, turns=10) == Interval(low=float(low), high=float(high))
    assert settled(60, 60, width=0.2, turns=10)
    assert not settled(50, 60, width=0.2, unknown=10, turns=10)


@pytest.mark.parametrize(("width", "turns", "attempts"), [(0.2, 1, 24), (0.2, 10, 35), (0.3, 10, 21)])
def test_a_turn_is_settled_at_the_earliest_when_all_attempts_agree(width: float, turns: int, attempts: int) -> None:
    """One attempt fewer does not do, and one that disagrees costs more."""
    assert settled_after(width=width, turns=turns) == attempts
    assert settled(attempts, attempts, width=width, turns=turns)
    assert settled(0, attempts, width=width, turns=turns)
    assert not settled(attempts - 1, attempts - 1, width=width, turns=turns)
    assert not settled(attempts - 1, attempts, width=width, turns=turns)


# Plans.


def test_fifty_nine_clean_attempts_show_less_than_five_percent() -> None:
    """One-sided; for each of ten turns at once it takes 104."""
    assert clean_attempts(0.05) == 59
    assert clean_attempts(0.05, turns=10) == 104
    assert clean_attempts(0.5, confidence=0.875) == 3


@given(st.floats(0.001, 0.9), st.floats(0.5, 0.999), st.integers(1, 60))
def test_no_fewer_clean_attempts_would_do(rate: float, confidence: float, turns: int) -> None:
    """With that many the chance is at most what is allowed, with one fewer it is not."""
    n = clean_attempts(rate, confidence=confidence, turns=turns)
    allowed = (1 - confidence) / turns
    assert (1 - rate) ** n <= allowed * (1 + 1e-6)
    assert (1 - rate) ** (n - 1) > allowed * (1 - 1e-6)


def planned(base: float, drop: float, n: int, turns: int) -> float:
    """Return the power of a comparison under a fixed seed."""
    found = power(base, drop, n=n, m=n, turns=turns, rng=np.random.default_rng(1))
    assert found == Power(base=base, drop=drop, n=n, m=n, turns=turns, power=found.power)
    return found.power


def test_the_power_of_one_turn_is_that_of_fishers_test() -> None:
    """Where nothing else is compared nothing is corrected."""
    passing = np.array([0.5**10 * ways for ways in (1, 10, 45, 120, 210, 252, 210, 120, 45, 10, 1)])
    always = np.eye(11)[10]
    assert planned(1.0, 0.5, 10, 1) == pytest.approx(float(always @ (fisher_table(10, 10) <= 0.05) @ passing))


def test_power_falls_with_turns_and_rises_with_attempts_and_drop() -> None:
    """More turns cost power, more attempts and larger drops gain it."""
    assert planned(0.95, 0.3, 20, 1) > planned(0.95, 0.3, 20, 10) > planned(0.95, 0.3, 20, 60)
    assert planned(0.95, 0.3, 20, 10) < planned(0.95, 0.3, 40, 10)
    assert planned(0.95, 0.3, 20, 10) < planned(0.95, 0.45, 20, 10)


def test_ten_turns_at_twenty_attempts_show_large_drops_only() -> None:
    """45 points at n = m = 20 and 30 points at 40 are found with power over 0.8, 30 points at 20 are not."""
    assert planned(0.95, 0.45, 20, 10) > 0.8
    assert planned(0.95, 0.3, 40, 10) > 0.8
    assert planned(0.95, 0.3, 20, 10) == pytest.approx(0.56, abs=0.03)


def test_turns_that_never_fail_cost_nothing() -> None:
    """At a base rate of 1 only the turn that drops can differ."""
    assert planned(1.0, 0.3, 20, 60) == pytest.approx(planned(1.0, 0.3, 20, 1))
