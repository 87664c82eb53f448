"""Where a text names money.

Money is named by an amount of it ("$35", "35 USD", "thirty bucks"), by a currency sign (every one of Unicode) or a
money word ("a few dollars") alone, and by a number that is a price in the passages, in digits or words, when it stands
for nothing else. A number with a unit of its own stands for something else ("30 days", "15 and under", "40 per cent", a
date, a clock time, a name). So does one that counts what the same number counts in the passages: where a price of 15
stands beside "15 people", "up to 15 passengers" names no money, "it is 15 per person" does. A word below ten is no
price where it counts anything at all ("two ways"). "Free" names no money.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from ..evidence.quantities import Quantity, quantities, same
from ..evidence.sentences import folded_lines
from ..evidence.stems import content_words
from ..evidence.units import MONEY_WORDS

__all__ = ["money_named"]

_WORD: Final = re.compile(rf"(?<!per )\b(?:{'|'.join(sorted(MONEY_WORDS))})\b", re.IGNORECASE)
_PRICE: Final = content_words("amount fee price rate")
_CLAUSE_END: Final = re.compile(r"[.,;:!?()]")
_PER_HUNDRED: Final = 100
_REACH: Final = 4
_SMALL: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class _Numbers:
    """What passages hold, by amount."""

    prices: Mapping[Fraction, Quantity]
    """As counts of nothing."""
    counts: Mapping[Fraction, Sequence[tuple[Quantity, frozenset[str]]]]
    """Numbers that count something, each with the words before it."""


def money_named(text: str, passages: tuple[str, ...], *, cut_off: bool = False) -> tuple[str, ...]:
    """Return the pieces of *text* that name money, each once, in order; *passages* are the texts that hold the prices.

    With *cut_off* a bare number among the last words is not counted: the words that would say its unit may be missing.
    """
    numbers = _numbers(passages)
    found: list[str] = []
    for offset, line in folded_lines(text):
        last = _last_words(line.text) if cut_off and offset + len(line.original) == len(text) else len(line.text)
        found += [line.text[start:end] for start, end in _outer(_places(line.text, numbers, last))]
    return tuple(dict.fromkeys(found))


def _places(line: str, numbers: _Numbers, last: int) -> Iterator[tuple[int, int]]:
    """Yield where one line names money, in no order."""
    yield from ((at, at + 1) for at, sign in enumerate(line) if unicodedata.category(sign) == "Sc")
    yield from (match.span() for match in _WORD.finditer(line))
    for quantity in quantities(line):
        if quantity.kind == "money" or (quantity.end <= last and _is_price(line, quantity, numbers)):
            yield quantity.start, quantity.end


def _outer(places: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return *places* in order, without those inside another."""
    outer: list[tuple[int, int]] = []
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if not outer or end > outer[-1][1]:
            outer.append((start, end))
    return outer


def _last_words(line: str) -> int:
    """Return where the last few words of *line* begin."""
    starts = [match.start() for match in re.finditer(r"\S+", line)]
    return starts[-_REACH] if len(starts) >= _REACH else 0


def _is_price(line: str, quantity: Quantity, numbers: _Numbers) -> bool:
    bare = replace(quantity, nouns=frozenset(), bound="")
    amount = _amount(bare)
    if amount not in numbers.prices or not same(numbers.prices[amount], bare):
        return False
    if quantity.text.isalpha() and quantity.value < _SMALL and quantity.nouns - _PRICE:
        return False
    before = _before(line, quantity)
    return not any(
        same(held, bare) and (held.nouns & quantity.nouns or (not held.nouns and not quantity.nouns and words & before))
        for held, words in numbers.counts.get(amount, ())
    )


def _amount(count: Quantity) -> Fraction:
    """Return what the amount of a count must be for the two to be the same: that of a year is the year."""
    year = count.date[0]
    return count.value if year is None else Fraction(year)


def _before(line: str, quantity: Quantity) -> frozenset[str]:
    """Return the content words that stand shortly before *quantity* in its clause: "a capacity of 15"."""
    # The last words first: to split all of a long line at every number in it would take too long.
    shortly = " ".join(line[: quantity.start].rsplit(maxsplit=_REACH)[-_REACH:])
    return content_words(_CLAUSE_END.split(shortly)[-1])


@lru_cache(maxsize=64)
def _numbers(passages: tuple[str, ...]) -> _Numbers:
    read = [
        (line.text, quantity)
        for text in passages
        for _, line in folded_lines(text)
        for quantity in quantities(line.text)
    ]
    amounts = {quantity.value for _, quantity in read if quantity.kind == "money"}
    # "50 cents" is half a dollar, and named as 50.
    amounts |= {value * _PER_HUNDRED for value in amounts if value < 1}
    counts: defaultdict[Fraction, dict[tuple[Quantity, frozenset[str]], None]] = defaultdict(dict)
    for line, quantity in read:
        if quantity.kind == "count":
            counts[quantity.value][replace(quantity, text="", start=0, end=0), _before(line, quantity)] = None
    return _Numbers(
        prices={value: Quantity(kind="count", text="", start=0, end=0, value=value) for value in amounts},
        counts={value: tuple(found) for value, found in counts.items()},
    )
