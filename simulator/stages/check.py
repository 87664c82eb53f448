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

An answer that comes with a quote is read against its quote, which must stand in a passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from ..evidence import ClaimReading, Evidence, Prepared, find_quote, prepare, read_evidence, read_quoted
from ..model import Reply
from ..outcome import Verdict, VerdictWord
from ..scenario import Passage, Scenario
from .form import read_form
from .rules import body
from .verdict import read_verdict

__all__ = ["CheckBy", "combine", "evidence_verdict", "judge_verdict", "read_reply"]

CheckBy = Literal["evidence", "judge", "both"]

_HARD = frozenset({"quantity", "negation"})


def read_reply(text: str, scenario: Scenario, passages: Sequence[Passage], said: Sequence[str]) -> Evidence | Verdict:
    """Return *text*, a reply, read against *passages*, or a verdict where it cannot be read as the format asks.

    *said* are the customer's messages, the one that is answered last.
    """
    form = read_form(body(text, scenario), scenario)
    if form.problem:
        return Verdict(word="unknown", reason=f"out of format: {form.problem}")
    if form.refused:
        return Verdict(word="none", reason="the reply is the refusal that the format provides for")
    ignore = _required(scenario)
    if form.quote is None:
        return read_evidence(form.answer, _prepared(_texts(passages)), said=said, ignore=ignore)
    quoted = read_quoted(form.answer, form.quote, _texts(passages), said=said, ignore=ignore)
    if quoted.stretch is None:
        return Verdict(word="unsupported", reason="the quote stands in no passage", spans=(form.answer,))
    if find_quote(form.answer, [("quote", form.quote)]):
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


def judge_verdict(judged: Reply, *, shown: str, text: str) -> Verdict:
    """Return the verdict that *judged*, the judge's answer about *shown* of the reply *text*, comes to."""
    if judged.text is None:
        return Verdict(word="unknown", reason=f"{judged.outcome}: {judged.detail}")
    return read_verdict(judged.text, shown=shown, reply=text, truncated=judged.outcome == "truncated")


def combine(read: Evidence | Verdict, judge: Verdict) -> Verdict:
    """Return the verdict of both, by the table above."""
    evidence = evidence_verdict(read)
    if evidence.word == "none" or _is_hard(read):
        return evidence
    if judge.word in {evidence.word, "none"}:
        return judge
    return Verdict(word=judge.word, reason=_both(evidence.word, judge), spans=judge.spans)


def _is_hard(read: Evidence | Verdict) -> bool:
    if isinstance(read, Verdict):
        return read.word == "unsupported"
    return any(claim.word == "unsupported" and claim.rule in _HARD for claim in read.claims)


def _both(evidence: VerdictWord, judge: Verdict) -> str:
    reason = f": {judge.reason}" if judge.reason else ""
    return f"the judge says {judge.word}{reason}; the evidence alone says {evidence}"
