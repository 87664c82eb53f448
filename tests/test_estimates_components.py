from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from simulator.estimates import Components, Nested, components

FloatArray = NDArray[np.float64]
NONE = np.nan
STAGES = ("answer", "check", "rewrite")


def split(*turns: Any, structural: Any = None, draws: int = 99) -> Components:
    """Return the components of *turns*, given as nested lists or arrays."""
    outcomes = [np.array(turn, dtype=np.float64) for turn in turns]
    none = np.zeros(outcomes[0].shape[:2], dtype=np.bool_)
    flagged = none if structural is None else np.array(structural, dtype=np.bool_)
    nested = [Nested(outcomes=each, structural=flagged) for each in outcomes]
    return components(nested, rng=np.random.default_rng(1), draws=draws)


def variances(found: Components) -> tuple[float | None, ...]:
    """Return the three variances."""
    return found.answer.variance, found.check.variance, found.rewrite.variance


def balanced() -> st.SearchStrategy[FloatArray]:
    """Draw outcomes with equal cells."""
    shapes = st.tuples(st.integers(2, 6), st.integers(2, 4), st.integers(2, 4))
    return shapes.flatmap(
        lambda shape: st.lists(st.integers(0, 1), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))).map(
            lambda each: np.array(each, dtype=np.float64).reshape(shape)
        )
    )


def classical(outcomes: FloatArray) -> tuple[float, float, float]:
    """Return the components by the mean squares of a balanced nested analysis of variance."""
    a, c, r = outcomes.shape
    cells = outcomes.mean(axis=2)
    answers = cells.mean(axis=1)
    between_answers = c * r * ((answers - answers.mean()) ** 2).sum() / (a - 1)
    between_checks = r * ((cells - answers[:, None]) ** 2).sum() / (a * (c - 1))
    within = ((outcomes - cells[:, :, None]) ** 2).sum() / (a * c * (r - 1))
    return (between_answers - between_checks) / (c * r), (between_checks - within) / r, within


@settings(max_examples=60)
@given(balanced())
def test_equal_cells_give_the_classical_analysis_of_variance(outcomes: FloatArray) -> None:
    """The components are those of the mean squares, negative ones included."""
    assert variances(split(outcomes, draws=1)) == pytest.approx(classical(outcomes), abs=1e-12)


@settings(max_examples=60)
@given(balanced())
def test_shares_are_parts_of_one(outcomes: FloatArray) -> None:
    """With what is below 0 taken as 0 they add up to 1, and there are none where nothing varies."""
    found = split(outcomes, draws=1)
    shares = [part.share for part in (found.answer, found.check, found.rewrite)]
    assert found.total is not None
    if np.ptp(outcomes) == 0:
        assert (found.total, shares) == (0, [None] * 3)
    else:
        known = [share for share in shares if share is not None]
        assert sum(known) == pytest.approx(1)
        assert all(0 <= share <= 1 for share in known)


def test_a_cell_that_no_rewrite_follows_stands_for_equal_outcomes() -> None:
    """One structural outcome and R equal ones give the same components."""
    filled = [[[1, 1, 1], [0, 1, 0]], [[0, 0, 0], [1, 1, 1]], [[1, 1, 1], [1, 0, 1]]]
    single = [[[1, NONE, NONE], [0, 1, 0]], [[0, 0, 0], [NONE, 1, NONE]], [[1, 1, NONE], [1, 0, 1]]]
    told = split(single, structural=[[True, False], [False, True], [True, False]])
    assert variances(told) == pytest.approx(variances(split(filled)))


# Unbiased, summed up over everything that can happen.

KIND = (0.6, 0.4)
FLAGGED = (0.2, 0.7)
PASSES = (1, 0)
REWRITTEN = (0.7, 0.4)


def true_components() -> list[float]:
    """Return the components of two kinds of answers with known probabilities."""
    mean = [f * q + (1 - f) * y for f, y, q in zip(FLAGGED, PASSES, REWRITTEN, strict=True)]
    check = [f * (1 - f) * (y - q) ** 2 for f, y, q in zip(FLAGGED, PASSES, REWRITTEN, strict=True)]
    rewrite = [f * q * (1 - q) for f, q in zip(FLAGGED, REWRITTEN, strict=True)]
    overall = np.dot(KIND, mean)
    return [float(np.dot(KIND, np.square(mean)) - overall**2), float(np.dot(KIND, check)), float(np.dot(KIND, rewrite))]


def cell(kind: int, rewrites: int) -> Iterator[tuple[float, tuple[float, ...], bool]]:
    """Yield what one check may lead to: its chance, its outcomes, and whether it was left as it is."""
    padding = (NONE,) * (2 - rewrites)
    yield 1 - FLAGGED[kind], (float(PASSES[kind]), NONE), True
    for outcomes in product((0.0, 1.0), repeat=rewrites):
        chances = [REWRITTEN[kind] if passed else 1 - REWRITTEN[kind] for passed in outcomes]
        yield FLAGGED[kind] * float(np.prod(chances)), outcomes + padding, False


def answer(checks: int, rewrites: int) -> Iterator[tuple[float, list[tuple[float, ...]], list[bool]]]:
    """Yield what one answer may lead to."""
    for kind in (0, 1):
        for cells in product(list(cell(kind, rewrites)), repeat=checks):
            chance = KIND[kind] * float(np.prod([each[0] for each in cells]))
            outcomes = [each[1] for each in cells] + [(NONE, NONE)] * (2 - checks)
            yield chance, outcomes, [each[2] for each in cells] + [False] * (2 - checks)


def test_components_are_unbiased_where_cell_sizes_go_with_the_outcome() -> None:
    """Flagged cells with two outcomes and others with one: the mean over all that can happen is the truth."""
    mean = np.zeros(3)
    ways = list(answer(checks=2, rewrites=2))
    for (first, second), times in ((pair, 1 if pair[0] is pair[1] else 2) for pair in _unordered(ways)):
        found = split([first[1], second[1]], structural=[first[2], second[2]], draws=1)
        mean += times * first[0] * second[0] * np.array(variances(found), dtype=np.float64)
    assert mean == pytest.approx(true_components())


def _unordered(ways: list[Any]) -> Iterator[tuple[Any, Any]]:
    for at, first in enumerate(ways):
        for second in ways[at:]:
            yield first, second


def test_what_a_short_answer_cannot_tell_is_made_up_for_by_the_others() -> None:
    """An answer with a single check leaves the components unbiased."""
    mean = np.zeros(3)
    for first, second in product(answer(checks=2, rewrites=2), answer(checks=1, rewrites=2)):
        found = split([first[1], second[1]], structural=[first[2], second[2]], draws=1)
        mean += first[0] * second[0] * np.array(variances(found), dtype=np.float64)
    assert mean == pytest.approx(true_components())


def test_a_single_rewrite_is_noisy_by_as_much_as_the_others_are() -> None:
    """A cell of one outcome gets the mean rewrite variance of the cells that can tell."""
    found = split([[[0, 1], [1, 1]], [[0, NONE], [1, NONE]]])
    rewrite = 0.25
    first = 0.125 - 0.5 / 2 / 2
    second = 0.5 - rewrite
    assert found.rewrite.variance == pytest.approx(rewrite)
    assert found.check.variance == pytest.approx((first + second) / 2)


# What cannot be told.


def test_one_check_of_each_answer_does_not_tell_answer_from_check() -> None:
    """Without a second check only the rewrite's component is known, and there is no share of anything."""
    found = split([[[0, 1]], [[1, 1]], [[0, 0]]])
    assert variances(found) == (None, None, pytest.approx(1 / 6))
    assert (found.total, found.leading, found.rewrite.share, found.rewrite.share_interval) == (None, None, None, None)


def test_one_rewrite_of_each_check_does_not_tell_check_from_rewrite() -> None:
    """The answer's component is known, as both of the others are in the noise that is taken off."""
    found = split([[[1], [1]], [[0], [0]], [[1], [0]]])
    assert variances(found) == (pytest.approx(0.25 - 0.25 / 3), None, None)
    assert found.total is None


def test_answers_without_an_outcome_are_left_out() -> None:
    """An attempt of which nothing is known counts as none."""
    kept = [[[1, 0], [1, 1]], [[0, 0], [1, 0]]]
    found = split([*kept, [[NONE, NONE], [NONE, NONE]]])
    assert variances(found) == pytest.approx(variances(split(kept)))
    assert found.answers == 2


def test_a_single_answer_has_no_component_of_its_own() -> None:
    """One answer does not vary, and is not said not to."""
    found = split([[[1, 0], [1, 1]]])
    assert found.answer.variance is None
    assert found.check.variance is not None


# Intervals.


def test_the_stage_that_varies_leads() -> None:
    """Where one stage alone varies it has all of the variance, and leads in all that is drawn."""
    coin = np.arange(40) % 2
    made = {
        "answer": np.broadcast_to(coin[:, None, None], (40, 4, 4)),
        "check": np.broadcast_to((np.arange(4) % 2)[None, :, None], (40, 4, 4)),
        "rewrite": np.broadcast_to((np.arange(4) % 2)[None, None, :], (40, 4, 4)),
    }
    for stage, outcomes in made.items():
        found = split(outcomes)
        assert found.leading == stage
        assert [getattr(found, each).share for each in STAGES] == [float(each == stage) for each in STAGES]


def test_few_answers_are_exploratory() -> None:
    """Forty answers are the least that are not."""
    outcomes = np.random.default_rng(3).integers(0, 2, (40, 3, 2))
    assert not split(outcomes).exploratory
    assert split(outcomes[:39]).exploratory


def test_an_interval_holds_its_estimate_and_none_is_given_where_all_draws_agree() -> None:
    """A component that is the same however the answers are drawn gets no interval of width 0."""
    outcomes = np.random.default_rng(3).integers(0, 2, (40, 3, 2))
    found = split(outcomes, draws=999)
    for stage in STAGES:
        part = getattr(found, stage)
        assert part.variance_interval.low <= part.variance <= part.variance_interval.high
        assert 0 <= part.share_interval.low <= part.share <= part.share_interval.high <= 1
    constant = split(np.broadcast_to(np.array([0, 1]), (10, 3, 2)))
    assert constant.rewrite.variance == pytest.approx(0.5)
    assert constant.rewrite.variance_interval is None


def test_several_turns_are_averaged_and_their_attempts_drawn_together() -> None:
    """A turn given twice has the components and the intervals of the turn given once."""
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 2, (2, 12, 3, 2))
    assert variances(split(one, other)) == pytest.approx(
        np.mean([np.array(variances(split(each)), dtype=np.float64) for each in (one, other)], axis=0)
    )
    twice, once = split(one, one), split(one)
    assert twice.check.variance_interval is not None
    assert once.check.variance_interval is not None
    assert twice.check.variance_interval.low == pytest.approx(once.check.variance_interval.low)
    assert twice.check.variance_interval.high == pytest.approx(once.check.variance_interval.high)
