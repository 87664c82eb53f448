"""The verdict on a reply: by evidence, by a judge, or by both under one table.

With both, the judge is asked about every reply that makes a claim, and the verdict is

    evidence              judge says supported    unsupported    unknown
    supported             supported               unsupported    unknown
    unknown               supported               unsupported    unknown
    unsupported           supported               unsupported    unknown
    unsupported, hard     unsupported             unsupported    unsupported
    none                  not asked: none

Hard is a quantity that stands in no passage with that unit, and a negation that differs: there a judge has nothing to
weigh. What the evidence cannot know is whose a statement is and whether other words say the same, and that is the
judge's. Where the two differ, both stand in the recording for a reviewer.

Where the judge's answer gives its P(supported) and a calibration says what that comes to, this is the judge's word.

An answer that comes with a quote is read against its quote, which must stand in a passage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from ..evidence import ClaimReading, Evidence, Prepared, find_quote, prepare, read_evidence, read_quoted
from ..model import Exchange
from ..outcome import Verdict, VerdictWord
from ..scenario import Passage, Scenario
from .form import read_form
from .graded import JudgeCalibration, read_grade
from .rules import body
from .verdict import UnknownReason, holds_verdict, read_verdict, words_shown

__all__ = ["CheckBy", "ask_judge", "combine", "combined_score", "evidence_verdict", "judge_verdict", "read_reply"]

CheckBy = Literal["evidence", "judge", "both"]

_HARD = frozenset({"quantity", "negation"})
_HARD_SCORE = 0.2
"""What a reply with a hard failure scores at most, as its claim does."""

_OF_THE_WORDS_NAMED: tuple[UnknownReason, ...] = ("words not in the reply", "no words named", "contradiction")
"""Why an answer can be unknown although it holds one verdict, whose grade can be trusted."""


def read_reply(text: str, scenario: Scenario, passages: Sequence[Passage], said: Sequence[str]) -> Evidence | Verdict:
    """Return *text*, a reply, read against *passages*, or a verdict where it cannot be read as the format asks.

    *said* are the customer's messages, the one that is answered last.
    """
    form = read_form(body(text, scenario), scenario)
    if form.unknown or form.problem:
        return Verdict(word="unknown", reason=form.unknown or f"out of format: {form.problem}")
    if form.refused:
        return Verdict(word="none", reason="the reply is the refusal that the format provides for")
    if form.quote is None:
        return read_evidence(form.answer, _prepared(_texts(passages)), said=said, ignore=_required(scenario))
    return _read_quoted(form.answer, form.quote, scenario, passages, said)


def _read_quoted(
    answer: str, quote: str, scenario: Scenario, passages: Sequence[Passage], said: Sequence[str]
) -> Evidence | Verdict:
    """Return *answer* read against *quote*, which the reply gives as its source."""
    quoted = read_quoted(answer, quote, _texts(passages), said=said, ignore=_required(scenario))
    if quoted.stretch is None:
        return Verdict(word="unsupported", reason="the quote stands in no passage", spans=(answer,))
    if find_quote(answer, [("quote", quote)]):
        return Verdict(word="supported", reason="the answer stands word for word in its quote")
    return quoted.evidence


def _required(scenario: Scenario) -> tuple[str, ...]:
    """Return the sentences that the rules ask for; they claim nothing."""
    sentences = (scenario.closing_line, scenario.billing_sentence, scenario.refusal_sentence)
    return tuple(sentence for sentence in sentences if sentence is not None)


def _texts(passages: Sequence[Passage]) -> tuple[tuple[str, str], ...]:
    return tuple((passage.id, passage.text) for passage in passages)


@lru_cache(maxsize=64)
def _prepared(texts: tuple[tuple[str, str], ...]) -> Prepared:
    return prepare(texts)


def evidence_verdict(read: Evidence | Verdict) -> Verdict:
    """Return the verdict of the evidence alone."""
    if isinstance(read, Verdict):
        return read
    if read.word == "none":
        return Verdict(word="none", reason="the reply makes no claim")
    deciding = [claim for claim in read.claims if claim.word == read.word]
    spans = tuple(claim.text for claim in deciding) if read.word == "unsupported" else ()
    return Verdict(word=read.word, reason="; ".join(map(_why, deciding)), spans=spans)


def _why(claim: ClaimReading) -> str:
    return f"{claim.rule}: {claim.detail}"


def ask_judge(
    send: Callable[[int], Exchange], *, shown: str, text: str, calibration: JudgeCalibration | None = None
) -> Verdict:
    """Return the judge's verdict about *shown* of the reply *text*; where its answer says nothing, ask afresh once.

    *send* asks for the first (0) or the fresh (1) answer. Without a calibration the word is that of the last answer and
    the score the first one that could be read.
    """
    first = judge_verdict(send(0), shown=shown, text=text, calibration=calibration)
    if first.word != "unknown" or (calibration is not None and first.score is not None):
        return first
    fresh = judge_verdict(send(1), shown=shown, text=text, calibration=calibration)
    return fresh if first.score is None else replace(fresh, score=first.score)


def judge_verdict(judged: Exchange, *, shown: str, text: str, calibration: JudgeCalibration | None = None) -> Verdict:
    """Return the verdict that *judged*, the judge's answer about *shown* of the reply *text*, comes to."""
    reply = judged.reply
    if reply.text is None:
        return Verdict(word="unknown", reason=f"{reply.outcome}: {reply.detail}")
    plain = read_verdict(reply.text, shown=shown, reply=text, truncated=reply.outcome == "truncated")
    grade = _grade(judged, plain, text)
    if grade is None or calibration is None:
        return replace(plain, score=grade)
    return _by_grade(plain, grade, calibration, words_shown(shown, text))


def _grade(judged: Exchange, plain: Verdict, text: str) -> float | None:
    """Return the grade of an answer that holds one verdict, about a reply that holds none."""
    holds_one = plain.word != "unknown" or plain.reason.startswith(_OF_THE_WORDS_NAMED)
    if judged.response is None or not holds_one or holds_verdict(text):
        return None
    return read_grade(judged.response.body)


def _by_grade(plain: Verdict, grade: float, calibration: JudgeCalibration, whole: tuple[str, ...]) -> Verdict:
    """Return what *grade* comes to; of a reply whose unsupported words were not named, all sentences are: *whole*."""
    word = calibration.word(grade)
    said = f"P(supported) {grade:.2f}"
    if word == "unknown" and calibration.band is not None:
        low, high = calibration.band
        return Verdict(word=word, reason=f"undecided: {said} lies within {low:.2f} to {high:.2f}", score=grade)
    other = "" if plain.word == word else f"; its plain word is {plain.word}"
    reason = f"{said}, supported from {calibration.threshold:.2f} on{other}"
    return Verdict(word=word, reason=reason, spans=(plain.spans or whole) if word == "unsupported" else (), score=grade)


def combine(read: Evidence | Verdict, judge: Verdict) -> Verdict:
    """Return the verdict of both, by the table above."""
    evidence = evidence_verdict(read)
    if evidence.word == "none" or _is_hard(read):
        return evidence
    if judge.word in {evidence.word, "none"}:
        return judge
    return replace(judge, reason=_both(evidence.word, judge))


def combined_score(read: Evidence, judge: Verdict, *, threshold: float = 0.5) -> float:
    """Return the score of both, 0 (unsupported) to 1 (supported): the mean of the evidence's score and the judge's.

    The judge's is its P(supported), stretched on either side so that *threshold* comes to lie at 0.5; without a grade 1
    or 0 by its word. Where that is unknown, or no claim was made, the evidence's score counts alone. A hard failure of
    the evidence caps the whole at 0.2.
    """
    judged = _judge_score(judge, threshold)
    score = read.score if judged is None or read.word == "none" else (read.score + judged) / 2
    return min(score, _HARD_SCORE) if _is_hard(read) else score


def _judge_score(judge: Verdict, threshold: float) -> float | None:
    if judge.score is None:
        return {"supported": 1.0, "unsupported": 0.0}.get(judge.word)
    if judge.score < threshold:
        return judge.score / threshold / 2
    return 1 - (1 - judge.score) / (1 - threshold) / 2 if threshold < 1 else 1.0


def _is_hard(read: Evidence | Verdict) -> bool:
    if isinstance(read, Verdict):
        return read.word == "unsupported"
    return any(claim.word == "unsupported" and claim.rule in _HARD for claim in read.claims)


def _both(evidence: VerdictWord, judge: Verdict) -> str:
    reason = f": {judge.reason}" if judge.reason else ""
    return f"the judge says {judge.word}{reason}; the evidence alone says {evidence}"
