"""Scenarios made by hand, for tests."""

from __future__ import annotations

from typing import Any

from simulator.scenario import Scenario

FEES = """\
Standard entrance pass: $15 to $30

Private vehicle: $30
- One pass admits a single private vehicle with up to 15 people.

Motorcycle: $25
- It is valid for 7 days.

Person without a vehicle: $15
- Anyone aged 15 and under comes in free; from 16 the price is due.
"""
BILLING = "Our billing team handles anything to do with money."
REFUSAL = "The park information does not say."
CLOSING = "Ref: PK-3314"


def scenario(*, expect: dict[str, Any] | None = None, **fields: Any) -> Scenario:
    """Return a scenario of one document turn with every rule of free text; *fields* replace what they name."""
    turn = {"say": "How long is the standard vehicle pass valid?", "answer_from": "document"}
    whole = {
        "scenario": "arches",
        "title": "Arches, entrance passes",
        "case_id": "PK-3314",
        "facts": {"booking_ref": "TD-5208"},
        "rules": {"max_words": 40, "forbid_money": True, "closing_line": "Ref: {case_id}", "billing": BILLING},
        "refusal": REFUSAL,
        "holding": "Let me check that with a colleague.",
        "passages": [{"id": "fees", "text": FEES}],
        "turns": [turn if expect is None else {**turn, "expect": expect}],
    }
    return Scenario.model_validate({**whole, **fields})


def quoting(max_answer_words: int | None = None, **fields: Any) -> Scenario:
    """Return a scenario whose replies are an answer and a quote, with no other rule."""
    form: dict[str, Any] = {"format": "answer_quote"}
    if max_answer_words is not None:
        form["max_answer_words"] = max_answer_words
    return scenario(**{"reply": form, "rules": {}, **fields})


def in_json(**fields: Any) -> Scenario:
    """Return a scenario whose replies are JSON with an answer and a quote, with no other rule."""
    schema = {
        "type": "object",
        "properties": {"answer": {"type": ["string", "null"]}, "quote": {"type": "string"}},
        "required": ["answer", "quote"],
    }
    return scenario(**{"reply": {"format": "json", "schema": schema}, "rules": {}, **fields})
