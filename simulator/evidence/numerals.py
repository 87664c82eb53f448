"""Numbers in a text, in digits or in words, with their value and place.

Digits of every script count (full-width, Arabic-Indic); groups of three may be set apart by a comma, an apostrophe or a
no-break space. Number words are read by text2num, in the languages it knows. A number that is part of a name is none:
"TD-5208", "No. 8", "4A", "435-719-2299", what stands in a web address, the "2." of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, cast

from text_to_num import find_numbers  # pyright: ignore[reportUnknownVariableType]

from .lexicon import LABELS
from .units import CURRENCY_SIGNS, SCALES, UNITS

__all__ = ["Numeral", "Token", "numerals", "tokens"]

_LANGUAGES: Final = frozenset({"de", "en", "es", "fr", "it", "nl", "pt"})
_NUMBER: Final = r"\d{1,3}(?:[,'\u2019\u00a0\u202f\u066c]\d{3})+(?!\d)(?:[.\u066b]\d+)?|\d+(?:[.\u066b]\d+)?"
_WORD: Final = r"k?m[2²](?!\w)|[^\W\d_]+(?:['\u2019][^\W\d_]+)*"
_TOKEN: Final = re.compile(rf"(?P<number>{_NUMBER})|(?P<word>{_WORD})|[^\s\w]|_|\w")
_GROUPING: Final = re.compile(r"[,'\u2019\u00a0\u202f\u066c]")
# Of a list item or a footnote; the number itself is the group (``sentences.LIST_MARK`` is the whole mark).
_LIST_MARK: Final = re.compile(r"^[ \t]*(?:[-*•][ \t]*)?[(\[]?(\d{1,3})[.)\]](?=\s)|\[(\d{1,3})\]", re.MULTILINE)
_ADDRESS: Final = re.compile(r"\b(?:https?://|www\.)\S+")
_GLUED: Final = frozenset({"st", "nd", "rd", "th", "am", "pm", "s", "h", "p", "a"}) | UNITS.keys() | SCALES.keys()
_LONGEST: Final = 40
"""Characters of a number; a longer run of digits counts nothing."""
_MOST_SCALES: Final = 4
"""Words like "million" behind one number; more of them only make it slow to multiply."""
_HYPHENS: Final = frozenset("-\u2010\u2011")
_MARKS: Final = frozenset("#№_")


class Token(NamedTuple):
    """A word, a number in digits, or one sign. ``low`` is its text in lower case with straight apostrophes."""

    # A tuple, since every word of every reply becomes one.
    text: str
    low: str
    start: int
    end: int
    number: bool
    word: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Numeral:
    """A number: the tokens from ``first`` to ``last``, both included."""

    first: int
    last: int
    value: Fraction
    ordinal: bool = False
    digits: bool = False
    plain: bool = False
    """Whether it is a bare run of digits, as a year is."""


class _Found(Protocol):
    """A number that text2num found: tokens ``start`` to ``end``, the end not included."""

    start: int
    end: int
    value: float
    is_ordinal: bool


class _Spoken:
    """A token as text2num wants to have it."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        self.word = word

    def text(self) -> str:
        return self.word

    def nt_separated(self, previous: _Spoken) -> bool:  # noqa: ARG002 - the protocol's
        return False

    def not_a_number_part(self) -> bool:
        return False


def tokens(text: str) -> tuple[Token, ...]:
    """Return the words, numbers and signs of *text* in order, spaces left out."""
    return tuple(
        Token(
            match[0],
            match[0].lower().replace("\u2019", "'"),
            match.start(),
            match.end(),
            match.lastgroup == "number",
            match.lastgroup == "word",
        )
        for match in _TOKEN.finditer(text)
    )


def numerals(text: str, parts: Sequence[Token], *, language: str = "en") -> tuple[Numeral, ...]:
    """Return the numbers of *text*, whose tokens are *parts*, in order; ordinals included, names left out."""
    listed = {match.start(match.lastindex or 0) for match in _LIST_MARK.finditer(text)}
    listed |= {at for match in _ADDRESS.finditer(text) for at in range(*match.span())}
    chained = _chained(parts)
    written = [
        _written(parts, at)
        for at, part in enumerate(parts)
        if part.number and part.start not in listed and at not in chained and not _is_name(parts, at)
    ]
    taken = {at for numeral in written for at in range(numeral.first, numeral.last + 1)}
    spoken = [n for n in _spoken(parts, language) if not taken.intersection(range(n.first, n.last + 1))]
    return tuple(sorted([*written, *spoken], key=lambda numeral: numeral.first))


def _is_name(parts: Sequence[Token], at: int) -> bool:
    """Return whether the number at *at* belongs to a name: glued to letters, or labelled."""
    before = parts[at - 1] if at else None
    after = parts[at + 1] if at + 1 < len(parts) else None
    if len(parts[at].text) > _LONGEST:
        return True
    if after and after.word and after.start == parts[at].end and not _is_glued(parts, at + 1):
        return True
    if before is None:
        return False
    if before.end == parts[at].start and (before.word or before.text in _MARKS):
        return not (before.low == "us" or before.text in CURRENCY_SIGNS)
    if before.text in _HYPHENS and before.end == parts[at].start and at > 1:
        root = parts[at - 2]
        if root.end == before.start and root.word and root.text.isupper() and len(root.text) > 1:
            return True
    return _is_labelled(parts, at)


def _is_glued(parts: Sequence[Token], at: int) -> bool:
    """Return whether the word at *at* may stand right behind a number: a unit, or the "a" or "p" of a clock time."""
    word = parts[at].low
    halved = at + 1 < len(parts) and parts[at + 1].low in {".", "m"}
    return word in _GLUED and (word not in {"a", "p"} or halved)


def _is_labelled(parts: Sequence[Token], at: int) -> bool:
    low = parts[at - 1].low
    if low in {".", ":"} and at > 1:
        return parts[at - 2].low in LABELS | {"no"} and (low == "." or parts[at - 2].low != "no")
    return low in LABELS or low == "#"


def _chained(parts: Sequence[Token]) -> frozenset[int]:
    """Return the places of numbers of which three or more are joined by hyphens and are no ISO date."""
    chained: list[int] = []
    chain: list[int] = []
    for at, part in enumerate(parts):
        if not part.number or (chain and at < chain[-1]):
            continue
        chain = [*range(at, _chain_end(parts, at) + 1, 2)]
        if len(chain) > 2 and [len(parts[each].text) for each in chain] != [4, 2, 2]:  # noqa: PLR2004
            chained += chain
    return frozenset(chained)


def _chain_end(parts: Sequence[Token], at: int) -> int:
    while _joined(parts, at):
        at += 2
    return at


def _joined(parts: Sequence[Token], at: int) -> bool:
    trio = parts[at : at + 3]
    return (
        len(trio) == 3  # noqa: PLR2004
        and trio[0].number
        and trio[2].number
        and trio[1].text in _HYPHENS
        and trio[0].end == trio[1].start
        and trio[1].end == trio[2].start
    )


def _written(parts: Sequence[Token], at: int) -> Numeral:
    part = parts[at]
    value = Fraction(_GROUPING.sub("", part.text).replace("\u066b", "."))
    last = at
    end = min(len(parts), at + 1 + _MOST_SCALES)
    while last + 1 < end and parts[last + 1].low in SCALES and not _is_metre(parts, last + 1):
        last += 1
        value *= SCALES[parts[last].low]
    following = parts[at + 1] if at + 1 < len(parts) else None
    ordinal = following is not None and following.low in {"st", "nd", "rd", "th"} and following.start == part.end
    return Numeral(
        first=at,
        last=last + ordinal,
        value=value,
        ordinal=ordinal,
        digits=True,
        plain=part.text.isdecimal() and last == at,
    )


def _is_metre(parts: Sequence[Token], at: int) -> bool:
    """Return whether an "m" at *at* is not a million: no currency sign stands before its number."""
    return parts[at].low == "m" and not (at > 1 and parts[at - 2].text in CURRENCY_SIGNS)


def _spoken(parts: Sequence[Token], language: str) -> Iterator[Numeral]:
    """Yield the numbers in words; a year in two halves ("nineteen eighty-four") as one."""
    held: Numeral | None = None
    for numeral in _found(parts, language) if language in _LANGUAGES else ():
        if held is not None and _are_halves(held, numeral):
            year = held.value * 100 + numeral.value
            yield Numeral(first=held.first, last=numeral.last, value=year, digits=True, plain=True)
            held = None
            continue
        if held is not None:
            yield held
        held = numeral
    if held is not None:
        yield held


def _found(parts: Sequence[Token], language: str) -> Iterator[Numeral]:
    """Yield the numbers in words that text2num finds, the inner hyphens of words left out, with a "dozen" behind."""
    if not any(part.word and _is_spoken(part.low, language) for part in parts):
        return
    places = [at for at in range(len(parts)) if not _is_inner_hyphen(parts, at)]
    stream = [_Spoken(parts[at].low if parts[at].word else ".") for at in places]
    for found in cast("list[_Found]", find_numbers(stream, language, threshold=0)):
        first, last = places[found.start], places[found.end - 1]
        value = Fraction(found.value).limit_denominator(1000)
        if last + 1 < len(parts) and parts[last + 1].low == "dozen":
            last, value = last + 1, value * 12
        yield Numeral(first=first, last=last, value=value, ordinal=found.is_ordinal)


@lru_cache(maxsize=8192)
def _is_spoken(word: str, language: str) -> bool:
    """Return whether *word* alone is a number; a number in words has at least one that is."""
    return bool(cast("list[_Found]", find_numbers([_Spoken(word)], language, threshold=0)))


def _are_halves(one: Numeral, other: Numeral) -> bool:
    """Return whether two numbers in words are the halves of a year, as "twenty twenty-six" are."""
    adjacent = one.last + 1 == other.first
    return adjacent and 11 <= one.value <= 20 and 10 <= other.value <= 99  # noqa: PLR2004


def _is_inner_hyphen(parts: Sequence[Token], at: int) -> bool:
    return (
        parts[at].text in _HYPHENS
        and 0 < at < len(parts) - 1
        and parts[at - 1].end == parts[at].start
        and parts[at].end == parts[at + 1].start
    )
