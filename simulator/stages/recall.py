"""What a reply tells the customer of what the customer said: the references in it."""

from __future__ import annotations

from collections.abc import Sequence

from ..evidence.references import references
from ..outcome import Verdict

__all__ = ["read_recall"]


def read_recall(shown: str, said: Sequence[str]) -> Verdict:
    """Return whether every reference in *shown*, a reply without what the rules ask for, stands in what was *said*."""
    stated = {reference.key for text in said for reference in references(text)}
    named = list(references(shown))
    wrong = tuple(reference.text for reference in named if reference.key not in stated)
    if wrong:
        return Verdict(word="unsupported", reason=f"the customer did not state {', '.join(wrong)}", spans=wrong)
    if named:
        names = ", ".join(reference.text for reference in named)
        return Verdict(word="supported", reason=f"the customer stated {names}")
    return Verdict(word="none", reason="the answer comes from the conversation, and the reply names no reference")
