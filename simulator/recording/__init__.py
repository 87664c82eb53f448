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
"""

from .lines import FORMAT, EndLine, Manifest, Seal, SealedFile
from .reader import AttemptRecord, RecordedCall, RunRecord, open_run
from .reference import Reference, find_run, list_runs, parse_reference
from .writer import AttemptWriter, RunWriter, create_run, refuse_run_name

__all__ = [
    "FORMAT",
    "AttemptRecord",
    "AttemptWriter",
    "EndLine",
    "Manifest",
    "RecordedCall",
    "Reference",
    "RunRecord",
    "RunWriter",
    "Seal",
    "SealedFile",
    "create_run",
    "find_run",
    "list_runs",
    "open_run",
    "parse_reference",
    "refuse_run_name",
]
