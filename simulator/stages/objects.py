"""JSON objects found in a text that may hold prose and fences around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

__all__ = ["all_objects", "free_objects"]

_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]]', re.DOTALL)
_TRAILING_COMMA: Final = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
_FLAT_BRACES: Final = re.compile(r"\{[^{}]*\}")
_LIST_OF_OBJECTS: Final = re.compile(r"\[\s*\{")
_DEEPEST: Final = 16
_TOO_LONG: Final = 50_000
_SHOWN: Final = 80


def free_objects(text: str, keys: frozenset[str]) -> tuple[dict[str, Any], ...] | str:
    """Return the objects with one of *keys* that stand free in *text*, or why that cannot be told.

    The text as it stands is tried first; then prose and fences around objects and trailing commas in them are
    overlooked. An object inside another value does not stand free, and where one of *keys* is found there, or something
    that opens as an object is not JSON, nothing is certain. Brackets of prose ("{name}", "[1]") are overlooked.
    """
    if len(text) > _TOO_LONG:
        return f"longer than {_TOO_LONG} characters"
    whole = _parsed(text.strip().lstrip("\ufeff"))
    if whole is not None:
        return (whole,) if _has_key(whole, keys) else "not the object that was asked for"
    return _in_prose(text, keys)


def _in_prose(text: str, keys: frozenset[str]) -> tuple[dict[str, Any], ...] | str:
    found: list[dict[str, Any]] = []
    at = 0
    while (start := _next_opening(text, at)) is not None:
        end = _balanced(text, start)
        value = None if end is None else _parsed(text[start:end])
        if end is None or value is None:
            end = _past_prose(text, start, keys)
            if end is None:
                return f"not JSON: {text[start : start + _SHOWN]!r}"
        elif _has_key(value, keys):
            found.append(value)
        elif _names(text[start:end], keys):
            return "it is inside something else"
        at = end
    return tuple(found)


def _next_opening(text: str, at: int) -> int | None:
    places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(places, default=None)


def _past_prose(text: str, start: int, keys: frozenset[str]) -> int | None:
    """Return where to go on if the bracket at *start* is one of prose, None if it may have been meant as an object."""
    if text[start] == "[":
        return None if _LIST_OF_OBJECTS.match(text, start) else start + 1
    braces = _FLAT_BRACES.match(text, start)
    return braces.end() if braces and not _names(braces[0], keys) else None


def _names(piece: str, keys: frozenset[str]) -> bool:
    return any(key in piece.casefold() for key in keys)


def _has_key(value: object, keys: frozenset[str]) -> bool:
    return isinstance(value, dict) and not keys.isdisjoint(cast("dict[str, Any]", value))


def _balanced(text: str, start: int) -> int | None:
    """Return where the object or list that opens at *start* closes, or None if it does not or is nested too deeply."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth == 0:
            return token.end()
        if depth > _DEEPEST:
            return None
    return None


def _parsed(text: str) -> Any:
    """Return the JSON value that *text* is, trailing commas overlooked; None where it is none, or is null."""
    for spelling in (text, _TRAILING_COMMA.sub(lambda match: match[1] or "", text)):
        try:
            return json.loads(spelling, object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            continue
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("the same key twice")
    return dict(pairs)


def all_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every object in the first 50,000 characters of *text*, those inside others too."""
    head = text[:_TOO_LONG]
    for match in re.finditer(r"\{", head):
        end = _balanced(head, match.start())
        value = None if end is None else _parsed(head[match.start() : end])
        if isinstance(value, dict):
            yield cast("dict[str, Any]", value)
