"""Which passages may be used: those of an admitted kind, in force on the date asked about."""

from __future__ import annotations

from datetime import date

from ..scenario import Passage, Scenario, Turn

__all__ = ["admit"]


def admit(scenario: Scenario, turn: Turn | None = None) -> tuple[Passage, ...]:
    """Return the passages that may reach the prompt of *turn* and carry a quote in its reply, in the scenario's order.

    Without a turn the date is the scenario's own. Where no date is given no passage is left out for its dates; where no
    kinds are, none for its kind.
    """
    kinds = scenario.admit.kinds
    asked = scenario.admit.as_of if turn is None else scenario.as_of(turn)
    return tuple(
        passage
        for passage in scenario.passages
        if (kinds is None or passage.kind in kinds) and (asked is None or _in_force(passage, asked))
    )


def _in_force(passage: Passage, asked: date) -> bool:
    begins, ends = passage.effective.from_, passage.effective.to
    return (begins is None or begins <= asked) and (ends is None or asked <= ends)
