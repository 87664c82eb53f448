"""The JSON Schema of a reply: the part of the language that is taken, and how a value stands to it.

Any reply can be held against what is taken, in bounded time. Left out is what could run without end on a reply that a
model made up: regular expressions (``pattern``, ``patternProperties``), definitions that refer to themselves,
``uniqueItems`` and the ``unevaluated`` keywords, which look at the same values again and again. ``format`` is left out
because nothing would be checked by it. Nothing outside the schema is ever looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, cast

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import ValidationError, best_match  # pyright: ignore[reportUnknownVariableType]

from ..visible import escaped
from ..yamltext import Place, quoted
from .wording import instead, listed

__all__ = ["MAX_PLACES", "MAX_WORK", "TooLargeError", "followed", "mismatch", "parts", "schema_problems"]

MAX_PLACES: Final = 2_000
"""Values in a schema, itself included, with every reference replaced by what it refers to."""
MAX_WORK: Final = 200_000
"""Values in a reply times places of its schema; what is more is not held against it."""
_MAX_HEIGHT: Final = 20
"""Definitions that refer to each other in a row."""
_LONGEST: Final = 160

_SCHEMA: Final = frozenset({"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"})
"""Keywords whose value is a schema; the next two hold a list of them, and a mapping with them as its values."""
_SCHEMA_LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMA_MAP: Final = frozenset({"$defs", "dependentSchemas", "properties"})
# fmt: off
_PLAIN: Final = frozenset({
    "$comment", "$ref", "$schema", "const", "default", "dependentRequired", "deprecated", "description", "enum",
    "examples", "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems", "maxLength", "maxProperties",
    "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "readOnly",
    "required", "title", "type", "writeOnly",
})
# fmt: on
_KEYWORDS: Final = _SCHEMA | _SCHEMA_LIST | _SCHEMA_MAP | _PLAIN
_LEFT_OUT: Final[Mapping[str, str]] = {
    "pattern": "a regular expression may run without end on a reply; write `enum`, `const` or `maxLength`",
    "patternProperties": "a regular expression may run without end on a reply; write the names under `properties`",
    "format": "nothing would be checked by it; write `enum` or `const`, or say it in the `description`",
    "uniqueItems": "long lists would take too long; take it out, and say it in the `description`",
    "unevaluatedProperties": "it may run without end on a reply; write `additionalProperties`",
    "unevaluatedItems": "it may run without end on a reply; write `items`",
    "definitions": "it has another name in this draft; write `$defs`",
}
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = re.compile(r"#/\$defs/([A-Za-z0-9_.-]+)")


class TooLargeError(Exception):
    """A value is too large to be held against its schema."""


def mismatch(value: object, schema: Mapping[str, Any]) -> str:
    """Return where and why *value* is not valid under *schema*, which has no problems; empty where it is.

    Raises `TooLargeError` where that would take too long.
    """
    if _count(value) * _places(schema) > MAX_WORK:
        raise TooLargeError("too large to be held against the schema")
    validator: Any = Draft202012Validator(schema)
    try:
        error = cast("ValidationError | None", best_match(validator.iter_errors(value)))
    except OverflowError:  # of a whole number that is divided as a float
        raise TooLargeError("a number in it is too large to be held against the schema") from None
    if error is None:
        return ""
    where = "".join(f"[{part!r}]" for part in error.absolute_path)
    return f"against the schema{' at ' + where if where else ''}: {error.message[:_LONGEST]}"


def schema_problems(schema: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield what keeps *schema* from being used, and where in it."""
    if _count(schema) > MAX_PLACES:
        yield (), f"the schema has more than {MAX_PLACES:,} values; write a smaller one"
        return
    if strange := [problem for place, part in parts(schema) for problem in _strange(part, place)]:
        yield from strange
        return
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield tuple(error.absolute_path), f"not a JSON Schema: {_short(error.message)}; see json-schema.org"
        return
    yield from _reference_problems(schema)


def parts(schema: Any, place: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield every mapping in *schema* that is a schema, itself first, and where; what is data in it is left alone."""
    if not isinstance(schema, dict):
        return
    part = cast("dict[str, Any]", schema)
    yield place, part
    for keyword, value in part.items():
        for step, below in _below(keyword, value):
            yield from parts(below, (*place, keyword, *step))


def _below(keyword: str, value: Any) -> Iterator[tuple[Place, Any]]:
    if keyword in _SCHEMA:
        yield (), value
    elif keyword in _SCHEMA_LIST and isinstance(value, list):
        yield from (((at,), each) for at, each in enumerate(cast("list[Any]", value)))
    elif keyword in _SCHEMA_MAP and isinstance(value, dict):
        yield from (((name,), each) for name, each in cast("dict[str, Any]", value).items())


def _strange(part: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, str]]:
    """Yield the keywords of one mapping that are not taken."""
    for keyword, value in part.items():
        if keyword in _LEFT_OUT:
            yield (*place, keyword), f"the keyword {keyword} is not taken here: {_LEFT_OUT[keyword]}"
        elif keyword not in _KEYWORDS:
            what = f"there is no keyword {quoted(keyword)} here; {instead(keyword, _KEYWORDS)}"
            yield (*place, keyword), what
        elif keyword == "$schema" and value != _DIALECT:
            yield (*place, keyword), f"schemas of this draft are not taken; write {_DIALECT}, or take it out"
        elif keyword == "$defs" and place:
            yield (*place, keyword), "definitions stand at the top of the schema; write them under `$defs` there"


# References: to definitions of the same schema alone, and never in a circle.


@dataclass(frozen=True, kw_only=True, slots=True)
class _Extent:
    """How large a piece of a schema is with its references followed."""

    places: int
    height: int
    """Definitions in a row."""


def _reference_problems(schema: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    definitions = _definitions(schema)
    unknown = [
        ((*place, "$ref"), f"{quoted(part['$ref'])} is no definition of this schema; {_reference_advice(definitions)}")
        for place, part in parts(schema)
        if "$ref" in part and _target(part["$ref"]) not in definitions
    ]
    if unknown:
        yield from unknown
        return
    try:
        whole = _extent(schema)
    except CycleError as error:
        *_, name = error.args[1]
        circle = escaped(" to ".join(reversed(error.args[1])))[:_LONGEST]
        yield (
            ("$defs", name),
            f"definitions refer to each other in a circle, {circle}; write out as many levels as meant",
        )
        return
    if whole.places > MAX_PLACES:
        yield (), f"with its references followed the schema has more than {MAX_PLACES:,} values; refer less often"
    elif whole.height > _MAX_HEIGHT:
        yield ("$defs",), f"more than {_MAX_HEIGHT} definitions refer to each other in a row; write them flatter"


def _reference_advice(definitions: Mapping[str, Any]) -> str:
    known = [f"#/$defs/{name}" for name in definitions]
    return f"write {listed(known, ' or ')}" if known else "write the schema under `$defs` and refer to #/$defs/NAME"


def _definitions(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return schema.get("$defs", {})


def followed(part: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return *part* of *schema* with its own keywords and those of the definition that it refers to."""
    found: dict[str, Any] = dict(part) if isinstance(part, dict) else {}  # pyright: ignore[reportUnknownArgumentType]
    while name := _target(found.pop("$ref", "")):
        found = {**_definitions(schema)[name], **found}
    return found


def _target(reference: str) -> str | None:
    """Return the name of the definition that *reference* means."""
    match = _REFERENCE.fullmatch(reference)
    return match[1] if match else None


def _places(schema: Mapping[str, Any]) -> int:
    return _extent(schema).places


def _extent(schema: Mapping[str, Any]) -> _Extent:
    """Return how large *schema* is. Raises ``CycleError``."""
    definitions = _definitions(schema)
    targets = {name: _targets(part) for name, part in definitions.items()}
    found: dict[str | None, _Extent] = {}
    for name in TopologicalSorter(targets).static_order():
        found[name] = _with(definitions[name], [found[each] for each in targets[name]])
    root = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    return _with(root, [found[each] for each in _targets(root)])


def _with(part: Any, referred: list[_Extent]) -> _Extent:
    return _Extent(
        # A number of thousands of digits says no more than one that is past the bound.
        places=min(_count(part) + sum(each.places for each in referred), MAX_PLACES + 1),
        height=1 + max((each.height for each in referred), default=0),
    )


def _targets(part: Any) -> list[str]:
    """Return the definitions that *part* refers to, as often as it does."""
    return [name for _, each in parts(part) if "$ref" in each and (name := _target(each["$ref"])) is not None]


def _count(value: Any) -> int:
    """Return how many values *value* holds, itself included."""
    count, left = 0, [value]
    while left:
        count += 1
        last = left.pop()
        if isinstance(last, dict):
            left += cast("dict[str, Any]", last).values()
        elif isinstance(last, list):
            left += cast("list[Any]", last)
    return count


def _short(words: str) -> str:
    return escaped(words)[:200]
