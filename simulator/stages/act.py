"""What is done about a reply that is not supported: sentences taken out, or a rewrite held against what must not be.

Both are careful in the same way. The text that comes out breaks no rule that the reply kept; where that cannot be had,
suppression gives no text and says why, and a rewrite is not accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ..evidence.claims import is_statement
from ..evidence.folding import find_all, find_words, fold, words
from ..evidence.quantities import Quantity, folded_quantities, same
from ..evidence.sentences import LIST_MARK, occurrences, sentences
from ..evidence.stems import content_words, share_held
from ..outcome import RuleResult, Verdict
from ..scenario import Scenario, Turn
from .expectation import declines
from .rules import body, read_rules, split_closing
from .verdict import shown_text

__all__ = ["Suppressed", "rewrite_failures", "suppress"]

_NAME: Final = re.compile(r"(?<=[\w,;] )[A-Z][\w-]+")
_BREAK: Final = re.compile("\r\n|[\r\n\u2028\u2029]")
_HALF: Final = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Suppressed:
    """A reply with its unsupported sentences taken out."""

    text: str | None
    """What may be delivered; None where nothing may, so that the reply is held."""
    removed: tuple[str, ...] = ()
    """The sentences that went, in order."""
    lost: tuple[str, ...] = ()
    """What went with them though nothing flagged it: the pieces of these sentences beside the flagged words."""
    reason: str = ""
    """Why the text is None, or that the refusal stands in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """A sentence of the reply, or a part of one where a fixed sentence divides it."""

    text: str
    start: int
    end: int
    fixed: bool
    """Whether it belongs to the billing sentence, which is never taken out."""
    flagged: tuple[tuple[int, int], ...] = ()
    """Where flagged words stand in it, as offsets into the reply."""

    @property
    def gone(self) -> bool:
        return bool(self.flagged) and not self.fixed


def suppress(reply: str, spans: Sequence[str], scenario: Scenario, *, turn: Turn | None = None) -> Suppressed:
    """Return *reply* without the sentences that hold one of *spans*, which are verbatim pieces of it.

    The whole sentence goes, wherever the flagged words occur; the closing line and the billing sentence never do. If no
    statement is left, the refusal stands in for all but these two. In the format ``answer_quote`` that is always so; a
    JSON reply is not cut.
    """
    if scenario.reply.format == "json":
        return Suppressed(text=None, reason="a JSON reply cannot be cut sentence by sentence")
    head, tail = split_closing(reply, scenario)
    pieces = _pieces(head, spans, scenario)
    if not spans or not all(_is_covered(span, head, pieces) for span in spans):
        return Suppressed(text=None, reason="the flagged words are in no sentence that may be taken out")
    for text, removed, reason in _candidates(head, pieces, scenario):
        if not _newly_broken(reply, text + tail, scenario, turn=turn):
            return Suppressed(text=text + tail, removed=removed, lost=_lost(pieces), reason=reason)
    return Suppressed(text=None, reason="whatever could be left breaks a rule that the reply kept")


def _pieces(head: str, spans: Sequence[str], scenario: Scenario) -> list[_Piece]:
    fixed = occurrences(head, scenario.billing_sentence) if scenario.billing_sentence is not None else ()
    # White space behind the billing sentence belongs to it, as it does with any sentence.
    ends = [len(head) - len(head[span.end :].lstrip()) for span in fixed]
    edges = {0, len(head), *(piece.start for piece in sentences(head)), *(span.start for span in fixed), *ends}
    places = sorted(place for span in spans for place in _places(head, span))
    return [
        _Piece(
            text=head[start:end],
            start=start,
            end=end,
            fixed=any(span.start <= start < span.end for span in fixed),
            flagged=tuple(
                (max(first, start), min(last, end)) for first, last in places if first < end and start < last
            ),
        )
        for start, end in pairwise(sorted(edges))
    ]


def _places(text: str, span: str) -> set[tuple[int, int]]:
    return {*find_all(text, span), *find_words(text, span)}


def _is_covered(span: str, head: str, pieces: Sequence[_Piece]) -> bool:
    """Return whether *span* stands in *head* and goes with what is taken out of it."""
    places = _places(head, span)
    return any(piece.gone for piece in pieces for first, last in places if first < piece.end and piece.start < last)


def _candidates(head: str, pieces: Sequence[_Piece], scenario: Scenario) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the texts that may stand for *head*, best first, with the sentences that each leaves out and why."""
    gap = head[len(head.rstrip()) :]
    fixed = " ".join(piece.text.strip() for piece in pieces if piece.fixed)
    if scenario.reply.format == "text":
        rest = _without_gone(pieces)
        if _statements(rest, scenario):
            yield rest, tuple(piece.text.strip() for piece in pieces if piece.gone), ""
    replaced = tuple(piece.text.strip() for piece in pieces if not piece.fixed and words(piece.text))
    if not fixed or scenario.reply.format != "text":
        yield scenario.refusal_sentence + gap, replaced, "the refusal stands in"
    else:
        yield f"{scenario.refusal_sentence} {fixed}{gap}", replaced, "the refusal stands in"
        yield fixed + gap, replaced, "the billing sentence is left"


def _without_gone(pieces: Sequence[_Piece]) -> str:
    """Return the text of *pieces* without those that are gone; a line with nothing left goes with its line end."""
    text = ""
    for line in _lines(pieces):
        whole = "".join(piece.text for piece in line)
        kept = "".join(piece.text for piece in line if not piece.gone)
        gap = whole[len(whole.rstrip()) :]
        if kept == whole:
            text += whole
        elif kept.strip():
            text += _line_start(whole, line[0]) + kept.rstrip() + gap
        else:
            text = _with_gap(text, gap)
    return text


def _lines(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    line: list[_Piece] = []
    for piece in pieces:
        line.append(piece)
        if _BREAK.search(piece.text[len(piece.text.rstrip()) :]):
            yield line
            line = []
    if line:
        yield line


def _line_start(line: str, first: _Piece) -> str:
    """Return the bullet or the indent that the first piece of a line takes along and the next one needs."""
    if not first.gone:
        return ""
    mark = LIST_MARK.match(line)
    if mark and first.flagged[0][0] - first.start >= mark.end():
        return mark[0]
    return line[: len(line) - len(line.lstrip())]


def _with_gap(text: str, gap: str) -> str:
    """Return *text* ending in its own blank lines or in those of *gap*, whichever are more; a blank text goes."""
    bare = text.rstrip()
    own = text[len(bare) :]
    return bare + max(own, gap, key=lambda blank: len(_BREAK.findall(blank))) if bare else ""


def _statements(text: str, scenario: Scenario) -> list[str]:
    """Return the sentences of *text* that state something: no fixed sentence, question, heading or pleasantry."""
    return [span.text.strip() for span in sentences(shown_text(text, scenario)) if is_statement(span.text)]


def _newly_broken(before: str, after: str, scenario: Scenario, *, turn: Turn | None) -> list[RuleResult]:
    """Return the rules that *before* keeps and *after* does not, as they read on *after*."""
    kept = {result.rule for result in read_rules(before, scenario, turn=turn) if result.standing == "kept"}
    results = read_rules(after, scenario, turn=turn)
    return [result for result in results if result.rule in kept and result.standing not in {"kept", "not_applicable"}]


def _lost(pieces: Sequence[_Piece]) -> tuple[str, ...]:
    return tuple(part for piece in pieces if piece.gone for part in _beside(piece))


def _beside(piece: _Piece) -> Iterator[str]:
    """Yield what stands in a piece beside its flagged words and states something by itself."""
    at = piece.start
    for first, last in (*piece.flagged, (piece.end, piece.end)):
        part = piece.text[at - piece.start : max(at, first) - piece.start].strip(" \t\r\n,.;:!?*-")
        if len(content_words(part)) > 1:
            yield part
        at = max(at, last)


def rewrite_failures(
    original: str,
    rewrite: str,
    scenario: Scenario,
    *,
    recheck: Verdict,
    original_verdict: Verdict,
    turn: Turn | None = None,
    truncated: bool = False,
) -> tuple[str, ...]:
    """Return why *rewrite* is not to be delivered in place of *original*, one reason in words each; empty if it may be.

    It may be if it has words and was not cut off, breaks no rule that the original kept, passes the recheck (or leaves
    nothing to check), no longer has the flagged words, keeps every sentence in which nothing was flagged, and adds
    neither a quantity nor a statement. A sentence counts as kept when at least half of its content words and every
    quantity and name in it are in the rewrite; a statement counts as added when less than half of its content words are
    in the original, unless it declines.
    """
    if not words(body(rewrite, scenario)):
        return ("it is empty",)
    if truncated:
        return ("it was cut off",)
    broken = _newly_broken(original, rewrite, scenario, turn=turn)
    return (
        *(f"it breaks {result.rule}: {result.detail}" for result in broken),
        *_recheck_failures(rewrite, scenario, recheck),
        *(f'it still says "{span}"' for span in original_verdict.spans if _places(rewrite, span)),
        *(f'it loses "{sentence}"' for sentence in _lost_sentences(original, rewrite, scenario, original_verdict)),
        *(f'it adds "{quantity.text}"' for quantity in _added_quantities(original, rewrite, scenario)),
        *(f'it adds "{sentence}"' for sentence in _added_sentences(original, rewrite, scenario)),
    )


def _recheck_failures(rewrite: str, scenario: Scenario, recheck: Verdict) -> list[str]:
    if recheck.word == "supported" or not shown_text(rewrite, scenario):
        return []
    flagged = ", ".join(f'"{span}"' for span in recheck.spans)
    return [f"its recheck is {recheck.word}" + (f": {flagged or recheck.reason}" if flagged or recheck.reason else "")]


def _lost_sentences(original: str, rewrite: str, scenario: Scenario, verdict: Verdict) -> Iterator[str]:
    flagged = [part.text for span in verdict.spans for part in sentences(span)]
    there, held = content_words(rewrite), folded_quantities(rewrite)
    for sentence in _statements(original, scenario):
        if any(_places(sentence, part) for part in flagged) or declines(sentence, scenario):
            continue
        names = content_words(" ".join(_NAME.findall(fold(sentence).text)))
        if share_held(sentence, there) < _HALF or not names <= there or _new(folded_quantities(sentence), held):
            yield sentence


def _new(found: Sequence[Quantity], held: Sequence[Quantity]) -> list[Quantity]:
    """Return those of *found* that are not among *held*, each once."""
    new: list[Quantity] = []
    for quantity in found:
        if not any(same(other, quantity) for other in (*held, *new)):
            new.append(quantity)
    return new


def _added_quantities(original: str, rewrite: str, scenario: Scenario) -> list[Quantity]:
    return _new(folded_quantities(shown_text(rewrite, scenario)), folded_quantities(original))


def _added_sentences(original: str, rewrite: str, scenario: Scenario) -> Iterator[str]:
    old = content_words(original)
    for sentence in _statements(rewrite, scenario):
        if share_held(sentence, old) < _HALF and not declines(sentence, scenario):
            yield sentence
