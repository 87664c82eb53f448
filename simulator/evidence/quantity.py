"""A quantity with its unit, and when two are the same.

Two quantities are the same (``same``, a symmetric relation) when their kinds are equal and

- money, duration, percentage, measure: the amounts in the base unit are equal. Days and weeks are one scale, months and
  years another; a month is no number of days. Two opposite bounds ("at least", "up to") differ.
- age: amount and bound are equal, in whole years: "under 16" is "15 and under".
- count, ordinal: the amounts are equal, and one counted noun is common or one side names none. All nouns for persons
  count as one. A whole number that may be a year is also a count.
- clock: the minutes of the day are equal; where one side says neither am nor pm, those of the half day.
- date: there is a part (year, month, day) that both sides name, and every such part is equal.

``carries`` is ``same``, made one-sided where that is right: an age inside a bound, a date that names more parts, an age
of which the passage gives the bare number ("free; from 16 the price is due").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

__all__ = ["Bound", "Date", "Quantity", "QuantityKind", "carries", "date_parts", "same"]

_HALF_DAY: Final = 720

QuantityKind = Literal["money", "duration", "percentage", "measure", "age", "count", "ordinal", "clock", "date"]
Bound = Literal["", "at_most", "at_least"]
Date = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """One quantity of a text, from ``start`` to ``end`` (characters)."""

    kind: QuantityKind
    text: str
    start: int
    end: int
    value: Fraction = Fraction(0)
    """In ``unit``; for a clock minutes since midnight; for a date 0."""
    unit: str = ""
    """The base unit: dollar, second, month, percent, metre, ...; for a clock "half" where am or pm is not said."""
    bound: Bound = ""
    nouns: frozenset[str] = frozenset()
    """What is counted: the stems of the nouns behind the number; "person" for every noun for persons."""
    date: Date = (None, None, None)
    """Year, month, day."""
    attributive: bool = False
    """Whether it stands before a noun with a hyphen, where it may be part of a name: "a 52-week high"."""


def same(one: Quantity, other: Quantity) -> bool:
    """Return whether the two are equal under the equalities above."""
    if one.kind != other.kind:
        return _is_year_count(one, other) or _is_year_count(other, one)
    if one.kind == "date":
        return _same_date(one, other)
    if one.kind == "clock":
        apart = one.value - other.value
        return apart == 0 or ("half" in {one.unit, other.unit} and apart % _HALF_DAY == 0)
    return (one.value, one.unit) == (other.value, other.unit) and _same_scope(one, other)


def _same_date(one: Quantity, other: Quantity) -> bool:
    pairs = [(a, b) for a, b in zip(one.date, other.date, strict=True) if a is not None and b is not None]
    return bool(pairs) and all(a == b for a, b in pairs) and one.unit == other.unit


def _same_scope(one: Quantity, other: Quantity) -> bool:
    """Return whether the bounds agree and, where both sides name nouns, one noun is common."""
    if one.kind == "age":
        return one.bound == other.bound
    opposite = {one.bound, other.bound} == {"at_most", "at_least"}
    return not opposite and (not one.nouns or not other.nouns or bool(one.nouns & other.nouns))


def carries(held: Quantity, asked: Quantity) -> bool:
    """Return whether a passage that holds *held* states *asked*."""
    if held.kind == asked.kind == "date":
        named = [b is not None for a, b in zip(asked.date, held.date, strict=True) if a is not None]
        return same(held, asked) and all(named)
    if held.kind == asked.kind == "age" and not asked.bound and held.bound:
        return asked.value <= held.value if held.bound == "at_most" else asked.value >= held.value
    if asked.kind == "age" and held.kind == "count":
        return not held.nouns and held.value == asked.value
    return same(held, asked)


def date_parts(date: Quantity) -> tuple[Quantity, ...]:
    """Return the day in its month and the year of a whole date, which a passage may give in two places; else *date*."""
    year, month, day = date.date
    if year is None or month is None or day is None:
        return (date,)
    return replace(date, date=(None, month, day)), replace(date, date=(year, None, None))


def _is_year_count(count: Quantity, year: Quantity) -> bool:
    bare_year = year.kind == "date" and year.date[1:] == (None, None) and not year.unit
    return count.kind == "count" and bare_year and count.value == year.date[0]
