"""Whether a quote that a reply gives stands in a passage, and whether the answer is carried by the quote itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .folding import find_all
from .reading import Evidence, read_evidence
from .stretches import Stretch, prepare

__all__ = ["QuoteReading", "find_quote", "read_quoted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuoteReading:
    """An answer and its quote, as read."""

    stretch: Stretch | None
    """Where the quote stands; None where it is empty or in no passage."""
    evidence: Evidence
    """The answer read against the quote alone."""

    @property
    def carried(self) -> bool:
        """Return whether the quote is real and carries the answer."""
        return self.stretch is not None and self.evidence.word in {"supported", "none"}


def find_quote(quote: str, passages: Sequence[tuple[str, str]]) -> Stretch | None:
    """Return where *quote* stands in one of *passages* (pairs of an id and a text), contiguous, as whole words.

    Both sides are folded (see ``folding``), which changes no word; upper and lower case differ. An empty quote is
    nowhere.
    """
    for passage, text in passages:
        for start, end in find_all(text, quote, cased=True)[:1]:
            return Stretch(passage=passage, start=start, end=end, text=text[start:end])
    return None


def read_quoted(
    answer: str,
    quote: str,
    passages: Sequence[tuple[str, str]],
    *,
    said: Sequence[str] = (),
    ignore: Sequence[str] = (),
    language: str = "en",
) -> QuoteReading:
    """Return where *quote* stands in *passages*, and *answer* read against the quote alone."""
    evidence = read_evidence(answer, prepare([("quote", quote)], language=language), said=said, ignore=ignore)
    return QuoteReading(stretch=find_quote(quote, passages), evidence=evidence)
