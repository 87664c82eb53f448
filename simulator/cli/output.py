"""Where results go, and in which form: stdout, as a page or as JSON."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console, RenderableType

from .streams import escaped, write

__all__ = ["print_json", "print_lines", "print_page"]


def print_page(*parts: RenderableType) -> None:
    """Print *parts* below each other, in colour where stdout is a terminal that wants it."""
    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as page:
        for part in parts:
            console.print(part)
    write(page.get())


def print_json(value: Any) -> None:
    """Print *value* as indented JSON in which everything that a terminal would not show as text is escaped."""
    write(escaped(json.dumps(value, indent=2, ensure_ascii=False)) + "\n")


def print_lines(*lines: str) -> None:
    """Print *lines* as they are, however wide the screen: each is one for a program that reads them."""
    write("".join(f"{escaped(line)}\n" for line in lines))
