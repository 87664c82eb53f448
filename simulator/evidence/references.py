"""References in a text: the names of a booking, a case or the like.

A reference is a run of letters, digits and inner hyphens that holds a digit and either a letter or at least four
characters: ``TD-5208``, ``20345``. Sizes, ages and dates are written otherwise and are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .folding import fold

__all__ = ["Reference", "references"]

_DIGIT: Final = re.compile(r"\d")
_REFERENCE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?:(?=[\w-]*[^\W\d_])[\w-]{2,}|\d[\d-]{3,})(?<!-)(?![\w-])")
_QUANTITY: Final = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|s|km|mi|kg|lb|m|h|min)|\d+-(?:day|week|month|year|hour|mile)(?:s|-old)?|\d{4}"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """One reference: ``text[start:end]``."""

    text: str
    start: int
    end: int
    key: str
    """Equal for two that are the same: in lower case and without hyphens."""


def references(text: str) -> Iterator[Reference]:
    """Yield the references in *text*, in order."""
    if _DIGIT.search(text) is None:
        return
    folded = fold(text)
    for match in _REFERENCE.finditer(folded.text):
        if not _QUANTITY.fullmatch(match[0].lower()):
            start, end = folded.span(match.start(), match.end())
            key = match[0].casefold().replace("-", "")
            yield Reference(text=text[start:end], start=start, end=end, key=key)
