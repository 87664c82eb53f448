"""The folders that commands read and write: those of the working directory, or what the package ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError

__all__ = ["RECORDINGS", "scenario_folder", "template_folders"]

RECORDINGS = Path("recordings")

_SHIPPED = Path(__file__).parent.parent / "_shipped"
"""Templates and a scenario within an installed package; in a checkout they stand at the top level."""
_CHECKOUT = Path(__file__).parent.parent.parent


def scenario_folder(given: Path | None) -> Path:
    """Return *given*, else ``scenarios`` here, else the shipped ones."""
    return given or _first_folder("scenarios")


def template_folders(given: Path | None) -> Sequence[Path]:
    """Return where templates are looked for, in order: *given* or ``templates`` here, then the shipped ones."""
    if given is not None and not given.is_dir():
        raise InputError(f"{given}: there is no such folder; name the one that holds the templates")
    return [given or Path("templates"), _shipped("templates")]


def _first_folder(name: str) -> Path:
    here = Path(name)
    return here if here.is_dir() else _shipped(name)


def _shipped(name: str) -> Path:
    installed = _SHIPPED / name
    return installed if installed.is_dir() else _CHECKOUT / name
