from __future__ import annotations

from collections.abc import Callable

import pytest
from simulate_estimates import QUICK, TABLES, Scale, Table, alarm_limit


@pytest.mark.parametrize("simulate", TABLES, ids=lambda each: each.__name__)
def test_what_is_claimed_is_measured(simulate: Callable[[Scale], Table]) -> None:
    """Every claim holds, with few repetitions where chance is involved."""
    table = simulate(QUICK)
    assert [claim for claim, holds in table.claims.items() if not holds] == []
    assert {len(row) for row in table.rows} == {len(table.head)}


def test_sixty_four_alarms_in_a_thousand_are_not_too_many() -> None:
    """The 97.5% point of what 5% gives."""
    assert alarm_limit(1000, 0.975) == 64
