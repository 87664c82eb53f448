"""JSON of a recording: parsed within bounds, and what is wrong with it in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import ValidationError

from ..visible import one_line

__all__ = ["parse", "problem"]

_MAX_DEPTH = 200
"""Lists and objects within each other. A value that is much deeper cannot be walked everywhere."""


def parse(data: bytes) -> Any:
    """Return *data*, UTF-8, as JSON. Raises ``ValueError``.

    Not by pydantic's own parser, which refuses a lone surrogate: a server that cuts a character in half leaves one.
    """
    try:
        value = json.loads(data.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if not _within_bounds(value):
        raise ValueError(_TOO_DEEP)
    return value


_TOO_DEEP = f"nested too deeply, more than {_MAX_DEPTH} lists and objects in each other"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _within_bounds(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(_MAX_DEPTH):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return True
    return False


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return value if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType]


def problem(error: ValidationError) -> str:
    """Return the first thing that *error* says, after where in the value it is."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = one_line(".".join(str(part) for part in first["loc"] if part != "[key]"), 100)
    what = _WORDINGS.get(first["type"], first["msg"])
    return f"{where}: {what}" if where else what


_WORDINGS: Mapping[str, str] = {
    "dataclass_type": "an object is meant",
    "dict_type": "an object is meant",
    "model_type": "an object is meant",
    "tuple_type": "a list is meant",
    "unexpected_keyword_argument": "there is no such field",
    "extra_forbidden": "there is no such field",
    "string_pattern_mismatch": "it is not spelled as such a value is",
}
"""By the type of pydantic's error, where its own words speak of Python."""
