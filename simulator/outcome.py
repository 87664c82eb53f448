"""What was read of a reply and what was done with it: the results of the stages, as values.

Every reading has a state for "cannot be said". Unknown is never counted as good, nor as a wrong answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Decision",
    "DecisionWord",
    "ExpectationResult",
    "Met",
    "RuleResult",
    "Standing",
    "Verdict",
    "VerdictWord",
]

Standing = Literal["kept", "broken", "unknown", "not_applicable"]
"""A rule of form. Unknown: the reply was cut, so what it would have held cannot be read."""

Met = Literal["met", "missed", "unknown", "none"]
"""An expectation. None: the turn has no expectation."""

VerdictWord = Literal["supported", "unsupported", "unknown", "none"]
"""A check. None: nothing was to be judged (a conversation turn, a refusal, no claim)."""

DecisionWord = Literal["released", "flagged", "suppressed", "rewritten", "abstained", "held"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleResult:
    """One rule of form, read on one text."""

    rule: str
    """``max_words``, ``forbid_money``, ``closing_line``, ``quote`` or ``format``."""
    standing: Standing
    detail: str = ""
    """What was found, for a person: "46 words, 40 allowed"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectationResult:
    """A turn's ``expect``, read on one text."""

    met: Met
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether the passage carries the reply, as read from a check."""

    word: VerdictWord
    reason: str = ""
    """Why this word; for unknown one of a fixed set of beginnings, so that they can be counted."""
    spans: tuple[str, ...] = ()
    """The unsupported words, each a verbatim piece of the reply."""
    score: float | None = None
    """A judge's P(supported), 0 to 1; None where there is none or it cannot be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What the pipeline did with a reply."""

    word: DecisionWord
    reason: str = ""
