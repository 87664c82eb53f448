from __future__ import annotations

import numpy as np
import pytest

from simulator.estimates import Association, associate

UNKNOWN = np.nan


def found(outcomes: list[float], before: list[int]) -> Association:
    """Return how the outcomes go with what came before."""
    return associate(np.array(outcomes, dtype=np.float64), np.array(before, dtype=np.bool_))


def test_an_outcome_that_only_follows_has_all_of_its_variance_there() -> None:
    """Failing always and only after a departure is a share of 1."""
    told = found([0, 0, 1, 1, 1], [1, 1, 0, 0, 0])
    assert told.share == pytest.approx(1)
    assert (told.after.passed, told.after.n) == (0, 2)
    assert (told.otherwise.passed, told.otherwise.n) == (3, 3)


def test_the_share_has_its_bias_taken_off() -> None:
    """Two of four fail in both groups: nothing goes with it, and the estimate lies below 0 by what chance would add."""
    assert found([0, 0, 1, 1] * 2, [1] * 4 + [0] * 4).share == pytest.approx(1 - 7 / 6)


def test_over_all_ways_to_share_out_the_attempts_it_is_zero() -> None:
    """Where what came before is drawn at random the mean share is 0."""
    rng = np.random.default_rng(1)
    outcomes = (np.arange(30) < 20).astype(np.float64)
    shares = [associate(outcomes, rng.permutation(np.arange(30) < 12)).share for _ in range(2000)]
    known = np.array([share for share in shares if share is not None])
    assert abs(known.mean()) < 4 * known.std() / np.sqrt(len(known))


@pytest.mark.parametrize(
    ("outcomes", "before"),
    [([1, 1, 1], [1, 0, 0]), ([1, 0, 1], [0, 0, 0]), ([1, 0], [1, 0]), ([1, 0, UNKNOWN], [0, 0, 1]), ([], [])],
)
def test_there_is_no_share_of_nothing(outcomes: list[float], before: list[int]) -> None:
    """Without variance, without a known outcome on either side, or with fewer than three, nothing is said."""
    assert found(outcomes, before).share is None


def test_unknown_outcomes_stay_in_the_rates_and_out_of_the_share() -> None:
    """They make a rate a range."""
    told = found([0, UNKNOWN, 1, 1, 0], [1, 1, 0, 0, 0])
    assert (told.after.passed, told.after.unknown, told.after.n) == (0, 1, 2)
    assert told.share == found([0, 1, 1, 0], [1, 0, 0, 0]).share
