"""One attempt, turn by turn: model reply, application decision and human judgement as fields of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ..outcome import ExpectationResult, RuleResult
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
    yield Text()
    yield heading(f"Turn {turn.number} · {turn.answer_from} · {turn.probe}")
    yield field_list([("customer", line(turn.say)), *(_played(turn) if turn.state == "played" else _unplayed(turn))])


def _unplayed(turn: TurnReading) -> Iterator[Field]:
    yield "state", styled(_detailed(_STATES.get(turn.state, turn.state), turn.problem), turn.state)
    if turn.reply is not None:
        yield "model reply", line(turn.reply)
    if turn.delivered is not None:
        yield from _outcome(turn)


def _played(turn: TurnReading) -> Iterator[Field]:
    yield "model reply", line("none" if turn.reply is None else turn.reply)
    if turn.finish not in {None, "stop"}:
        yield "ended by the server", line(turn.finish or "an empty word")
    yield from _readings("", turn.rules, turn.expectation)
    yield "verdict", styled(_detailed(turn.verdict.word, turn.verdict.reason), turn.verdict.word)
    if turn.verdict.spans:
        yield "flagged words", line("\n".join(f"“{span}”" for span in turn.verdict.spans))
    yield from _checks(turn)
    yield from _outcome(turn)


def _checks(turn: TurnReading) -> Iterator[Field]:
    """Yield what the verdict was made of: each claim with its stretch, and either side where two were asked."""
    for claim in turn.claims:
        yield "claim", styled(f"{claim.word}, {claim.rule}: “{claim.text}”", claim.word)
        for stretch in claim.evidence:
            yield "evidence", line(f"{stretch.passage} {stretch.start}-{stretch.end}: “{stretch.text}”")
    if turn.evidence is not None and turn.judge is not None:
        yield "evidence alone", styled(turn.evidence.word, turn.evidence.word)
        yield "judge alone", styled(_detailed(turn.judge.word, turn.judge.reason), turn.judge.word)
    if turn.judge is not None and turn.judge.score is not None:
        yield "P(supported)", line(f"{turn.judge.score:.2f} by the judge")
    if turn.control is not None:
        yield "control", styled(_detailed(turn.control.word, turn.control.reason), turn.control.word)


def _outcome(turn: TurnReading) -> Iterator[Field]:
    if turn.decision is not None:
        decided = _detailed(turn.decision.word, turn.decision.reason)
        yield "application decision", styled(decided, turn.decision.word)
    if turn.rewrite is not None:
        yield "proposed rewrite", line("as delivered" if turn.rewrite == turn.delivered else turn.rewrite)
    if turn.delivered != turn.reply:
        yield "delivered", line("nothing" if turn.delivered is None else turn.delivered)
        yield from _readings("delivered ", turn.delivered_rules, turn.delivered_expectation)
    yield "human judgement", line("none yet")


def _readings(prefix: str, rules: Sequence[RuleResult], expectation: ExpectationResult) -> Iterator[Field]:
    yield f"{prefix}rules", _rules(rules)
    yield f"{prefix}expectation", styled(_detailed(expectation.met, expectation.detail), expectation.met)


def _rules(rules: Iterable[RuleResult]) -> Text:
    """Return the rules: those that are not kept first, each with what was found; then the kept ones together."""
    lines: list[Text] = []
    kept: list[str] = []
    for rule in rules:
        if rule.standing == "kept":
            kept.append(rule.rule)
        else:
            told = f"{rule.rule} {rule.standing.replace('_', ' ')}"
            lines.append(styled(_detailed(told, rule.detail), rule.standing))
    if kept:
        lines.append(styled(f"{', '.join(kept)} kept", "kept"))
    return Text("\n").join(lines) if lines else line("none")


def _detailed(word: str, detail: str) -> str:
    return f"{word}: {detail}" if detail else word
