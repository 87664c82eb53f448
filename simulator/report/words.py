"""A text diff, with what was deleted and inserted marked by signs, and by colour where there is colour."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from ..diff import Piece, TextDiff
from ..visible import visible

__all__ = ["LEGEND", "mark_words"]

LEGEND = "[-only in A-]  {+only in B+}"

_MARKS: Mapping[str, tuple[str, str, str]] = {
    "same": ("", "", ""),
    "deleted": ("[-", "-]", "red"),
    "inserted": ("{+", "+}", "green"),
}
_ENDS: Mapping[str, tuple[int, int]] = {"same": (300, 300), "deleted": (3000, 1000), "inserted": (3000, 1000)}
"""Characters shown from both ends of a longer piece."""

_WHITE_SPACE: Mapping[str, str] = {"\n": "↵", "\t": "⇥", " ": "␣"}


def mark_words(diff: TextDiff) -> Text:
    """Return both texts of *diff* as one; the middle of a long piece is left out, and said to be."""
    text = Text()
    for piece in diff.pieces:
        _append(text, piece)
    if diff.note:
        text.append(f"\n({diff.note})", "dim")
    return text


def _append(text: Text, piece: Piece) -> None:
    """Add *piece*, white space around changed words outside of the marks; where it is all that changed, as signs."""
    before, after, style = _MARKS[piece.kind]
    shown = visible(_shortened(piece))
    words = shown.strip()
    if piece.kind == "same":
        text.append(shown)
    elif words:
        lead, tail = shown.split(words, 1)
        text.append(lead).append(f"{before}{words}{after}", style).append(tail)
    else:
        text.append(f"{before}{''.join(map(_sign, shown))}{after}", style)


def _sign(space: str) -> str:
    return _WHITE_SPACE.get(space) or f"⟨U+{ord(space):04X}⟩"


def _shortened(piece: Piece) -> str:
    head, tail = _ENDS[piece.kind]
    left_out = len(piece.text) - head - tail
    if left_out <= 0:
        return piece.text
    return f"{piece.text[:head]} … {left_out} characters left out … {piece.text[-tail:]}"
