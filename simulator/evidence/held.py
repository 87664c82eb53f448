"""Quantities filed with the places that hold them, so that what carries another is found without reading them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from .quantity import Quantity, QuantityKind, carries, same

__all__ = ["Held"]

_Key = tuple[object, ...]
"""What a quantity is filed under, and looked for under."""

_SCALED: Final = frozenset[QuantityKind]({"money", "duration", "percentage", "measure", "ordinal"})
_REMEMBERED: Final = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    quantity: Quantity
    places: set[int]


class Held:
    """Quantities, each at one place or more."""

    def __init__(self, found: Iterable[tuple[Quantity, int]] = ()) -> None:
        self._rows: dict[_Key, _Row] = {}
        self._files: dict[_Key, list[_Row]] = {}
        self._known: dict[_Key, frozenset[int]] = {}
        for quantity, place in found:
            self.add(quantity, place)

    def add(self, quantity: Quantity, place: int = 0) -> None:
        """File *quantity* as one that *place* holds."""
        essence = _essence(quantity)
        row = self._rows.get(essence)
        if row is None:
            row = self._rows[essence] = _Row(quantity=quantity, places=set())
            for key in _filed(quantity):
                self._files.setdefault(key, []).append(row)
        row.places.add(place)
        self._known.clear()

    def carriers(self, quantity: Quantity) -> frozenset[int]:
        """Return the places that carry *quantity*."""
        essence = _essence(quantity)
        places = self._known.get(essence)
        if places is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            rows = (row for key in _carried(quantity) for row in self._files.get(key, ()))
            places = frozenset[int]().union(*(row.places for row in rows if carries(row.quantity, quantity)))
            self._known[essence] = places
        return places

    def has_same(self, quantity: Quantity) -> bool:
        """Return whether one of them is the same as *quantity*."""
        keys = {*_carried(quantity), *_filed(quantity)} - {_unit_key(quantity.kind, quantity.unit)}
        return any(same(row.quantity, quantity) for key in keys for row in self._files.get(key, ()))

    def has_count(self, value: Fraction) -> bool:
        """Return whether anything is counted so often."""
        return ("count", value) in self._files

    def has_unit(self, kind: QuantityKind, unit: str) -> bool:
        """Return whether anything is given in *unit*."""
        return _unit_key(kind, unit) in self._files


def _essence(quantity: Quantity) -> _Key:
    """Return all of *quantity* but its own text and place."""
    value = quantity.value
    amount = (quantity.kind, value.numerator, value.denominator, quantity.unit, quantity.bound)
    return *amount, quantity.nouns, quantity.date, quantity.attributive


def _unit_key(kind: QuantityKind, unit: str) -> _Key:
    return kind, "unit", unit


def _filed(held: Quantity) -> Iterator[_Key]:
    """Yield what a quantity is filed under; ``_carried`` says under which of these what may carry another is found."""
    yield _unit_key(held.kind, held.unit)
    if held.kind in _SCALED:
        yield held.kind, held.value
    elif held.kind == "count":
        yield "count", held.value
        yield from (("count", held.value, noun) for noun in held.nouns or [""])
    elif held.kind == "date":
        yield from _parts(held)
        if held.date[1:] == (None, None):
            yield "year", held.date[0]
    else:
        yield (held.kind,)


def _carried(asked: Quantity) -> Iterator[_Key]:
    if asked.kind in _SCALED:
        yield asked.kind, asked.value
    elif asked.kind == "count":
        yield "year", asked.value
        if not asked.nouns:
            yield "count", asked.value
        yield from (("count", asked.value, noun) for noun in (*asked.nouns, "") if asked.nouns)
    elif asked.kind == "date":
        # What carries a date names every part that it names.
        yield next(_parts(asked))
        yield "count", asked.date[0]
    else:
        yield (asked.kind,)
        yield "count", asked.value, ""


def _parts(date: Quantity) -> Iterator[_Key]:
    return (("date", name, part) for name, part in zip("ymd", date.date, strict=True) if part is not None)
