"""The command line: options in, one call, output. Results go to stdout, progress and errors to stderr.

Exit status: 0 done; 1 done, and what ``--fail-on`` names was found; 2 the input or the usage is wrong; 3 the
endpoint failed or the run is incomplete; 130 interrupted.

    streams      stdout and stderr
    places       the folders that commands read and write
    names        the names that a shell completes
    panels       the help of a command with many options
    models       the models that the options ask for
    progress     how far a run has come
    output       where results go, and in which form
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
"""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from ..errors import SimulatorError
from .commands import app
from .streams import prepare, silence, tell

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its status. Expected failures become lines here, and nowhere else."""
    prepare()
    try:
        status = app(prog_name="simulator", standalone_mode=False)
    except SimulatorError as error:
        status = _fail(str(error), error.exit_status)
    except typer.TyperException as error:  # the usage is wrong
        status = _fail(f"{error.format_message().rstrip('.')}; see `{_path(error)} --help`", 2)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", _INTERRUPTED)
        # Calls may be in flight in threads that nothing can stop; what was recorded is on disk.
        os._exit(_INTERRUPTED)
    except OSError as error:  # of a file or folder whose reader had no better words for it
        silence(sys.stdout)
        status = _fail(f"{error.filename or 'a file'}: {error.strerror or error}", 2)
    sys.exit(status or 0)


def _path(error: Any) -> str:
    """Return the command, such as ``simulator diff``, whose usage is wrong."""
    context = getattr(error, "ctx", None)
    return context.command_path if context else "simulator"


def _fail(text: str, status: int) -> int:
    for line in text.splitlines():
        tell(f"error: {line}")
    return status
