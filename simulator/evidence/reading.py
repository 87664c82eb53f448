"""A reply read against the passages without a model: each claim supported, unsupported or unknown, and by which rule.

The rules, in the order in which they decide:

    not checkable the whole reply is longer than LONGEST characters                                     unknown
    conversation  it tells the customer what the customer stated                                        supported
    quantity      a quantity stands with that unit neither in the passages nor in the statements        unsupported
    neighbour     its quantity, or its stretch, stands under headings of another kind than it is about  unsupported
    welded        its quantities stand only under different headings                                    unsupported
    negation      its stretch says so with a negation and the claim without, or the other way round,    unsupported
                  or has the opposite of one of its words
    verbatim      its words follow one another in one stretch                                           supported
    parts         each of its clauses is carried by a stretch of its own                                supported
    language      it is hardly in the language that is read here                                        unknown
    coverage      the score of its best stretch: from 0.5 on supported, from DOUBT on unknown           any
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress, takewhile
from operator import not_
from typing import Final, Literal

from ..outcome import VerdictWord
from .claims import Claim, claims
from .coverage import Asked, Coverage, Said, ask, cover, read_said
from .denial import is_negated, negated_otherwise, opposed
from .lexicon import NOTED, SMALL
from .quantities import Quantity, date_parts
from .references import Reference, references
from .stems import stem
from .stretches import Piece, Prepared, Stretch, without_excluded

__all__ = ["DOUBT", "LONGEST", "SUPPORTED", "ClaimReading", "Evidence", "Rule", "read_evidence"]

Rule = Literal[
    "not checkable",
    "conversation",
    "quantity",
    "neighbour",
    "welded",
    "negation",
    "verbatim",
    "parts",
    "language",
    "coverage",
]

SUPPORTED: Final = 0.5
DOUBT: Final = 0.4
LONGEST: Final = 100_000
"""Characters of a reply that is read."""
_HARD: Final = 0.2
"""What a claim scores at most where a rule other than coverage finds it unsupported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimReading:
    """One claim of a reply, ``reply[start:end]``, as read."""

    text: str
    start: int
    end: int
    word: VerdictWord
    rule: Rule
    detail: str
    """For a person: what was found, in one line."""
    evidence: tuple[Stretch, ...]
    """The stretch that holds most of it; more where it is put together from several; none where nothing holds it."""
    score: float
    """0 to 1."""
    missing: tuple[str, ...]
    """Words and quantities of the claim that the evidence does not hold, as the claim writes them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A whole reply as read."""

    claims: tuple[ClaimReading, ...]
    word: VerdictWord
    """Unsupported if a claim is, else unknown if one is, else supported; none without a claim."""
    score: float
    """The mean of the lowest score and of all scores weighed by length; SUPPORTED without a claim."""


def read_evidence(reply: str, prepared: Prepared, *, said: Sequence[str] = (), ignore: Sequence[str] = ()) -> Evidence:
    """Return *reply* read against *prepared*.

    *said* are the customer's messages, oldest first, the one that is answered last. *ignore* are the sentences that the
    rules ask for (closing line, billing, refusal); they claim nothing.
    """
    if len(reply) > LONGEST:
        return Evidence(claims=(_too_long(reply),), word="unknown", score=DOUBT)
    heard = read_said(tuple(said), language=prepared.language)
    topic = _topic(heard.question, prepared)
    readings: list[ClaimReading] = []
    # A model that loops says one sentence thousands of times.
    known: dict[tuple[str, frozenset[str]], ClaimReading] = {}
    for claim in claims(reply, ignore=ignore, language=prepared.language):
        topic = _topic(claim.lead, prepared) or topic
        if (claim.text, topic) not in known:
            known[claim.text, topic] = _Reader(prepared, heard, topic).read(claim)
        readings.append(replace(known[claim.text, topic], start=claim.start, end=claim.end))
        topic = _topic(claim.text, prepared) or topic
    return Evidence(claims=tuple(readings), word=_whole(readings), score=_mixed(readings))


def _too_long(reply: str) -> ClaimReading:
    detail = f"the reply is too long ({len(reply)} characters, at most {LONGEST})"
    return ClaimReading(
        text=reply,
        start=0,
        end=len(reply),
        word="unknown",
        rule="not checkable",
        detail=detail,
        evidence=(),
        score=DOUBT,
        missing=(),
    )


def _whole(readings: Sequence[ClaimReading]) -> VerdictWord:
    worst = min(readings, key=lambda reading: _ORDER[reading.word], default=None)
    return worst.word if worst else "none"


def _mixed(readings: Sequence[ClaimReading]) -> float:
    if not readings:
        return SUPPORTED
    sizes = [len(reading.text.split()) for reading in readings]
    mean = sum(reading.score * size for reading, size in zip(readings, sizes, strict=True)) / sum(sizes)
    return (min(reading.score for reading in readings) + mean) / 2


def _topic(text: str, prepared: Prepared) -> frozenset[str]:
    """Return the stems of *text* that name a block of the passages."""
    return prepared.naming & ask(without_excluded(text), language=prepared.language).stems


_ORDER: Final[dict[VerdictWord, int]] = {"unsupported": 0, "unknown": 1, "supported": 2, "none": 3}
_AGAINST: Final[frozenset[Rule]] = frozenset({"quantity", "neighbour", "welded", "negation"})
_NOTED: Final = frozenset(map(stem, NOTED))
_YOU: Final = re.compile(r"\byou(?:r|rs)?\b", re.IGNORECASE)
_ANSWER: Final = r"\W*(?:(?:yes|yeah|no|sure|certainly|but|and|so|then)\W+)*"
_PRONOUN: Final = re.compile(
    rf"{_ANSWER}(?:it|they|this|that|these|those|one (?:bought|from|is|that)|valid|good|which|is|are|lasts?)\b",
    re.IGNORECASE,
)
_DETERMINED: Final = re.compile(rf"{_ANSWER}(?:the|your|that|this|a|an|each|such)\s+(?P<noun>[^\W\d_]+)", re.IGNORECASE)
# Where a claim divides into two that may have evidence of their own; "or" and "if" do not divide.
_JOINT: Final = re.compile(
    r";\s+|,?\s+(?:and|but|while|whereas|though|although)\s+|,\s+(?=(?:which|it|they|you)\b)", re.IGNORECASE
)


class _Reader:
    """Reads the claims of one reply; *topic* is what a claim that names nothing is about."""

    def __init__(self, prepared: Prepared, said: Said, topic: frozenset[str]) -> None:
        self.prepared = prepared
        self.said = said
        self.topic = topic

    def read(self, claim: Claim) -> ClaimReading:
        """Return *claim* as the first rule that decides reads it."""
        stated, others = self._references(claim.text)
        asked = self._ask(claim.text, stated)
        covered = cover(asked, self.prepared, self.said)
        reading = _reading(claim, covered)
        if not others and (self._is_restated(claim.text) or (stated and self._only_names(asked))):
            found = replace(reading, detail="tells the customer what the customer said", evidence=(), missing=())
            return replace(found, word="supported", rule="conversation", score=1.0)
        against = self._against(asked, covered, reading)
        whole = against or _for(asked, covered, reading)
        if whole.rule == "verbatim" or (against is not None and against.rule != "welded"):
            return whole
        parts = self._in_parts(claim, asked)
        if parts is None or parts.word == whole.word == "supported":
            return whole
        settled = parts.word == "supported" or (against is None and parts.rule in _AGAINST)
        return parts if settled else whole

    def _references(self, text: str) -> tuple[list[Reference], list[Reference]]:
        """Return the references in *text* that the customer stated, and the others."""
        named = list(references(text))
        known = [reference.key in self.said.references for reference in named]
        return [*compress(named, known)], [*compress(named, map(not_, known))]

    def _ask(self, text: str, stated: Sequence[Reference]) -> Asked:
        """Return what *text* asks of the passages, which need not hold the references that the customer *stated*."""
        for reference in stated:
            blank = " " * (reference.end - reference.start)
            text = f"{text[: reference.start]}{blank}{text[reference.end :]}"
        return ask(text, language=self.prepared.language)

    def _only_names(self, asked: Asked) -> bool:
        """Return whether a claim says of its references only that they are noted; a stated name may stand by them."""
        noted = all(word.stem in _NOTED or (word.name and word.stem in self.said.stated) for word in asked.words)
        return noted and not asked.quantities and not is_negated(asked.text)

    def _is_restated(self, text: str) -> bool:
        """Return whether a claim tells the customer what the customer stated and no passage holds."""
        asked = ask(text, language=self.prepared.language)
        stated = [word for word in asked.words if word.stem in self.said.stated]
        counted = [quantity for quantity in asked.quantities if self.said.quantities.carriers(quantity)]
        private = any(word.name and word.stem not in self.prepared.stems for word in stated)
        private = private or any(not self.prepared.carriers(quantity) for quantity in counted)
        most = 3 * (len(stated) + len(counted)) >= 2 * (len(asked.words) + len(asked.quantities))
        return private and most and len(counted) == len(asked.quantities) and _YOU.search(asked.text) is not None

    def _against(self, asked: Asked, covered: Coverage, reading: ClaimReading) -> ClaimReading | None:
        """Return the reading of the first rule that speaks against the claim."""
        return (
            self._absent(asked, reading)
            or self._neighbour(asked, reading)
            or self._of_another(asked, covered, reading)
            or self._welded(asked, reading)
            or _negated(asked, covered, reading)
        )

    def _absent(self, asked: Asked, reading: ClaimReading) -> ClaimReading | None:
        absent = tuple(quantity.text for quantity in asked.quantities if self._is_absent(quantity))
        if not absent:
            return None
        return _denied(replace(reading, missing=absent), "quantity", f"nowhere in the passages: {', '.join(absent)}")

    def _is_absent(self, quantity: Quantity) -> bool:
        """Return whether a quantity is nowhere; one that may be a name only where its scale is in use."""
        if quantity.kind == "ordinal" or self.prepared.carriers(quantity) or self.said.quantities.carriers(quantity):
            return False
        if quantity.kind == "date" and all(map(self.prepared.carriers, date_parts(quantity))):
            return False
        held = self.prepared.held
        if quantity.kind == "count":
            return not held.has_count(quantity.value)
        return not quantity.attributive or held.has_unit(quantity.kind, quantity.unit)

    def _neighbour(self, asked: Asked, reading: ClaimReading) -> ClaimReading | None:
        names = self._names(asked)
        for quantity in filter(_is_owned, asked.quantities if names else ()):
            pieces = self._pieces(quantity)
            if pieces and not any(names & (piece.all | self.prepared.names[piece.block]) for piece in pieces):
                own = _written(asked, names)
                detail = f"{quantity.text} is not said of: {', '.join(own)}"
                places = _stretches(pieces[0], self.prepared.place(names))
                return _denied(replace(reading, missing=own, evidence=places), "neighbour", detail)
        return None

    def _of_another(self, asked: Asked, covered: Coverage, reading: ClaimReading) -> ClaimReading | None:
        """Return the denial of a claim whose stretch stands under one kind, and which begins by naming another."""
        names, piece = self._subject(asked), covered.piece
        if piece is None or not names or piece.block not in self.prepared.kinds:
            return None
        if names & (piece.all | self.prepared.names[piece.block]):
            return None
        own = _written(asked, names)
        places = _stretches(piece, self.prepared.place(names))
        return _denied(replace(reading, missing=own, evidence=places), "neighbour", f"not said of: {', '.join(own)}")

    def _subject(self, asked: Asked) -> frozenset[str]:
        """Return the stems that name a kind among the words that a claim begins with: "the vehicle pass covers"."""
        words = sorted(asked.words, key=lambda word: word.start)
        known = self.prepared.naming | self.prepared.common
        own = self.prepared.kind_names.intersection(w.stem for w in takewhile(lambda w: w.stem in known, words))
        return own or (self.prepared.kind_names & self._names(asked) if _PRONOUN.match(asked.text) else frozenset())

    def _names(self, asked: Asked) -> frozenset[str]:
        """Return the stems that say which block a claim is about: its own, or the topic's behind "it" or "the pass"."""
        own = _topic(asked.text, self.prepared)
        start = _DETERMINED.match(asked.text)
        common = start is not None and stem(start["noun"]) in self.prepared.common
        return own or (self.topic if common or _PRONOUN.match(asked.text) else frozenset())

    def _pieces(self, quantity: Quantity) -> list[Piece]:
        return [self.prepared.pieces[at] for at in sorted(self.prepared.carriers(quantity))]

    def _welded(self, asked: Asked, reading: ClaimReading) -> ClaimReading | None:
        places = [row for quantity in filter(_is_owned, asked.quantities) if (row := self._pieces(quantity))]
        # Quantities of the same blocks are one case.
        firsts: dict[frozenset[int], Piece] = {}
        for row in places:
            firsts.setdefault(frozenset(piece.block for piece in row), row[0])
        for (blocks, one), (others, other) in combinations(firsts.items(), 2):
            headed = self.prepared.headed[one.block] and self.prepared.headed[other.block]
            if headed and blocks.isdisjoint(others):
                found = replace(reading, evidence=_stretches(one, other))
                return _denied(found, "welded", "put together from two places")
        return None

    def _in_parts(self, claim: Claim, whole: Asked) -> ClaimReading | None:
        """Return the reading of a claim whose clauses all say something; None where it has but one."""
        joints = [match.span() for match in _JOINT.finditer(claim.text)]
        inside = [(quantity.start, quantity.end) for quantity in whole.quantities]
        joints = [(a, b) for a, b in joints if not any(start < a and b < end for start, end in inside)]
        edges = [0, *(edge for joint in joints for edge in joint), len(claim.text)]
        parts = [
            Claim(text=claim.text[start:end], start=claim.start + start, end=claim.start + end)
            for start, end in zip(edges[::2], edges[1::2], strict=True)
        ]
        asks = [ask(part.text, language=self.prepared.language) for part in parts]
        if len(parts) == 1 or any(len(asked.words) + 2 * len(asked.quantities) < 2 for asked in asks):  # noqa: PLR2004
            return None
        topic, readings = self.topic, list[ClaimReading]()
        for part in parts:
            readings.append(_Reader(self.prepared, self.said, topic).read(part))
            topic = _topic(part.text, self.prepared) or topic
        return _joined(claim, readings)


def _written(asked: Asked, names: frozenset[str]) -> tuple[str, ...]:
    """Return *names* as the claim writes them; where it has none of them, as stems."""
    return tuple(word.text for word in asked.words if word.stem in names) or tuple(sorted(names))


def _is_owned(quantity: Quantity) -> bool:
    """Return whether a quantity belongs to what it is said of; a bare year and an ordinal do not."""
    return quantity.kind != "ordinal" and (quantity.kind != "date" or quantity.date[1] is not None)


def _reading(claim: Claim, covered: Coverage) -> ClaimReading:
    """Return the reading by coverage alone."""
    word: VerdictWord = "unsupported" if covered.score < DOUBT else "unknown"
    detail = "no stretch carries enough of it"
    if covered.score >= SUPPORTED:
        word, detail = "supported", "carried by one stretch"
    absent = f"; not there: {', '.join(covered.missing)}" if covered.missing else ""
    return ClaimReading(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        word=word,
        rule="coverage",
        detail=f"{detail}, score {covered.score:.2f}{absent}",
        evidence=_stretches(covered.piece),
        score=covered.score,
        missing=covered.missing,
    )


def _for(asked: Asked, covered: Coverage, reading: ClaimReading) -> ClaimReading:
    """Return the reading of a claim that nothing speaks against."""
    if covered.piece and len(asked.line) > 1 and f" {' '.join(asked.line)} " in covered.piece.spoken:
        return replace(reading, word="supported", rule="verbatim", detail="stands there word for word", score=1.0)
    if reading.word == "unsupported" and _is_foreign(asked.text):
        return replace(reading, word="unknown", rule="language", detail="hardly in the language that is read here")
    return reading


def _negated(asked: Asked, covered: Coverage, reading: ClaimReading) -> ClaimReading | None:
    if covered.piece is None:
        return None
    if negated_otherwise(asked, covered.piece):
        return _denied(reading, "negation", "one says so with a negation, the other without")
    word = opposed(asked, covered.piece)
    return _denied(reading, "negation", f"there stands the opposite of: {word}") if word else None


def _denied(reading: ClaimReading, rule: Rule, detail: str) -> ClaimReading:
    return replace(reading, word="unsupported", rule=rule, detail=detail, score=min(reading.score, _HARD))


def _joined(claim: Claim, readings: Sequence[ClaimReading]) -> ClaimReading:
    """Return the reading of a claim from those of its parts, of which the worst decides."""
    worst = min(readings, key=lambda reading: (_ORDER[reading.word], reading.score))
    joined = replace(
        worst,
        text=claim.text,
        start=claim.start,
        end=claim.end,
        evidence=tuple(dict.fromkeys(stretch for reading in readings for stretch in reading.evidence)),
        missing=tuple(dict.fromkeys(word for reading in readings for word in reading.missing)),
    )
    if worst.word != "supported":
        return joined
    return replace(joined, rule="parts", detail="each part is carried by a stretch of its own")


def _stretches(*pieces: Piece | None) -> tuple[Stretch, ...]:
    return tuple(piece.stretch for piece in pieces if piece is not None)


_FOREIGN: Final = 0.15
_ENOUGH: Final = 6


def _is_foreign(text: str) -> bool:
    """Return whether a text has no Latin letter, or is of some length and has hardly a small word of English."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    small = sum(word in SMALL for word in words)
    latin = any("a" <= letter <= "z" for letter in text.lower())
    return not latin or (len(words) >= _ENOUGH and small < _FOREIGN * len(words))
