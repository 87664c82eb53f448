"""The command line: options in, one call, output. Results go to stdout, progress and errors to stderr.

Exit status: 0 done; 1 done, and what ``--fail-on`` names was found; 2 the input or the usage is wrong; 3 the
endpoint failed or the run is incomplete; 130 interrupted.

    interrupts   Ctrl-C
    streams      stdout and stderr
    places       the folders that commands read and write
    choosing     the scenarios that are meant
    names        the names that a shell completes
    panels       the help of a command with many options
    models       the models that the options ask for
    progress     how far a run has come
    output       where results go, and in which form
    gate         whether a comparison may pass
    playing      replay
    showing      show
    diffing      diff
    listing      list
    linting      lint
    starting     new
    scoring      score
    calibrating  calibrate
    importing    import
    schema       schema
    commands     the commands and their options
    program      a command line run to its exit status
"""

from __future__ import annotations

import os
import sys

try:
    from importlib import import_module

    from .interrupts import end_at_once
except KeyboardInterrupt:  # which nothing takes care of yet
    os._exit(130)

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its status. All else is loaded when Ctrl-C has been taken care of."""
    end_at_once()
    sys.exit(import_module(".program", __package__).run())
