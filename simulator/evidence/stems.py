"""Words of a text as they are compared: without ending, small ones left out, equivalents as one. English."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final, Literal, NamedTuple, cast

# Not through the package's own choice, which takes another library's stemmer where that is installed.
from snowballstemmer.english_stemmer import EnglishStemmer

from .folding import fold
from .lexicon import EQUIVALENTS, LIGHT, OPPOSITES, SMALL

__all__ = ["Stem", "content_words", "line", "opposites", "share_held", "stem", "stems"]

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.][^\W_]+)*")
_LONGEST: Final = 60
"""Characters of a word; what is longer is compared as it is written."""
_MARKS: Final = 6
_BEGINNING: Final = re.compile(r"(?:^|[.!?:\n•-])[\s\"'\u201c\u2018(\[*_]{0,5}\Z")
"""What stands before the first word of a sentence, read from at most _MARKS characters."""
_POSSESSIVE: Final = re.compile(r"['\u2019]s?$|s['\u2019]$")


class Stem(NamedTuple):
    """A word of a text that may claim something, from ``start`` to ``end`` (characters)."""

    # A tuple, since every word of every reply becomes one.
    stem: str
    text: str
    start: int
    end: int
    name: bool
    """Whether it is written as a name or an id is: a capital inside a sentence, or with a digit."""
    light: bool
    """Whether it says little: "great", "know", "usually"."""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of *word*, or of the first of its equivalents."""
    plain = _stemmed(word)
    return _SAME.get(plain, plain)


def _stemmed(word: str) -> str:
    low = _POSSESSIVE.sub("", word.lower().replace("\u2019", "'")).replace(".", "")
    if len(low) > _LONGEST:
        return low
    # A stemmer works in its own fields, so it is not shared between threads; stem() remembers what it said.
    return cast("str", EnglishStemmer().stemWord(low))  # pyright: ignore[reportUnknownMemberType]


_SAME: Final[dict[str, str]] = {
    _stemmed(word): _stemmed(group.split()[0]) for group in EQUIVALENTS for word in group.split()
}


_OPPOSITES: Final[dict[str, frozenset[str]]] = {
    stem(word): frozenset(
        stem(other) for pair in OPPOSITES for other in pair.split() if word in pair.split() and other != word
    )
    for group in OPPOSITES
    for word in group.split()
}
_LIGHT_STEMS: Final = frozenset(stem(word) for word in LIGHT)


def opposites(stem_: str) -> frozenset[str]:
    """Return the stems that deny *stem_* where all else is the same."""
    return _OPPOSITES.get(stem_, frozenset())


def line(text: str) -> tuple[str, ...]:
    """Return the stems of all words of *text* in order, small ones included."""
    return tuple(map(stem, _WORD.findall(text)))


def stems(text: str) -> tuple[Stem, ...]:
    """Return the words of *text* in order, small ones left out."""
    found: list[Stem] = []
    for match in _WORD.finditer(text):
        word = match[0]
        stemmed, shape, light = _known(word)
        if shape != "small":
            start, end = match.span()
            name = shape == "digit" or (shape == "capital" and not _begins(text, start))
            found.append(Stem(stemmed, word, start, end, name, light))
    return tuple(found)


@lru_cache(maxsize=65536)
def _known(word: str) -> tuple[str, Literal["small", "digit", "capital", ""], bool]:
    """Return what holds for *word* wherever it stands: its stem, its shape, and whether it says little."""
    if _is_small(word):
        return "", "small", False
    stemmed = stem(word)
    shape = "digit" if any(map(str.isdigit, word)) else "capital" if word[0].isupper() else ""
    return stemmed, shape, stemmed in _LIGHT_STEMS


def _begins(text: str, start: int) -> bool:
    return _BEGINNING.search(text, max(start - _MARKS, 0), start) is not None


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of *text* that say what it is about, numbers among them; *text* is folded first."""
    return frozenset(word.stem for word in stems(fold(text).text))


def share_held(sentence: str, held: Collection[str]) -> float:
    """Return how many of the content words of *sentence* are among *held*, 0 to 1; 1 where it has none."""
    content = content_words(sentence)
    return len(content.intersection(held)) / len(content) if content else 1.0


def _is_small(word: str) -> bool:
    """Return whether *word* claims nothing by itself; "US" and "IT" are names."""
    return word.lower().replace("\u2019", "'") in SMALL and not (word.isupper() and len(word) > 1)
