"""A text cut into its sentences, nothing lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, cast

from sentencex import get_sentence_boundaries  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue]

from .folding import Folded, find_all, fold

__all__ = ["LIST_MARK", "Span", "cut", "folded_lines", "occurrences", "sentences"]

LIST_MARK: Final = re.compile(r"\s*(?:[-*+>\u2022\u2023\u25e6\u2043\u00b7\u2013\u2014]|\(?\d{1,2}[.)]|#{1,6})\s+")
"""What a list item or a heading begins with."""

_boundaries = cast("Callable[[str, str], Sequence[Mapping[str, Any]]]", get_sentence_boundaries)
_INLINE_BULLET: Final = re.compile("(?<=\\s)[\u2022\u2023\u25e6\u2043](?=\\s)")
_CLOSING: Final = re.compile("[*_~\"'`)\\]\u2019\u201d\u00bb]+(?=\\s|$)\\s*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MARKS: Final = "*_~`\"'\u2018\u2019\u201c\u201d"
_END: Final = ".!?\u2026\u3002\uff01\uff1f"
_SPACES: Final = " \t\u00a0"
_BREAKS: Final = "\r\n\u2028\u2029"
_WRAPPED: Final = 60
"""Characters from which on a line without an end mark is taken for a part of a paragraph."""
_LINE: Final = re.compile(f"[^{_BREAKS}]*(?:\r\n|[{_BREAKS}]|$)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A piece of a text: ``text[start:end]``."""

    start: int
    end: int
    text: str


def sentences(text: str, language: str = "en", *, wrapped: bool = False) -> tuple[Span, ...]:
    """Return the sentences of *text*; put together they are *text*.

    A line ends a sentence, and so does a bullet. With *wrapped* a line that breaks off in the middle of one is joined
    with the next. The white space behind a sentence belongs to it, blank lines included; white space and bare marks
    before the first one belong to that. *language* is a BCP 47 code; an unknown one is read as English.
    """
    starts = [start for line, at in _lines(text, wrapped=wrapped) for start in _starts(line, at, language)]
    pieces = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    edges = [0, *_firsts(starts, pieces)[1:], len(text)]
    return tuple(Span(start=start, end=end, text=text[start:end]) for start, end in pairwise(edges) if end)


def _lines(text: str, *, wrapped: bool) -> list[tuple[str, int]]:
    """Return the lines of *text* with their offsets, wrapped ones joined: each line end in them is as many spaces."""
    lines: list[tuple[str, int]] = []
    last = ""
    for match in _LINE.finditer(text):
        if wrapped and lines and _goes_on(last, match[0]):
            line, at = lines.pop()
            lines.append((line.rstrip(_BREAKS).ljust(len(line)) + match[0], at))
        elif match[0]:
            lines.append((match[0], match.start()))
        last = match[0]
    return lines


def _goes_on(line: str, following: str) -> bool:
    """Return whether a sentence goes on over a line end.

    It does where the line has no end mark, is no heading and is long, or the next one begins with a small letter.
    """
    shown, rest = line.strip(), following.lstrip()
    if not shown or not rest or shown[-1] in _END + ":;" or LIST_MARK.match(following) or shown.startswith("#"):
        return False
    return rest[0].islower() or (len(shown) >= _WRAPPED and not shown.endswith(("**", "__")))


def folded_lines(text: str) -> Iterator[tuple[int, Folded]]:
    """Yield the lines of *text* that are not blank, folded, each with its offset; list marks are left out."""
    for match in re.finditer("[^\r\n]+", text):
        mark = LIST_MARK.match(match[0])
        start = match.start() + (mark.end() if mark else 0)
        folded = fold(text[start : match.end()])
        if folded.text:
            yield start, folded


def _firsts(starts: Sequence[int], pieces: Sequence[str]) -> list[int]:
    """Return the starts of those pieces that begin a sentence: a list mark, or words with no bare list mark before."""
    marks = [LIST_MARK.fullmatch(piece) is not None for piece in pieces]
    joined = [False, *marks]
    return [
        start
        for at, (start, piece) in enumerate(zip(starts, pieces, strict=True))
        if not joined[at] and (marks[at] or any(map(str.isalnum, piece)))
    ]


def _starts(line: str, offset: int, language: str) -> list[int]:
    """Return where the sentences of one line begin, counted from *offset*."""
    # The library refuses lone surrogates; a replacement character keeps every offset.
    found = _boundaries(language, _SURROGATE.sub("\ufffd", line))
    starts = {int(boundary["start_index"]) for boundary in found} | {
        mark.start() for mark in _INLINE_BULLET.finditer(line)
    }
    return sorted({offset + _past_closing(line, start) for start in starts})


def _past_closing(line: str, start: int) -> int:
    """Return *start* moved behind marks that close the sentence before it, as bold marks do in ``**One.** Two.``."""
    match = _CLOSING.match(line, start) if start and not line[start - 1].isspace() else None
    return match.end() if match else start


def occurrences(text: str, sentence: str) -> tuple[Span, ...]:
    """Return where *sentence* stands in *text* as a sentence of its own, with the marks around it.

    Both sides are folded and case is ignored; a missing or another full stop at the end makes no difference. A place
    where the words go on ("The page does not say that, but ...") is none.
    """
    core = fold(sentence).text.strip(_MARKS + _END)
    places = [_widened(text, start, end) for start, end in find_all(text, core)]
    return tuple(Span(start=start, end=end, text=text[start:end]) for start, end in filter(None, places))


def _widened(text: str, first: int, last: int) -> tuple[int, int] | None:
    """Return the place with its end marks and emphasis, or None where no sentence begins or ends there."""
    start, end = first, last
    while start and text[start - 1] in _MARKS:
        start -= 1
    while end < len(text) and text[end] in _MARKS + _END:
        end += 1
    stopped = end == len(text) or text[end] in _BREAKS or any(mark in _END for mark in text[last:end])
    line = re.split(f"[{_BREAKS}]", text[:start].rstrip(_SPACES + _MARKS))[-1]
    begun = not line or line[-1] in _END + ":" or LIST_MARK.fullmatch(line + " ") is not None
    return (start, end) if begun and stopped else None


def cut(text: str, sentence: str) -> str:
    """Return *text* without the places where *sentence* stands as a sentence of its own."""
    for span in reversed(occurrences(text, sentence)):
        text = text[: span.start] + text[span.end :]
    return text
