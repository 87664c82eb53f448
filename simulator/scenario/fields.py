"""What a field of a scenario may hold.

A ``ValueError`` that is raised here is one problem of the file, at the line of the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from ..yamltext import Place, as_count, as_day, as_flag, as_json, as_text, quoted

__all__ = [
    "Day",
    "FactName",
    "Flag",
    "Line",
    "Name",
    "PassageText",
    "Phrases",
    "Role",
    "Schema",
    "Several",
    "TemplateName",
    "Text",
    "Words",
    "invalid",
    "not_empty",
]

_T = TypeVar("_T")

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_NAME = "[a-z][a-z0-9-]{0,63}"
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
_TAKEN = {"scenarios", "templates", "suites"}
"""Names that a run's own folders and the file of suites have."""


def _readable(text: str) -> str:
    if found := _CONTROL.search(text):
        raise ValueError(f"the text holds the character U+{ord(found[0]):04X}; take it out")
    return text


def _as_prose(value: object) -> str:
    text = _readable(as_text(value))
    if not text.strip():
        raise ValueError("the text is blank; write something in it")
    return text


def _as_line(value: object) -> str:
    text = _as_prose(value)
    if "\n" in text or "\t" in text or text != text.strip():
        raise ValueError("the text has a line break, a tab or outer spaces; write it on one line, without them")
    return text


def not_empty(entries: tuple[_T, ...]) -> tuple[_T, ...]:
    """Return *entries* if there is one; pydantic's own ``min_length`` does not count entries that have problems."""
    if not entries:
        raise ValueError("the list is empty; write an entry in it, or take the field out if it may be missing")
    return entries


def _no_device(name: str) -> str:
    return _not_among(_DEVICES, name)


def _not_reserved(name: str) -> str:
    return _not_among(_DEVICES | _TAKEN, name)


def _not_among(reserved: set[str], name: str) -> str:
    if name.lower() in reserved:
        raise ValueError(f"{quoted(name)} means something else to the file system or in a run; write another name")
    return name


def _spelled(pattern: str, rule: str) -> AfterValidator:
    """Return the check that a name matches *pattern*; *rule* says it in words."""

    def check(name: str) -> str:
        if not re.fullmatch(pattern, name):
            raise ValueError(f"{quoted(name)} cannot be a name here; write {rule}")
        return name

    return AfterValidator(check)


def _as_schema(value: object) -> object:
    """Return a mapping of JSON, every scalar in it resolved."""
    problems: list[tuple[Place, str]] = []
    resolved = _resolved(value, (), problems)
    if problems:
        raise invalid(problems)
    return resolved


def _resolved(value: Any, place: Place, problems: list[tuple[Place, str]]) -> Any:
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {key: _resolved(entry, (*place, key), problems) for key, entry in entries.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_resolved(item, (*place, index), problems) for index, item in enumerate(items)]
    try:
        return _readable(value) if isinstance(value, str) else as_json(value)
    except ValueError as error:
        problems.append((place, str(error)))
        return None


def invalid(problems: Iterable[tuple[Place, str]]) -> ValidationError:
    """Return the error for several problems, each at its place below the value that is being validated."""
    details: list[InitErrorDetails] = [
        {"type": PydanticCustomError("problem", "{text}", {"text": text}), "loc": place, "input": None}
        for place, text in problems
    ]
    return ValidationError.from_exception_data("scenario", details)


Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=20_000), BeforeValidator(_as_prose)]
PassageText: TypeAlias = Annotated[str, Field(min_length=1, max_length=200_000), BeforeValidator(_as_prose)]
Line: TypeAlias = Annotated[str, Field(min_length=1, max_length=1_000), BeforeValidator(_as_line)]
Name: TypeAlias = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"^{_NAME}$"}),
    BeforeValidator(as_text),
    _spelled(_NAME, "a lower-case letter, then lower-case letters, digits and hyphens, at most 64 in all"),
    AfterValidator(_not_reserved),
]
TemplateName: TypeAlias = Annotated[
    str,
    BeforeValidator(as_text),
    _spelled("[A-Za-z0-9][A-Za-z0-9_-]{0,63}", "the name of a file in templates/, at most 64 characters"),
    AfterValidator(_no_device),
]
Role: TypeAlias = Annotated[str, _spelled("system|check|rewrite", "system, check or rewrite")]
FactName: TypeAlias = Annotated[
    str, _spelled("[A-Za-z][A-Za-z0-9_]{0,63}", "a letter, then letters, digits and underscores, at most 64 in all")
]
Words: TypeAlias = Annotated[int, Field(ge=1, le=10_000), BeforeValidator(as_count)]
Flag: TypeAlias = Annotated[bool, BeforeValidator(as_flag)]
Day: TypeAlias = Annotated[date, BeforeValidator(as_day)]
Schema: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_as_schema)]
Several: TypeAlias = Annotated[tuple[_T, ...], Field(strict=False)]
"""A list in the file; strict pydantic would take a tuple alone."""
Phrases: TypeAlias = Annotated[Several[Text], Field(max_length=200)]
