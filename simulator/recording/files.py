"""The files of a run, opened with care: regular files in its own folder, and nothing else.

A pipe would be waited for without end, a device has no end, and a link leads anywhere.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import RecordingError

__all__ = ["attempts_begun", "is_run", "read_file"]

_ATTEMPT = re.compile(r"([1-9][0-9]{0,8})\.jsonl")
_SNAPSHOTS = {"scenarios", "templates"}


def is_run(folder: Path) -> bool:
    """Return whether *folder* holds a run, or what is left of one."""
    return folder.is_dir() and any(os.path.lexists(folder / name) for name in ("run.json", "sealed.json"))


def read_file(folder: Path, name: str) -> bytes:
    """Return the bytes of *name*, a file of the run in *folder* or of a folder in that.

    Raises ``RecordingError`` where it is missing, cannot be read or is no regular file.
    """
    path = folder / name
    with _in_words(path):
        if path.parent != folder:
            _require(path.parent, stat.S_ISDIR, "folder")
        _require(path, stat.S_ISREG, "regular file")
        return path.read_bytes()


def _require(path: Path, is_kind: Callable[[int], bool], kind: str) -> None:
    if not is_kind(path.lstat().st_mode):
        raise RecordingError(f"{path}: is no {kind} of the run's own, and is not opened; take it out of the run")


@contextmanager
def _in_words(path: Path) -> Generator[None, None, None]:
    """Translate what the file system says of *path*."""
    try:
        yield
    except FileNotFoundError as error:
        hint = f"; is {path.parent} a recorded run?" if path.name == "run.json" else "; the run has lost it"
        raise RecordingError(f"{path}: no such file{hint}") from error
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from error


def attempts_begun(folder: Path, scenarios: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the attempts that have begun in the run in *folder*, by scenario, in the order of both.

    A process may have ended between making a file and its first line; an empty file is no attempt. Raises
    ``RecordingError`` for a file that stands where no attempt of *scenarios* does.
    """
    there = {entry.name: entry for entry in _entries(folder)}
    for name in there.keys() - set(scenarios) - _SNAPSHOTS:
        if there[name].is_dir(follow_symlinks=False) and any(map(_is_lines, _entries(folder / name))):
            raise RecordingError(f"{folder / name}: run.json names no such scenario; take the folder out of the run")
    begun = {name: tuple(sorted(_numbers(folder / name))) for name in scenarios if name in there}
    return {name: numbers for name, numbers in begun.items() if numbers}


def _numbers(folder: Path) -> Iterator[int]:
    with _in_words(folder):
        _require(folder, stat.S_ISDIR, "folder")
    for entry in _entries(folder):
        if not _is_lines(entry):
            continue
        match = _ATTEMPT.fullmatch(entry.name)
        if match is None:
            raise RecordingError(f"{entry.path}: attempts are called 1.jsonl, 2.jsonl, ...; take it out of the run")
        with _in_words(Path(entry.path)):
            _require(Path(entry.path), stat.S_ISREG, "regular file")
            if entry.stat().st_size:
                yield int(match[1])


def _is_lines(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".jsonl")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what *folder* holds by name, hidden entries left out."""
    with _in_words(folder), os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)
