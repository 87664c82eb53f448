"""stdout and stderr: every text can be written, and a reader that has gone is no error."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path
from typing import TextIO, cast

from ..errors import InputError

__all__ = ["escaped", "prepare", "silence", "tell", "write"]


def prepare() -> None:
    """Have stdout escape what its encoding lacks, as stderr does; a closed one of them takes all and shows nothing."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    cast("io.TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def write(text: str) -> None:
    """Write *text* to stdout, at once. Raises ``InputError`` where that is a file that cannot be written."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)  # `| head` has what it wanted; what the command does beside printing goes on
    except OSError as error:
        silence(sys.stdout)
        raise InputError(f"stdout cannot be written: {error.strerror}") from error


def tell(text: str) -> None:
    """Print *text* as lines on stderr, where there is somebody to read it; nothing fails for want of a reader."""
    try:
        print(escaped(text), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Send what *stream* still holds, and whatever follows, nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def escaped(text: str) -> str:
    """Return *text* with everything that a terminal would not show as text, line feeds apart, as JSON escapes it."""
    return re.sub(r"[^\n -~]", lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text)
