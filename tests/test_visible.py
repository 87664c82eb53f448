"""Texts of others, made safe to print."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.visible import escaped, escaped_lines, one_line, visible

TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)


@given(TEXTS)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    """Each of the three forms is printable; only a page keeps line feeds and tabs."""
    assert visible(text).replace("\n", "").replace("\t", "").replace("\u00a0", "").isprintable() or _odd_spaces(text)
    assert escaped(text).isprintable()
    assert one_line(text).isprintable()


def _odd_spaces(text: str) -> bool:
    """Whether *text* has spaces other than the usual one, which a page shows as they are."""
    return any(each.isspace() and each not in " \n\t" for each in text)


@given(TEXTS)
def test_escaping_json_keeps_what_it_says(text: str) -> None:
    """The escapes are those of JSON, so that a JSON text means the same when it has been escaped."""
    assert json.loads(escaped(json.dumps(text, ensure_ascii=False))) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2J\u202eb\u200b", "a\\u001b[2J\\u202eb\\u200b"),
        ("a\nb\x7f", "a\\nb\\u007f"),
        ("\ud800 \U000e0001", "\\ud800 \\udb40\\udc01"),
        ("Ünïcödé 界 🙂", "Ünïcödé 界 🙂"),
    ],
)
def test_what_is_escaped_stands_on_one_line(text: str, shown: str) -> None:
    """Printable characters of every script stay."""
    assert escaped(text) == shown


def test_lines_are_escaped_apart() -> None:
    """Line feeds stay, and nothing else that is not printable."""
    assert escaped_lines("a\r\nb\x85\n") == "a\\r\nb\\u0085\n"


def test_one_line_is_cut_to_its_limit() -> None:
    """Runs of what is not printable are one space."""
    assert one_line(" a\n\n\x1b b ") == "a b"
    assert one_line("abcdef", 4) == "abc…"
