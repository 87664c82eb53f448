"""Every field of two transcripts that differs, as DeepDiff finds it: path, old value, new value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from deepdiff import DeepDiff

from ..canonical import digest_text
from ..outcome import ExpectationResult, RuleResult
from ..transcript import CallReading, Transcript, TurnReading

__all__ = ["FieldChange", "FieldStep", "changed_fields", "plain_form"]

FieldStep = Literal["changed", "type_changed", "added", "removed"]

_STEPS: Mapping[str, FieldStep] = {
    "values_changed": "changed",
    "type_changes": "type_changed",
    "dictionary_item_added": "added",
    "iterable_item_added": "added",
    "dictionary_item_removed": "removed",
    "iterable_item_removed": "removed",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldChange:
    """One field that differs. ``old`` is None where it was added, ``new`` where it was removed."""

    path: tuple[str | int, ...]
    """Keys and list places from the outside in: ``("turns", "7", "verdict", "word")``."""
    step: FieldStep
    old: Any
    new: Any

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901): ``/turns/7/verdict/word``."""
        return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in self.path)

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {"path": self.pointer, "step": self.step, "old": self.old, "new": self.new}


def changed_fields(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """Return what differs between two JSON objects, by path. Another type is another value; NaN equals NaN.

    List items are compared place by place: DeepDiff otherwise takes ``[2]`` and ``[2.0]``, ``[True]`` and ``[1]`` for
    equal. Without the threshold of 0 it reports two objects that share few keys as one change that hides the rest.
    """
    found = cast(
        "Mapping[str, Iterable[Any]]",
        DeepDiff(
            _short(a),
            _short(b),
            view="tree",
            zip_ordered_iterables=True,
            threshold_to_diff_deeper=0,
            ignore_nan_inequality=True,
            ignore_private_variables=False,
        ),
    )
    changes = (
        _field_change(step, tuple(level.path(output_format="list")), a, b)
        for report, step in _STEPS.items()
        for level in found.get(report, ())
    )
    return tuple(sorted(changes, key=lambda change: [_key(part) for part in change.path]))


def _short(value: Any) -> Any:
    """Return *value* with each text of several lines as its digest: DeepDiff makes a unified diff of such texts."""
    if isinstance(value, str):
        return digest_text(value) if "\n" in value else value
    if isinstance(value, Mapping):
        return {key: _short(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, Sequence):
        return [_short(item) for item in cast("Sequence[Any]", value)]
    return value


def _field_change(step: FieldStep, path: tuple[str | int, ...], a: object, b: object) -> FieldChange:
    old = None if step == "added" else _at(a, path)
    new = None if step == "removed" else _at(b, path)
    return FieldChange(path=path, step=step, old=old, new=new)


def _at(value: Any, path: Iterable[str | int]) -> Any:
    for key in path:
        value = value[key]
    return value


def _key(part: str | int) -> tuple[int, str]:
    """Order numbers, also those written as keys, by their value and before words."""
    text = str(part)
    return (int(text), "") if text.isdecimal() else (2**63, text)


def plain_form(transcript: Transcript, numbers: Collection[int]) -> dict[str, Any]:
    """Return the turns *numbers* of *transcript* as JSON-ready values, keyed by turn, rule and call.

    Left out is what differs between any two plays: names of run and attempt, timings, tries, seeds, digests, tokens;
    and what the scenario says of a turn, which decides whether turns are compared at all.
    """
    turns = [turn for turn in transcript.turns if turn.number in numbers]
    return {
        "scenario": transcript.scenario,
        "title": transcript.title,
        "complete": transcript.complete,
        "problem": transcript.problem,
        "models": _models(call for turn in turns for call in turn.calls),
        "turns": {str(turn.number): _turn(turn) for turn in turns},
    }


def _models(calls: Iterable[CallReading]) -> dict[str, dict[str, list[str]]]:
    """Return the models asked and reported by stage, each once, sorted."""
    names: dict[str, dict[str, set[str]]] = {}
    for call in calls:
        of_stage = names.setdefault(call.stage, {"asked": set(), "reported": set()})
        of_stage["asked"].add(call.model_asked or "unknown")
        of_stage["reported"].add(call.model_reported or "unknown")
    return {stage: {key: sorted(found) for key, found in sets.items()} for stage, sets in names.items()}


def _turn(turn: TurnReading) -> dict[str, Any]:
    decision, verdict = turn.decision, turn.verdict
    return {
        "state": turn.state,
        "problem": turn.problem,
        "reply": turn.reply,
        "finish": turn.finish,
        "rules": dict(_rules(turn.rules)),
        "expectation": _expectation(turn.expectation),
        "verdict": {"word": verdict.word, "reason": verdict.reason, "spans": list(verdict.spans)},
        "decision": None if decision is None else {"word": decision.word, "reason": decision.reason},
        "rewrite": turn.rewrite,
        "delivered": turn.delivered,
        "delivered_rules": dict(_rules(turn.delivered_rules)),
        "delivered_expectation": _expectation(turn.delivered_expectation),
        "calls": {call.id: {"outcome": call.outcome, "detail": call.detail} for call in turn.calls},
    }


def _rules(rules: Iterable[RuleResult]) -> Iterator[tuple[str, dict[str, str]]]:
    for rule in rules:
        yield rule.rule, {"standing": rule.standing, "detail": rule.detail}


def _expectation(result: ExpectationResult) -> dict[str, str]:
    return {"met": result.met, "detail": result.detail}
