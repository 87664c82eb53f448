"""Texts made comparable, with the way back to the original.

Two texts are compared after one folding of both, which changes spelling marks and never a word:

- composed characters (NFC), but for a character with more than 30 marks on it, which no language writes
- every kind of quote mark as ``'`` or ``"``; every dash, hyphen and minus as ``-``; the ellipsis sign as ``...``
- every white space (no-break, full-width, line ends) as a space, a run of them as one, none at the ends
- characters without width (soft hyphen, joiners, direction marks, variation selectors, byte-order mark) left out; the
  zero-width *space*, which separates words, becomes a space where nothing else stands between two of them

Upper and lower case stay apart in the folded text; the searches here ignore case unless asked not to.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Final, NamedTuple

__all__ = ["Folded", "contains", "find", "find_all", "find_words", "fold", "words"]

_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]+"
)
_ZERO_WIDTH_SPACE: Final = "\u200b"
_PLAIN: Final = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u02bc\u00b4`\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\u301d\u301e\u301f\uff02", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    "\u2026": "...",
}
# But for what is below the combining marks, and common punctuation.
_MAY_COMPOSE: Final = "[^\0-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20c0]"
_MOST_MARKS: Final = 30
_MOVES: Final = re.compile(rf"{_INVISIBLE.pattern}|{_MAY_COMPOSE}|\u2026|\A\s|\s\s|\s\Z")
"""What a text holds in which folding may leave a character out, add one or join two."""
_IN_PLACE: Final = str.maketrans({**{chr(code): " " for code in range(0x3001) if chr(code).isspace()}, **_PLAIN})
"""What folding makes of single characters in a text in which nothing moves."""
# The number alone: a bullet is no word anyway (``sentences.LIST_MARK`` knows both).
_LIST_MARK: Final = re.compile(r"^[^\S\n]*\(?\d{1,2}[.)](?=\s)", re.MULTILINE)
_DECIMAL_MARKS: Final = ".,"

# Scripts that are written without spaces: there a word has no visible ends.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

_Piece = tuple[str, int, int]
"""Characters, and from where to where they stand in the original."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Folded:
    """A folded text. Character *i* of ``text`` was made from ``original[starts[i]:ends[i]]``."""

    original: str
    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where ``text[start:end]``, which is not empty, stands in the original."""
        return self.starts[start], self.ends[end - 1]


@lru_cache(maxsize=256)
def fold(text: str) -> Folded:
    """Return *text* folded."""
    if _MOVES.search(text) is None:
        places = range(len(text) + 1)
        return Folded(original=text, text=text.translate(_IN_PLACE), starts=places[:-1], ends=places[1:])
    pieces = list(_spaced(_plain(_composed(_visible(text)))))
    characters, starts, ends = zip(*pieces, strict=True) if pieces else ((), (), ())
    return Folded(original=text, text="".join(characters), starts=starts, ends=ends)


def _visible(text: str) -> list[_Piece]:
    """Leave out what has no width; a zero-width space between two words becomes a space."""
    pieces: list[_Piece] = []
    done = 0
    for match in _INVISIBLE.finditer(text):
        start, end = match.span()
        pieces += [(text[at], at, at + 1) for at in range(done, start)]
        if _ZERO_WIDTH_SPACE in match[0] and _is_letter(text[start - 1 : start]) and _is_letter(text[end : end + 1]):
            pieces.append((" ", start, end))
        done = end
    return [*pieces, *((text[at], at, at + 1) for at in range(done, len(text)))]


def _composed(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Yield *pieces* in NFC, still one character each; those of a composed group share its place."""
    group: list[_Piece] = []
    for piece in pieces:
        if group and _starts_anew(group, piece[0]):
            yield from _group(group)
            group = []
        group.append(piece)
    yield from _group(group)


def _group(group: list[_Piece]) -> Iterator[_Piece]:
    # Marks are put in order one by one, so that a million of them on one character would take hours.
    apart = "".join(piece[0] for piece in group)
    composed = apart if apart.isascii() or len(group) > _MOST_MARKS else unicodedata.normalize("NFC", apart)
    if composed == apart:
        yield from group
        return
    for character in composed:
        yield character, group[0][1], group[-1][2]


def _starts_anew(group: list[_Piece], character: str) -> bool:
    """Return whether *character* composes with nothing of *group*, which is not empty."""
    if character.isascii():
        return True
    if unicodedata.combining(character):
        return False
    if len(group) > _MOST_MARKS:
        return True
    before = "".join(piece[0] for piece in group)
    apart = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", character)
    return unicodedata.normalize("NFC", before + character) == apart


def _plain(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    for character, start, end in pieces:
        for plain in _PLAIN.get(character, character):
            yield plain, start, end


def _spaced(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Join runs of white space, and leave them out at both ends."""
    gap: tuple[int, int] | None = None
    begun = False
    for character, start, end in pieces:
        if character.isspace():
            gap = (gap[0] if gap else start, end)
            continue
        if gap and begun:
            yield " ", *gap
        gap, begun = None, True
        yield character, start, end


def _is_letter(character: str) -> bool:
    """Return whether *character* is part of a word: a letter, a digit or a mark on one. Nothing is none."""
    return character.isalnum() or (bool(character) and unicodedata.category(character)[0] == "M")


def words(text: str) -> tuple[str, ...]:
    """Return the words of *text*: what white space separates after folding, if it has a letter or a digit.

    A bullet, a heading mark or a bare dash is no word, and neither is the number of a list item at the start of a line.
    """
    unlisted = _LIST_MARK.sub("", text)
    return tuple(word for word in fold(unlisted).text.split(" ") if any(map(str.isalnum, word)))


def contains(text: str, phrase: str) -> bool:
    """Return whether *phrase* stands in *text* as whole words, whatever the case. An empty phrase never does."""
    return find(text, phrase) is not None


def find(text: str, phrase: str) -> tuple[int, int] | None:
    """Return where *phrase* first stands in *text*, as offsets into *text* as given; None where it does not."""
    return next(iter(find_all(text, phrase)), None)


def find_all(text: str, phrase: str, *, cased: bool = False) -> tuple[tuple[int, int], ...]:
    """Return every place of *phrase* in *text*, as offsets into *text*; they do not overlap.

    The phrase stands there as whole words: "15" is not in "150" nor in "15.50", "can" is not in "can't".
    With *cased*, upper and lower case differ.
    """
    hay, starts, ends = _searchable(text, cased=cased)
    needle, _, _ = _searchable(phrase, cased=cased)
    found: list[tuple[int, int]] = []
    last = 0
    for at in _places(hay, needle):
        end = at + len(needle)
        if at >= last and _ends_word(hay, at) and _ends_word(hay, end):
            found.append((starts[at], ends[end - 1]))
            last = end
    return tuple(found)


def _places(hay: str, needle: str) -> Iterator[int]:
    """Yield every place of *needle* in *hay*, also where two overlap, in time linear in both."""
    at = hay.find(needle) if needle else -1
    period = _period(needle) if at >= 0 else 0
    while at >= 0:
        yield at
        # No other place is nearer than one period; where it is so near, what follows is the period again.
        end = at + len(needle)
        again = hay[end : end + period] == needle[-period:]
        at = at + period if again else hay.find(needle, at + period)


def _period(text: str) -> int:
    """Return by how much *text*, which is not empty, must be moved to agree with itself (Knuth, Morris and Pratt)."""
    borders = [0] * len(text)
    length = 0
    for at in range(1, len(text)):
        while length and text[at] != text[length]:
            length = borders[length - 1]
        length += text[at] == text[length]
        borders[at] = length
    return len(text) - length


@lru_cache(maxsize=256)
def _searchable(text: str, *, cased: bool) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the folded text to search in, with the original offsets of each of its characters."""
    folded = fold(text)
    if cased:
        return folded.text, folded.starts, folded.ends
    lowered = folded.text.casefold()
    if len(lowered) == len(folded.text):
        return lowered, folded.starts, folded.ends
    places = [at for at, character in enumerate(folded.text) for _ in character.casefold()]
    return lowered, tuple(folded.starts[at] for at in places), tuple(folded.ends[at] for at in places)


def _ends_word(text: str, at: int) -> bool:
    """Return whether a word may end before, or begin at, character *at* of a folded text."""
    if at in {0, len(text)}:
        return True
    before, after = text[at - 1], text[at]
    if _is_letter(before) and _is_letter(after):
        return bool(_UNSPACED.match(before) or _UNSPACED.match(after))
    if after == "'" and text[at + 1 : at + 2] in {"t", "T"} and text[at - 1] in "nN":
        return not _ends_word(text, at + 2)
    if before in _DECIMAL_MARKS and after.isdigit():
        return not text[at - 2 : at - 1].isdigit()
    return not (before.isdigit() and after in _DECIMAL_MARKS and text[at + 1 : at + 2].isdigit())


def find_words(text: str, phrase: str) -> tuple[tuple[int, int], ...]:
    """Return every place where the words of *phrase* follow one another in *text*, as offsets into *text*.

    Unlike ``find_all`` it overlooks what stands between words: full stops, bold marks, bullets, quote marks.
    """
    hay, needle = _tokens(text), _tokens(phrase)
    size = len(needle.pieces)
    firsts = (bisect_left(hay.places, at) for at in _places(hay.line, needle.line) if size)
    return tuple((hay.pieces[first][1], hay.pieces[first + size - 1][2]) for first in firsts)


class _Tokens(NamedTuple):
    """The runs of letters and digits of a text, in lower case."""

    pieces: tuple[_Piece, ...]
    line: str
    """All of them, with a mark that no token holds before and behind each."""
    places: tuple[int, ...]
    """Where the mark before each stands in the line."""


@lru_cache(maxsize=256)
def _tokens(text: str) -> _Tokens:
    hay, starts, ends = _searchable(text, cased=False)
    runs = groupby(range(len(hay)), key=lambda at: _token_kind(hay[at], at))
    places = [list(places) for kind, places in runs if kind]
    pieces = tuple((hay[run[0] : run[-1] + 1], starts[run[0]], ends[run[-1]]) for run in places)
    return _Tokens(
        pieces=pieces,
        line="".join(f"\0{token}" for token, _, _ in pieces) + "\0",
        places=tuple(accumulate((len(token) + 1 for token, _, _ in pieces), initial=0)),
    )


def _token_kind(character: str, at: int) -> int | str:
    """Return what tokens are grouped by: nothing for what separates; a character of an unspaced script stands alone."""
    if not _is_letter(character):
        return ""
    return -at - 1 if _UNSPACED.match(character) else "word"
