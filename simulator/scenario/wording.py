"""What to write instead of a word that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

__all__ = ["instead", "listed"]

_MAX_LISTED: Final = 20


def instead(word: str, known: Iterable[str]) -> str:
    """Return what to write for *word*: the nearest of the *known* words, or all of them where none is near."""
    words = sorted(known)
    choice = difflib.get_close_matches(word.lower(), words, n=1) or words
    return f"write {listed(choice, ' or ')}" if choice else "there is none at all"


def listed(words: Iterable[str], joint: str) -> str:
    """Return *words* joined, and how many more there are where they are very many."""
    shown = list(words)
    more = [f"one of {len(shown) - _MAX_LISTED} more"] if len(shown) > _MAX_LISTED else []
    return joint.join([*shown[:_MAX_LISTED], *more])
