"""Units of measure and of money: the words, codes and signs for each, and what it is in its base unit.

Only exact conversions are listed, and a month is a unit of its own: "30 days" is not "one month". That is why the table
stands here and no conversion library is asked: such a library turns a month into 30.4 days.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

__all__ = ["CURRENCY_CODES", "CURRENCY_SIGNS", "MONEY_WORDS", "SCALES", "TIME_UNITS", "UNITS", "Unit", "UnitKind"]

UnitKind = Literal["money", "duration", "percentage", "measure"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One unit: ``factor`` times ``base`` is one of it."""

    kind: UnitKind
    base: str
    factor: Fraction = Fraction(1)


def _table(kind: UnitKind, base: str, rows: dict[str, str]) -> dict[str, Unit]:
    return {
        word: Unit(kind=kind, base=base, factor=Fraction(factor))
        for factor, words in rows.items()
        for word in words.split()
    }


_CODES: Final = (
    "aed ars aud bgn brl cad chf clp cny czk dkk egp eur gbp hkd huf idr ils inr isk jpy kes krw mxn myr ngn nok nzd "
    "php pln sar sek sgd thb twd uah usd vnd zar"
)
CURRENCY_CODES: Final = frozenset(_CODES.split())
"""Codes of ISO 4217, lower case; those that are English words (all, cup, top, try) are left out."""

CURRENCY_SIGNS: Final = frozenset(
    "$\u00a2\u00a3\u00a4\u00a5\u058f\u060b\u07fe\u07ff\u09f2\u09f3\u09fb\u0af1\u0bf9\u0e3f\u17db\ua838\ufdfc\ufe69\uff04\uffe0\uffe1"
    "\uffe5\uffe6"
) | {chr(sign) for sign in range(0x20A0, 0x20C2)}
"""Every currency sign of Unicode that stands in its basic plane."""

_MONEY: Final[dict[str, Unit]] = {
    **_table(
        "money", "dollar", {"1": "$ \ufe69 \uff04 dollar dollars usd buck bucks", "1/100": "\u00a2 \uffe0 cent cents"}
    ),
    **_table("money", "euro", {"1": "\u20ac euro euros eur"}),
    **_table("money", "pound", {"1": "\u00a3 \uffe1 pound pounds gbp quid", "1/100": "pence"}),
    **_table("money", "yen", {"1": "\u00a5 \uffe5 yen jpy"}),
    **_table("money", "rupee", {"1": "\u20b9 rupee rupees inr"}),
    **_table("money", "franc", {"1": "franc francs chf"}),
    **_table("money", "peso", {"1": "peso pesos"}),
}
_ALSO_OTHERWISE: Final = frozenset({"buck", "franc", "francs", "pound", "pounds"})

MONEY_WORDS: Final = (
    {word for word in _MONEY if word.isalpha()} - (CURRENCY_CODES - {"eur", "gbp", "usd"}) - _ALSO_OTHERWISE
) | {"sterling"}
"""Words that name money without a number too; "pounds" may be a weight."""

UNITS: Final[dict[str, Unit]] = {
    **_MONEY,
    **{code: Unit(kind="money", base=code) for code in CURRENCY_CODES - _MONEY.keys()},
    **{sign: Unit(kind="money", base=sign) for sign in CURRENCY_SIGNS - _MONEY.keys()},
    **_table(
        "duration",
        "second",
        {
            "1": "second seconds sec secs",
            "60": "minute minutes min mins",
            "3600": "hour hours hr hrs",
            "86400": "day days night nights",
            "604800": "week weeks",
            "1209600": "fortnight fortnights",
        },
    ),
    **_table(
        "duration",
        "month",
        {"1": "month months", "12": "year years yr yrs", "120": "decade decades", "1200": "century centuries"},
    ),
    **_table("percentage", "percent", {"1": "% percent pct percentage \u066a \uff05"}),
    **_table(
        "measure",
        "metre",
        {
            "1/1000": "mm millimetre millimetres millimeter millimeters",
            "1/100": "cm centimetre centimetres centimeter centimeters",
            "1": "m metre metres meter meters",
            "1000": "km kilometre kilometres kilometer kilometers",
            "254/10000": "inch inches",
            "3048/10000": "foot feet ft",
            "9144/10000": "yard yards",
            "1609344/1000": "mile miles mi",
        },
    ),
    **_table(
        "measure",
        "gram",
        {
            "1/1000": "mg milligram milligrams",
            "1": "g gram grams gramme grammes",
            "1000": "kg kilo kilos kilogram kilograms",
            "45359237/100000": "lb lbs",
            "1000000": "tonne tonnes",
        },
    ),
    **_table("measure", "litre", {"1/1000": "ml millilitre milliliter", "1": "l litre litres liter liters"}),
    **_table("measure", "square metre", {"1": "m2 m²", "1000000": "km2 km²", "10000": "ha hectare hectares"}),
    **_table("measure", "acre", {"1": "acre acres"}),
    **_table("measure", "byte", {"1000": "kb", "1000000": "mb", "1000000000": "gb", "1000000000000": "tb"}),
    **_table("measure", "degree", {"1": "° degree degrees"}),
}
"""Each word or sign, lower case, with its unit. A night counts as a day of stay."""

TIME_UNITS: Final = "(?:" + "|".join(sorted(word for word in UNITS if UNITS[word].kind == "duration")) + "|seasons?)"
"""A pattern for a word that is a unit of time, as whole words; a season is one, if of no fixed length."""

SCALES: Final[dict[str, int]] = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "k": 1000,
    "million": 10**6,
    "m": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
}
