"""Two runs, whose attempts are exchangeable: counts per turn on each side, the closest and the furthest replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..transcript import Transcript, TurnReading
from .attempts import OF_REPLY, AttemptName, What, readings
from .kinds import GRAVITY, Kind, gravest, kind_between_counts, rank, total_rated
from .texts import TextDiff, diff_texts, similarity
from .wording import plural, sum_up

__all__ = ["COUNTS_ONLY", "Pair", "RunDiff", "ScenarioCounts", "Side", "Tally", "TurnCounts", "diff_runs"]

COUNTS_ONLY = "These are counts and claim no significance: a difference may be sampling alone."

_MOST_REPLIES = 20
"""Different replies of a side that are paired; the pairs grow with its square."""

_MOST_CHARACTERS = 2_000_000
"""Text that the pairs of one turn may have together."""

_GOOD_WORD: Mapping[What, str] = {
    "state": "played",
    "rule": "kept",
    "delivered rule": "kept",
    "expectation": "met",
    "delivered expectation": "met",
    "verdict": "supported",
}
_IN_WORDS: Mapping[str, str] = {
    "not_applicable": "not applicable",
    "not_run": "not run",
    "absent": "no such rule",
}
_WORDS: tuple[What, ...] = ("expectation", "verdict", "decision", "delivered expectation")

Counts = Mapping[str, int]
"""A word and in how many attempts it was read."""

_Play = tuple[AttemptName, TurnReading]
_Reply = tuple[AttemptName, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """What was compared on one side."""

    runs: tuple[str, ...]
    attempts: int

    def __str__(self) -> str:
        return f"{', '.join(self.runs) or 'no run'}, {plural(self.attempts, 'attempt')}"

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {"runs": list(self.runs), "attempts": self.attempts}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """How often each word was read of one thing, on each side.

    ``state`` is counted over all attempts, everything else over those in which the turn was played.
    """

    what: What
    name: str = ""
    """Which rule; empty elsewhere."""
    a: Counts
    b: Counts

    @property
    def kind(self) -> Kind | None:
        """What the difference means; None: equal shares, or nothing to count on one side."""
        return kind_between_counts(self.a, self.b)

    @property
    def label(self) -> str:
        """What was counted: "rule max_words"."""
        return f"{self.what} {self.name}".rstrip()

    @property
    def step(self) -> str:
        """The counts in words: "9 of 10 kept → 6 of 8 kept, 2 not applicable"; once where they are the same."""
        if self.a == self.b:
            return f"{self._side(self.a)} in both"
        return f"{self._side(self.a)} → {self._side(self.b)}"

    @property
    def words(self) -> str:
        """The counts as one line."""
        return f"{self.label}: {self.step}"

    def _side(self, counts: Counts) -> str:
        good, rated = _GOOD_WORD.get(self.what), total_rated(counts)
        rate = [f"{counts.get(good, 0)} of {rated} {good}"] if good and rated else []
        rest = sorted((word for word in counts if word != good), key=lambda word: (-counts[word], word))
        return ", ".join([*rate, *(f"{counts[word]} {_IN_WORDS.get(word, word)}" for word in rest)]) or "not played"

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        counts = {"a": dict(sorted(self.a.items())), "b": dict(sorted(self.b.items()))}
        return {"what": self.what, "name": self.name, "kind": self.kind, "words": self.words, **counts}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A reply of each side, compared as text."""

    a: AttemptName
    b: AttemptName
    text: TextDiff

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {"a": str(self.a), "b": str(self.b), "text": self.text.to_json()}


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnCounts:
    """One turn of a scenario, counted on both sides."""

    scenario: str
    number: int
    say: str
    answer_from: str
    probe: str
    kind: Kind | None
    """The gravest of its tallies; churn where only texts differ; None where nothing does."""
    tallies: tuple[Tally, ...]
    """State, rules, expectation, verdict, decision, unchanged ones too. Then rules and expectation of the delivered
    text, where they are not counted as those of the reply."""
    closest: Pair | None
    """The replies with the most words in common; None where a side has no reply."""
    furthest: Pair | None
    note: str
    """Which pairs were looked at; empty where it was all of them."""

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {
            "scenario": self.scenario,
            "turn": self.number,
            "say": self.say,
            "answer_from": self.answer_from,
            "probe": self.probe,
            "kind": self.kind,
            "tallies": [tally.to_json() for tally in self.tallies],
            "closest": None if self.closest is None else self.closest.to_json(),
            "furthest": None if self.furthest is None else self.furthest.to_json(),
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class ScenarioCounts:
    """The turns of one scenario that were compared, by what the difference of each means at its gravest."""

    scenario: str
    turns: int
    kinds: Mapping[Kind, int]
    """Every kind, also those that no turn has."""
    unchanged: int

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {"scenario": self.scenario, "turns": self.turns, **self.kinds, "unchanged": self.unchanged}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunDiff:
    """What differs between two sets of attempts, A and B. Counts only: nothing here says what is more than sampling."""

    a: Side
    b: Side
    problems: tuple[str, ...]
    """What could not be compared, or only with care, one line each."""
    turns: tuple[TurnCounts, ...]
    """Every turn compared, the gravest first, unchanged ones last, then by scenario and number."""

    @property
    def compared(self) -> int:
        """How many turns were compared."""
        return len(self.turns)

    @property
    def scenarios(self) -> tuple[ScenarioCounts, ...]:
        """The turns compared in counts, scenario by scenario."""
        kinds: dict[str, Counter[Kind | None]] = {}
        for turn in self.turns:
            kinds.setdefault(turn.scenario, Counter())[turn.kind] += 1
        return tuple(
            ScenarioCounts(
                scenario=scenario,
                turns=counts.total(),
                kinds={kind: counts[kind] for kind in GRAVITY},
                unchanged=counts[None],
            )
            for scenario, counts in sorted(kinds.items())
        )

    @property
    def regressions(self) -> tuple[TurnCounts, ...]:
        """The turns with a lower rate of kept, met or supported that did not all become unknown."""
        return tuple(turn for turn in self.turns if turn.kind == "regression")

    @property
    def summary(self) -> str:
        """One line: "20 turns: 3 regressed, 14 churned, 3 unchanged; 1 problem"."""
        return sum_up([turn.kind for turn in self.turns], self.problems)

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values, the gravest turns first."""
        counts = Counter(turn.kind for turn in self.turns)
        return {
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "summary": self.summary,
            "note": COUNTS_ONLY,
            "counts": {**{kind: counts[kind] for kind in GRAVITY}, "unchanged": counts[None]},
            "problems": list(self.problems),
            "scenarios": [scenario.to_json() for scenario in self.scenarios],
            "turns": [turn.to_json() for turn in self.turns],
        }


def diff_runs(a: Sequence[Transcript], b: Sequence[Transcript]) -> RunDiff:
    """Compare two sets of attempts by counts; turns belong together by scenario and number, where all ask the same."""
    by_a, by_b = _by_scenario(a), _by_scenario(b)
    both = sorted(set(by_a) & set(by_b))
    turns = [turn for scenario in both for turn in _scenario_counts(by_a[scenario], by_b[scenario])]
    return RunDiff(
        a=_side(a),
        b=_side(b),
        problems=tuple(_problems(by_a, by_b)),
        turns=tuple(sorted(turns, key=lambda turn: (rank(turn.kind), turn.scenario, turn.number))),
    )


def _side(transcripts: Sequence[Transcript]) -> Side:
    return Side(runs=tuple(sorted({transcript.run for transcript in transcripts})), attempts=len(transcripts))


def _by_scenario(transcripts: Iterable[Transcript]) -> dict[str, list[Transcript]]:
    found: dict[str, list[Transcript]] = {}
    for transcript in transcripts:
        found.setdefault(transcript.scenario, []).append(transcript)
    return found


def _problems(a: Mapping[str, Sequence[Transcript]], b: Mapping[str, Sequence[Transcript]]) -> Iterator[str]:
    for scenario in sorted({*a, *b}):
        if scenario not in a or scenario not in b:
            yield f"scenario {scenario} is only in {'A' if scenario in a else 'B'}: not compared"
            continue
        for side, attempts in (("A", a[scenario]), ("B", b[scenario])):
            yield from _incomplete(side, scenario, attempts)
        yield from _turn_problems(scenario, a[scenario], b[scenario])


def _incomplete(side: str, scenario: str, attempts: Sequence[Transcript]) -> Iterator[str]:
    reasons = Counter(attempt.problem or "no reason recorded" for attempt in attempts if not attempt.complete)
    for reason, number in sorted(reasons.items()):
        yield f"{side}: {number} of {plural(len(attempts), 'attempt')} of {scenario} not complete: {reason}"


def _turn_problems(scenario: str, a: Sequence[Transcript], b: Sequence[Transcript]) -> Iterator[str]:
    plays_a, plays_b = _plays(a), _plays(b)
    for number in sorted({*plays_a, *plays_b}):
        sides = plays_a.get(number, []), plays_b.get(number, [])
        if not all(sides):
            yield f"{scenario} turn {number} is only in {'A' if sides[0] else 'B'}: not compared"
        elif len({turn.say for side in sides for _, turn in side}) > 1:
            yield f"{scenario} turn {number} is not compared: the customer does not say the same in every attempt"
        elif len({(turn.answer_from, turn.probe) for side in sides for _, turn in side}) > 1:
            yield f"{scenario} turn {number} does not have the same tag and probe in every attempt"


def _plays(attempts: Iterable[Transcript]) -> dict[int, list[_Play]]:
    """Return the plays of each turn, by its number."""
    found: dict[int, list[_Play]] = {}
    for attempt in attempts:
        for turn in attempt.turns:
            found.setdefault(turn.number, []).append((AttemptName.of(attempt), turn))
    return found


def _scenario_counts(a: Sequence[Transcript], b: Sequence[Transcript]) -> Iterator[TurnCounts]:
    plays_a, plays_b = _plays(a), _plays(b)
    for number in sorted(set(plays_a) & set(plays_b)):
        if len({turn.say for _, turn in [*plays_a[number], *plays_b[number]]}) == 1:
            yield _turn_counts(plays_a[number], plays_b[number])


def _turn_counts(a: Sequence[_Play], b: Sequence[_Play]) -> TurnCounts:
    state = Tally(what="state", a=Counter(turn.state for _, turn in a), b=Counter(turn.state for _, turn in b))
    played_a, played_b = _played(a), _played(b)
    tallies = (state, *_told_once(_tallies(played_a, played_b)))
    closest, furthest, note = _pairs(_replies(a), _replies(b))
    name, first = a[0]
    return TurnCounts(
        scenario=name.scenario,
        number=first.number,
        say=first.say,
        answer_from=first.answer_from,
        probe=first.probe,
        kind=gravest([*(tally.kind for tally in tallies), _churn(played_a, played_b)]),
        tallies=tallies,
        closest=closest,
        furthest=furthest,
        note=note,
    )


def _played(plays: Iterable[_Play]) -> list[TurnReading]:
    return [turn for _, turn in plays if turn.state == "played"]


def _tallies(a: Sequence[TurnReading], b: Sequence[TurnReading]) -> Iterator[Tally]:
    yield from _rule_tallies("rule", a, b)
    for what in _WORDS:
        yield _tally(what, "", a, b, lambda turn, what=what: readings(turn)[what][0])
    yield from _rule_tallies("delivered rule", a, b)


def _told_once(tallies: Iterable[Tally]) -> Iterator[Tally]:
    """Leave out what is counted of the delivered text as it was of the reply."""
    told: dict[tuple[What, str], tuple[Counts, Counts]] = {}
    for tally in tallies:
        told[tally.what, tally.name] = (tally.a, tally.b)
        of_reply = OF_REPLY.get(tally.what)
        if of_reply is None or told.get((of_reply, tally.name)) != (tally.a, tally.b):
            yield tally


def _rule_tallies(what: What, a: Sequence[TurnReading], b: Sequence[TurnReading]) -> Iterator[Tally]:
    names = dict.fromkeys(name for turn in [*a, *b] for name in _standings(what, turn))
    for name in names:
        yield _tally(what, name, a, b, lambda turn, name=name: _standings(what, turn).get(name, "absent"))


def _standings(what: What, turn: TurnReading) -> dict[str, str]:
    rules = turn.rules if what == "rule" else turn.delivered_rules
    return {rule.rule: rule.standing for rule in rules}


def _tally(
    what: What, name: str, a: Iterable[TurnReading], b: Iterable[TurnReading], read: Callable[[TurnReading], str]
) -> Tally:
    return Tally(what=what, name=name, a=Counter(map(read, a)), b=Counter(map(read, b)))


def _churn(a: Sequence[TurnReading], b: Sequence[TurnReading]) -> Kind | None:
    """Return churn where the texts differ: not the same texts, or not in the same shares."""
    texts_a, texts_b = (Counter((turn.reply, turn.delivered) for turn in side) for side in (a, b))
    if not a or not b:
        return None
    same = all(texts_a[text] * len(b) == texts_b[text] * len(a) for text in {*texts_a, *texts_b})
    return None if same else "churn"


def _replies(plays: Iterable[_Play]) -> list[_Reply]:
    """Return the different replies to a turn, each with the first attempt that gave it."""
    found: dict[str, AttemptName] = {}
    for name, turn in plays:
        if turn.state == "played" and turn.reply is not None:
            found.setdefault(turn.reply, name)
    return [(name, reply) for reply, name in found.items()]


def _pairs(a: Sequence[_Reply], b: Sequence[_Reply]) -> tuple[Pair | None, Pair | None, str]:
    """Return the closest and the furthest pair of replies, and how many pairs were looked at if not all."""
    pairs = list(_within_bounds(product(a[:_MOST_REPLIES], b[:_MOST_REPLIES])))
    if not pairs:
        return None, None, ""
    scores = [similarity(left[1], right[1]) for left, right in pairs]
    closest, furthest = (pairs[scores.index(score)] for score in (max(scores), min(scores)))
    every = len(a) * len(b)
    note = "" if len(pairs) == every else f"{len(pairs)} of {every} pairs of different replies were looked at"
    return _pair(*closest), _pair(*furthest), note


def _within_bounds(pairs: Iterable[tuple[_Reply, _Reply]]) -> Iterator[tuple[_Reply, _Reply]]:
    """Yield pairs until their texts together are out of bounds, and always the first."""
    characters = 0
    for left, right in pairs:
        if characters > _MOST_CHARACTERS:
            return
        yield left, right
        characters += len(left[1]) + len(right[1])


def _pair(left: _Reply, right: _Reply) -> Pair:
    return Pair(a=left[0], b=right[0], text=diff_texts(left[1], right[1]))
