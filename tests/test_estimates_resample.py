from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.estimates import Interval, mean_of_attempts
from simulator.estimates.resample import drawn_counts

UNKNOWN = np.nan


def played(n: int, failing: int, turns: int = 10) -> NDArray[np.float64]:
    """Return n attempts of which the first *failing* fail their first turn."""
    outcomes = np.ones((n, turns))
    outcomes[:failing, 0] = 0
    return outcomes


def test_the_mean_counts_every_group_the_same() -> None:
    """A group with more attempts weighs no more than one with fewer."""
    found = mean_of_attempts([np.zeros((100, 3)), np.ones((20, 3))], rng=np.random.default_rng(1))
    assert found.observed == Interval(low=0.5, high=0.5)
    assert found.attempts == 20


def test_few_attempts_get_no_interval() -> None:
    """19 attempts of one group are too few, whatever the others have."""
    rng = np.random.default_rng(1)
    assert mean_of_attempts([played(20, 5), played(20, 5)], rng=rng).interval is not None
    assert mean_of_attempts([played(20, 5), played(19, 5)], rng=rng).interval is None


@pytest.mark.parametrize("failing", [0, 20])
def test_attempts_that_are_all_alike_get_no_interval(failing: int) -> None:
    """Drawing them anew shows no spread, which is not the same as none."""
    found = mean_of_attempts([played(20, failing)], rng=np.random.default_rng(1))
    assert found.interval is None
    assert found.observed is not None
    assert found.observed.low == found.observed.high == pytest.approx(1 - failing / 200)


def test_no_attempts_have_no_mean() -> None:
    """A group without attempts leaves nothing to say."""
    found = mean_of_attempts([np.ones((0, 10)), played(20, 5)], rng=np.random.default_rng(1))
    assert (found.observed, found.interval, found.attempts) == (None, None, 0)


def test_unknown_turns_widen_the_mean_and_its_interval() -> None:
    """The ends are those with all of them failing and with all of them passing."""
    outcomes = played(40, 10)
    known = mean_of_attempts([outcomes], rng=np.random.default_rng(1))
    outcomes[20:30, 1] = UNKNOWN
    found = mean_of_attempts([outcomes], rng=np.random.default_rng(1))
    assert found.observed == Interval(low=0.95, high=0.975)
    assert known.interval is not None
    assert found.interval is not None
    assert found.interval.high == known.interval.high
    assert found.interval.low < known.interval.low


def test_turns_of_one_attempt_are_drawn_together() -> None:
    """Failures that fall on few attempts leave more open than the same number spread over many."""
    gathered, spread = np.ones((2, 40, 10))
    gathered[:4] = 0
    spread[:38, 0] = 0
    spread[:2, 1] = 0
    wide = mean_of_attempts([gathered], rng=np.random.default_rng(1)).interval
    narrow = mean_of_attempts([spread], rng=np.random.default_rng(1)).interval
    assert wide is not None
    assert narrow is not None
    assert wide.width > 5 * narrow.width


def test_equal_seeds_give_equal_intervals() -> None:
    """Chance comes from the generator alone."""
    first, second = (mean_of_attempts([played(30, 7)], rng=np.random.default_rng(5)) for _ in range(2))
    assert first == second


def test_attempts_are_drawn_in_pieces_of_bounded_size() -> None:
    """Every draw takes n of n, however many pieces they come in."""
    pieces = list(drawn_counts(300_000, np.random.default_rng(1), 13))
    assert [len(piece) for piece in pieces] == [6, 6, 1]
    assert all((piece.sum(axis=1) == 300_000).all() for piece in pieces)
