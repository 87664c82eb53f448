"""Whether a reply does what its turn expects of a good one.

Read on the text without its closing line. All that the turn gives must hold; one part missed is missed, else one
unknown is unknown.

- ``contains``, ``any_of``, ``absent``: phrases as whole words, whatever the case, both sides folded.
- ``reference``: one of them stands in the answer, both normalised as SQuAD does: lower case, without punctuation and
  articles.
- ``abstain``: whether the answer declines. It declines when it holds the refusal, is the billing sentence alone, or has
  one of the English phrases of a refusal ("does not say", "no information about", "I don't have that", ...). A reply
  that declines *and* states a quantity which the customer did not name, outside the declining clause, may be either:
  unknown. A reply in another language declines only by the refusal sentence itself.

Of a text that was cut off only what stands there already is sure: it can meet all parts but ``absent`` and ``abstain``.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from typing import Final

from ..evidence.folding import contains, fold, words
from ..evidence.quantities import folded_quantities, quantities, same
from ..evidence.refusals import find_refusal
from ..evidence.sentences import cut, occurrences, sentences
from ..outcome import ExpectationResult, Met
from ..scenario import Scenario, Turn
from .form import read_form
from .rules import body

__all__ = ["declines", "read_expectation"]

# How far a refusal reaches; what stands beside it is not refused.
_CLAUSE: Final = re.compile(
    r"[.;:!?](?=\s|$)|\b(?:but|however|though|although|so|instead|whereas)\b|,\s(?:and|while)\b", re.IGNORECASE
)
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)

_Part = tuple[Met, str]


def read_expectation(text: str, turn: Turn, scenario: Scenario, *, truncated: bool = False) -> ExpectationResult:
    """Return whether *text*, a reply to *turn* or what was delivered of it, meets the turn's expectation."""
    parts = list(_parts(_whole_words(text) if truncated else text, turn, scenario, truncated=truncated))
    found = {met for met, _ in parts}
    worst: Met = "missed" if "missed" in found else "unknown" if "unknown" in found else "met" if found else "none"
    return ExpectationResult(met=worst, detail="; ".join(detail for met, detail in parts if detail and met == worst))


def _whole_words(text: str) -> str:
    """Return *text* without its last word, which may be half a word."""
    return re.sub(r"\S+\Z", "", text)


def _parts(text: str, turn: Turn, scenario: Scenario, *, truncated: bool) -> Iterator[_Part]:
    expect = turn.expect
    if expect is None:
        return
    said = body(text, scenario)
    answer = read_form(said, scenario).answer
    lacking: Met = "unknown" if truncated else "missed"
    if missing := [phrase for phrase in expect.contains if not contains(said, phrase)]:
        yield lacking, f"does not say {_quoted(missing)}"
    elif expect.contains:
        yield "met", ""
    if expect.any_of:
        yield _any_of(said, expect.any_of, lacking)
    if expect.absent:
        yield _absent(said, expect.absent, truncated=truncated)
    if expect.reference:
        found = any(_refers(answer, reference) for reference in expect.reference)
        yield ("met", "") if found else (lacking, f"holds no reference answer: {_quoted(expect.reference)}")
    if expect.abstain is not None:
        yield ("unknown", "the reply was cut off") if truncated else _abstain(answer, turn, scenario, expect.abstain)


def _any_of(said: str, phrases: tuple[str, ...], lacking: Met) -> _Part:
    found = any(contains(said, phrase) for phrase in phrases)
    return ("met", "") if found else (lacking, f"says none of {_quoted(phrases)}")


def _absent(said: str, phrases: tuple[str, ...], *, truncated: bool) -> _Part:
    found = [phrase for phrase in phrases if contains(said, phrase)]
    if found:
        return "missed", f"says {_quoted(found)}, which it should not"
    return ("unknown", "the reply was cut off") if truncated else ("met", "")


def _quoted(phrases: Iterable[str]) -> str:
    return ", ".join(f'"{phrase}"' for phrase in phrases)


def _refers(answer: str, reference: str) -> bool:
    wanted = _normalised(reference)
    return bool(wanted) and f" {wanted} " in f" {_normalised(answer)} "


def _normalised(text: str) -> str:
    """Return *text* as the SQuAD evaluation compares it, after folding."""
    bare = fold(text).text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _abstain(answer: str, turn: Turn, scenario: Scenario, wanted: bool) -> _Part:  # noqa: FBT001 - the scenario's word
    if occurrences(answer, scenario.holding_sentence):
        return "unknown", "the answer was put off: neither given nor refused"
    if not declines(answer, scenario):
        return ("missed", "answers, and should have declined") if wanted else ("met", "")
    if stated := _stated(answer, turn, scenario):
        return "unknown", f"declines, and yet states {_quoted(stated)}"
    return ("met", "") if wanted else ("missed", "declines, and should have answered")


def declines(text: str, scenario: Scenario) -> bool:
    """Return whether *text* declines to answer, in whole or in part; a text without words does."""
    own = cut(text, scenario.billing_sentence) if scenario.billing_sentence is not None else text
    if not words(own) or occurrences(own, scenario.refusal_sentence):
        return True
    return any(find_refusal(clause) for clause in _clauses(text))


def _clauses(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        yield from (clause.strip() for clause in _CLAUSE.split(fold(sentence.text).text))


def _stated(answer: str, turn: Turn, scenario: Scenario) -> tuple[str, ...]:
    """Return the quantities outside declining clauses that neither the customer nor the scenario's facts name."""
    known = [quantity for text in _customer_texts(turn, scenario) for quantity in folded_quantities(text)]
    found: list[str] = []
    for clause in _clauses(answer):
        refusal = find_refusal(clause)
        stated = quantities(clause[: refusal.start()] if refusal else clause)
        found += [quantity.text for quantity in stated if not any(same(other, quantity) for other in known)]
    return tuple(dict.fromkeys(found))


def _customer_texts(turn: Turn, scenario: Scenario) -> Iterator[str]:
    for each in scenario.turns:
        yield each.say
        if each == turn:
            break
    yield from scenario.facts.values()
