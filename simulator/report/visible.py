"""A text of others, with everything in it to be seen: control characters, escapes and direction marks as signs."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["visible"]

_SUSPECT = re.compile(r"[^\n\t -~]")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories without a shape of their own: controls, format marks (zero width, bidi overrides, soft hyphen),
lone surrogates, private and unassigned characters, and line separators other than the line feed."""

_PICTURES = 0x2400
_DELETE = 0x7F


def visible(text: str) -> str:
    """Return *text* so that a terminal shows all of it and obeys none of it.

    Line feed and tab stay. ESC becomes ``␛``, another control character its picture, U+202E ``⟨U+202E⟩``.
    """
    return _SUSPECT.sub(lambda match: _shown(match[0]), text)


def _shown(character: str) -> str:
    code = ord(character)
    if code < ord(" "):
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "␡"
    return f"⟨U+{code:04X}⟩" if unicodedata.category(character) in _HIDDEN else character
