"""Two attempts, turn by turn: what changed in each, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..outcome import RuleResult
from ..transcript import Transcript, TurnReading
from .fields import FieldChange, changed_fields, plain_form
from .kinds import GRAVITY, Kind, gravest, kind_between, rank
from .texts import TextDiff, diff_texts
from .wording import plural, sum_up

__all__ = ["OF_REPLY", "AttemptDiff", "AttemptName", "Change", "TurnDiff", "What", "diff_attempts", "readings"]

What = Literal[
    "state",
    "reply",
    "rule",
    "expectation",
    "verdict",
    "decision",
    "rewrite",
    "delivered",
    "delivered rule",
    "delivered expectation",
    "finish",
    "call",
    "model",
]

_ASPECTS: Mapping[str, What] = {
    "state": "state",
    "problem": "state",
    "reply": "reply",
    "rules": "rule",
    "expectation": "expectation",
    "verdict": "verdict",
    "decision": "decision",
    "rewrite": "rewrite",
    "delivered": "delivered",
    "delivered_rules": "delivered rule",
    "delivered_expectation": "delivered expectation",
    "finish": "finish",
    "calls": "call",
}
"""By field of a turn's plain form, in the order in which changes of one gravity are listed."""

_NAMED = frozenset({"rules", "delivered_rules", "calls"})
_TEXTS = frozenset({"reply", "rewrite", "delivered"})
OF_REPLY: Mapping[What, What] = {"delivered rule": "rule", "delivered expectation": "expectation"}
"""What is read of the delivered text, and what is the same of the reply."""

_Reading = tuple[str, str]
"""A word and, for a person, what stands behind it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptName:
    """Which attempt; ``str`` of it is how the command line names it, ``RUN:SCENARIO#ATTEMPT``."""

    run: str
    scenario: str
    attempt: int

    @classmethod
    def of(cls, transcript: Transcript) -> AttemptName:
        """Return the name of the attempt that *transcript* reads."""
        return cls(run=transcript.run, scenario=transcript.scenario, attempt=transcript.attempt)

    def __str__(self) -> str:
        return f"{self.run}:{self.scenario}#{self.attempt}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One thing that is not the same in both attempts."""

    kind: Kind
    what: What
    name: str = ""
    """Which rule, call or model; empty elsewhere."""
    old: str
    """How it stood in the first attempt: "kept", "released"; for a text "text", "none" or "as the reply"."""
    new: str
    old_detail: str = ""
    new_detail: str = ""
    text: TextDiff | None = None
    """For a text; None where it is the reply's own change, which is given there."""

    @property
    def label(self) -> str:
        """What changed: "rule max_words"."""
        return f"{self.what} {self.name}".rstrip()

    @property
    def step(self) -> str:
        """How it changed: "kept (38 words, 40 allowed) → broken (46 words, 40 allowed)"."""
        if self.text is not None and self.old == self.new == "text":
            return f"text changed, {self.text.in_common}"
        if self.old == self.new == "as the reply":
            return "as the reply in both"
        return f"{_with_detail(self.old, self.old_detail)} → {_with_detail(self.new, self.new_detail)}"

    @property
    def words(self) -> str:
        """The change as one line."""
        return f"{self.label}: {self.step}"

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {
            "kind": self.kind,
            "what": self.what,
            "name": self.name,
            "old": self.old,
            "new": self.new,
            "old_detail": self.old_detail,
            "new_detail": self.new_detail,
            "words": self.words,
            "text": None if self.text is None else self.text.to_json(),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnDiff:
    """One turn in which something changed."""

    number: int
    say: str
    answer_from: str
    probe: str
    kind: Kind
    """The gravest of its changes."""
    changes: tuple[Change, ...]
    """The gravest first."""

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {
            "turn": self.number,
            "say": self.say,
            "answer_from": self.answer_from,
            "probe": self.probe,
            "kind": self.kind,
            "changes": [change.to_json() for change in self.changes],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptDiff:
    """What differs between two attempts, A and B, of one scenario."""

    a: AttemptName
    b: AttemptName
    problems: tuple[str, ...]
    """What could not be compared, or only with care, one line each."""
    changes: tuple[Change, ...]
    """What is not of one turn: the models that answered."""
    turns: tuple[TurnDiff, ...]
    """The turns that changed, the gravest first, then by number."""
    unchanged: tuple[int, ...]
    """Turns played in both, with nothing that differs."""
    not_played: tuple[int, ...]
    """Turns played in neither, for the same reason."""
    fields: tuple[FieldChange, ...]
    """Every field that differs in the turns compared; everything above says the same in words."""

    @property
    def compared(self) -> int:
        """How many turns were played in A or B and compared."""
        return len(self.turns) + len(self.unchanged)

    @property
    def regressions(self) -> tuple[TurnDiff, ...]:
        """The turns with a regression."""
        return tuple(turn for turn in self.turns if turn.kind == "regression")

    @property
    def summary(self) -> str:
        """One line: "10 turns: 1 regressed, 6 churned, 3 unchanged; 1 problem"."""
        kinds: list[Kind | None] = [*(turn.kind for turn in self.turns), *(None for _ in self.unchanged)]
        return sum_up(kinds, self.problems, not_played=len(self.not_played))

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values, the gravest turns first."""
        counts = Counter(turn.kind for turn in self.turns)
        return {
            "a": str(self.a),
            "b": str(self.b),
            "summary": self.summary,
            "counts": {
                **{kind: counts[kind] for kind in GRAVITY},
                "unchanged": len(self.unchanged),
                "not_played": len(self.not_played),
            },
            "problems": list(self.problems),
            "changes": [change.to_json() for change in self.changes],
            "turns": [turn.to_json() for turn in self.turns],
            "unchanged": list(self.unchanged),
            "not_played": list(self.not_played),
            "fields": [field.to_json() for field in self.fields],
        }


def diff_attempts(a: Transcript, b: Transcript) -> AttemptDiff:
    """Compare two attempts; turns belong together by number, and only where the customer says the same in both."""
    problems = tuple(_problems(a, b))
    numbers = _comparable(a, b)
    plain_a, plain_b = plain_form(a, numbers), plain_form(b, numbers)
    fields = changed_fields(plain_a, plain_b) if a.scenario == b.scenario else ()
    turns_a, turns_b = _by_number(a), _by_number(b)
    turns = [diff for number in numbers if (diff := _turn_diff(turns_a[number], turns_b[number], fields))]
    same = set(numbers) - {turn.number for turn in turns}
    return AttemptDiff(
        a=AttemptName.of(a),
        b=AttemptName.of(b),
        problems=problems,
        changes=tuple(_model_changes(plain_a["models"], plain_b["models"])),
        turns=tuple(sorted(turns, key=lambda turn: (rank(turn.kind), turn.number))),
        unchanged=tuple(sorted(number for number in same if turns_a[number].state == "played")),
        not_played=tuple(sorted(number for number in same if turns_a[number].state != "played")),
        fields=fields,
    )


def _with_detail(word: str, detail: str) -> str:
    return f"{word} ({detail})" if detail else word


def _by_number(transcript: Transcript) -> dict[int, TurnReading]:
    return {turn.number: turn for turn in transcript.turns}


def _comparable(a: Transcript, b: Transcript) -> list[int]:
    """Return the numbers of the turns in which both customers say the same; none where the scenarios differ."""
    if a.scenario != b.scenario:
        return []
    says_b = {turn.number: turn.say for turn in b.turns}
    return [turn.number for turn in a.turns if says_b.get(turn.number) == turn.say]


def _problems(a: Transcript, b: Transcript) -> Iterator[str]:
    if a.scenario != b.scenario:
        yield f"A plays {a.scenario}, B plays {b.scenario}: different scenarios are not compared"
        return
    for side, transcript in (("A", a), ("B", b)):
        if not transcript.complete:
            yield f"{side} is not complete: {transcript.problem or 'no reason recorded'}"
    if a.title != b.title:
        yield f"the scenario is not the same: its title is {a.title!r} in A, {b.title!r} in B"
    yield from _missing_turns(a, b)
    turns_b = _by_number(b)
    for turn in a.turns:
        if turn.number in turns_b:
            yield from _turn_problems(turn, turns_b[turn.number])


def _missing_turns(a: Transcript, b: Transcript) -> Iterator[str]:
    numbers_a, numbers_b = set(_by_number(a)), set(_by_number(b))
    for side, only in (("A", numbers_a - numbers_b), ("B", numbers_b - numbers_a)):
        if only:
            listed = ", ".join(str(number) for number in sorted(only))
            counts = f"A has {plural(len(numbers_a), 'turn')}, B has {len(numbers_b)}"
            yield f"{counts}: not compared, being only in {side}, {'turn' if len(only) == 1 else 'turns'} {listed}"


def _turn_problems(a: TurnReading, b: TurnReading) -> Iterator[str]:
    if a.say != b.say:
        yield f"turn {a.number} is not compared: the customer says {_short(a.say)!r} in A, {_short(b.say)!r} in B"
    elif (a.answer_from, a.probe) != (b.answer_from, b.probe):
        yield f"turn {a.number} is tagged {a.answer_from}, {a.probe} in A, {b.answer_from}, {b.probe} in B"


def _short(text: str) -> str:
    most = 60
    return text if len(text) <= most else text[: most - 1] + "…"


def _model_changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    for stage in sorted(set(a) & set(b)):
        for how in ("asked", "reported"):
            old, new = ", ".join(a[stage][how]), ", ".join(b[stage][how])
            if old != new:
                yield Change(kind="changed", what="model", name=f"{how}, stage {stage}", old=old, new=new)


def _turn_diff(a: TurnReading, b: TurnReading, fields: Iterable[FieldChange]) -> TurnDiff | None:
    paths = [change.path[2:] for change in fields if change.path[:2] == ("turns", str(a.number))]
    touched = {(str(path[0]), str(path[1]) if path[0] in _NAMED else "") for path in paths}
    changes = sorted(_turn_changes(a, b, touched), key=lambda change: rank(change.kind))
    kind = gravest(change.kind for change in changes)
    if kind is None:
        return None
    return TurnDiff(
        number=a.number, say=a.say, answer_from=a.answer_from, probe=a.probe, kind=kind, changes=tuple(changes)
    )


def _turn_changes(a: TurnReading, b: TurnReading, touched: Collection[tuple[str, str]]) -> list[Change]:
    """Return the changes of a turn. Where one side was played and the other not, that is all there is to say."""
    if a.state != b.state:
        return [_reading_change("state", "", a, b)]
    changes: dict[tuple[What, str], Change] = {}
    for aspect, what in _ASPECTS.items():
        for name in sorted(name for touched_aspect, name in touched if touched_aspect == aspect):
            changes[what, name] = _text_change(what, a, b) if what in _TEXTS else _reading_change(what, name, a, b)
    return [change for key, change in changes.items() if not _told_of_the_reply(change, changes.get(_reply_key(key)))]


def _reply_key(key: tuple[What, str]) -> tuple[What, str]:
    return OF_REPLY.get(key[0], key[0]), key[1]


def _told_of_the_reply(change: Change, of_reply: Change | None) -> bool:
    """Whether *change*, read on the delivered text, only repeats what is said of the reply."""
    return change.what in OF_REPLY and of_reply is not None and (of_reply.old, of_reply.new) == (change.old, change.new)


def _reading_change(what: What, name: str, a: TurnReading, b: TurnReading) -> Change:
    (old, old_detail), (new, new_detail) = _reading(what, name, a), _reading(what, name, b)
    kind = kind_between(old, new)
    if what in {"call", "finish"} and old != new:
        kind = "changed"
    return Change(kind=kind, what=what, name=name, old=old, new=new, old_detail=old_detail, new_detail=new_detail)


def _text_change(what: What, a: TurnReading, b: TurnReading) -> Change:
    (old_text, old), (new_text, new) = _text(what, a), _text(what, b)
    kind: Kind = "changed" if (old_text is None) != (new_text is None) else "churn"
    told = old == new == "as the reply"
    text = None if told else diff_texts(old_text or "", new_text or "")
    return Change(kind=kind, what=what, old=old, new=new, text=text)


def _text(what: What, turn: TurnReading) -> tuple[str | None, str]:
    """Return a text of *turn* and what it is, in words."""
    text = {"reply": turn.reply, "rewrite": turn.rewrite}.get(what, turn.delivered)
    if text is None:
        return None, "none"
    return text, "as the reply" if what == "delivered" and text == turn.reply else "text"


def _reading(what: What, name: str, turn: TurnReading) -> _Reading:
    if what == "call":
        return next(((call.outcome, call.detail) for call in turn.calls if call.id == name), ("not made", ""))
    if what in {"rule", "delivered rule"}:
        return _rule(turn.rules if what == "rule" else turn.delivered_rules, name)
    return readings(turn)[what]


def _rule(rules: Iterable[RuleResult], name: str) -> _Reading:
    return next(((rule.standing, rule.detail) for rule in rules if rule.rule == name), ("absent", ""))


def readings(turn: TurnReading) -> dict[What, _Reading]:
    """Return what was read of *turn* and done in it, rules and texts apart: a word and its detail each."""
    verdict, decision = turn.verdict, turn.decision
    flagged = ", ".join(f"“{span}”" for span in verdict.spans)
    return {
        "state": (turn.state, turn.problem),
        "expectation": (turn.expectation.met, turn.expectation.detail),
        "verdict": (verdict.word, "; ".join(part for part in (verdict.reason, flagged) if part)),
        "decision": ("none", "") if decision is None else (decision.word, decision.reason),
        "delivered expectation": (turn.delivered_expectation.met, turn.delivered_expectation.detail),
        "finish": (turn.finish or "not told", ""),
    }
