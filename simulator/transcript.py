"""Recorded calls read back into turns. Always derived, a pure function of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .evidence import ClaimReading, Stretch
from .outcome import Decision, ExpectationResult, RuleResult, Verdict
from .recording import AttemptRecord, RecordedCall, RunRecord
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
    claims: tuple[ClaimReading, ...] = ()
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

    Raises ``RecordingError`` for an attempt that is missing or damaged.
    """
    record = run.attempt(scenario, attempt)
    return transcribe(run.manifest.run, run.scenario(scenario), record)


def read_transcripts(run: RunRecord, scenario: str) -> tuple[Transcript, ...]:
    """Read every attempt of *scenario* that *run* holds, in order.

    Raises ``RecordingError`` where there is none, and for one that is damaged.
    """
    numbers = run.numbers(scenario)
    script = run.scenario(scenario)
    return tuple(transcribe(run.manifest.run, script, run.attempt(scenario, number)) for number in numbers)


def transcribe(run: str, scenario: Scenario, record: AttemptRecord) -> Transcript:
    """Return the transcript of *record*, an attempt at *scenario* in the run named *run*. Pure."""
    problem = _problem(record)
    return Transcript(
        run=run,
        scenario=record.scenario,
        attempt=record.attempt,
        title=scenario.title,
        complete=not problem,
        problem=problem,
        turns=tuple(_read_turn(scenario.turn(number), number, record) for number in range(1, len(scenario.turns) + 1)),
    )


def _problem(record: AttemptRecord) -> str:
    if record.end is None:
        return "the recording breaks off" + (" in the middle of a line" if record.torn else "")
    if record.end.state == "finished":
        return ""
    return f"{record.end.state} at turn {record.end.turn}: {record.end.reason}"


def _read_turn(turn: Turn, number: int, record: AttemptRecord) -> TurnReading:
    calls = tuple(call for call in record.calls if call.turn == number)
    answer = next((call for call in calls if call.stage == "answer"), None)
    read: Mapping[str, Any] = record.outcomes.get((number, "answer"), {})
    review: Mapping[str, Any] = record.outcomes.get((number, "review"), {})
    control: Mapping[str, Any] = review.get("control") or {}
    state, problem = _state(answer, review, record)
    return TurnReading(
        number=number,
        say=turn.say,
        answer_from=turn.answer_from,
        probe=turn.probe,
        state=state,
        problem=problem,
        reply=answer.reply.text if answer and answer.reply.text else None,
        finish=answer.reply.finish if answer else None,
        rules=_rules(read),
        expectation=_expectation(read),
        verdict=_verdict(review.get("verdict")) or Verdict(word="none"),
        claims=_claims(review),
        evidence=_verdict(review.get("evidence")),
        judge=_verdict(review.get("judge")),
        control=_verdict(control.get("verdict")),
        decision=Decision(**review["decision"]) if review.get("decision") else None,
        rewrite=review.get("rewrite"),
        delivered=review.get("delivered"),
        delivered_rules=_rules(review),
        delivered_expectation=_expectation(review),
        calls=tuple(_read_call(call) for call in calls),
    )


def _state(answer: RecordedCall | None, review: Mapping[str, Any], record: AttemptRecord) -> tuple[TurnState, str]:
    if review:
        return "played", ""
    if answer is None:
        return "not_run", "an earlier turn ended the attempt" if record.end else "the recording breaks off before it"
    if answer.outcome == "refused":
        return "refused", answer.detail
    if answer.outcome == "failed" or not answer.reply.text:
        return "failed", answer.detail or "no text came"
    return "not_run", "a reply came, and the recording breaks off before it was reviewed"


def _rules(result: Mapping[str, Any]) -> tuple[RuleResult, ...]:
    return tuple(RuleResult(**each) for each in result.get("rules", ()))


def _expectation(result: Mapping[str, Any]) -> ExpectationResult:
    return ExpectationResult(**result["expectation"]) if "expectation" in result else ExpectationResult(met="none")


def _verdict(read: Mapping[str, Any] | None) -> Verdict | None:
    if read is None:
        return None
    # Recordings made before there was a score have none.
    return Verdict(word=read["word"], reason=read["reason"], spans=tuple(read["spans"]), score=read.get("score"))


def _claims(result: Mapping[str, Any]) -> tuple[ClaimReading, ...]:
    return tuple(map(_claim, result.get("claims", ())))


def _claim(read: Mapping[str, Any]) -> ClaimReading:
    stretches = tuple(Stretch(**stretch) for stretch in read["evidence"])
    fields: dict[str, Any] = {**read, "evidence": stretches, "missing": tuple(read["missing"])}
    return ClaimReading(**fields)


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
