"""Two texts, word by word: what stayed, what was deleted, what was inserted."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Any, Literal

__all__ = ["Piece", "PieceKind", "TextDiff", "diff_texts", "similarity"]

PieceKind = Literal["same", "deleted", "inserted"]

_WORD = re.compile(r"(\S+)")

_MOST_WORK = 100_000
"""Pairs of equal units, one of each text, that a comparison may have to look at. Two replies of a thousand words have
some ten thousand; a megabyte against another has thousands of millions, which would take hours."""

_BY_LINE = "compared line by line: too long to compare word by word"
_AS_A_WHOLE = "compared as a whole between what both begin and end with: too long to compare word by word"


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A stretch of text that is in both texts, or in one of them only."""

    kind: PieceKind
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDiff:
    """Two texts as one sequence: same and deleted pieces joined are the first, same and inserted ones the second."""

    pieces: tuple[Piece, ...]
    similarity: float
    """Twice the words in common by the words of both; 1.0 where neither has any."""
    note: str = ""
    """Why the pieces are coarser than words; empty where they are not."""

    @property
    def in_common(self) -> str:
        """The similarity in words, rounded down, so that only equal words are 100%."""
        return f"{math.floor(self.similarity * 100 + 1e-9)}% of the words the same"

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        pieces = [{"kind": piece.kind, "text": piece.text} for piece in self.pieces]
        return {"similarity": round(self.similarity, 4), "note": self.note, "pieces": pieces}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Words:
    """The words of a text, and the white space before each of them and after the last (one gap more than words)."""

    words: Sequence[str]
    gaps: Sequence[str]

    @classmethod
    def of(cls, text: str) -> _Words:
        parts = _WORD.split(text)
        return cls(words=parts[1::2], gaps=parts[0::2])

    def text(self, start: int, stop: int) -> str:
        """Return the words from *start* up to *stop*, each with the gap before it."""
        return "".join(self.gaps[index] + self.words[index] for index in range(start, stop))

    def lines(self) -> Iterator[tuple[int, int]]:
        """Yield the stretches of words that stand on one line, as (start, stop)."""
        start = 0
        for index in range(1, len(self.words) + 1):
            if index == len(self.words) or "\n" in self.gaps[index]:
                yield start, index
                start = index


@dataclass(frozen=True, kw_only=True, slots=True)
class _Match:
    """Pairs of equal words (index in the first, index in the second), rising in both."""

    pairs: Sequence[tuple[int, int]]
    note: str


def diff_texts(a: str, b: str) -> TextDiff:
    """Compare *a* and *b*; ``diff_texts(b, a)`` is the same with deleted and inserted exchanged."""
    left, right = _Words.of(a), _Words.of(b)
    match = _match(left, right)
    pieces = tuple(_merged(_pieces(left, right, match.pairs)))
    return TextDiff(pieces=pieces, similarity=_share(left, right, match), note=match.note)


def similarity(a: str, b: str) -> float:
    """Return the similarity of *a* and *b*, from 0.0 to 1.0, as in a ``TextDiff``."""
    left, right = _Words.of(a), _Words.of(b)
    return _share(left, right, _match(left, right))


def _share(a: _Words, b: _Words, match: _Match) -> float:
    words = len(a.words) + len(b.words)
    return 2 * len(match.pairs) / words if words else 1.0


def _match(a: _Words, b: _Words) -> _Match:
    """Match words of *a* and *b*. difflib's answer depends on which text comes first; here one fixed order decides."""
    if (len(b.words), b.words) < (len(a.words), a.words):
        turned = _match_in_order(b, a)
        return _Match(pairs=[(i, j) for j, i in turned.pairs], note=turned.note)
    return _match_in_order(a, b)


def _match_in_order(a: _Words, b: _Words) -> _Match:
    units_a, units_b = _single(a.words), _single(b.words)
    if (pairs := _pairs(a, b, units_a, units_b)) is not None:
        return _Match(pairs=pairs, note="")
    if (pairs := _pairs(a, b, list(a.lines()), list(b.lines()))) is not None:
        return _Match(pairs=pairs, note=_BY_LINE)
    head, tail = _ends(a.words, b.words)
    kept = [(index, index) for index in range(head)]
    kept += [(len(a.words) - index, len(b.words) - index) for index in range(tail, 0, -1)]
    return _Match(pairs=kept, note=_AS_A_WHOLE)


def _single(words: Sequence[str]) -> list[tuple[int, int]]:
    return [(index, index + 1) for index in range(len(words))]


def _pairs(
    a: _Words, b: _Words, units_a: Sequence[tuple[int, int]], units_b: Sequence[tuple[int, int]]
) -> list[tuple[int, int]] | None:
    """Match stretches of words; None where that is more work than allowed."""
    keys_a = [tuple(a.words[start:stop]) for start, stop in units_a]
    keys_b = [tuple(b.words[start:stop]) for start, stop in units_b]
    blocks = _blocks(keys_a, keys_b)
    if blocks is None:
        return None
    matched = ((units_a[i + k], units_b[j + k]) for i, j, size in blocks for k in range(size))
    return [(start_a + k, start_b + k) for (start_a, stop_a), (start_b, _) in matched for k in range(stop_a - start_a)]


def _blocks(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int, int]] | None:
    """Return equal stretches (start in *a*, start in *b*, size) in order; None where that is more work than allowed."""
    head, tail = _ends(a, b)
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    counts_a, counts_b = Counter(middle_a), Counter(middle_b)
    if sum(number * counts_b[key] for key, number in counts_a.items()) > _MOST_WORK:
        return None
    found = SequenceMatcher(None, middle_a, middle_b, autojunk=False).get_matching_blocks()
    inner = [(head + block.a, head + block.b, block.size) for block in found]
    return [(0, 0, head), *inner, (len(a) - tail, len(b) - tail, tail)]


def _ends(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[int, int]:
    """Return how many units *a* and *b* have in common at the beginning and, of the rest, at the end."""
    head = _same_start(zip(a, b, strict=False))
    rest = min(len(a), len(b)) - head
    tail = _same_start(zip(reversed(a), reversed(b), strict=False))
    return head, min(tail, rest)


def _same_start(pairs: Iterable[tuple[Hashable, Hashable]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _pieces(a: _Words, b: _Words, pairs: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """Yield the pieces, some empty, some to be joined with the one before."""
    i = j = 0
    for m, n in [*pairs, (len(a.words), len(b.words))]:
        deleted, inserted = a.text(i, m), b.text(j, n)
        if i < m and j < n and a.gaps[i] == b.gaps[j]:
            yield Piece(kind="same", text=a.gaps[i])
            deleted, inserted = deleted[len(a.gaps[i]) :], inserted[len(b.gaps[j]) :]
        same_gap = a.gaps[m] == b.gaps[n]
        yield Piece(kind="deleted", text=deleted if same_gap else deleted + a.gaps[m])
        yield Piece(kind="inserted", text=inserted if same_gap else inserted + b.gaps[n])
        yield Piece(kind="same", text=(a.gaps[m] if same_gap else "") + "".join(a.words[m : m + 1]))
        i, j = m + 1, n + 1


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for _, group in groupby((piece for piece in pieces if piece.text), key=lambda piece: piece.kind):
        first, *others = group
        yield Piece(kind=first.kind, text="".join([first.text, *(piece.text for piece in others)]))
