"""Whether a stretch of the passages denies a claim: with a negation on one side only, or with an opposite word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from .coverage import Asked
from .stems import line, opposites, stems
from .stretches import Piece, outside

__all__ = ["is_negated", "negated_otherwise", "opposed"]

_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|rather than|instead of|except)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
_VERB_NEGATION: Final = re.compile(
    r"\b(?:not|never|cannot|no(?= other)|rather than|instead of)\b|n['\u2019]t\b", re.IGNORECASE
)
_POINTING: Final = re.compile(r"\b(?:it|its|them|these|those|this)\b", re.IGNORECASE)
_NO_NEGATION: Final = re.compile(
    r"\bno\.? ?\d|\bno\.(?= [a-z\d])|\bno (?:later|more|less|fewer|longer than|matter|doubt)\b|\bwhether or not\b|\bno,"
    r"|\bnot (?:only|just|more|less|later)\b",
    re.IGNORECASE,
)
# How far a negation reaches, which is less than a clause that could be carried by itself.
_CLAUSE: Final = re.compile(
    r"[,;:.!?\n]|\b(?:after|although|and|because|before|but|if|or|since|so|that|though|unless|until|when|where|which|"
    r"while|who)\b|(?=\b(?:rather than|instead of|without|except)\b)",
    re.IGNORECASE,
)
_EXCEPTION: Final = re.compile(r"\b(?:outside|only|alone)\b", re.IGNORECASE)
_NOT_AMONG: Final = re.compile(r"\bnot (?:one of|among)\b", re.IGNORECASE)
"""What denies all that the sentence goes on with."""
_ALIKE: Final = 0.6
_RELATED: Final = 0.5
_MOST: Final = 2 / 3


@dataclass(frozen=True)
class _Clause:
    text: str

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in stems(self.text))

    @cached_property
    def line(self) -> frozenset[str]:
        """Return the stems of all words, small ones included."""
        return frozenset(line(self.text))

    @cached_property
    def denied(self) -> frozenset[str]:
        """Return the stems that a "not" or "never" stands before."""
        behind = (stems(self.text[cue.end() :]) for cue in _VERB_NEGATION.finditer(self.text))
        return frozenset(words[0].stem for words in behind if words)

    @cached_property
    def negated(self) -> bool:
        return is_negated(self.text)


def negated_otherwise(asked: Asked, piece: Piece) -> bool:
    """Return whether a claim says without a negation what *piece* says with one, or the other way round.

    Either a clause of the one is like a clause of the other but for the negation; or the claim has none, is about the
    same, and uses the very word that "not" or "never" stands before, or most words of a clause that the piece negates.
    """
    text = outside(asked.text, asked.quantities)
    held, own = _clauses(piece.words), _clauses(text)
    if any(_differs(clause, held) for clause in own):
        return True
    if len(asked.stems & piece.all) < _RELATED * len(asked.stems) or _NEGATION.search(text) or _EXCEPTION.search(text):
        return False
    positive = frozenset[str]().union(*(clause.line for clause in held if not clause.negated))
    if asked.stems & (frozenset[str]().union(*(clause.denied for clause in held)) - positive):
        return True
    return any(_asserts(asked, words, positive) for words in _negated_words(held, piece.heading))


def is_negated(text: str) -> bool:
    """Return whether a clause says that something is not so."""
    return len(_NEGATION.findall(text)) % 2 == 1


def opposed(asked: Asked, piece: Piece) -> str:
    """Return a word of the claim whose opposite *piece* has instead, saying most of the rest too; else nothing."""
    return next((word.text for word in asked.words if _is_opposed(word.stem, asked, piece)), "")


def _is_opposed(stem: str, asked: Asked, piece: Piece) -> bool:
    if stem in piece.all or not (opposites(stem) & piece.all) - asked.stems:
        return False
    rest = asked.stems - {stem}
    return len(rest) > 1 and len(rest & piece.all) >= _MOST * len(rest)


def _negated_words(clauses: Sequence[_Clause], heading: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield the stems of each negated clause, and those with the heading's where "these" may point to it."""
    for clause in clauses:
        if clause.negated:
            yield clause.stems
        if clause.negated and _POINTING.search(clause.text):
            yield clause.stems | heading


def _asserts(asked: Asked, negated: frozenset[str], positive: frozenset[str]) -> bool:
    """Return whether a claim has most of the stems of a negated clause, one of them in no clause without a negation."""
    hit = asked.stems & negated
    return len(hit) >= max(2, _MOST * len(negated)) and not hit <= positive


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[_Clause, ...]:
    """Return the clauses of a text, which has no quantities in it any more."""
    if _NOT_AMONG.search(text):
        return (_Clause(text),)
    return tuple(_Clause(clause) for clause in _CLAUSE.split(_NO_NEGATION.sub(" ", text)) if clause.strip())


def _differs(clause: _Clause, held: Sequence[_Clause]) -> bool:
    # One word is no statement; and "lives outside" is as good as "does not live in".
    if len(clause.stems) < 2 or not held or "outsid" in clause.stems:  # noqa: PLR2004
        return False
    alike = [len(clause.stems & other.line) for other in held]
    most = max(alike)
    if most < _ALIKE * len(clause.stems):
        return False
    return all(other.negated != clause.negated for other, count in zip(held, alike, strict=True) if count == most)
