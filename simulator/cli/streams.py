"""stdout and stderr: every text can be written, and a reader that has gone is no error."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any, TextIO, cast

from ..errors import InputError
from ..visible import escaped_lines

__all__ = ["prepare", "tell", "write"]


class _Output:
    """stdout, also of what the command line library prints: help, and what a shell completes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write *text*, at once. Raises ``InputError`` where stdout is a file that cannot be written."""
        if text == "":  # by which the command line library finds out what kind of stream this is
            return 0
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            _silence(self._stream)  # `| head` has what it wanted; what the command does beside printing goes on
        except OSError as error:
            _silence(self._stream)
            raise InputError(f"stdout cannot be written: {error.strerror}") from error
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def prepare() -> None:
    """Have stdout escape what its encoding lacks, as stderr does; a closed one of them takes all and shows nothing."""
    sys.stderr = sys.stderr or _nowhere()
    stdout = sys.stdout or _nowhere()
    if not isinstance(stdout, _Output):
        cast("io.TextIOWrapper", stdout).reconfigure(errors="backslashreplace")
        sys.stdout = cast("TextIO", _Output(stdout))


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def write(text: str) -> None:
    """Write *text* to stdout, at once. Raises ``InputError`` where that is a file that cannot be written."""
    sys.stdout.write(text)


def tell(text: str) -> None:
    """Print *text* as lines on stderr, where there is somebody to read it; nothing fails for want of a reader."""
    try:
        print(escaped_lines(text), file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _silence(stream: TextIO) -> None:
    """Send what *stream* still holds, and whatever follows, nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
