"""Recorded calls read back into turns. Always derived, a pure function of a recording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .outcome import Decision, ExpectationResult, RuleResult, Verdict
from .recording import AnswerResult, AttemptRecord, RecordedCall, RecordedClaim, ReviewResult, RunRecord
from .scenario import Scenario, Turn

__all__ = ["CallReading", "Transcript", "TurnReading", "read_transcript", "read_transcripts", "transcribe"]

TurnState = Literal["played", "failed", "refused", "not_run"]
"""played: a reply came and a decision was taken. failed: the endpoint gave no reply. refused: it declined to answer
(a content filter). not_run: an earlier turn ended the attempt, or the attempt was interrupted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallReading:
    """One call as recorded; None is unknown, never 0."""

    id: str
    """``TURN.STAGE.REPEAT``, such as ``7.answer.0``."""
    turn: int
    stage: str
    outcome: str
    """reply, truncated, refused or failed."""
    detail: str
    """Why, for refused and failed."""
    model_asked: str | None
    model_reported: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    tries: int
    seed: int | None
    finish: str | None
    request_digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnReading:
    """One turn of an attempt."""

    number: int
    say: str
    answer_from: str
    probe: str
    state: TurnState
    problem: str = ""
    """Why the turn was not played."""
    reply: str | None = None
    """What the model said, byte for byte; None where nothing came (or an abstention made no call)."""
    finish: str | None = None
    rules: tuple[RuleResult, ...] = ()
    """Read on the reply."""
    expectation: ExpectationResult = ExpectationResult(met="none")
    """Read on the reply."""
    verdict: Verdict = Verdict(word="none")
    claims: tuple[RecordedClaim, ...] = ()
    """What the evidence said of each claim of the reply."""
    evidence: Verdict | None = None
    """The evidence alone; None where it was not asked."""
    judge: Verdict | None = None
    """The judge alone; None where it was not asked."""
    control: Verdict | None = None
    """What the document check would have said of a conversation turn; it decided nothing."""
    decision: Decision | None = None
    rewrite: str | None = None
    """The text that a second generator proposed, accepted or not."""
    delivered: str | None = None
    """What the customer sees."""
    delivered_rules: tuple[RuleResult, ...] = ()
    delivered_expectation: ExpectationResult = ExpectationResult(met="none")
    calls: tuple[CallReading, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Transcript:
    """One attempt, turn 1 to the last of its scenario; a turn that was not played is there as ``not_run``."""

    run: str
    scenario: str
    attempt: int
    title: str
    complete: bool
    problem: str
    """Why it is not complete; empty where it is."""
    turns: tuple[TurnReading, ...]


def read_transcript(run: RunRecord, scenario: str, attempt: int) -> Transcript:
    """Read one attempt of *run* back into turns, as it was played.

    Raises ``RecordingError`` for an attempt that is missing, damaged or changed.
    """
    return transcribe(run.name, run.attempt(scenario, attempt), run.scenario(scenario))


def read_transcripts(run: RunRecord, scenario: str) -> tuple[Transcript, ...]:
    """Read every attempt of *scenario* that *run* holds, in order.

    Raises ``RecordingError`` where there is none, and for one that is damaged or changed.
    """
    return tuple(read_transcript(run, scenario, number) for number in run.numbers(scenario))


def transcribe(run: str, record: AttemptRecord, scenario: Scenario) -> Transcript:
    """Return the transcript of *record*, an attempt at *scenario* in the run named *run*. Pure."""
    problem = _problem(record)
    calls: defaultdict[int, list[RecordedCall]] = defaultdict(list)
    for call in record.calls:
        calls[call.turn].append(call)
    return Transcript(
        run=run,
        scenario=record.scenario,
        attempt=record.attempt,
        title=scenario.title,
        complete=not problem,
        problem=problem,
        turns=tuple(
            _read_turn(turn, number, record, calls[number]) for number, turn in enumerate(scenario.turns, start=1)
        ),
    )


def _problem(record: AttemptRecord) -> str:
    if record.end is None:
        return "the recording breaks off" + (" in the middle of a line" if record.torn else "")
    if record.end.state == "finished":
        return ""
    return f"{record.end.state} at turn {record.end.turn}: {record.end.reason}"


def _read_turn(turn: Turn, number: int, record: AttemptRecord, calls: Sequence[RecordedCall]) -> TurnReading:
    asked = next((call for call in calls if call.stage == "answer"), None)
    review = record.reviews.get(number)
    state, problem = _state(number, asked, review, record)
    read = TurnReading(
        number=number,
        say=turn.say,
        answer_from=turn.answer_from,
        probe=turn.probe,
        state=state,
        problem=problem,
        reply=asked.reply.text if asked and asked.reply.text else None,
        finish=asked.reply.finish if asked else None,
        calls=tuple(map(_read_call, calls)),
    )
    return _reviewed(_answered(read, record.answers.get(number)), review)


def _answered(turn: TurnReading, answer: AnswerResult | None) -> TurnReading:
    return turn if answer is None else replace(turn, rules=answer.rules, expectation=answer.expectation)


def _reviewed(turn: TurnReading, review: ReviewResult | None) -> TurnReading:
    if review is None:
        return turn
    return replace(
        turn,
        verdict=review.verdict,
        claims=review.claims,
        evidence=review.evidence,
        judge=review.judge,
        control=review.control.verdict if review.control else None,
        decision=review.decision,
        rewrite=review.rewrite,
        delivered=review.delivered,
        delivered_rules=review.rules,
        delivered_expectation=review.expectation,
    )


def _state(
    number: int, asked: RecordedCall | None, review: ReviewResult | None, record: AttemptRecord
) -> tuple[TurnState, str]:
    if review is not None:
        return "played", ""
    ended_here = record.end is not None and record.end.turn == number
    if record.end is not None and ended_here and (asked is None or asked.outcome == "reply"):
        return "failed" if record.end.state == "failed" else "not_run", f"{record.end.state}: {record.end.reason}"
    if asked is None:
        return "not_run", "an earlier turn ended the attempt" if record.end else "the recording breaks off before it"
    if asked.outcome == "refused":
        return "refused", asked.detail
    if asked.outcome == "failed" or not asked.reply.text:
        return "failed", asked.detail or "no text came"
    return "not_run", "a reply came, and the recording breaks off before it was reviewed"


def _read_call(call: RecordedCall) -> CallReading:
    reply = call.reply
    return CallReading(
        id=call.id,
        turn=call.turn,
        stage=call.stage,
        outcome=call.outcome,
        detail=call.detail,
        model_asked=call.request.body.get("model"),
        model_reported=reply.model,
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        seconds=call.seconds,
        tries=len(call.tries),
        seed=call.request.body.get("seed"),
        finish=reply.finish,
        request_digest=call.request.digest,
    )
