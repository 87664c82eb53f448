"""Dates and clock times in a marked text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from .marked import EDGE, END, NUMBER, Marked, any_of
from .numerals import Numeral
from .quantity import Quantity

__all__ = ["clocks", "dates"]

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
_ISO_DATE: Final = re.compile(rf"{EDGE}#(?P<y>\d+)y - #(?P<m>\d+) - #(?P<d>\d+){END}")
_SLASH_DATE: Final = re.compile(rf"{EDGE}#(?P<one>\d+) / #(?P<two>\d+) / #(?P<y>\d+)y?{END}")
_MONTH_DATE: Final = re.compile(
    rf"{EDGE}(?:#(?P<before>\d+)o? (?:of )?)?(?P<month>{any_of(_MONTHS)})(?: \.)?"
    rf"(?: #(?P<after>\d+)o?(?= |$))?(?P<later>(?: ,| of)? #(?P<year>\d+)y)?{END}"
)
_MONTH: Final = re.compile(rf"\b{any_of(_MONTHS)}\b")
_LONE_MONTH: Final = re.compile(
    rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bby )|(?<=\bsince )|(?<=\buntil )|(?<=\bduring )|(?<=\blate )|(?<=\bearly )|"
    rf"(?<=\bmid )|(?<=\bfrom )|(?<=\bto )|(?<=\bthrough ))(?P<month>{any_of(_MONTHS)}){END}"
)
_MONTHS_IN_YEAR: Final = 12
_DAYS_IN_MONTH: Final = 31
_CENTURY: Final = 2000


def dates(line: Marked) -> Iterator[Quantity]:
    """Yield dates: with the name of a month, by ISO 8601, or with slashes."""
    if _MONTH.search(line.line) is None and len(line.numbers) < 3:  # noqa: PLR2004 - a date in digits has three
        return
    for match in line.matches(_ISO_DATE):
        year, month, day = (line.numbers[int(match[group])].value for group in "ymd")
        if 1 <= month <= _MONTHS_IN_YEAR and 1 <= day <= _DAYS_IN_MONTH:
            yield line.make("date", match, date=(int(year), int(month), int(day)))
    yield from _slash_dates(line)
    for match in line.matches(_MONTH_DATE):
        date = _month_date(line, match)
        if date is not None:
            yield date
    for match in line.matches(_LONE_MONTH):
        quantity = line.make("date", match, date=(None, _MONTHS[match["month"]], None))
        if match["month"] not in {"may", "march"} or quantity.text[0].isupper():
            yield quantity


def _slash_dates(line: Marked) -> Iterator[Quantity]:
    """Yield dates as "7/4/2026": the month first, unless what stands there is none and the second is."""
    for match in line.matches(_SLASH_DATE):
        one, two, year = (line.numbers[int(match[group])].value for group in ("one", "two", "y"))
        month, day = (two, one) if one > _MONTHS_IN_YEAR else (one, two)
        whole = year + _CENTURY if year < 100 else year  # noqa: PLR2004 - two digits
        if 1 <= month <= _MONTHS_IN_YEAR and 1 <= day <= _DAYS_IN_MONTH and whole.denominator == 1:
            yield line.make("date", match, date=(int(whole), int(month), int(day)))


def _month_date(line: Marked, match: re.Match[str]) -> Quantity | None:
    """Return the date of a month's name with a day, a year or both around it."""
    before, after, year = (line.number(match, group) for group in ("before", "after", "year"))
    day = next((number for number in (before, after) if number and _is_day(number)), None)
    if day is None and year is None:
        return None
    start = match.start("before") - 1 if before and day is before else match.start("month")
    end = match.end() if year or day is after else match.end("month")
    first, last = line.span(start, end)
    date = (int(year.value) if year else None, _MONTHS[match["month"]], int(day.value) if day else None)
    return Quantity(kind="date", text=line.text[first:last], start=first, end=last, date=date)


def _is_day(number: Numeral) -> bool:
    return 1 <= number.value <= _DAYS_IN_MONTH and number.value.denominator == 1


_MERIDIEM: Final = r"(?: (?P<half>[ap]) ?(?:\. )?m(?: \.)?)"
_CLOCK: Final = re.compile(
    rf"{EDGE}{NUMBER}(?: : #(?P<minutes>\d+))?(?:{_MERIDIEM}|(?P<oclock> (?:o'clock|uhr)))?{END}"
)
_CLOCK_RANGE: Final = re.compile(
    rf"{EDGE}(?P<from>{NUMBER}) (?:-|to|and|until|or) #\d+(?: : #\d+)?{_MERIDIEM}{END}",
)
_NOON: Final = re.compile(rf"{EDGE}(?:noon|midday|midnight){END}")
_HALF_DAY: Final = 12
_HOUR: Final = 60


def clocks(line: Marked) -> Iterator[Quantity]:
    """Yield times of day: "7 am", "16:00", "4.30 p.m.", "10 o'clock", "noon"."""
    for match in line.matches(_CLOCK_RANGE):
        number = line.number(match)
        if number and number.value <= _HALF_DAY and number.value.denominator == 1:
            yield line.make("clock", match, group="from", value=number.value % _HALF_DAY * _HOUR, unit="half")
    for match in line.matches(_CLOCK):
        quantity = _clock(line, match)
        if quantity is not None:
            yield quantity
    for match in line.matches(_NOON):
        yield line.make("clock", match, value=Fraction(0 if match[0] == "midnight" else _HALF_DAY * _HOUR))


def _clock(line: Marked, match: re.Match[str]) -> Quantity | None:
    number, minutes = line.number(match), line.number(match, "minutes")
    if number is None or number.ordinal or not (minutes or match["half"] or match["oclock"]):
        return None
    hour, past = int(number.value), minutes.value if minutes else (number.value % 1) * 100
    if hour > 2 * _HALF_DAY or past >= _HOUR or past.denominator != 1:
        return None
    if match["half"]:
        value = hour % _HALF_DAY * _HOUR + past + (_HALF_DAY * _HOUR if match["half"] == "p" else 0)
        return line.make("clock", match, value=value)
    unit = "half" if 0 < hour <= _HALF_DAY else ""
    return line.make("clock", match, value=hour % (2 * _HALF_DAY) * _HOUR + past, unit=unit)
