"""Reading a scenario file: every problem of it at once, in our words and at its line."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, core_schema

from ..errors import ScenarioError
from ..visible import escaped
from ..yamltext import (
    MAX_BYTES,
    MAX_PROBLEMS,
    Document,
    Place,
    Problem,
    described,
    quoted,
    read_yaml,
    refusal,
)
from .parts import Part, Scenario
from .wording import instead

__all__ = [
    "in_words",
    "json_schema",
    "load_scenario",
    "read_scenario",
    "scenario_of",
    "shown",
    "validated",
    "yaml_bytes",
]

_T = TypeVar("_T")


def yaml_bytes(path: Path) -> bytes:
    """Return the bytes of a file, or as many as show that it is too large. Raises `ScenarioError`."""
    with in_words(path):
        if path.is_dir():
            raise ScenarioError(f"{shown(path)}: this is a folder; name a YAML file in it")
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            raise ScenarioError(f"{shown(path)}: this is not a regular file; name a YAML file")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)


@contextmanager
def in_words(path: Path) -> Generator[None, None, None]:
    """Translate what the file system says of *path*."""
    try:
        yield
    except FileNotFoundError:
        raise ScenarioError(f"{shown(path)}: there is no such file; name one that exists") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        why = error.strerror if isinstance(error, OSError) else error
        raise ScenarioError(f"{shown(path)}: it cannot be read ({why}); name one that can") from None


def shown(path: Path) -> str:
    """Return *path* on one line."""
    return escaped(str(path))


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file, which must have the name of its scenario. Raises `ScenarioError`."""
    return read_scenario(yaml_bytes(path), str(path), stem=path.stem)


def read_scenario(data: bytes, name: str, *, stem: str | None = None) -> Scenario:
    """Read the scenario in *data*, a file that errors call *name*. Raises `ScenarioError`.

    With *stem*, that is what the scenario must be called.
    """
    return scenario_of(read_yaml(data, name), stem=stem)


def scenario_of(document: Document, *, stem: str | None = None) -> Scenario:
    """Return the scenario in *document*, which with *stem* must be called that. Raises `ScenarioError`."""
    written = document.value.get("scenario") if isinstance(document.value, dict) else None
    problems = list(document.problems)
    if stem is not None and isinstance(written, str) and written != stem:
        what = f"the scenario {quoted(written)} stands in a file called {quoted(stem)}; give both the same name"
        problems.append(Problem(line=document.line(("scenario",)), text=what))
    return validated(_SCENARIO, Scenario, document, problems)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, for editors; `read_scenario` refuses more than it can say."""
    schema = Scenario.model_json_schema(schema_generator=_EditorSchema)
    return {"$schema": _EditorSchema.schema_dialect, **schema}


class _EditorSchema(GenerateJsonSchema):
    """A field that may be left out may not be null, and titles made from field names say nothing new."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        told = isinstance(schema.get("default"), (str, bool))
        return super().default_schema(schema) if told else self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def validated(kind: TypeAdapter[_T], part: type[Part], document: Document, problems: Sequence[Problem]) -> _T:
    """Return the value of *document* as *kind*; raise for its problems and those found before, all at once.

    *part* is the model of the mappings at the top.
    """
    try:
        value = kind.validate_python(document.value)
    except ValidationError as error:
        found = _problems(error.errors(include_url=False), part, document)
        raise refusal(document.name, [*problems, *found]) from None
    if problems:
        raise refusal(document.name, problems)
    return value


_SCENARIO = TypeAdapter(Scenario)


def _problems(errors: Sequence[ErrorDetails], part: type[Part], document: Document) -> list[Problem]:
    """Return the problems in the order of the lines; those that are too many to be told have no text."""
    placed = sorted(((_line(error, document), error) for error in errors), key=itemgetter(0))
    told = [Problem(line=line, text=_text(error, part)) for line, error in placed[:MAX_PROBLEMS]]
    return told + [Problem(line=line, text="") for line, _ in placed[MAX_PROBLEMS:]]


def _line(error: ErrorDetails, document: Document) -> int:
    place = error["loc"]
    return document.key_line(place) if error["type"] == "extra_forbidden" else document.line(place)


def _text(error: ErrorDetails, part: type[Part]) -> str:
    place = error["loc"]
    if error["type"] != "extra_forbidden":
        return _wording(error)
    known = _fields(_part_at(part, place[:-1]))
    return f"there is no field {quoted(str(place[-1]))} here; {instead(str(place[-1]), known)}"


_WORDINGS = {
    "value_error": "{error}",
    "problem": "{text}",
    "missing": "the field `{field}` is missing; write `{field}: ...`",
    "literal_error": "{written} is not one of the words; write {expected}",
    "string_too_long": "the text is too long; write at most {max_length:,} characters",
    "too_long": "the list is too long; write at most {max_length:,} entries",
    "greater_than_equal": "{value} is too small; write at least {ge:,}",
    "less_than_equal": "{value} is too large; write at most {le:,}",
    "tuple_type": "{written} stands where a list is meant; write [first, second], or lines that begin with `- `",
    "dict_type": "{written} stands where a mapping is meant; write `key: value` lines, indented",
    "model_type": "{written} stands where a mapping is meant; write `key: value` lines, indented",
}
"""By the type of pydantic's error; another type, which our fields do not have, would speak for itself."""


def _wording(error: ErrorDetails) -> str:
    value, place = error["input"], error["loc"]
    values = {"value": value, "written": described(value), "field": place[-1] if place else "", **error.get("ctx", {})}
    return _WORDINGS[error["type"]].format_map(values) if error["type"] in _WORDINGS else error["msg"]


def _part_at(part: type[Part], place: Place) -> type[Part]:
    """Return the model of the mapping at *place* in a file whose mappings are *part* at the top."""
    for step in place:
        field = _fields(part).get(str(step))
        part = (field and _part_in(field.annotation)) or part
    return part


def _part_in(annotation: object) -> type[Part] | None:
    """Return the model that a field holds: itself, a list of it, or none."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next((part for inner in get_args(annotation) if (part := _part_in(inner))), None)


def _fields(part: type[Part]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in part.model_fields.items()}
