"""Passages cut into the pieces that may carry a claim: a sentence or bullet under its heading, or two neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from .folding import words
from .held import Held
from .quantities import Quantity, quantities
from .sentences import LIST_MARK, Span, sentences
from .stems import Stem, line, stems

__all__ = ["Piece", "Prepared", "Stretch", "outside", "prepare", "without_excluded"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """A piece of a passage, shown as evidence: ``passage.text[start:end]``."""

    passage: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One sentence or bullet, or two neighbours in one block, with what they state."""

    stretch: Stretch
    block: int
    stems: tuple[Stem, ...]
    """Of the piece itself."""
    quantities: tuple[Quantity, ...]
    """Of the piece and of its heading."""
    words: str
    """The text without its quantities."""
    title: str
    """The block's heading and the piece's own lead ("Senior: ..."); empty for a heading itself."""
    double: bool

    @property
    def fragment(self) -> bool:
        """Return whether it is a list item or a few words under a heading, which need not be a sentence."""
        short = len(self.line) <= _FEW or LIST_MARK.match(self.stretch.text) is not None
        return bool(self.title) and short

    @cached_property
    def heading(self) -> frozenset[str]:
        """Return the stems of the title."""
        return frozenset(stem.stem for stem in stems(self.title))

    @cached_property
    def own(self) -> frozenset[str]:
        """Return the stems of the piece, without its heading's."""
        return frozenset(stem.stem for stem in self.stems)

    @cached_property
    def line(self) -> tuple[str, ...]:
        """Return the stems of all its words in order, those of its heading first."""
        return line(f"{self.title} {self.words}")

    @cached_property
    def spoken(self) -> str:
        """Return the stems of all its words with a space before and behind each."""
        return f" {' '.join(self.line)} "

    @cached_property
    def scope(self) -> frozenset[str]:
        """Return the stems of all its words, small ones included."""
        return frozenset(self.line)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for at, stem in enumerate(self.stems):
            places.setdefault(stem.stem, []).append(at)
        return places

    def near(self, one: str, other: str, reach: int) -> bool:
        """Return whether the two stems stand at most *reach* words apart; a title stands near all that is under it."""
        if one in self.heading or other in self.heading:
            return one in self.all and other in self.all
        return any(0 < abs(a - b) <= reach for a in self._places.get(one, ()) for b in self._places.get(other, ()))

    @cached_property
    def all(self) -> frozenset[str]:
        """Return the stems of the piece and of its heading."""
        return self.own | self.heading


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A set of passages, ready to be read against."""

    pieces: tuple[Piece, ...]
    stems: Counter[str]
    """How many single pieces hold a stem, headings included."""
    names: tuple[frozenset[str], ...]
    """Per block the stems that name it and not most others: those of its heading, or of its first sentence."""
    headed: tuple[bool, ...]
    """Per block whether it has a heading."""
    kinds: frozenset[int]
    """The blocks whose heading names one kind of what the passages are about: "Motorcycle: $25", "Annual pass"."""
    common: frozenset[str]
    """Stems in more than half of the blocks or in several headings, and names in the first of several blocks."""
    language: str

    @cached_property
    def naming(self) -> frozenset[str]:
        """Return every stem that names a block."""
        return frozenset(stem for names in self.names for stem in names)

    @cached_property
    def kind_names(self) -> frozenset[str]:
        """Return every stem that names one kind."""
        return frozenset(stem for block in self.kinds for stem in self.names[block])

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(stem[:at] for stem in self.stems for at in range(1, len(stem) + 1))

    def begins(self, beginning: str) -> bool:
        """Return whether a stem of the passages begins so."""
        return beginning in self._beginnings

    @cached_property
    def places(self) -> dict[str, tuple[int, ...]]:
        """Return for each stem the pieces that hold it, as places in ``pieces``."""
        found: dict[str, list[int]] = {}
        for at, piece in enumerate(self.pieces):
            for stem in piece.all:
                found.setdefault(stem, []).append(at)
        return {stem: tuple(row) for stem, row in found.items()}

    @cached_property
    def held(self) -> Held:
        """Return the quantities of the passages, with the pieces that hold each as places in ``pieces``."""
        return Held((quantity, at) for at, piece in enumerate(self.pieces) for quantity in piece.quantities)

    def carriers(self, quantity: Quantity) -> frozenset[int]:
        """Return which pieces carry *quantity*, as places in ``pieces``."""
        return self.held.carriers(quantity)

    @cached_property
    def _first(self) -> dict[int, Piece]:
        """Return the first piece of each block."""
        return {piece.block: piece for piece in reversed(self.pieces)}

    @cached_property
    def _named(self) -> dict[str, int]:
        """Return for each stem the first block that it names."""
        return {stem: block for block, names in reversed([*enumerate(self.names)]) for stem in names}

    def place(self, names: Collection[str]) -> Piece | None:
        """Return the first piece of the first block that one of *names* names."""
        block = min((self._named[stem] for stem in names if stem in self._named), default=None)
        return None if block is None else self._first.get(block)


_LINE_END: Final = re.compile(r"[\r\n\u2028\u2029]")
_BLANK: Final = re.compile(r"\n[ \t\r]*\n")
_EMPHASIS: Final = re.compile(r"\s*(?:[-*+•]\s+)?(?:\*\*|__)(?P<lead>[^*_]+)(?:\*\*|__)(?:\s*:)?\s*$")
_LEAD: Final = re.compile(r"\s*(?P<lead>[^.!?:;\n]{1,60}):\s+(?=\S)")
_EXCLUDED: Final = re.compile(
    r"\b(?:without|no|not|non|other than|except)[ -]+(?:a |an |the |any )?\w+(?: \w+)?", re.IGNORECASE
)
_ARTICLE: Final = re.compile(r"\b(?:an?|any|each|every|the|this|your)\s+$", re.IGNORECASE)
_HEADING_WORDS: Final = 9
_LEAD_WORDS: Final = 4
_FEW: Final = 8
_SEVERAL: Final = 3


def prepare(passages: Sequence[tuple[str, str]], *, language: str = "en") -> Prepared:
    """Return *passages*, pairs of an id and a text, cut and read once for any number of replies."""
    blocks = [block for name, text in passages for block in _blocks(name, text, language)]
    singles = [[_piece(number, block, span) for span in block.spans] for number, block in enumerate(blocks)]
    pieces = [piece for row in singles for piece in row]
    common = _common(singles) | _subject(singles) | _shared(blocks)
    doubles = [
        _double(block.text, one, other)
        for block, row in zip(blocks, singles, strict=True)
        for one, other in pairwise(row)
    ]
    return Prepared(
        pieces=(*pieces, *doubles),
        stems=Counter(stem for piece in pieces for stem in piece.all),
        names=_names(blocks, common),
        headed=tuple(bool(block.heading) for block in blocks),
        kinds=_kinds(blocks, common),
        common=common,
        language=language,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block:
    """What stands under one heading; the heading itself is the first span where there is one."""

    passage: str
    text: str
    heading: str
    spans: tuple[Span, ...]
    language: str


def _blocks(name: str, text: str, language: str) -> Iterator[_Block]:
    """Yield the blocks of a text: a heading starts one, and so does a blank line.

    A marked heading (``#``, bold) holds until the next; one that is only a short line, until the blank line behind its
    text.
    """
    spans = [span for span in sentences(text, language, wrapped=True) if any(map(str.isalnum, span.text))]
    heading = ""
    held: list[Span] = []
    for at, span in enumerate(spans):
        starts = _is_heading(span, spans[at + 1] if at + 1 < len(spans) else None)
        if held and (starts or _ends_blank(held[-1].text)) and held[-1].text != heading:
            yield _Block(passage=name, text=text, heading=heading, spans=tuple(held), language=language)
            heading, held = heading if _is_marked(heading) else "", []
        if starts:
            heading = span.text
        held.append(span)
    if held:
        yield _Block(passage=name, text=text, heading=heading, spans=tuple(held), language=language)


def _ends_blank(text: str) -> bool:
    """Return whether a blank line stands at the end of *text*."""
    return _BLANK.search(text, len(text.rstrip())) is not None


def _is_heading(span: Span, following: Span | None) -> bool:
    """Return whether *span* is a line of its own that names what follows: marked so, or short and without an end."""
    line = span.text.rstrip()
    if _is_marked(line):
        return True
    if following is None or "\n" not in span.text[len(line) :] or LIST_MARK.match(span.text):
        return False
    return line[-1] not in ".!?;,\"'\u201d\u2019)" and len(words(line)) <= _HEADING_WORDS


def _is_marked(line: str) -> bool:
    return line.lstrip().startswith("#") or _EMPHASIS.fullmatch(line) is not None


def _piece(number: int, block: _Block, span: Span) -> Piece:
    match = _LEAD.match(span.text)
    lead = match["lead"] if match and len(words(match["lead"])) <= _LEAD_WORDS else ""
    title = "" if span.text == block.heading else f"{block.heading.strip()} {lead}".strip()
    shown = span.text.strip()
    # Line ends inside a sentence say nothing; one space for each keeps every offset.
    flat = _LINE_END.sub(" ", shown)
    own = quantities(flat, language=block.language)
    start = span.start + span.text.index(shown[0]) if shown else span.start
    return Piece(
        stretch=Stretch(passage=block.passage, start=start, end=start + len(shown), text=shown),
        block=number,
        stems=stems(flat),
        words=outside(flat, own),
        quantities=own if span.text == block.heading else (*quantities(block.heading, language=block.language), *own),
        title=title,
        double=False,
    )


def outside(text: str, found: Sequence[Quantity]) -> str:
    """Return *text* without the quantities that were found in it."""
    edges = [0, *(edge for quantity in found for edge in (quantity.start, quantity.end)), len(text)]
    return " ".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _double(text: str, one: Piece, other: Piece) -> Piece:
    start, end = one.stretch.start, other.stretch.end
    return Piece(
        stretch=Stretch(passage=one.stretch.passage, start=start, end=end, text=text[start:end]),
        block=one.block,
        stems=(*one.stems, *other.stems),
        words=f"{one.words}\n{other.words}",
        quantities=(*one.quantities, *other.quantities),
        title=one.title or other.title,
        double=True,
    )


def _common(singles: Sequence[Sequence[Piece]]) -> frozenset[str]:
    """Return the stems that stand in more than half of the blocks."""
    counts = Counter(stem for row in singles for stem in frozenset[str]().union(*(piece.all for piece in row)))
    return frozenset(stem for stem, count in counts.items() if count * 2 > len(singles) > 1)


def _shared(blocks: Sequence[_Block]) -> frozenset[str]:
    """Return the stems that stand in several headings and so tell none of them from the others."""
    headings = {without_excluded(block.heading) for block in blocks}
    counts = Counter(stem for heading in headings for stem in {word.stem for word in stems(heading)})
    return frozenset(stem for stem, count in counts.items() if count >= _SEVERAL and not stem.isdecimal())


def _subject(singles: Sequence[Sequence[Piece]]) -> frozenset[str]:
    """Return the names in the first block of several, which say what the whole passage is about."""
    first = singles[0] if len(singles) >= _SEVERAL else ()
    return frozenset(word.stem for piece in first for word in piece.stems if word.name and not word.stem.isdecimal())


def _names(blocks: Sequence[_Block], common: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Return per block the stems of its heading, or of its first sentence, but for numbers and those common to most."""
    lines = (without_excluded(block.heading or block.spans[0].text) for block in blocks)
    return tuple(frozenset(w.stem for w in stems(text) if not w.stem.isdecimal()) - common for text in lines)


def _kinds(blocks: Sequence[_Block], common: frozenset[str]) -> frozenset[int]:
    """Return the blocks whose heading gives a quantity, or ends in a common word without an article before it.

    What stands under the first heading of several holds for all kinds.
    """
    first = 1 if len(blocks) >= _SEVERAL else 0
    return frozenset(
        number
        for number, block in enumerate(blocks[first:], start=first)
        if block.heading and (quantities(block.heading, language=block.language) or _ends_in(block.heading, common))
    )


def _ends_in(heading: str, common: frozenset[str]) -> bool:
    words = stems(heading)
    return len(words) > 1 and words[-1].stem in common and _ARTICLE.search(heading[: words[-1].start]) is None


def without_excluded(text: str) -> str:
    """Return *text* without what it excludes: "people without a vehicle" names no vehicle."""
    return _EXCLUDED.sub(" ", text)
