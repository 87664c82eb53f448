"""A reply that declines, where replies are JSON: an object that the schema allows and that gives no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice, product
from typing import Any, Final

from .schema import TooLargeError, followed, mismatch, parts

__all__ = ["declining_reply"]

_MAX_TRIES: Final = 500


@lru_cache(maxsize=64)
def declining_reply(schema: str, refusal: str) -> str | None:
    """Return an object as JSON that is valid under *schema*, JSON too, and declines; None where none is found.

    It has the fields that the schema requires, and ``answer`` where there is one: *refusal* if the schema allows it,
    else null or blank. A ``quote`` is null or blank. Any other field has its ``default``, else null, else the last
    value of an enumeration, in which what was answered comes first as a rule; else what is least of its type.
    """
    whole: dict[str, Any] = json.loads(schema)
    for fields, names in _shapes(whole):
        choices = [list(_choices(name, fields.get(name, {}), whole, refusal)) for name in names]
        for values in islice(product(*choices), _MAX_TRIES):
            found = dict(zip(names, values, strict=True))
            if _valid(found, whole):
                return json.dumps(found, ensure_ascii=False)
    return None


def _shapes(whole: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield the fields of an object and which of them to give, for each way that the schema leaves open."""
    own = followed(whole, whole)
    branches: list[Any] = own.get("oneOf") or own.get("anyOf") or [{}]
    for branch in branches:
        other = followed(branch, whole)
        fields = {**own.get("properties", {}), **other.get("properties", {})}
        required = [*own.get("required", []), *other.get("required", []), *({"answer"} & fields.keys())]
        yield fields, list(dict.fromkeys(required))


def _choices(name: str, field: Any, whole: Mapping[str, Any], refusal: str) -> Iterator[Any]:
    """Yield what may stand in one field of a reply that declines, best first."""
    known = {"$defs": whole.get("$defs", {}), **followed(field, whole)}
    for choice in _candidates(name, known, refusal):
        if _valid(choice, known):
            yield choice


def _candidates(name: str, known: Mapping[str, Any], refusal: str) -> Iterator[Any]:
    match name:
        case "answer":
            yield from (refusal, None, "")
        case "quote":
            yield from (None, "")
        case _:
            written = [part for _, part in parts(known)]
            yield from (part[word] for word in ("const", "default") for part in written if word in part)
            yield None
            yield from (value for part in written for value in reversed(part.get("enum", [])))
            yield from ("", refusal, False, 0, [], {})


def _valid(value: object, schema: Mapping[str, Any]) -> bool:
    try:
        return not mismatch(value, schema)
    except TooLargeError:
        return False
