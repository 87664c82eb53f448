"""Every call of a run, one line each, never rewritten.

A run is a folder::

    run.json                         the manifest: written once, before the first call
    scenarios/NAME.yaml              what was played, verbatim
    templates/NAME.jinja
    SCENARIO/ATTEMPT.jsonl           append-only
    sealed.json                      written when the run ends: lines and head of every file

Every line is canonical JSON with its ``kind`` and ``prev``, the SHA-256 of the line before (of ``run.json`` for the
first line). A text is stored once per attempt, under its own SHA-256, and calls refer to it; the text of a reply
stays where it came, in the body of its call. Nothing here is derived: a call is what was sent and received, an
outcome is what was done at play time.

What is read is compared with all of this: a file or a line that was changed, cut off, added or taken from elsewhere is
an error that names it. The modules, in reading order:

    lines       the format: the lines of an attempt, the manifest, the seal
    parsing     JSON of a recording
    files       the files of a run, opened with care
    writer      a run as it is written
    attempt     one attempt read back
    reader      a run read back
    reference   which run a person means, and which there are
"""

from .attempt import AttemptRecord, RecordedCall
from .lines import (
    FORMAT,
    AnswerResult,
    EndLine,
    Manifest,
    RecordedClaim,
    RecordedStretch,
    ReviewResult,
    Seal,
    SealedFile,
)
from .parsing import problem
from .reader import RunRecord, open_run
from .reference import Reference, Runs, UnreadableRun, find_run, list_runs, parse_reference
from .writer import AttemptWriter, RunWriter, create_run, refuse_run_name

__all__ = [
    "FORMAT",
    "AnswerResult",
    "AttemptRecord",
    "AttemptWriter",
    "EndLine",
    "Manifest",
    "RecordedCall",
    "RecordedClaim",
    "RecordedStretch",
    "Reference",
    "ReviewResult",
    "RunRecord",
    "RunWriter",
    "Runs",
    "Seal",
    "SealedFile",
    "UnreadableRun",
    "create_run",
    "find_run",
    "list_runs",
    "open_run",
    "parse_reference",
    "problem",
    "refuse_run_name",
]
