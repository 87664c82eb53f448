"""A text as one line in which every number is a mark, so that a pattern can say what stands around it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .numerals import Numeral, Token, numerals, tokens
from .quantity import Quantity, QuantityKind

__all__ = ["EDGE", "END", "NUMBER", "Marked", "any_of", "is_year"]

NUMBER: Final = r"#(?P<n>\d+)[yo]?"
EDGE: Final = r"(?:(?<= )|^)"
END: Final = r"(?= |$)"


class Marked:
    """A text as one line to match patterns on: tokens in lower case, one space between.

    The k-th number stands as ``#k``; with a ``y`` behind it where it may be a year, an ``o`` where it is an ordinal.
    """

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        parts = tokens(text)
        self.numbers: Sequence[Numeral] = numerals(text, parts, language=language)
        self._taken = bytearray(len(text))
        self._fill(parts)

    def _fill(self, parts: Sequence[Token]) -> None:
        firsts = {number.first: (index, number) for index, number in enumerate(self.numbers)}
        words: list[str] = []
        self.places: list[int] = []
        self.spans: list[tuple[int, int]] = []
        at = length = 0
        while at < len(parts):
            index, number = firsts.get(at, (0, None))
            last = number.last if number else at
            word = _mark(index, number) if number else ("-" if parts[at].text in _DASHES else parts[at].low)
            words.append(word)
            self.places.append(length)
            self.spans.append((parts[at].start, parts[last].end))
            length += len(word) + 1
            at = last + 1
        self.line = " ".join(words)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the text the part of the line from *start* to *end* stands."""
        first = bisect_right(self.places, start) - 1
        last = bisect_right(self.places, end - 1) - 1
        return self.spans[first][0], self.spans[last][1]

    def matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the matches of *pattern* in the line."""
        return pattern.finditer(self.line)

    def number(self, match: re.Match[str], group: str = "n") -> Numeral | None:
        """Return the number that *group* of *match* stands for."""
        return self.numbers[int(match[group])] if match[group] is not None else None

    def make(self, kind: QuantityKind, match: re.Match[str], *, group: str | int = 0, **more: object) -> Quantity:
        """Return a quantity that spans *group* of *match*."""
        start, end = self.span(match.start(group), match.end(group))
        return Quantity(kind=kind, text=self.text[start:end], start=start, end=end, **more)  # type: ignore[arg-type]

    def take(self, quantity: Quantity) -> bool:
        """Claim the place of *quantity*; return False where an earlier one has it."""
        start, end = quantity.start, quantity.end
        if self._taken.find(1, start, end) >= 0:
            return False
        self._taken[start:end] = bytes([1]) * (end - start)
        return True


def _mark(index: int, number: Numeral) -> str:
    return f"#{index}{'y' if is_year(number) else 'o' if number.ordinal else ''}"


_DASHES: Final = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2212")
_YEARS: Final = range(1000, 2200)


def is_year(number: Numeral) -> bool:
    """Return whether a number may be a year: four plain digits."""
    return number.plain and number.value.numerator in _YEARS


def any_of(names: Iterable[str]) -> str:
    """Return a pattern for any of *names*, the longest first."""
    return "(?:" + "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) + ")"
