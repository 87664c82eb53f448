"""Transcripts made by hand, for tests."""

from __future__ import annotations

from typing import Any

from simulator.outcome import Decision, DecisionWord, ExpectationResult, RuleResult, Standing, Verdict
from simulator.transcript import CallReading, Transcript, TurnReading


def turn(number: int = 1, reply: str | None = "A pass is needed.", **fields: Any) -> TurnReading:
    """Return a played document turn whose reply was released as it is; *fields* replace what they name."""
    whole = {
        "number": number,
        "say": f"Question {number}?",
        "answer_from": "document",
        "probe": "ordinary",
        "state": "played",
        "reply": reply,
        "finish": "stop",
        "rules": rules(max_words="kept"),
        "expectation": ExpectationResult(met="met"),
        "verdict": Verdict(word="supported"),
        "decision": decided("released"),
        "delivered": reply,
    }
    return TurnReading(**{**whole, **fields})


def unplayed(number: int = 1, **fields: Any) -> TurnReading:
    """Return a turn to which no reply came."""
    whole = {"number": number, "say": f"Question {number}?", "answer_from": "document", "probe": "ordinary"}
    return TurnReading(**{**whole, "state": "failed", "problem": "connection refused", **fields})


def rules(**standings: Standing) -> tuple[RuleResult, ...]:
    """Return results of rules, by name."""
    return tuple(RuleResult(rule=name, standing=standing) for name, standing in standings.items())


def decided(word: DecisionWord, reason: str = "") -> Decision:
    """Return a decision."""
    return Decision(word=word, reason=reason)


def call(stage: str = "answer", number: int = 1, **fields: Any) -> CallReading:
    """Return a call to which a reply came; *fields* replace what they name."""
    whole = {
        "id": f"{number}.{stage}.0",
        "turn": number,
        "stage": stage,
        "outcome": "reply",
        "detail": "",
        "model_asked": "small",
        "model_reported": "small",
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "seconds": 0.5,
        "tries": 1,
        "seed": 7,
        "finish": "stop",
        "request_digest": "0" * 64,
    }
    return CallReading(**{**whole, **fields})


def transcript(*turns: TurnReading, **fields: Any) -> Transcript:
    """Return an attempt with *turns*; *fields* replace what they name."""
    whole = {"run": "first", "scenario": "arches", "attempt": 1, "title": "Arches", "complete": True, "problem": ""}
    return Transcript(**{**whole, "turns": turns, **fields})
