"""What a server wrote, looked at without trusting its shape: a value of another shape is an empty or absent one."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import cast

__all__ = ["count", "is_success", "items", "json_object", "label", "mapping", "string"]


def json_object(body: bytes) -> Mapping[str, object]:
    """Return the JSON object that *body* is; empty where it is none."""
    with contextlib.suppress(ValueError, RecursionError):
        return mapping(json.loads(body))
    return mapping(None)


def mapping(value: object) -> Mapping[str, object]:
    """Return *value* where it is a JSON object, else an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else dict[str, object]()


def items(value: object) -> Sequence[object]:
    """Return *value* where it is a JSON array, else an empty one."""
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def string(value: object) -> str | None:
    """Return *value* where it is a text, else None."""
    return value if isinstance(value, str) else None


def label(value: object) -> str | None:
    """Return *value* where it is a text, cut to the 200 characters that suffice for any name; else None."""
    return value[:200] if isinstance(value, str) else None


def count(value: object) -> int | None:
    """Return a token count; None for what is none (a bool, a float, a negative or an absurd number)."""
    return value if type(value) is int and 0 <= value < 2**53 else None


def is_success(status: int) -> bool:
    """Whether an HTTP status says that the request was served."""
    return 200 <= status < 300  # noqa: PLR2004 - HTTP's classes
