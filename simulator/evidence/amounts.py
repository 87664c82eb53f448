"""Money, ages, durations, percentages, measures, ordinals, years and counts in a marked text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from .lexicon import PERSONS, SMALL, THINGS
from .marked import EDGE, END, NUMBER, Marked, any_of, is_year
from .quantity import Bound, Quantity
from .stems import stem
from .units import CURRENCY_CODES, CURRENCY_SIGNS, UNITS

__all__ = ["ages", "counts", "measures", "money", "ordinals", "phrases", "years"]

_BEFORE: Final = any_of(CURRENCY_SIGNS | CURRENCY_CODES)
_BEHIND: Final = any_of(word for word, unit in UNITS.items() if unit.kind == "money")
_MOST: Final = r"(?:up to|at most|no more than|not more than|a maximum of|maximum of|fewer than|less than|within)"
_LEAST: Final = r"(?:at least|no less than|no fewer than|a minimum of|minimum of|more than|over)"
_BOUND: Final = rf"(?:(?P<most>{_MOST}) |(?P<least>{_LEAST}) )?"
_MONEY: Final = re.compile(
    rf"{EDGE}{_BOUND}(?:(?:us )?(?P<sign>{_BEFORE}) {NUMBER}{END}|#(?P<m>\d+)y?(?: -)? (?P<unit>{_BEHIND})"
    rf"(?: and #(?P<cents>\d+) cents)?{END}(?! #))"
)
_IN_CAPITALS: Final = CURRENCY_CODES - {"eur", "gbp", "usd"}


def money(line: Marked) -> Iterator[Quantity]:
    """Yield amounts of money, with a currency sign, word or code; most codes count in capitals only."""
    for match in line.matches(_MONEY):
        number = line.number(match) or line.number(match, "m")
        if number is None or number.ordinal:
            continue
        cents = line.number(match, "cents")
        value = number.value + (cents.value / 100 if cents else 0)
        written = match["sign"] or match["unit"]
        unit = UNITS[written]
        amount = line.make("money", match, value=value * unit.factor, unit=unit.base, bound=_bound(match))
        if written not in _IN_CAPITALS or written.upper() in amount.text:
            yield amount


def _bound(match: re.Match[str]) -> Bound:
    return "at_most" if match["most"] else "at_least" if match["least"] else ""


_SMALL: Final = any_of(SMALL - {"same"} | {"last"})
_OLD: Final = r"(?: -)? (?:years?|yrs?)(?: -)? (?:old|olds|of age)"
_AGED: Final = (
    r"(?:adults|aged?|ages|anybody|anyone|child|children|everybody|everyone|guests|kids?|minors|people|persons?|students|"
    r"the|those|travell?ers|visitors?|youths?)"
)
_WHO: Final = rf"(?:{_AGED} )?(?:who (?:are|is) )?"
_AGE: Final = re.compile(
    rf"{EDGE}(?:"
    rf"{_WHO}(?:aged? |the age of |age of )?#(?P<d>\d+)(?:{_OLD})?(?: years)? (?:and|or|&) "
    r"(?P<older>older|over|up|above|younger|under|below)(?! #)"
    rf"|(?P<from>from|starting at) (?:the )?age(?: of)? #(?P<i>\d+)"
    rf"|{_WHO}(?:aged?|ages|the age of|age of) (?P<low>(?:under|below|over|above) )?#(?P<a>\d+)"
    rf"|{_AGED} (?:who (?:are|is) )?(?P<side>under|below|over|above)(?: the age of| age)? #(?P<b>\d+)(?: years)?(?! -)"
    rf"(?= [^\w#%]| [a-z']+ |$)"
    rf"|(?P<bare>under|below|over|above) #(?P<h>\d+)(?= [^\w#%]| {_SMALL} |$)"
    rf"|{_WHO}(?P<than>older|younger) than #(?P<c>\d+)(?: years)?"
    rf"|{_WHO}(?P<strict>under|over|below) the age of #(?P<e>\d+)"
    rf"|#(?P<f>\d+){_OLD}"
    rf"|#(?P<g>\d+) \+(?! [#a-z])"
    rf"){END}"
)
_OLDER: Final = frozenset(["older", "over", "up", "above"])
_OLDEST: Final = 120
_WORD: Final = re.compile(r"[^ ]+")


def ages(line: Marked) -> Iterator[Quantity]:
    """Yield ages: "15 and under", "over 62", "aged 12", "12 years old"."""
    for match in line.matches(_AGE):
        number = next(line.numbers[int(match[group])] for group in "abcdefghi" if match[group] is not None)
        if number.value > _OLDEST or number.value.denominator != 1 or _is_counted(line, match):
            continue
        strict = (match["low"] or match["side"] or match["than"] or match["strict"] or match["bare"] or "").strip()
        side = strict or match["older"] or ("older" if match["g"] or match["from"] else "")
        bound: Bound = "" if not side else "at_least" if side in _OLDER else "at_most"
        shift = 0 if not strict else 1 if bound == "at_least" else -1
        yield line.make("age", match, value=number.value + shift, bound=bound)


def _is_counted(line: Marked, match: re.Match[str]) -> bool:
    """Return whether "people over 16 ..." goes on with a unit or a noun that 16 counts."""
    following = _WORD.match(line.line, match.end() + 1)
    rest = following[0] if following else ""
    return bool(match["side"]) and (rest in UNITS or rest in THINGS | PERSONS)


_MEASURE_WORDS: Final = any_of(word for word, unit in UNITS.items() if unit.kind != "money")
_MEASURE: Final = re.compile(
    rf"{EDGE}{_BOUND}{NUMBER}(?P<hyphen> -)?(?P<suffix> or (?:more|fewer|less))?"
    rf"(?: (?!(?:{_MEASURE_WORDS}|and|or|in|to|of|the|a|for|at|on|per|each|every) )[a-z]+)?? ?"
    rf"(?P<unit> {_MEASURE_WORDS}| per cent)"
    rf"(?P<behind> or (?:more|fewer|less|longer))?(?: in a row)?(?P<half> and a half)?{END}"
)


def measures(line: Marked) -> Iterator[Quantity]:
    """Yield durations, percentages and measures with a number."""
    for match in line.matches(_MEASURE):
        number = line.number(match)
        unit = UNITS.get(match["unit"].strip().replace("per cent", "percent"))
        if number is None or unit is None or number.ordinal:
            continue
        value = (number.value + (Fraction(1, 2) if match["half"] else 0)) * unit.factor
        bound = _behind(match["suffix"] or match["behind"]) or _bound(match)
        yield line.make(
            unit.kind, match, value=value, unit=unit.base, bound=bound, attributive=match["hyphen"] is not None
        )


def _behind(words: str | None) -> Bound:
    if not words:
        return ""
    return "at_least" if words.endswith(("more", "longer")) else "at_most"


_TIME_WORDS: Final = any_of(
    word for word, unit in UNITS.items() if unit.kind == "duration" and word not in {"second", "min", "sec"}
)
_LEADS: Final = (
    r"(?:,|about|after|and|at least|at most|be|exactly|for|good|in|is|just|lasts?|lasting|lasted|least|of|only|or|over|"
    r"than|to|valid|was|within)"
)
_PHRASE: Final = re.compile(
    rf"{EDGE}(?:(?P<halved>half) an? (?P<u1>{_TIME_WORDS})|an? (?P<couple>couple of|dozen) (?P<u2>{_TIME_WORDS})"
    rf"|(?:{_LEADS} (?P<one>an? (?:\w+ )??(?P<u3>{_TIME_WORDS})(?P<more> and a half)?)"
    rf"|(?P<whole>an? (?:full|single|whole) (?P<u4>{_TIME_WORDS})))){END}"
)


def phrases(line: Marked) -> Iterator[Quantity]:
    """Yield durations without a number: "a week", "half an hour", "a couple of days"."""
    for match in line.matches(_PHRASE):
        unit = UNITS[match["u1"] or match["u2"] or match["u3"] or match["u4"]]
        value = Fraction(1)
        if match["halved"]:
            value = Fraction(1, 2)
        elif match["couple"]:
            value = Fraction(2 if match["couple"].startswith("couple") else 12)
        elif match["more"]:
            value = Fraction(3, 2)
        yield line.make(unit.kind, match, group="one" if match["one"] else 0, value=value * unit.factor, unit=unit.base)


_NUMBER: Final = re.compile(rf"{EDGE}{NUMBER}{END}")
_DECADE: Final = re.compile(rf"{EDGE}{NUMBER} s{END}")
_THIRD: Final = 3


def ordinals(line: Marked) -> Iterator[Quantity]:
    """Yield ordinals from the third on: "first" and "second" are used too loosely to be checked."""
    for match in line.matches(_NUMBER):
        number = line.number(match)
        if number and number.ordinal and number.value >= _THIRD:
            yield line.make("ordinal", match, value=number.value)


def years(line: Marked) -> Iterator[Quantity]:
    """Yield decades, and whole numbers that may be years and count nothing known."""
    for match in line.matches(_DECADE):
        number = line.number(match)
        if number and is_year(number):
            yield line.make("date", match, date=(int(number.value), None, None), unit="decade")
    for match in line.matches(_COUNT):
        number = line.number(match)
        if number and is_year(number) and not (THINGS | PERSONS).intersection((match["nouns"] or "").split()):
            yield line.make("date", match, group="number", date=(int(number.value), None, None))


_COUNT: Final = re.compile(
    rf"{EDGE}{_BOUND}(?P<number>{NUMBER})(?P<suffix> or (?:more|fewer|less))?"
    rf"(?P<nouns>(?: -)?(?: (?!{_SMALL}(?: |$))[^\W\d_]+){{1,3}})?{END}"
)


def counts(line: Marked) -> Iterator[Quantity]:
    """Yield what is left: numbers with the nouns behind them."""
    for match in line.matches(_COUNT):
        number = line.number(match)
        nouns = (match["nouns"] or "").replace(" -", "").split()
        if number is None or number.ordinal or (number.value == 1 and not number.digits):
            continue
        counted = frozenset("person" if noun in PERSONS else stem(noun) for noun in nouns)
        bound = _behind(match["suffix"]) or _bound(match)
        yield line.make(
            "count",
            match,
            group="number",
            value=number.value,
            bound=bound,
            nouns=counted,
            attributive=(match["nouns"] or "").startswith(" -"),
        )
