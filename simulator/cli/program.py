"""A command line run to its exit status. Expected failures become lines here, and nowhere else."""

from __future__ import annotations

import os
from typing import Any

import typer

from ..errors import SimulatorError
from .commands import app
from .interrupts import INTERRUPTED
from .streams import prepare, tell

__all__ = ["run"]


def run() -> int:
    """Run the command that the arguments name, and return the exit status."""
    prepare()
    try:
        return app(prog_name="simulator", standalone_mode=False) or 0
    except SimulatorError as error:
        return _fail(str(error), error.exit_status)
    except typer.TyperException as error:  # the usage is wrong
        return _fail(f"{error.format_message().rstrip('.')}; see `{_path(error)} --help`", 2)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
        # Calls may be in flight in threads that nothing can stop; what was recorded is on disk.
        os._exit(INTERRUPTED)
    except OSError as error:  # of a file or folder whose reader had no better words for it
        return _fail(f"{error.filename or 'a file'}: {error.strerror or error}", 2)


def _path(error: Any) -> str:
    """Return the command, such as ``simulator diff``, whose usage is wrong."""
    context = getattr(error, "ctx", None)
    return context.command_path if context else "simulator"


def _fail(text: str, status: int) -> int:
    for line in text.splitlines():
        tell(f"error: {line}")
    return status
