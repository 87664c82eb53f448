"""Two transcripts, turn by turn; or two sets of them, by counts. Pure: no network, no clock, no files.

kinds      what a difference means, and which is gravest
texts      two texts, word by word
fields     every field that differs, as DeepDiff finds it
attempts   two attempts: what changed in each turn, in words
runs       two runs: counts per turn on each side
wording    how differences are summed up in one line
"""

from __future__ import annotations

from .attempts import AttemptDiff, AttemptName, Change, TurnDiff, diff_attempts
from .fields import FieldChange
from .kinds import GRAVITY, Kind
from .runs import COUNTS_ONLY, Pair, RunDiff, ScenarioCounts, Side, Tally, TurnCounts, diff_runs
from .texts import Piece, TextDiff, diff_texts
from .wording import plural

__all__ = [
    "COUNTS_ONLY",
    "GRAVITY",
    "AttemptDiff",
    "AttemptName",
    "Change",
    "FieldChange",
    "Kind",
    "Pair",
    "Piece",
    "RunDiff",
    "ScenarioCounts",
    "Side",
    "Tally",
    "TextDiff",
    "TurnCounts",
    "TurnDiff",
    "diff_attempts",
    "diff_runs",
    "diff_texts",
    "plural",
]
