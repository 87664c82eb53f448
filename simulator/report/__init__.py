"""Numbers and texts laid out for people to read, computing nothing. Importing this loads rich.

layout        the few shapes that all pages are made of
words         a text diff, with what was deleted and inserted marked
transcripts   one attempt, turn by turn
diffs         what differs between two attempts, or two runs
summaries     a run as a table
calibrations  a checker measured: confusion, figures, sources, the worst errors
scores        the score of a run: rates, failures one by one, answers side by side
"""

from __future__ import annotations

from .calibrations import render_calibration
from .diffs import render_attempt_diff, render_run_diff
from .layout import whole
from .scores import render_score
from .summaries import render_summary
from .transcripts import render_transcript
from .words import mark_words

__all__ = [
    "mark_words",
    "render_attempt_diff",
    "render_calibration",
    "render_run_diff",
    "render_score",
    "render_summary",
    "render_transcript",
    "whole",
]
