"""A text cut into its sentences, nothing lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, cast

from sentencex import get_sentence_boundaries  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue]

from .folding import Folded, find_all, fold

__all__ = ["LIST_MARK", "Span", "blanked", "cut", "folded_lines", "occurrences", "sentences"]

LIST_MARK: Final = re.compile(r"\s*(?:[-*+>\u2022\u2023\u25e6\u2043\u00b7\u2013\u2014]|\(?\d{1,2}[.)]|#{1,6})\s+")
"""What a list item or a heading begins with."""

_boundaries = cast("Callable[[str, str], Sequence[Mapping[str, Any]]]", get_sentence_boundaries)
_INLINE_BULLET: Final = re.compile("(?<=\\s)[\u2022\u2023\u25e6\u2043](?=\\s)")
_CLOSING: Final = re.compile("[*_~\"'`)\\]\u2019\u201d\u00bb]+(?=\\s|$)\\s*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WIDE_SPACE: Final = re.compile(r"[^\S\0-\x7f\u2028\u2029]")
_MARKS: Final = "*_~`\"'\u2018\u2019\u201c\u201d"
_END: Final = ".!?\u2026\u3002\uff01\uff1f"
_BREAKS: Final = "\r\n\u2028\u2029"
_WRAPPED: Final = 60
"""Characters from which on a line without an end mark is taken for a part of a paragraph."""
_WINDOW: Final = 8000
"""Characters that are read at once: the library's time grows with the square of what marks stay open in."""
_LONGEST: Final = 2000
"""Characters of a sentence."""
_LONGEST_MARK: Final = 6
"""Characters of a list mark."""
_SHOWN: Final = re.compile(r"\S+")
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
    before the first one belong to that. What goes on for more than 2000 characters is cut between two words, so that
    all that is done with a sentence has a bound. *language* is a BCP 47 code; an unknown one is read as English.
    """
    starts = [start for line, at in _lines(text, wrapped=wrapped) for start in _starts(line, at, language)]
    pieces = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    edges = list(_bounded([0, *_firsts(starts, pieces)[1:], len(text)], text))
    return tuple(Span(start=start, end=end, text=text[start:end]) for start, end in pairwise(edges) if end)


def _bounded(edges: Sequence[int], text: str) -> Iterator[int]:
    """Yield *edges*, with further ones between two that stand too far apart."""
    for start, end in pairwise(edges):
        yield start
        if end - start > _LONGEST:
            yield from _cuts(text, start, end)
    yield edges[-1]


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where to cut ``text[start:end]``: before the word that is one too many, and inside one that is too long."""
    last: int | None = None
    for word in _SHOWN.finditer(text, start, end):
        if last is None:
            last = word.start()
        elif word.end() - last > _LONGEST:
            last = word.start()
            yield last
        while word.end() - last > _LONGEST:
            last += _LONGEST
            yield last


def _lines(text: str, *, wrapped: bool) -> list[tuple[str, int]]:
    """Return the lines of *text* with their offsets, wrapped ones joined: each line end in them is as many spaces."""
    lines: list[tuple[list[str], int]] = []
    last = ""
    for match in _LINE.finditer(text):
        if wrapped and lines and _goes_on(last, match[0]):
            parts = lines[-1][0]
            parts[-1] = last.rstrip(_BREAKS).ljust(len(last))
            parts.append(match[0])
        elif match[0]:
            lines.append(([match[0]], match.start()))
        last = match[0]
    return [("".join(parts), at) for parts, at in lines]


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
    # The library refuses lone surrogates, and breaks at wide white space behind an initial; every offset stays.
    plain = _WIDE_SPACE.sub(" ", _SURROGATE.sub("\ufffd", line))
    starts = {*_read(plain, language), *(mark.start() for mark in _INLINE_BULLET.finditer(line))}
    return sorted({offset + _past_closing(line, start) for start in starts})


def _read(line: str, language: str) -> Iterator[int]:
    """Yield where the library finds sentences, a window at a time; the last one of a window is read again."""
    at, begins = 0, True
    while at < len(line):
        window = line[at : at + _WINDOW]
        starts = [int(boundary["start_index"]) for boundary in _boundaries(language, window)]
        rest = at + len(window) < len(line)
        last = starts.pop() if rest and len(starts) > 1 else len(window)
        yield from (at + start for start in starts if start or begins)
        at, begins = at + last, last < len(window)


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
    spans: list[Span] = []
    last = 0
    for first, after in find_all(text, core):
        place = _widened(text, first, after, last)
        if place is not None:
            start, last = place
            spans.append(Span(start=start, end=last, text=text[start:last]))
    return tuple(spans)


def _widened(text: str, first: int, last: int, bound: int) -> tuple[int, int] | None:
    """Return the place with its end marks and emphasis, or None where no sentence begins or ends there.

    It begins no earlier than *bound*, the end of the one before.
    """
    start, end = first, last
    while start > bound and text[start - 1] in _MARKS:
        start -= 1
    while end < len(text) and text[end] in _MARKS + _END:
        end += 1
    stopped = end == len(text) or text[end] in _BREAKS or any(mark in _END for mark in text[last:end])
    return (start, end) if stopped and _begins(text, start) else None


def _begins(text: str, start: int) -> bool:
    """Return whether a sentence may begin at *start*: at the start of a line, behind an end mark or a list mark."""
    at = _before(text, start, _MARKS)
    if not at or text[at - 1] in _BREAKS + _END + ":":
        return True
    mark = at
    while mark and at - mark < _LONGEST_MARK and not text[mark - 1].isspace():
        mark -= 1
    if LIST_MARK.fullmatch(text[mark:at] + " ") is None:
        return False
    first = _before(text, mark)
    return not first or text[first - 1] in _BREAKS


def _before(text: str, at: int, marks: str = "") -> int:
    """Return *at* moved back over white space, line ends apart, and over *marks*."""
    while at and (text[at - 1] in marks or (text[at - 1].isspace() and text[at - 1] not in _BREAKS)):
        at -= 1
    return at


def cut(text: str, sentence: str) -> str:
    """Return *text* without the places where *sentence* stands as a sentence of its own."""
    return blanked(text, occurrences(text, sentence), "")


def blanked(text: str, spans: Sequence[Span], blank: str) -> str:
    """Return *text* with *blank* in the place of each of *spans*, which are in order; padded to its length if any."""
    edges = [0, *(edge for span in spans for edge in (span.start, span.end)), len(text)]
    kept = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    gaps = [blank.ljust(span.end - span.start) if blank else "" for span in spans]
    return "".join(part for pair in zip(kept, [*gaps, ""], strict=True) for part in pair)
