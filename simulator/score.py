"""What an honest summary of answers from documents holds: refusals, quotes, references, and what no quote carries.

Every recorded reply to a document turn is read anew, against the passages that its turn admits; decisions and met
expectations are those of the recording. A reading applies to a reply or does not, and where it does it is yes, no or
unknown, such as for a reply that was cut off:

    in_format          it has the form that the scenario asks for: replies in another format than text
    refused_exactly    it is the refusal, as the scenario words it or as its format provides: every reply
    refused_otherwise  it declines to answer in words of its own: every reply
    quoted             it gives a quote: answers in a format that has a place for one
    verbatim           the quote stands in one admitted passage, word for word: quotes
    carried            what it answers stands in the quote: verbatim quotes
    reference_exact    the answer is a reference answer, normalised as SQuAD does: turns with reference answers
    reference_held     the answer holds a reference answer, likewise: turns with reference answers
    met                the model's reply meets the expectation: turns with one
    delivered_met      what the customer sees meets it; a holding sentence does not: turns with one
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import groupby
from math import exp, fsum, lgamma, log, log1p
from typing import Any, Final, Literal, get_args

from .evidence.folding import find_all, fold
from .evidence.quotes import QuoteReading, read_quoted
from .outcome import Decision, DecisionWord, Met
from .scenario import Expect, Scenario
from .squad import normalised
from .stages.expectation import declines
from .stages.form import Form, has_quote, read_form
from .stages.rules import body, read_rules
from .stages.sources import admit
from .transcript import Transcript, TurnReading, TurnState

__all__ = ["MEASURES", "Group", "Kind", "Measure", "Rate", "Reading", "Score", "ScoredTurn", "interval", "score"]

Measure = Literal[
    "in_format",
    "refused_exactly",
    "refused_otherwise",
    "quoted",
    "verbatim",
    "carried",
    "reference_exact",
    "reference_held",
    "met",
    "delivered_met",
]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
Reading = Literal["yes", "no", "unknown"]
Kind = Literal["answerable", "unanswerable", "unlabelled"]
"""Whether a turn's expectation is an answer, an abstention, or says neither."""

_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_STANDINGS: Final[Mapping[str, Reading]] = {"kept": "yes", "broken": "no", "unknown": "unknown"}
_MET: Final[Mapping[Met, Reading]] = {"met": "yes", "missed": "no", "unknown": "unknown"}
_TAIL: Final = 0.025
_STEPS: Final = 1 << 40


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredTurn:
    """One document turn of one attempt. Reply, decision and judgement are three things, and stay apart."""

    scenario: str
    attempt: int
    turn: int
    question: str
    kind: Kind
    expected: str
    """The turn's expectation in words; empty where it has none."""
    state: TurnState
    reply: str | None
    """What the model said; None where nothing came, or nothing was asked."""
    decision: Decision | None
    delivered: str | None
    judgement: str | None
    """What a person said about the reply; None where nobody has."""
    answer: str | None
    quote: str | None
    """As the reply gives it; None where the format has no place for one, or the reply is out of format."""
    readings: Mapping[Measure, Reading]
    """Those that apply."""
    format_problem: str
    not_in_quote: tuple[str, ...]
    """What of the answer the quote does not hold, where the quote is verbatim and does not carry it for certain."""

    @property
    def delivered_as_it_was(self) -> bool:
        """Whether the customer sees the reply itself."""
        return self.reply is not None and self.delivered == self.reply


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """How many of n are yes; the unknown ones may be either, so that a rate with some is a range."""

    yes: int
    unknown: int
    n: int
    low: float | None
    high: float | None
    """The exact 95% interval: its lower end with all unknown as no, its upper end with all as yes; None for n = 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The document turns of one kind in counts."""

    kind: Kind
    turns: int
    replies: int
    abstained: int
    """Turns that abstained without a call."""
    decisions: Mapping[DecisionWord, int]
    """Every word, also those that were not decided."""
    judgements: Mapping[str, int]
    """What people said about the replies; empty where nobody has."""
    rates: Mapping[Measure, Rate]


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The document turns of a run, each and by kind."""

    groups: tuple[Group, ...]
    """One for each kind, also where there are no such turns."""
    turns: tuple[ScoredTurn, ...]
    """By question, in the order in which the questions are first asked; then by scenario and attempt."""

    @property
    def not_carried(self) -> tuple[ScoredTurn, ...]:
        """The answers with a verbatim quote that does not carry them, or not for certain; the worst first."""
        return self._against("carried", "no", "unknown")

    @property
    def not_verbatim(self) -> tuple[ScoredTurn, ...]:
        """The answers whose quote stands in no admitted passage; the worst first."""
        return self._against("verbatim", "no")

    @property
    def out_of_format(self) -> tuple[ScoredTurn, ...]:
        """The replies that are not in their format; the worst first."""
        return self._against("in_format", "no")

    @property
    def questions(self) -> tuple[tuple[ScoredTurn, ...], ...]:
        """The turns of each question; where the most replies miss the expectation first, then as they are asked."""
        asked = [tuple(turns) for _, turns in groupby(self.turns, key=lambda turn: turn.question)]
        return tuple(sorted(asked, key=lambda turns: -sum(turn.readings.get("met") == "no" for turn in turns)))

    def _against(self, measure: Measure, *words: Reading) -> tuple[ScoredTurn, ...]:
        """Return the turns read as one of *words*, those of the first before the next, then what was delivered."""
        found = [turn for turn in self.turns if turn.readings.get(measure) in words]
        return tuple(
            sorted(found, key=lambda turn: (words.index(turn.readings[measure]), not turn.delivered_as_it_was))
        )

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {**asdict(self), "not_carried": [_place(turn) for turn in self.not_carried]}


def _place(turn: ScoredTurn) -> dict[str, Any]:
    return {"scenario": turn.scenario, "attempt": turn.attempt, "turn": turn.turn}


def score(transcripts: Iterable[Transcript], scenarios: Mapping[str, Scenario]) -> Score:
    """Return the document turns of *transcripts*, scored; *scenarios* are those that were played, by name. Pure."""
    ordered = sorted(transcripts, key=lambda attempt: (attempt.scenario, attempt.attempt))
    turns = [
        _score_turn(transcript, turn, scenarios[transcript.scenario])
        for transcript in ordered
        for turn in transcript.turns
        if turn.answer_from == "document"
    ]
    first = {turn.question: place for place, turn in reversed(list(enumerate(turns)))}
    turns.sort(key=lambda turn: first[turn.question])
    return Score(groups=tuple(_group(kind, turns) for kind in _KINDS), turns=tuple(turns))


# A turn.


def _score_turn(transcript: Transcript, turn: TurnReading, scenario: Scenario) -> ScoredTurn:
    expect = scenario.turn(turn.number).expect
    said = None if turn.reply is None else _Said(turn.reply, turn, scenario)
    readings = dict(said.readings()) if said else {}
    return ScoredTurn(
        scenario=transcript.scenario,
        attempt=transcript.attempt,
        turn=turn.number,
        question=turn.say,
        kind=_kind(expect),
        expected=_in_words(expect),
        state=turn.state,
        reply=turn.reply,
        decision=turn.decision,
        delivered=turn.delivered,
        judgement=None,
        answer=said.form.answer if said else None,
        quote=said.form.quote if said else None,
        readings={**readings, **dict(_expectations(turn))},
        format_problem=said.form.problem if said else "",
        not_in_quote=said.not_in_quote() if said and readings.get("carried") in {"no", "unknown"} else (),
    )


def _kind(expect: Expect | None) -> Kind:
    if expect is None:
        return "unlabelled"
    if expect.abstain:
        return "unanswerable"
    answer = expect.contains or expect.any_of or expect.reference or expect.abstain is not None
    return "answerable" if answer else "unlabelled"


def _in_words(expect: Expect | None) -> str:
    if expect is None:
        return ""
    parts = {
        "": "declines" if expect.abstain else "answers" if expect.abstain is not None else "",
        "answer ": " / ".join(expect.reference),
        "holds ": ", ".join(expect.contains),
        "holds one of ": ", ".join(expect.any_of),
        "without ": ", ".join(expect.absent),
    }
    return "; ".join(lead + part for lead, part in parts.items() if part)


def _expectations(turn: TurnReading) -> Iterator[tuple[Measure, Reading]]:
    if turn.reply is not None and turn.expectation.met != "none":
        yield "met", _MET[turn.expectation.met]
    if turn.delivered_expectation.met != "none":
        yield "delivered_met", _MET[turn.delivered_expectation.met]
    elif turn.decision is not None and turn.decision.word == "held" and turn.expectation.met != "none":
        yield "delivered_met", "no"


class _Said:
    """One reply to a document turn, taken apart."""

    def __init__(self, text: str, turn: TurnReading, scenario: Scenario) -> None:
        self.scenario = scenario
        self.script = scenario.turn(turn.number)
        self.asked = tuple(each.say for each in scenario.turns[: turn.number])
        self.text = text
        self.body = body(text, scenario)
        self.form: Form = read_form(self.body, scenario)
        self.passages = [(passage.id, passage.text) for passage in admit(scenario, self.script)]
        self.cut_off = any(call.stage == "answer" and call.outcome == "truncated" for call in turn.calls)

    def readings(self) -> Iterator[tuple[Measure, Reading]]:
        """Yield each reading that applies."""
        rules = read_rules(self.text, self.scenario, turn=self.script, truncated=self.cut_off)
        standings = {rule.rule: rule.standing for rule in rules}
        if "format" in standings:
            yield "in_format", _STANDINGS[standings["format"]]
        exact = self.form.refused or fold(self.body).text == fold(self.scenario.refusal_sentence).text
        otherwise = not exact and declines(self.form.answer, self.scenario)
        yield "refused_exactly", self._sure(holds=exact)
        yield "refused_otherwise", self._sure(holds=otherwise)
        if has_quote(self.scenario) and not exact and not otherwise:
            yield from self._of_the_quote(standings["quote"])
        if self.script.expect and self.script.expect.reference:
            yield from self._of_the_references(self.script.expect.reference)

    def _sure(self, *, holds: bool) -> Reading:
        return "unknown" if self.cut_off else "yes" if holds else "no"

    def _of_the_quote(self, standing: str) -> Iterator[tuple[Measure, Reading]]:
        quoted = any(map(str.isalnum, self.form.quote or ""))
        yield "quoted", self._sure(holds=quoted)
        if quoted:
            yield "verbatim", _STANDINGS[standing]
            if standing == "kept":
                yield "carried", self._carried()

    def _of_the_references(self, references: Sequence[str]) -> Iterator[tuple[Measure, Reading]]:
        answer = normalised(self.form.answer)
        wanted = [normalised(reference) for reference in references]
        yield "reference_exact", self._sure(holds=answer in wanted)
        yield "reference_held", self._sure(holds=any(f" {each} " in f" {answer} " for each in wanted if each))

    def _carried(self) -> Reading:
        """Return whether the quote carries the answer; one that stands in it word for word is carried."""
        if find_all(self.form.quote or "", self.form.answer.strip(" .")):
            return "yes"
        read = self._read_quoted()
        return "yes" if read.carried else "unknown" if read.evidence.word == "unknown" else "no"

    def not_in_quote(self) -> tuple[str, ...]:
        """Return the words of the answer that the quote does not hold, or why it does not carry it."""
        against = [claim for claim in self._read_quoted().evidence.claims if claim.word != "supported"]
        return tuple(word for claim in against for word in claim.missing or (claim.detail,))

    def _read_quoted(self) -> QuoteReading:
        scenario = self.scenario
        fixed = (scenario.closing_line, scenario.billing_sentence, scenario.refusal_sentence)
        return read_quoted(
            self.form.answer,
            self.form.quote or "",
            self.passages,
            said=self.asked,
            ignore=[sentence for sentence in fixed if sentence is not None],
        )


# Turns together.


def _group(kind: Kind, turns: Iterable[ScoredTurn]) -> Group:
    own = [turn for turn in turns if turn.kind == kind]
    decided = Counter(turn.decision.word for turn in own if turn.decision is not None)
    return Group(
        kind=kind,
        turns=len(own),
        replies=sum(turn.reply is not None for turn in own),
        abstained=sum(turn.reply is None and turn.decision is not None for turn in own),
        decisions={word: decided[word] for word in get_args(DecisionWord)},
        judgements=Counter(turn.judgement for turn in own if turn.judgement is not None),
        rates={measure: _rate(turn.readings.get(measure) for turn in own) for measure in MEASURES},
    )


def _rate(readings: Iterable[Reading | None]) -> Rate:
    counts = Counter(readings)
    yes, unknown = counts["yes"], counts["unknown"]
    n = yes + unknown + counts["no"]
    low, high = (interval(yes, n)[0], interval(yes + unknown, n)[1]) if n else (None, None)
    return Rate(yes=yes, unknown=unknown, n=n, low=low, high=high)


@lru_cache(maxsize=4096)
def interval(yes: int, n: int) -> tuple[float, float]:
    """Return the exact 95% interval of a rate of *yes* in *n* independent cases, n > 0 (Clopper and Pearson 1934).

    Its ends are the rates at which as many or more, and as many or fewer, come with a probability of 2.5%.
    """
    return _lowest(yes, n) if yes else 0.0, 1 - _lowest(n - yes, n) if yes < n else 1.0


def _lowest(yes: int, n: int) -> float:
    """Return the rate at which *yes* > 0 or more of *n* come with a probability of 2.5%, within 1e-12.

    Found on the binomial sum itself: the standard library has no incomplete beta function, and one that is worth having
    comes with a package many times the size of this one.
    """
    ways = [(_log_ways(each, n), each) for each in range(yes, n + 1)]

    def probability(step: int) -> float:
        log_yes, log_no = log(step / _STEPS), log1p(-step / _STEPS)
        return fsum(exp(log_ways + each * log_yes + (n - each) * log_no) for log_ways, each in ways)

    return (bisect_left(range(1, _STEPS), _TAIL, key=probability) + 1) / _STEPS


def _log_ways(chosen: int, n: int) -> float:
    return lgamma(n + 1) - lgamma(chosen + 1) - lgamma(n - chosen + 1)
