"""How well one stretch of the passages carries a claim.

The loss of a claim against a stretch is

    share  what the stretch does not hold, weighed, divided by the number of the claim's words and quantities plus one
    order  a quarter of the part of its words, small ones included, that do not follow one another there as in the claim
    apart  a quarter of the part of its neighbouring words that do not stand near each other there

(an eighth in a bullet under a heading, which need be no sentence), and its score 1 / (1 + exp(SLOPE * (loss - LOSS))).
In the share a quantity weighs 3, or 1 where another stretch holds it; a name 2, or 1 where the customer said it; a word
1, but 1/2 where the customer said it or the passages hold a word that begins alike. A word that another stretch holds
weighs 1/4, a name that another holds 1; a word that says little ("great", "get") or that most blocks hold weighs 0. A
word that sets bounds ("only", "before", "always") weighs 1.5 more.

The weights are set by reason, in coarse steps, and not fitted: on the labelled rows they were tried on, halving or
doubling any one of them moves the area under the ROC curve by less than 0.01. LOSS is where the words of the verdict
were best balanced on the same rows.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nsmallest
from itertools import pairwise
from operator import neg
from typing import Final

from .claims import is_question
from .held import Held
from .lexicon import SCOPE
from .quantities import Quantity, quantities
from .references import references
from .sentences import sentences
from .stems import Stem, line, stems
from .stretches import Piece, Prepared, outside

__all__ = ["Asked", "Coverage", "Said", "ask", "cover", "read_said"]

LOSS: Final = 0.22
SLOPE: Final = 4.0

_QUANTITY: Final = 3.0
_NAME: Final = 2.0
_WORD: Final = 1.0
_HALF: Final = 0.5
_ELSEWHERE: Final = 0.25
_SCOPED: Final = 1.5
_FORM: Final = 0.25
_NEAR: Final = 4
_FRAGMENT: Final = 0.125
_BEGINNING: Final = 5
_CANDIDATES: Final = 4


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the customer said: facts in statements, and topics in anything."""

    stems: frozenset[str]
    """Of everything said."""
    stated: frozenset[str]
    """Of statements; a question states nothing."""
    quantities: Held
    """Of statements; of questions only counts and ages, since an answer repeats those and does not confirm them."""
    references: frozenset[str]
    """Of everything said, as they are compared."""
    question: str
    """The last question, empty where there is none."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A claim, or a part of one, as what it asks of a passage."""

    text: str
    words: tuple[Stem, ...]
    """Those outside quantities, each stem once."""
    quantities: tuple[Quantity, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of the words."""
        return frozenset(word.stem for word in self.words)

    @cached_property
    def line(self) -> tuple[str, ...]:
        """Return the stems of all words in order, quantities left out."""
        return line(outside(self.text, self.quantities))

    @cached_property
    def scope(self) -> frozenset[str]:
        """Return the words that set bounds."""
        return SCOPE.intersection(self.line)


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """A claim read against its best stretch."""

    piece: Piece | None
    """None where no passage holds a word or quantity of it."""
    loss: float
    score: float
    missing: tuple[str, ...]
    """The words and quantities of the claim that the stretch does not hold, as the claim writes them."""


@lru_cache(maxsize=256)
def read_said(said: tuple[str, ...], *, language: str) -> Said:
    """Return what the messages in *said*, oldest first, state and ask."""
    heard = [_hear(text, language) for text in said]
    return Said(
        stems=frozenset[str]().union(*(each.stated | each.asked for each in heard)),
        stated=frozenset[str]().union(*(each.stated for each in heard)),
        quantities=Held((quantity, at) for at, each in enumerate(heard) for quantity in each.quantities),
        references=frozenset[str]().union(*(each.references for each in heard)),
        question=next((each.question for each in reversed(heard) if each.question), ""),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Heard:
    """One message as heard."""

    stated: frozenset[str]
    asked: frozenset[str]
    quantities: tuple[Quantity, ...]
    references: frozenset[str]
    question: str


@lru_cache(maxsize=1024)
def _hear(text: str, language: str) -> _Heard:
    parts = [span.text for span in sentences(text, language)]
    questions = [part for part in parts if is_question(part)]
    statements = [part for part in parts if not is_question(part)]
    asked = [q for part in questions for q in quantities(part, language=language) if q.kind in {"count", "age"}]
    return _Heard(
        stated=frozenset(word.stem for part in statements for word in stems(part)),
        asked=frozenset(word.stem for part in questions for word in stems(part)),
        quantities=(*(q for part in statements for q in quantities(part, language=language)), *asked),
        references=frozenset(reference.key for reference in references(text)),
        question=questions[-1] if questions else "",
    )


@lru_cache(maxsize=1024)
def ask(text: str, *, language: str) -> Asked:
    """Return the words and quantities of a claim."""
    found = quantities(text, language=language)
    starts = [quantity.start for quantity in found]
    words: dict[str, Stem] = {}
    for word in stems(text):
        before = bisect_right(starts, word.start)
        if not before or found[before - 1].end <= word.start:
            held = words.get(word.stem)
            words[word.stem] = word if held is None or word.name else held
    return Asked(text=text, words=tuple(words.values()), quantities=found)


def cover(asked: Asked, prepared: Prepared, said: Said) -> Coverage:
    """Return *asked* read against that stretch of those which hold most of it where it loses least."""
    carriers = [prepared.carriers(quantity) for quantity in asked.quantities]
    places = _places(asked, carriers, prepared)
    found = [_against(asked, carriers, prepared, said, place) for place in places or [None]]
    return min(found, key=lambda coverage: coverage.loss)


def _places(asked: Asked, carriers: Sequence[frozenset[int]], prepared: Prepared) -> list[int]:
    """Return the places of the pieces that hold most words, a quantity counting as two; single ones first."""
    held: Counter[int] = Counter()
    for stem in asked.stems - prepared.common:
        held.update(prepared.places.get(stem, ()))
    for row in carriers:
        for place in row:
            held[place] += 2
    # Pieces of two sentences stand behind all single ones.
    return [place for _, place in nsmallest(_CANDIDATES, zip(map(neg, held.values()), held, strict=True))]


def _against(
    asked: Asked, carriers: Sequence[frozenset[int]], prepared: Prepared, said: Said, place: int | None
) -> Coverage:
    """Return *asked* read against the piece at *place*, or against nothing."""
    piece = None if place is None else prepared.pieces[place]
    lost = [word for word in asked.words if piece is None or word.stem not in piece.all]
    absent = [q for q, row in zip(asked.quantities, carriers, strict=True) if place not in row]
    share = sum(_weight(word, prepared, said) for word in lost)
    share += sum(_quantity_weight(quantity, prepared, said) for quantity in absent)
    share += _SCOPED * len(asked.scope - (piece.scope if piece else frozenset()))
    loss = share / (len(asked.words) + len(asked.quantities) + 1) + _form(asked, piece)
    missing = (*(word.text for word in lost), *(quantity.text for quantity in absent))
    return Coverage(piece=piece, loss=loss, score=1 / (1 + math.exp(SLOPE * (loss - LOSS))), missing=missing)


def _form(asked: Asked, piece: Piece | None) -> float:
    """Return what a claim loses by the order and the neighbourhood of its words."""
    if piece is None:
        return 2 * _FORM
    return (_FRAGMENT if piece.fragment else _FORM) * (_disorder(asked, piece) + _apart(asked, piece))


def _weight(word: Stem, prepared: Prepared, said: Said) -> float:
    """Return what a stretch that does not hold *word* loses by it."""
    if word.stem in prepared.common:
        return 0
    if word.light and not word.name:
        return 0
    if word.stem in prepared.stems:
        return _WORD if word.name else _ELSEWHERE
    if word.stem in said.stems:
        return _WORD if word.name else _HALF
    if word.name:
        return _NAME
    return _HALF if prepared.begins(word.stem[:_BEGINNING]) and len(word.stem) >= _BEGINNING else _WORD


def _quantity_weight(quantity: Quantity, prepared: Prepared, said: Said) -> float:
    if prepared.carriers(quantity):
        return _WORD
    return 0 if said.quantities.carriers(quantity) else _QUANTITY


def _disorder(asked: Asked, piece: Piece) -> float:
    return 1 - _common(asked.line, piece.line) / len(asked.line) if asked.line else 0.0


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by Hyyrö's bit-parallel rule."""
    places: dict[str, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << at
    row = full = (1 << len(one)) - 1
    for item in other:
        hit = row & places.get(item, 0)
        row = (row + hit) | (row - hit)
    return len(one) - (row & full).bit_count()


def _apart(asked: Asked, piece: Piece) -> float:
    """Return the part of the claim's neighbouring words that are not near each other in the piece.

    A pair of which the piece holds one word counts half, one of which it holds none not at all: those are missing.
    """
    order = [word.stem for word in sorted(asked.words, key=lambda word: word.start)]
    pairs = list(pairwise(order))
    near = sum(piece.near(one, other, _NEAR) for one, other in pairs)
    weight = sum(((one in piece.all) + (other in piece.all)) * _HALF for one, other in pairs)
    return 1 - (near + 1) / (weight + 1)
