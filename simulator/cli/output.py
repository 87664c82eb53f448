"""Where results go, and in which form: stdout, as a page, as lines or as JSON."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console, Group, RenderableType

from ..visible import escaped, escaped_lines
from .streams import write

__all__ = ["print_json", "print_lines", "print_page"]


def print_page(*parts: RenderableType) -> None:
    """Print *parts* below each other, in colour where stdout is a terminal that wants it.

    What is marked as whole runs over the edge of the screen rather than being broken.
    """
    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as page:
        console.print(Group(*parts), crop=False)  # on its own a text would be copied, and break like any other
    write(page.get())


def print_json(value: Any) -> None:
    """Print *value* as indented JSON in which everything that a terminal would not show as text is escaped."""
    write(escaped_lines(json.dumps(value, indent=2, ensure_ascii=False)) + "\n")


def print_lines(*lines: str) -> None:
    """Print *lines*, however wide the screen: each is there to be copied, or read by a program."""
    write("".join(f"{escaped(line)}\n" for line in lines))
