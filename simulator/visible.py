r"""Texts of others made safe to print: a terminal shows all of what is in them, and obeys none of it.

``visible`` is for pages that people read, and puts signs in the place of what has no shape; ``escaped`` is for lines
and JSON that programs read or people copy, and writes ``\u001b``; ``one_line`` cuts to what fits into a message.
"""

from __future__ import annotations

import json
import re
import unicodedata

__all__ = ["escaped", "escaped_lines", "one_line", "visible"]

_SUSPECT = re.compile(r"[^\n\t -~]")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories without a shape of their own: controls, format marks (zero width, bidi overrides, soft hyphen),
lone surrogates, private and unassigned characters, and line separators other than the line feed."""

_PICTURES = 0x2400
_DELETE = 0x7F


def visible(text: str) -> str:
    """Return *text* with a sign for every character without a shape; line feed and tab stay.

    ESC becomes ``␛``, another control character its picture, U+202E ``⟨U+202E⟩``.
    """
    return _SUSPECT.sub(lambda match: _sign(match[0]), text)


def _sign(character: str) -> str:
    code = ord(character)
    if code < ord(" "):
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "␡"
    return f"⟨U+{code:04X}⟩" if unicodedata.category(character) in _HIDDEN else character


def escaped(text: str) -> str:
    """Return *text* on one line, with everything that is not printable, line feeds too, as JSON escapes it."""
    return re.sub(r"[^ -~]", lambda match: match[0] if match[0].isprintable() else _escape(match[0]), text)


def _escape(character: str) -> str:
    short = json.dumps(character)[1:-1]
    return short if short != character else f"\\u{ord(character):04x}"  # JSON itself lets DEL stand


def escaped_lines(text: str) -> str:
    """Return *text* escaped, its line feeds apart."""
    return "\n".join(map(escaped, text.split("\n")))


def one_line(text: str, limit: int = 300) -> str:
    """Return *text* as one line of printable characters, runs of others as one space, cut to *limit*."""
    flat = " ".join("".join(each if each.isprintable() else " " for each in text[: 4 * limit]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
