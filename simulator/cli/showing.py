"""``simulator show``: a transcript, the table of a run, or the exact request of a call, all from the recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from ..errors import InputError
from ..recording import AttemptRecord, RecordedCall, Reference, RunRecord, find_run, parse_reference
from ..report import render_summary, render_transcript
from ..report.layout import styled
from ..summary import summarise_run
from ..transcript import Transcript, read_transcript, read_transcripts
from ..visible import escaped
from .output import print_json, print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Print what is asked for, and return the exit status."""
    reference = parse_reference(options["reference"])
    run = find_run(options["recordings"], reference)
    turns: Sequence[int] = options["turn"] or ()
    if turns and reference.scenario is None:
        raise InputError(f"--turn: name a scenario too, as in {reference.run}:SCENARIO#1 --turn {turns[0]}")
    if options["request"] is not None:
        print_json(_request(run, reference, turns, options["request"], options["repeat"]).request.full())
    elif reference.scenario is None:
        _show_run(run, as_json=options["json"])
    else:
        _show_attempts(_attempts(run, reference), turns, as_json=options["json"])
    return 0


def _show_run(run: RunRecord, *, as_json: bool) -> None:
    summary = summarise_run(attempt for scenario in run.attempts for attempt in read_transcripts(run, scenario))
    if as_json:
        facts = {"run": run.name, "state": run.state, "recorded": run.recorded, "planned": run.planned}
        print_json({**facts, "manifest": run.manifest.model_dump(), **summary.to_json()})
    else:
        print_page(render_summary(summary), *_shortfall(run))


def _shortfall(run: RunRecord) -> Iterator[Text]:
    """Yield what is missing of a run that is not complete."""
    if run.state != "complete":
        why = "; it is being played, or its process ended early" if run.seal is None else ""
        there = f"attempts recorded: {run.recorded} of {run.planned} planned"
        yield styled(f"run {escaped(run.name)} is {run.state}; {there}{why}", "unknown")


def _attempts(run: RunRecord, reference: Reference) -> tuple[Transcript, ...]:
    if reference.scenario is None or reference.attempt is None:
        return read_transcripts(run, reference.scenario or "")
    return (read_transcript(run, reference.scenario, reference.attempt),)


def _show_attempts(attempts: Sequence[Transcript], turns: Sequence[int], *, as_json: bool) -> None:
    for attempt in attempts:
        _refuse_unknown_turns(attempt, turns)
    if as_json:
        chosen = [asdict(attempt) for attempt in attempts]
        for attempt in chosen:
            attempt["turns"] = [turn for turn in attempt["turns"] if not turns or turn["number"] in turns]
        print_json(chosen)
    else:
        print_page(*(render_transcript(attempt, turns=turns) for attempt in attempts))


def _refuse_unknown_turns(attempt: Transcript, turns: Sequence[int]) -> None:
    there = {turn.number for turn in attempt.turns}
    for turn in turns:
        if turn not in there:
            raise InputError(f"--turn {turn}: {attempt.scenario} has turns 1 to {len(there)}")


def _request(run: RunRecord, reference: Reference, turns: Sequence[int], stage: str, repeat: int) -> RecordedCall:
    if reference.scenario is None or len(turns) != 1:
        raise InputError("--request: name one scenario and one turn, as in RUN:SCENARIO#1 --turn 7 --request answer")
    record = run.attempt(reference.scenario, reference.attempt or _only_attempt(run, reference.scenario))
    for call in record.calls:
        if (call.turn, call.stage, call.repeat) == (turns[0], stage, repeat):
            return call
    raise InputError(
        f"turn {turns[0]} made no {stage} call{f' {repeat}' if repeat else ''}; {_calls(record, turns[0])}"
    )


def _only_attempt(run: RunRecord, scenario: str) -> int:
    first, *others = run.numbers(scenario)
    if others:
        there = ", ".join(map(str, (first, *others)))
        raise InputError(
            f"--request: {scenario} has the attempts {there}; name one, as in {run.name}:{scenario}#{first}"
        )
    return first


def _calls(record: AttemptRecord, turn: int) -> str:
    made = [
        call.stage + (f" (--repeat {call.repeat})" if call.repeat else "") for call in record.calls if call.turn == turn
    ]
    return f"it made {', '.join(made)}" if made else "it made none"
