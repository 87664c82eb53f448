"""One attempt, turn by turn: model reply, application decision and human judgement as fields of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ..outcome import ExpectationResult, RuleResult, Standing
from ..transcript import Transcript, TurnReading
from .layout import Field, field_list, heading, line, styled

__all__ = ["render_transcript"]

_STATES = {
    "failed": "failed: the endpoint gave no reply",
    "refused": "refused: the endpoint declined to answer",
    "not_run": "not run",
}


def render_transcript(transcript: Transcript, *, turns: Sequence[int] = ()) -> RenderableType:
    """Return *transcript* as a page; only the turns numbered in *turns*, if any are given."""
    chosen = [turn for turn in transcript.turns if not turns or turn.number in turns]
    return Group(*_head(transcript), *(part for turn in chosen for part in _turn(turn)))


def _head(transcript: Transcript) -> Iterator[RenderableType]:
    yield heading(f"{transcript.run}:{transcript.scenario}#{transcript.attempt}")
    yield line(transcript.title)
    if not transcript.complete:
        yield styled(f"not complete: {transcript.problem or 'no reason recorded'}", "unknown")


def _turn(turn: TurnReading) -> Iterator[RenderableType]:
    told = _Told()
    fields = _played(turn, told) if turn.state == "played" else _unplayed(turn, told)
    yield Text()
    yield heading(f"Turn {turn.number} · {turn.answer_from} · {turn.probe}")
    yield field_list([("customer", line(turn.say)), *fields])


class _Told:
    """The reasons given within one turn. One that comes back, alone or within another, is not given again."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    def note(self, reason: str) -> None:
        """Take *reason* as given: the page says it in its own way."""
        self._reasons.append(reason)

    def text(self, word: str, reason: str, *, shown: str = "") -> Text:
        """Return *word*, or what is *shown* for it, in its colour, with what of *reason* was not given before."""
        new = self._new(reason)
        return styled(f"{shown or word}: {new}" if new else shown or word, word)

    def _new(self, reason: str) -> str:
        if any(_part(reason).search(said) for said in self._reasons):
            return ""
        new = reason
        for said in sorted(self._reasons, key=len, reverse=True):
            new = _part(said).sub(lambda match: "; " if match.start() and match[0].endswith("; ") else "", new)
        if reason:
            self._reasons.append(reason)
        return new


def _part(reason: str) -> re.Pattern[str]:
    """Return what finds *reason* as a part of another: reasons are joined by colons and semicolons."""
    return re.compile(rf"(?:^|[:;] ){re.escape(reason)}(?:; |$)")


def _unplayed(turn: TurnReading, told: _Told) -> Iterator[Field]:
    yield "state", told.text(turn.state, turn.problem, shown=_STATES.get(turn.state, turn.state))
    if turn.reply is not None:
        yield "model reply", line(turn.reply)
    if turn.delivered is not None:
        yield from _outcome(turn, told)


def _played(turn: TurnReading, told: _Told) -> Iterator[Field]:
    yield "model reply", line("none" if turn.reply is None else turn.reply)
    if turn.finish not in {None, "stop"}:
        yield "ended by the server", line(turn.finish or "an empty word")
    yield from _readings("", turn.rules, turn.expectation, told)
    yield "verdict", told.text(turn.verdict.word, turn.verdict.reason)
    if turn.verdict.spans:
        told.note("unsupported: " + ", ".join(f'"{span}"' for span in turn.verdict.spans))
        yield "flagged words", line("\n".join(f"“{span}”" for span in turn.verdict.spans))
    yield from _checks(turn, told)
    yield from _outcome(turn, told)


def _checks(turn: TurnReading, told: _Told) -> Iterator[Field]:
    """Yield what the verdict was made of: each claim with its stretch, and either side where two were asked."""
    for claim in turn.claims:
        yield "claim", styled(f"{claim.word}, {claim.rule}: “{claim.text}”", claim.word)
        for stretch in claim.evidence:
            yield "evidence", line(f"{stretch.passage} {stretch.start}-{stretch.end}: “{stretch.text}”")
    if turn.evidence is not None and turn.judge is not None:
        yield "evidence alone", styled(turn.evidence.word, turn.evidence.word)
        yield "judge alone", told.text(turn.judge.word, turn.judge.reason)
    if turn.judge is not None and turn.judge.score is not None:
        yield "P(supported)", line(f"{turn.judge.score:.2f} by the judge")
    if turn.control is not None:
        yield "control", told.text(turn.control.word, turn.control.reason)


def _outcome(turn: TurnReading, told: _Told) -> Iterator[Field]:
    if turn.decision is not None:
        yield "application decision", told.text(turn.decision.word, turn.decision.reason)
    if turn.rewrite is not None:
        yield "proposed rewrite", line("as delivered" if turn.rewrite == turn.delivered else turn.rewrite)
    if turn.delivered != turn.reply:
        yield "delivered", line("nothing" if turn.delivered is None else turn.delivered)
        yield from _readings("delivered ", turn.delivered_rules, turn.delivered_expectation, told)
    yield "human judgement", line("none yet")


def _readings(prefix: str, rules: Sequence[RuleResult], expectation: ExpectationResult, told: _Told) -> Iterator[Field]:
    yield f"{prefix}rules", _rules(rules, told)
    yield f"{prefix}expectation", told.text(expectation.met, expectation.detail)


def _rules(rules: Iterable[RuleResult], told: _Told) -> Text:
    """Return the rules, those of one standing and detail together: what is not kept first, with what was found."""
    names: dict[tuple[Standing, str], list[str]] = {}
    for rule in sorted(rules, key=lambda rule: rule.standing == "kept"):
        names.setdefault((rule.standing, rule.detail), []).append(rule.rule)
    lines = [
        told.text(standing, detail, shown=f"{', '.join(of)} {standing.replace('_', ' ')}")
        for (standing, detail), of in names.items()
    ]
    return Text("\n").join(lines) if lines else line("none")
