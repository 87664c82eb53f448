"""``simulator score``: what an honest summary of a run of questions holds."""

from __future__ import annotations

from typing import Any

from ..report import render_score
from ..score import score
from .choosing import choose_attempts
from .output import print_json, print_page

__all__ = ["run"]


def run(**options: Any) -> int:
    """Print the score, and return the exit status."""
    chosen = choose_attempts(options["recordings"], options["reference"])
    names = {attempt.scenario for attempt in chosen.attempts}
    scored = score(chosen.attempts, {name: chosen.run.scenario(name) for name in names})
    if options["json"]:
        print_json(scored.to_json())
    else:
        print_page(render_score(scored, most=None if options["everything"] else options["worst"]))
    return 0
