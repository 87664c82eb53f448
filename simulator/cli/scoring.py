"""``simulator score``: what an honest summary of a run of questions holds."""

from __future__ import annotations

from typing import Any

from ..recording import find_run, parse_reference
from ..report import render_score
from ..score import score
from ..transcript import read_transcript, read_transcripts
from .output import print_json, print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Print the score, and return the exit status."""
    reference = parse_reference(options["reference"])
    run = find_run(options["recordings"], reference)
    names = list(run.attempts) if reference.scenario is None else [reference.scenario]
    if reference.scenario is not None and reference.attempt is not None:
        transcripts = (read_transcript(run, reference.scenario, reference.attempt),)
    else:
        transcripts = tuple(attempt for name in names for attempt in read_transcripts(run, name))
    scored = score(transcripts, {name: run.scenario(name) for name in names})
    if options["json"]:
        print_json(scored.to_json())
    else:
        print_page(render_score(scored))
    return 0
