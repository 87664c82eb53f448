"""The quantities of a text, in digits or words, each with its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from .amounts import ages, counts, measures, money, ordinals, phrases, years
from .dates import clocks, dates
from .marked import Marked
from .numerals import tokens
from .quantity import Quantity, QuantityKind, carries, date_parts, same
from .sentences import folded_lines
from .units import UNITS

__all__ = ["Quantity", "QuantityKind", "carries", "date_parts", "folded_quantities", "quantities", "same"]

# In this order, since an earlier one keeps its place from the later.
_FINDERS: Final = (dates, clocks, money, ages, measures, phrases, ordinals, years, counts)
_WITHOUT_NUMBERS: Final = (dates, clocks, phrases)


def quantities(text: str, *, language: str = "en") -> tuple[Quantity, ...]:
    """Return the quantities of *text* in order; they do not overlap.

    Number words are read in *language*; units and the words around a number in English.
    """
    line = Marked(text, language)
    finders = _FINDERS if line.numbers else _WITHOUT_NUMBERS
    found = [quantity for find in finders for quantity in find(line) if line.take(quantity)]
    return tuple(_ranged(sorted(found, key=lambda quantity: quantity.start), text))


def folded_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of *text* read line by line, list marks left out and each line folded.

    So characters without width make no difference. Offsets are those in the folded line.
    """
    return tuple(quantity for _, line in folded_lines(text) for quantity in quantities(line.text))


_BETWEEN: Final = re.compile(r"\s*(?:[-\u2013\u2014\u2010\u2011]|to|or|and|through)(?:\s*[$€£¥₹])?\s*")


def _ranged(found: Sequence[Quantity], text: str) -> Iterator[Quantity]:
    """Yield *found*, the bare number of a range ("$20-35", "5 to 7 days") with the unit of its other end."""
    for at, quantity in enumerate(found):
        others = [
            other for other in (*found[at + 1 : at + 2], *found[max(at - 1, 0) : at]) if _joined(quantity, other, text)
        ]
        if quantity.kind != "count" or quantity.nouns or not others:
            yield quantity
            continue
        other = others[0]
        factor = _factor(other) if other.start > quantity.start else 1
        yield replace(
            quantity,
            kind=other.kind,
            unit=other.unit,
            nouns=other.nouns,
            value=quantity.value * factor,
            bound=other.bound,
        )


def _joined(one: Quantity, other: Quantity, text: str) -> bool:
    first, second = sorted((one, other), key=lambda quantity: quantity.start)
    return other.kind not in {"date", "age", "clock", "ordinal"} and bool(
        _BETWEEN.fullmatch(text, first.end, second.start)
    )


def _factor(other: Quantity) -> Fraction:
    """Return what one of the unit that *other* is written in is, in base units."""
    words = [token.low for token in tokens(other.text) if token.low in UNITS]
    return UNITS[words[-1]].factor if words else Fraction(1)
