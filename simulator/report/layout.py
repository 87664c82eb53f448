"""The few shapes that all pages are made of: a text, a heading, labelled fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.rule import Rule
from rich.table import Column, Table
from rich.text import Text

from ..visible import visible

__all__ = ["Field", "field_list", "heading", "line", "section", "styled", "whole"]

Field = tuple[str, Text]
"""A label and what it labels."""

_LABEL_WIDTH = 21
"""Of every page, so that texts of all turns begin in one column."""

_TEXT_WIDTH = 100
"""Longer lines are hard to read, however wide the screen."""

_STYLES: Mapping[str, str] = {
    "kept": "green",
    "met": "green",
    "supported": "green",
    "improvement": "green",
    "broken": "bold red",
    "missed": "bold red",
    "unsupported": "bold red",
    "regression": "bold red",
    "unknown": "yellow",
    "lost_sight": "yellow",
    "failed": "yellow",
    "refused": "yellow",
    "not_run": "yellow",
    "held": "yellow",
}
"""Colour by word. The word is always printed, so that nothing is said by colour alone."""


def line(text: str, style: str = "") -> Text:
    """Return *text* as it stands: nothing in it is taken for markup, everything is visible."""
    return Text(visible(text), style=style)


def whole(text: str, style: str = "") -> Text:
    """Return *text*, a path, a command or a name, as a line that is never broken: it is there to be copied."""
    return Text(visible(text), style=style, no_wrap=True, overflow="ignore")


def styled(text: str, word: str) -> Text:
    """Return *text* in the colour of *word*."""
    return line(text, _STYLES.get(word, ""))


def heading(text: str) -> Text:
    """Return *text* as the first line of a turn."""
    return line(text, "bold")


def section(text: str, word: str) -> Rule:
    """Return a ruled line that begins with *text*."""
    return Rule(styled(text, word), align="left", style="dim")


def field_list(fields: Iterable[Field]) -> Table:
    """Return *fields* below each other, labels in a column of their own."""
    table = Table.grid(
        Column(width=_LABEL_WIDTH, overflow="fold", style="dim"),
        Column(max_width=_TEXT_WIDTH, overflow="fold"),
        padding=(0, 2, 0, 0),
    )
    for label, text in fields:
        table.add_row(line(label), text)
    return table
