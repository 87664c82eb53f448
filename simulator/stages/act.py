"""What is done about a reply that is not supported: sentences taken out, or a rewrite held against what must not be.

Both are careful in the same way. The text that comes out breaks no rule that the reply kept; where that cannot be had,
suppression gives no text and says why, and a rewrite is not accepted. What the reply broke may stay broken in the words
of the reply that are left; a refusal that stands in is the application's own, and so has the form of a reply.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, pairwise
from operator import itemgetter
from typing import Final

from ..evidence.claims import is_statement
from ..evidence.folding import find_all, find_words, fold, words
from ..evidence.held import Held
from ..evidence.quantities import Quantity, folded_quantities
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
_SHOWN: Final = re.compile(r"\S")
_HALF: Final = 0.5

_Range = tuple[int, int]
"""From where to where, in characters."""


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
    statement is left, or in the format ``answer_quote``, the refusal stands in for all but these two; the closing line
    comes with it also where the reply had none. A JSON reply is not cut.
    """
    if scenario.reply.format == "json":
        return Suppressed(text=None, reason="a JSON reply cannot be cut sentence by sentence")
    head, tail = split_closing(reply, scenario)
    pieces = _pieces(head, spans, scenario)
    gone = [(piece.start, piece.end) for piece in pieces if piece.gone]
    if not spans or not all(_is_covered(span, head, gone) for span in dict.fromkeys(spans)):
        return Suppressed(text=None, reason="the flagged words are in no sentence that may be taken out")
    rest = _without_gone(pieces)
    cut = scenario.reply.format == "text" and bool(_statements(rest, scenario))
    if cut and not _newly_broken(reply, rest + tail, scenario, turn):
        removed = tuple(piece.text.strip() for piece in pieces if piece.gone)
        return Suppressed(text=rest + tail, removed=removed, lost=_lost(pieces))
    return _replaced(reply, head, tail, pieces, scenario, turn)


def _replaced(
    reply: str, head: str, tail: str, pieces: Sequence[_Piece], scenario: Scenario, turn: Turn | None
) -> Suppressed:
    """Return the first text without the reply's own statements that breaks no rule at all, else none that was kept."""
    texts = dict(_stand_ins(head, tail, pieces, scenario))
    kept = [text for text in texts if not _newly_broken(reply, text, scenario, turn)]
    formed = [text for text in kept if not _broken(text, scenario, turn)]
    if not kept:
        return Suppressed(text=None, reason="whatever could be left breaks a rule that the reply kept")
    text = (formed or kept)[0]
    removed = tuple(piece.text.strip() for piece in pieces if not piece.fixed and words(piece.text))
    return Suppressed(text=text, removed=removed, lost=_lost(pieces), reason=texts[text])


def _stand_ins(head: str, tail: str, pieces: Sequence[_Piece], scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield what may stand in for a reply, best first, each with what it is."""
    end = head[len(head.rstrip()) :] + tail
    if not tail and scenario.closing_line is not None:
        end = f"\n{scenario.closing_line}"
    billing = next((piece.text.strip() for piece in pieces if piece.fixed), None)
    if billing is not None and scenario.reply.format == "text":
        yield f"{scenario.refusal_sentence} {billing}{end}", "the refusal stands in"
        yield billing + end, "the billing sentence is left"
    yield scenario.refusal_sentence + end, "the refusal stands in"


def _pieces(head: str, spans: Sequence[str], scenario: Scenario) -> list[_Piece]:
    billing = occurrences(head, scenario.billing_sentence) if scenario.billing_sentence is not None else ()
    fixed = [(span.start, span.end) for span in billing]
    # White space behind the billing sentence belongs to it, as it does with any sentence.
    ends = [_past_space(head, end) for _, end in fixed]
    edges = {0, len(head), *(piece.start for piece in sentences(head)), *(start for start, _ in fixed), *ends}
    flagged = _merged(place for span in dict.fromkeys(spans) for place in _places(head, span))
    return [
        _Piece(
            text=head[start:end],
            start=start,
            end=end,
            fixed=bool(_overlapping(fixed, start, start + 1)),
            flagged=tuple((max(first, start), min(last, end)) for first, last in _overlapping(flagged, start, end)),
        )
        for start, end in pairwise(sorted(edges))
    ]


def _past_space(text: str, at: int) -> int:
    shown = _SHOWN.search(text, at)
    return shown.start() if shown else len(text)


def _places(text: str, span: str) -> set[_Range]:
    return {*find_all(text, span), *find_words(text, span)}


def _merged(ranges: Iterable[_Range]) -> list[_Range]:
    """Return *ranges* in order, those that overlap as one."""
    merged: list[_Range] = []
    for start, end in sorted(ranges):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _overlapping(ranges: Sequence[_Range], start: int, end: int) -> Sequence[_Range]:
    """Return those of *ranges*, which are in order and apart, that have a character between *start* and *end*."""
    first = bisect_right(ranges, start, key=itemgetter(1))
    return ranges[first : bisect_left(ranges, end, first, key=itemgetter(0))]


def _is_covered(span: str, head: str, gone: Sequence[_Range]) -> bool:
    """Return whether *span* stands in *head* and goes with what is taken out of it."""
    return any(_overlapping(gone, first, last) for first, last in _places(head, span))


def _without_gone(pieces: Sequence[_Piece]) -> str:
    """Return the text of *pieces* without those that are gone; a line with nothing left goes with its line end.

    Of the blank lines before and behind such a line the more are left, and none at the start.
    """
    left: list[str] = []
    blank, breaks = "", 0
    for line in _lines(pieces):
        text, gap = _line_left(line)
        count = len(_BREAK.findall(gap))
        if text:
            left += [blank, text]
            blank, breaks = gap, count
        elif not any(piece.gone for piece in line):
            blank, breaks = blank + gap, breaks + count
        elif not left:
            blank, breaks = "", 0
        elif count > breaks:
            blank, breaks = gap, count
    return "".join([*left, blank])


def _line_left(line: Sequence[_Piece]) -> tuple[str, str]:
    """Return what is left of a line, and the white space behind it."""
    whole = "".join(piece.text for piece in line)
    kept = "".join(piece.text for piece in line if not piece.gone).rstrip()
    start = _line_start(whole, line[0]) if kept.strip() else ""
    return start + kept, whole[len(whole.rstrip()) :]


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


def _statements(text: str, scenario: Scenario) -> list[str]:
    """Return the sentences of *text* that state something: no fixed sentence, question, heading or pleasantry."""
    return [span.text.strip() for span in sentences(shown_text(text, scenario)) if is_statement(span.text)]


def _newly_broken(before: str, after: str, scenario: Scenario, turn: Turn | None) -> list[RuleResult]:
    """Return the rules that *before* keeps and *after* does not, as they read on *after*."""
    kept = {result.rule for result in read_rules(before, scenario, turn=turn) if result.standing == "kept"}
    return [result for result in _broken(after, scenario, turn) if result.rule in kept]


def _broken(text: str, scenario: Scenario, turn: Turn | None) -> list[RuleResult]:
    results = read_rules(text, scenario, turn=turn)
    return [result for result in results if result.standing not in {"kept", "not_applicable"}]


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
    broken = _newly_broken(original, rewrite, scenario, turn)
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
    statements = _statements(original, scenario)
    there, held = content_words(rewrite), Held((quantity, 0) for quantity in folded_quantities(rewrite))
    for sentence in compress(statements, _unflagged(statements, verdict.spans)):
        if declines(sentence, scenario):
            continue
        names = content_words(" ".join(_NAME.findall(fold(sentence).text)))
        if share_held(sentence, there) < _HALF or not names <= there or _new(folded_quantities(sentence), held):
            yield sentence


def _unflagged(statements: Sequence[str], spans: Sequence[str]) -> list[bool]:
    """Return for each of *statements* whether no sentence of *spans* stands in it."""
    text = "\n".join(statements)
    flagged = _merged(place for span in spans for part in sentences(span) for place in _places(text, part.text))
    ends = accumulate(len(statement) + 1 for statement in statements)
    places = ((end - 1 - len(statement), end - 1) for end, statement in zip(ends, statements, strict=True))
    return [not _overlapping(flagged, start, end) for start, end in places]


def _new(found: Sequence[Quantity], held: Held) -> list[Quantity]:
    """Return those of *found* that are not among *held*, each once."""
    new: list[Quantity] = []
    seen = Held()
    for quantity in found:
        if not held.has_same(quantity) and not seen.has_same(quantity):
            new.append(quantity)
            seen.add(quantity)
    return new


def _added_quantities(original: str, rewrite: str, scenario: Scenario) -> list[Quantity]:
    held = Held((quantity, 0) for quantity in folded_quantities(original))
    return _new(folded_quantities(shown_text(rewrite, scenario)), held)


def _added_sentences(original: str, rewrite: str, scenario: Scenario) -> Iterator[str]:
    old = content_words(original)
    for sentence in _statements(rewrite, scenario):
        if share_held(sentence, old) < _HALF and not declines(sentence, scenario):
            yield sentence
