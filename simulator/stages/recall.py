"""What a reply tells the customer of what the customer said: the references in it.

A reference is a run of letters, digits and inner hyphens that holds a digit and either a letter or at least four
characters: ``TD-5208``, ``20345``. Sizes, ages and dates are written otherwise and are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..evidence.folding import fold
from ..outcome import Verdict

__all__ = ["read_recall"]

_REFERENCE = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?:(?=[\w-]*[^\W\d_])[\w-]{2,}|\d[\d-]{3,})(?<!-)(?![\w-])")
_QUANTITY = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|s|km|mi|kg|lb|m|h|min)|\d+-(?:day|week|month|year|hour|mile)(?:s|-old)?|\d{4}"
)


def read_recall(shown: str, said: Sequence[str]) -> Verdict:
    """Return whether every reference in *shown*, a reply without what the rules ask for, stands in what was *said*."""
    stated = {_key(name) for text in said for name in _references(text)}
    names = list(_references(shown))
    wrong = tuple(name for name in names if _key(name) not in stated)
    if wrong:
        return Verdict(word="unsupported", reason=f"the customer did not state {', '.join(wrong)}", spans=wrong)
    if names:
        return Verdict(word="supported", reason=f"the customer stated {', '.join(names)}")
    return Verdict(word="none", reason="the answer comes from the conversation, and the reply names no reference")


def _references(text: str) -> Iterable[str]:
    folded = fold(text)
    for match in _REFERENCE.finditer(folded.text):
        if not _QUANTITY.fullmatch(match[0].lower()):
            start, end = folded.span(match.start(), match.end())
            yield text[start:end]


def _key(name: str) -> str:
    return fold(name).text.casefold().replace("-", "")
