"""What one attempt, and a run, comes to in counts: turns played, rules, checks, decisions, expectations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from .outcome import DecisionWord, RuleResult, VerdictWord
from .transcript import Transcript, TurnReading

__all__ = ["AttemptSummary", "Counts", "RunSummary", "summarise", "summarise_run"]

_VERDICTS: tuple[str, ...] = tuple(word for word in get_args(VerdictWord) if word != "none")
_DECISIONS: tuple[str, ...] = get_args(DecisionWord)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """Counts of turns. Everything but ``turns`` and ``documents`` is counted over the turns that were played.

    Rules and expectations are those of the reply; what became of it stands in ``decisions``.
    """

    turns: int
    """Turns of the scenario."""
    played: int
    ruled: int
    """Turns with a reply to which some rule applies."""
    kept: int
    """Turns of ``ruled`` that keep every rule."""
    rules_unknown: int
    """Turns of ``ruled`` that break no rule, and where one cannot be read."""
    documents: int
    """Turns tagged to be answered from the document."""
    checked: int
    """Turns of ``documents`` with a verdict."""
    checked_elsewhere: int
    """Other turns with a verdict."""
    verdicts: Mapping[str, int]
    """supported, unsupported and unknown; together ``checked`` and ``checked_elsewhere``."""
    decisions: Mapping[str, int]
    """Every word of a decision, also those that were not taken."""
    expected: int
    """Turns with an expectation."""
    met: int
    expectations_unknown: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptSummary:
    """One attempt in counts."""

    run: str
    scenario: str
    attempt: int
    complete: bool
    problem: str
    """Why it is not complete; empty where it is."""
    counts: Counts

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    """Attempts in counts, each and together."""

    attempts: tuple[AttemptSummary, ...]
    """By scenario, then by attempt."""
    total: Counts

    @property
    def incomplete(self) -> tuple[AttemptSummary, ...]:
        """The attempts that did not end."""
        return tuple(attempt for attempt in self.attempts if not attempt.complete)

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON-ready values."""
        return {"attempts": [attempt.to_json() for attempt in self.attempts], "total": asdict(self.total)}


def summarise(transcript: Transcript) -> AttemptSummary:
    """Return *transcript* in counts."""
    return AttemptSummary(
        run=transcript.run,
        scenario=transcript.scenario,
        attempt=transcript.attempt,
        complete=transcript.complete,
        problem=transcript.problem,
        counts=_counts(transcript.turns),
    )


def summarise_run(transcripts: Iterable[Transcript]) -> RunSummary:
    """Return *transcripts* in counts, each and together."""
    ordered = sorted(transcripts, key=lambda attempt: (attempt.scenario, attempt.run, attempt.attempt))
    total = _counts([turn for transcript in ordered for turn in transcript.turns])
    return RunSummary(attempts=tuple(summarise(transcript) for transcript in ordered), total=total)


def _counts(turns: Sequence[TurnReading]) -> Counts:
    played = [turn for turn in turns if turn.state == "played"]
    ruled = [standings for turn in played if (standings := _applying(turn.rules))]
    verdicts = [(turn.answer_from == "document", turn.verdict.word) for turn in played if turn.verdict.word != "none"]
    met = [turn.expectation.met for turn in played if turn.expectation.met != "none"]
    return Counts(
        turns=len(turns),
        played=len(played),
        ruled=len(ruled),
        kept=sum(standings == {"kept"} for standings in ruled),
        rules_unknown=sum("unknown" in standings and "broken" not in standings for standings in ruled),
        documents=sum(turn.answer_from == "document" for turn in turns),
        checked=sum(document for document, _ in verdicts),
        checked_elsewhere=sum(not document for document, _ in verdicts),
        verdicts=_by_word(_VERDICTS, (word for _, word in verdicts)),
        decisions=_by_word(_DECISIONS, (turn.decision.word for turn in played if turn.decision is not None)),
        expected=len(met),
        met=met.count("met"),
        expectations_unknown=met.count("unknown"),
    )


def _by_word(words: Iterable[str], read: Iterable[str]) -> dict[str, int]:
    counts = Counter(read)
    return {word: counts[word] for word in words}


def _applying(rules: Iterable[RuleResult]) -> set[str]:
    """Return the standings of the rules that apply."""
    return {rule.standing for rule in rules} - {"not_applicable"}
