"""The claims of a reply: its sentences, without what claims nothing about the subject.

Left out are the sentences that the rules require, what states nothing (questions, headings, greetings and thanks,
offers of help, a mere "yes, it is"), and what says that the passage does not say something: a refusal is a statement
and never claims, but what stands behind its "but" does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from .folding import fold
from .refusals import find_refusal
from .sentences import LIST_MARK, blanked, occurrences, sentences
from .stems import stems

__all__ = ["Claim", "claims", "is_question", "is_statement"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A sentence of a reply, or what of it claims something: ``reply[start:end]``."""

    text: str
    start: int
    end: int
    lead: str = ""
    """The line before a list ("Motorcycle pass:") that the claim stands under; a line that leads in claims nothing."""


def claims(reply: str, *, ignore: Sequence[str] = (), language: str = "en") -> tuple[Claim, ...]:
    """Return the claims of *reply* in order, with offsets into it; *ignore* are whole sentences to leave out."""
    shown = reply
    for sentence in ignore:
        # White space of the same length that ends a sentence, so that every offset stays.
        shown = blanked(shown, occurrences(reply, sentence), "\n")
    found: list[Claim] = []
    lead = ""
    for span in sentences(shown, language):
        if _LEAD.search(span.text):
            lead = span.text.strip()
            continue
        lead = lead if LIST_MARK.match(span.text) else ""
        found += [replace(claim, lead=lead) for claim in _parts(span.text, span.start)]
    return tuple(found)


def _either(*words: str) -> str:
    """Return a pattern for one of several words or phrases, each an expression of its own."""
    return f"(?:{'|'.join(words)})"


def _one(words: str) -> str:
    """Return a pattern for one of the words of a list."""
    return _either(*words.split())


_GREETING: Final = r"(?:hello|hi|hey|dear)(?: [\w.]+){0,3}(?=[,!.])"
# Phrases before the words that they begin with.
_INTERJECTION: Final = _either(
    _GREETING,
    *("good (?:morning|afternoon|evening|day|question)", "great question", "thank you", "you are", "of course"),
    *("i am", "i apologi[sz]e", "no problem", "no worries", "my pleasure", "got it", "so much", "about that"),
    *("to hear that", "that is", "with pleasure", "for (?:asking|contacting us|reaching out|writing)"),
    "for your (?:patience|question|message|interest|booking|visit)",
    _one("hello hi hey there thanks? welcome sure certainly absolutely great perfect sorry apologies yes no ok(?:ay)?"),
    _one("understood congratulations goodbye bye cheers indeed right very most correct true exactly nice wow well oh"),
    _one("yeah yep agreed? unfortunately i'm that's you're i"),
)
_OFFER: Final = _either(
    "(?:please )?(?:let (?:me|us) know|feel free|do not hesitate|don't hesitate)",
    "have an? (?:good|great|lovely|nice|pleasant|safe|wonderful)",
    *("enjoy (?:it|the|your)", "safe travels", "take care", "(?:i|we) hope", "is there anything", "please ask"),
    "(?:i|we)(?:'m|'re|'ll be|'d be| am| are) (?:happy|glad|here) to",
    *("happy to", "glad to", "(?:i|we) can help", "if you (?:have|need) (?:any|more|further|other)"),
    *("here (?:is|are)", "here's"),
)
_OPENING: Final = re.compile(rf"(?:{_INTERJECTION}\b[\s,.!:;-]*)+", re.IGNORECASE)
_CLOSING: Final = re.compile(rf"{_OFFER}\b[^.!?]*+[\s.!,:]*", re.IGNORECASE)
_SALUTATION: Final = re.compile(rf"\s*{_GREETING}[,!.]\s*", re.IGNORECASE)
# Where a sentence turns from a refusal to a claim; the turning word belongs to the claim.
_TURN: Final = re.compile(
    r"(?:[,;:]|\s[-\u2013\u2014])\s*(?=(?:but|however|though|although|yet|nevertheless|still|so)\b)|;\s+|\s(?=but\b)",
    re.IGNORECASE,
)
_CONCESSION: Final = re.compile(r"\s*(?:while|although|though|even though|since|as)\b[^,]*,\s*", re.IGNORECASE)
_LEAD: Final = re.compile(r":[\s*_]*$")
_QUESTION: Final = re.compile(r"[?\uff1f\u061f][\s\"'\u201d)*_]*$")


def is_statement(sentence: str) -> bool:
    """Return whether *sentence* states something; a refusal does."""
    return _states(fold(_unmarked(sentence)).text)


def is_question(sentence: str) -> bool:
    """Return whether *sentence* ends as a question, in Latin, full-width or Arabic script."""
    return _QUESTION.search(sentence) is not None


def _states(plain: str) -> bool:
    """Return whether a sentence with straight apostrophes, list mark or none, states something by itself."""
    text = _unmarked(plain).strip("*_ \n")
    opening = _OPENING.match(text)
    rest = text[opening.end() :] if opening else text
    empty = is_question(text) or _LEAD.search(text) or _CLOSING.fullmatch(rest)
    return not empty and bool(stems(rest))


def _unmarked(sentence: str) -> str:
    mark = LIST_MARK.match(sentence)
    return sentence[mark.end() :] if mark else sentence


def _parts(sentence: str, offset: int) -> list[Claim]:
    """Return what a sentence claims: all of it, nothing, or what is left beside a refusal."""
    conceded = _conceded(sentence.replace("\u2019", "'"))
    sentence, offset = sentence[conceded:], offset + conceded
    plain = sentence.replace("\u2019", "'")
    if not _states(plain):
        return []
    if not find_refusal(plain):
        return [_claim(sentence, offset)]
    edges = [0, *(match.end() for match in _TURN.finditer(plain)), len(sentence)]
    if len(edges) == 2:  # noqa: PLR2004 - one piece: nothing stands beside the refusal
        return []
    return [claim for start, end in pairwise(edges) for claim in _parts(sentence[start:end], offset + start)]


def _conceded(plain: str) -> int:
    """Return where the refusals end that a sentence begins with: "While the page does not say that, "."""
    end = 0
    while (concession := _CONCESSION.match(plain, end)) and find_refusal(concession[0]):
        end = concession.end()
    return end


def _claim(text: str, offset: int) -> Claim:
    """Return the claim without a list mark or salutation, and without white space around it."""
    start = 0
    for lead in (LIST_MARK, _SALUTATION):
        match = lead.match(text, start)
        start = match.end() if match else start
    shown = text[start:].strip()
    first = offset + len(text) - len(text[start:].lstrip())
    return Claim(text=shown, start=first, end=first + len(shown))
