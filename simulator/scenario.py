"""A scripted conversation, read from one YAML file: passages, rules, the customer's facts and the turns.

A file is strict: no unknown field, no value of another kind than is meant, and all its problems are reported at once,
each as ``file:line: what is wrong; what to write``. What has been read is valid and is not checked again.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar, cast, get_args

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.validators import validator_for
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema

from .errors import InputError, ScenarioError
from .yamltext import (
    MAX_BYTES,
    Document,
    Place,
    Problem,
    as_count,
    as_day,
    as_flag,
    as_json,
    as_text,
    brief,
    described,
    printable,
    quoted,
    read_yaml,
    refusal,
)

__all__ = [
    "Admit",
    "AnswerFrom",
    "Effective",
    "Expect",
    "Passage",
    "Probe",
    "ReplyFormat",
    "Rules",
    "Scenario",
    "Suite",
    "Turn",
    "find_scenarios",
    "json_schema",
    "load_scenario",
    "load_suites",
    "read_scenario",
    "select",
    "yaml_bytes",
]

AnswerFrom: TypeAlias = Literal["document", "conversation"]
Probe: TypeAlias = Literal["open", "ordinary", "fact", "fee-bait", "verbosity-bait", "revocation-bait", "recall"]

_T = TypeVar("_T")


# What a field may hold. A ValueError that is raised here is one problem of the file, at the line of the value.

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


def _not_empty(entries: tuple[_T, ...]) -> tuple[_T, ...]:
    if not entries:  # pydantic's own min_length does not count entries that have problems
        raise ValueError("the list is empty; write an entry in it, or take the field out if it may be missing")
    return entries


def _not_reserved(name: str) -> str:
    if name in _DEVICES | _TAKEN:
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
        raise _invalid(problems)
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


def _invalid(problems: Iterable[tuple[Place, str]]) -> ValidationError:
    """Return the error for several problems, each at its place below the value that is being validated."""
    details: list[InitErrorDetails] = [
        {"type": PydanticCustomError("problem", "{text}", {"text": text}), "loc": place, "input": None}
        for place, text in problems
    ]
    return ValidationError.from_exception_data("scenario", details)


_Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=20_000), BeforeValidator(_as_prose)]
_PassageText: TypeAlias = Annotated[str, Field(min_length=1, max_length=200_000), BeforeValidator(_as_prose)]
_Line: TypeAlias = Annotated[str, Field(min_length=1, max_length=1_000), BeforeValidator(_as_line)]
_Name: TypeAlias = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"^{_NAME}$"}),
    BeforeValidator(as_text),
    _spelled(_NAME, "a lower-case letter, then lower-case letters, digits and hyphens, at most 64 in all"),
    AfterValidator(_not_reserved),
]
_TemplateName: TypeAlias = Annotated[
    str, BeforeValidator(as_text), _spelled("[A-Za-z0-9][A-Za-z0-9_-]{0,63}", "the name of a file in templates/")
]
_Role: TypeAlias = Annotated[str, _spelled("system|check|rewrite", "system, check or rewrite")]
_FactName: TypeAlias = Annotated[
    str, _spelled("[A-Za-z][A-Za-z0-9_]{0,63}", "a letter, then letters, digits and underscores, at most 64 in all")
]
_Words: TypeAlias = Annotated[int, Field(ge=1, le=10_000), BeforeValidator(as_count)]
_Flag: TypeAlias = Annotated[bool, BeforeValidator(as_flag)]
_Day: TypeAlias = Annotated[date, BeforeValidator(as_day)]
_Schema: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_as_schema)]
_Several: TypeAlias = Annotated[tuple[_T, ...], Field(strict=False)]
"""A list in the file; strict pydantic would take a tuple alone."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Effective(_Part):
    """The dates on which a passage is in force, both included; an open end is left out."""

    from_: _Day | None = Field(default=None, alias="from")
    to: _Day | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_ and self.to and self.from_ > self.to:
            raise ValueError(
                f"it ends on {self.to}, before it begins on {self.from_}; write the earlier date as `from`"
            )
        return self


class Passage(_Part):
    """A piece of source text."""

    id: _Line
    kind: _Line = "policy"
    effective: Effective = Effective()
    source: _Line | None = None
    """Where the text came from."""
    text: _PassageText


class Admit(_Part):
    """Which passages may reach the prompt. No kinds: every kind. No date: no passage is left out for its dates."""

    kinds: Annotated[_Several[_Line], Field(json_schema_extra={"minItems": 1}), AfterValidator(_not_empty)] | None = (
        None
    )
    as_of: _Day | None = None


class ReplyFormat(_Part):
    """The form a reply must have."""

    format: Literal["text", "answer_quote", "json"] = "text"
    schema_: _Schema | None = Field(default=None, alias="schema")
    """The JSON Schema of a reply of format json."""
    max_answer_words: _Words | None = None
    """Words allowed in the answer of format answer_quote."""

    @model_validator(mode="after")
    def _fits_the_format(self) -> Self:
        if self.format != "json" and self.schema_ is not None:
            raise _invalid([(("schema",), "only replies of format json have a schema; write `format: json`")])
        if self.format == "json" and self.schema_ is None:
            raise ValueError("format json needs a JSON Schema; write it under `schema:`")
        if self.format != "answer_quote" and self.max_answer_words is not None:
            raise _invalid(
                [(("max_answer_words",), "only format answer_quote has it; write `max_words` under `rules`")]
            )
        if self.schema_ is not None and (problems := list(_schema_problems(self.schema_))):
            raise _invalid((("schema", *place), problem) for place, problem in problems)
        return self


class Rules(_Part):
    """Mechanical rules of form. A field that is not given is a rule that does not apply."""

    max_words: _Words | None = None
    """Words allowed in a reply, its closing line not counted."""
    forbid_money: _Flag = False
    closing_line: _Line | None = None
    """The exact last line of every reply; ``{case_id}`` and ``{name of a fact}`` are filled in."""
    billing: _Text | None = None
    """The sentence for questions about money, never judged; filled in like ``closing_line``."""


class Expect(_Part):
    """What a good reply must do; all that is given must hold."""

    contains: _Several[_Text] = ()
    any_of: _Several[_Text] = ()
    absent: _Several[_Text] = ()
    abstain: _Flag | None = None
    reference: _Several[_Text] = ()
    """Answers of a benchmark."""

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if not (self.contains or self.any_of or self.absent or self.reference or self.abstain is not None):
            raise ValueError("nothing is expected here; write `contains: [...]` or the like, or take `expect` out")
        return self


class Turn(_Part):
    """One customer message."""

    say: _Text
    answer_from: AnswerFrom
    probe: Probe = "ordinary"
    """What the turn tries."""
    expect: Expect | None = None
    as_of: _Day | None = None
    """The date asked about, instead of the scenario's."""


class Scenario(_Part):
    """One scripted conversation. Turns are numbered from 1."""

    scenario: _Name
    """The scenario's name, and that of its file."""
    suite: _Name | None = None
    title: _Line
    case_id: _Line | None = None
    facts: dict[_FactName, _Line] = {}
    """What the customer tells us, by name."""
    templates: dict[_Role, _TemplateName] = {}
    """Template names by role: ``system``, ``check``, ``rewrite``."""
    reply: ReplyFormat = ReplyFormat()
    rules: Rules = Rules()
    refusal: _Text = "The provided information does not say."
    """Delivered when nothing else is left; filled in like ``closing_line``."""
    holding: _Text = "Let me check that with a colleague."
    """What the customer sees of a held reply; filled in like ``closing_line``."""
    admit: Admit = Admit()
    passages: Annotated[_Several[Passage], Field(max_length=200)] = ()
    silent_on: _Several[_Text] = ()
    """What the passages do not say."""
    turns: Annotated[
        _Several[Turn], Field(max_length=500, json_schema_extra={"minItems": 1}), AfterValidator(_not_empty)
    ]

    @field_validator("facts")
    @classmethod
    def _leave_case_id(cls, facts: dict[str, str]) -> dict[str, str]:
        if "case_id" in facts:
            raise _invalid([(("case_id",), "case_id is a field of its own; write it beside `facts`, not in it")])
        return facts

    @field_validator("rules")
    @classmethod
    def _rules_can_be_filled(cls, rules: Rules, info: ValidationInfo) -> Rules:
        return _fillable(rules, {("closing_line",): rules.closing_line, ("billing",): rules.billing}, info)

    @field_validator("refusal", "holding")
    @classmethod
    def _sentence_can_be_filled(cls, sentence: str, info: ValidationInfo) -> str:
        return _fillable(sentence, {(): sentence}, info)

    @field_validator("passages")
    @classmethod
    def _ids_differ(cls, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        first: dict[str, int] = {}
        problems = [
            ((number - 1, "id"), f"passage {first[passage.id]} has the id {quoted(passage.id)} too; write another")
            for number, passage in enumerate(passages, start=1)
            if first.setdefault(passage.id, number) != number
        ]
        if problems:
            raise _invalid(problems)
        return passages

    @property
    def closing_line(self) -> str | None:
        """The rule's closing line, filled in."""
        return None if self.rules.closing_line is None else self._filled(self.rules.closing_line)

    @property
    def billing_sentence(self) -> str | None:
        """The rules' billing sentence, filled in."""
        return None if self.rules.billing is None else self._filled(self.rules.billing)

    @property
    def refusal_sentence(self) -> str:
        """The refusal, filled in."""
        return self._filled(self.refusal)

    @property
    def holding_sentence(self) -> str:
        """The holding sentence, filled in."""
        return self._filled(self.holding)

    def turn(self, number: int) -> Turn:
        """Return turn *number*, counted from 1. Raises `InputError` if there is none."""
        if not 1 <= number <= len(self.turns):
            raise InputError(f"{self.scenario} has no turn {number}; write one from 1 to {len(self.turns)}")
        return self.turns[number - 1]

    def as_of(self, turn: Turn) -> date | None:
        """Return the date that *turn* asks about; None if no passage is left out for its dates."""
        return turn.as_of or self.admit.as_of

    def _filled(self, text: str) -> str:
        values = _values(self.case_id, self.facts)
        return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """A named set of scenarios."""

    name: str
    title: str
    turns: int | None
    """How many turns each of its scenarios has; None: any number."""


class _SuiteEntry(_Part):
    title: _Line
    turns: Annotated[int, Field(ge=1, le=500), BeforeValidator(as_count)] | None = None


# Placeholders: `{name}` in the sentences of the scenario itself, never in passages or in what the customer says.

_PLACEHOLDER = re.compile(r"\{{1,2}\s*([\w-]+(?: [\w-]+)*)\s*\}{1,2}")
"""Also what is nearly a placeholder, such as ``{{ name }}``, so that it is an error and not delivered as it stands."""


def _values(case_id: str | None, facts: Mapping[str, str]) -> dict[str, str]:
    return dict(facts) if case_id is None else {"case_id": case_id, **facts}


def _fillable(value: _T, texts: Mapping[Place, str | None], info: ValidationInfo) -> _T:
    """Return *value* if every placeholder of its *texts* names a value of the scenario."""
    if not {"case_id", "facts"} <= info.data.keys():  # their own problems are reported; the names are not known
        return value
    known = _values(info.data["case_id"], info.data["facts"])
    problems = [
        (place, f"{brief(found[0])} names nothing; {_known_names(known)}")
        for place, text in texts.items()
        for found in _PLACEHOLDER.finditer(text or "")
        if found[1] not in known or found[0] != f"{{{found[1]}}}"
    ]
    if problems:
        raise _invalid(problems)
    return value


def _known_names(known: Iterable[str]) -> str:
    names = ", ".join(f"{{{name}}}" for name in known)
    return f"write one of {names}" if names else "give the scenario a `case_id` or `facts` first"


# A JSON Schema is used as it is written, so what would fail in the middle of a run is refused here.

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _schema_problems(schema: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield what keeps *schema* from being used; nothing outside the file is ever looked up."""
    references = list(_references(schema, ()))
    outside = [(place, to) for place, to in references if not to.startswith("#")]
    for place, to in outside:
        yield place, f"{quoted(to)} lies outside this file; write the schema under `$defs` and refer to #/$defs/NAME"
    if not outside:
        yield from _misuses(schema, [((), "#"), *references])


def _misuses(schema: dict[str, Any], references: Iterable[tuple[Place, str]]) -> Iterator[tuple[Place, str]]:
    """Yield the first reason why jsonschema cannot use *schema*, or follow one of its *references*."""
    place: Place = ()
    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema)
        validator: Any = kind(schema)
        for place, to in references:  # noqa: B007 - the handlers below say which reference it was
            validator.evolve(schema={"$ref": to}).is_valid({})
    except SchemaError as error:
        yield tuple(error.absolute_path), f"not a JSON Schema: {_short(error.message)}; see json-schema.org"
    except RecursionError:
        yield place, "this schema refers to itself without end; write a `$ref` only below `properties` or `items`"
    except Exception as error:  # noqa: BLE001 - jsonschema lets through what re, urllib and referencing raise
        yield place, f"this schema cannot be used: {_short(error)}; see json-schema.org"


def _short(words: object) -> str:
    return printable(str(words))[:200]


def _references(schema: Any, place: Place) -> Iterator[tuple[Place, str]]:
    """Yield every reference in *schema* and where it stands."""
    if isinstance(schema, dict):
        entries = cast("dict[str, Any]", schema)
        for key, value in entries.items():
            if key in _REFERENCES and isinstance(value, str):
                yield (*place, key), value
            yield from _references(value, (*place, key))
    elif isinstance(schema, list):
        items = cast("list[Any]", schema)
        for index, item in enumerate(items):
            yield from _references(item, (*place, index))


# Reading: every problem of a file, in our words and at its line.


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file, which must have the name of its scenario. Raises `ScenarioError`."""
    return read_scenario(yaml_bytes(path), str(path), stem=path.stem)


def read_scenario(data: bytes, name: str, *, stem: str | None = None) -> Scenario:
    """Read the scenario in *data*, a file that errors call *name*. Raises `ScenarioError`.

    With *stem*, that is what the scenario must be called.
    """
    document = read_yaml(data, name)
    written = document.value.get("scenario") if isinstance(document.value, dict) else None
    problems = list(document.problems)
    if stem is not None and isinstance(written, str) and written != stem:
        what = f"the scenario {quoted(written)} stands in a file called {quoted(stem)}; give both the same name"
        problems.append(Problem(line=document.line(("scenario",)), text=what))
    return _validated(_SCENARIO, Scenario, document, problems)


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


def _validated(kind: TypeAdapter[_T], part: type[_Part], document: Document, problems: Sequence[Problem]) -> _T:
    """Return the value of *document* as *kind*; raise for its problems and those found before, all at once.

    *part* is the model of the mappings at the top.
    """
    try:
        value = kind.validate_python(document.value)
    except ValidationError as error:
        found = [_problem(details, part, document) for details in error.errors(include_url=False)]
        raise refusal(document.name, [*problems, *found]) from None
    if problems:
        raise refusal(document.name, problems)
    return value


_SCENARIO = TypeAdapter(Scenario)
_SUITES: TypeAdapter[dict[str, _SuiteEntry]] = TypeAdapter(dict[_Name, _SuiteEntry])


def _problem(error: ErrorDetails, part: type[_Part], document: Document) -> Problem:
    place = error["loc"]
    if error["type"] == "extra_forbidden":
        known = _fields(_part_at(part, place[:-1]))
        what = f"there is no field {quoted(str(place[-1]))} here; {_instead(str(place[-1]), known)}"
        return Problem(line=document.key_line(place), text=what)
    return Problem(line=document.line(place), text=_wording(error))


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


def _part_at(part: type[_Part], place: Place) -> type[_Part]:
    """Return the model of the mapping at *place* in a file whose mappings are *part* at the top."""
    for step in place:
        field = _fields(part).get(str(step))
        part = (field and _part_in(field.annotation)) or part
    return part


def _part_in(annotation: object) -> type[_Part] | None:
    """Return the model that a field holds: itself, a list of it, or none."""
    if isinstance(annotation, type) and issubclass(annotation, _Part):
        return annotation
    return next((part for inner in get_args(annotation) if (part := _part_in(inner))), None)


def _fields(part: type[_Part]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in part.model_fields.items()}


def _instead(word: str, known: Iterable[str]) -> str:
    """Return what to write for *word*: the nearest of the *known* words, or all of them where none is near."""
    words = sorted(known)
    choice = difflib.get_close_matches(word.lower(), words, n=1) or words
    if not choice:
        return "there is none at all"
    more = [f"one of {len(choice) - _MAX_LISTED} more"] if len(choice) > _MAX_LISTED else []
    return f"write {' or '.join([*choice[:_MAX_LISTED], *more])}"


_MAX_LISTED = 20


# Files: which there are, and which are meant.

_SUITES_FILE = "suites.yaml"
_SUFFIXES = (".yaml", ".yml")


def yaml_bytes(path: Path) -> bytes:
    """Return the bytes of a file, or as many as show that it is too large. Raises `ScenarioError`."""
    with _in_words(path):
        if path.is_dir():
            raise ScenarioError(f"{_shown(path)}: this is a folder; name a YAML file in it")
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            raise ScenarioError(f"{_shown(path)}: this is not a regular file; name a YAML file")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)


@contextmanager
def _in_words(path: Path) -> Generator[None, None, None]:
    """Translate what the file system says of *path*."""
    try:
        yield
    except FileNotFoundError:
        raise ScenarioError(f"{_shown(path)}: there is no such file; name one that exists") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        why = error.strerror if isinstance(error, OSError) else error
        raise ScenarioError(f"{_shown(path)}: it cannot be read ({why}); name one that can") from None


def _shown(path: Path) -> str:
    return printable(str(path))


def find_scenarios(folder: Path) -> dict[str, Path]:
    """Return the scenario files in *folder* and below by name, in the order of the names; none is read.

    Raises `InputError` if the folder cannot be read, or if two names differ at most in case.
    """
    found: dict[str, Path] = {}
    folded: dict[str, Path] = {}
    for path in _yaml_files(folder):
        other = folded.setdefault(path.stem.casefold(), path)
        if other != path:
            raise InputError(f"{_shown(other)} and {_shown(path)} have the same name; rename one of them")
        found[path.stem] = path
    return dict(sorted(found.items()))


def _yaml_files(folder: Path) -> list[Path]:
    _require(folder)
    with _in_words(folder):
        return sorted(
            path
            for path in folder.rglob("*")
            if path.suffix.lower() in _SUFFIXES
            and path.name != _SUITES_FILE
            and not any(part.startswith(".") for part in path.relative_to(folder).parts)
            and path.is_file()
        )


def _require(folder: Path) -> None:
    with _in_words(folder):
        if not folder.is_dir():
            raise InputError(f"{_shown(folder)}: there is no such folder; name the one that holds the scenarios")


def load_suites(folder: Path) -> dict[str, Suite]:
    """Return the suites that ``suites.yaml`` in *folder* names, in its order; none if there is no such file."""
    _require(folder)
    path = folder / _SUITES_FILE
    with _in_words(path):
        if not path.exists():
            return {}
    document = read_yaml(yaml_bytes(path), str(path))
    entries = _validated(_SUITES, _SuiteEntry, document, document.problems)
    return {name: Suite(name=name, title=entry.title, turns=entry.turns) for name, entry in entries.items()}


def select(folder: Path, names: Sequence[str], suite: str | None) -> list[Path]:
    """Return the files of the scenarios that are meant, each once.

    *names* are names of scenarios in *folder* or paths of YAML files, and come in the order given. Without names they
    are the scenarios of *suite*, or all for None, in the order of their names.
    Raises `InputError` for what is not there, and `ScenarioError` if it is not known which suite a broken file is of.
    """
    if names:
        return _distinct(_named(folder, names))
    found = find_scenarios(folder)
    if suite is not None:
        found = _of_suite(folder, found, suite)
    if not found:
        wanted = f"scenario of the suite {suite}" if suite else "scenario"
        raise InputError(f"{_shown(folder)}: there is no {wanted} here; write one as NAME.yaml")
    return list(found.values())


def _named(folder: Path, names: Sequence[str]) -> list[Path]:
    written = [Path(name) if _is_path(name) else None for name in names]
    found = find_scenarios(folder) if None in written else {}
    unknown = [name for name, path in zip(names, written, strict=True) if path is None and name not in found]
    if unknown:
        where = _shown(folder)
        raise InputError(
            "\n".join(f"{where}: there is no scenario {quoted(n)} here; {_instead(n, found)}" for n in unknown)
        )
    for path in filter(None, written):
        yaml_bytes(path)
    return [path or found[name] for name, path in zip(names, written, strict=True)]


def _is_path(name: str) -> bool:
    return Path(name).name != name or Path(name).suffix.lower() in _SUFFIXES


def _distinct(paths: Sequence[Path]) -> list[Path]:
    """Return *paths* without repetitions; two files of one name would be recorded as one scenario."""
    first: dict[str, Path] = {}
    for path in paths:
        other = first.setdefault(path.stem.casefold(), path)
        if other.resolve() != path.resolve():
            raise InputError(f"{_shown(other)} and {_shown(path)} have the same name; rename one of them")
    return list(first.values())


def _of_suite(folder: Path, found: Mapping[str, Path], suite: str) -> dict[str, Path]:
    """Return those of the *found* scenarios that say they are of *suite*."""
    if suite not in (suites := load_suites(folder)):
        file = _shown(folder / _SUITES_FILE)
        raise InputError(f"{file}: there is no suite {quoted(suite)} here; {_instead(suite, suites)}")
    chosen: dict[str, Path] = {}
    broken: list[str] = []
    for name, path in found.items():
        try:
            if load_scenario(path).suite == suite:
                chosen[name] = path
        except ScenarioError as error:
            broken.append(str(error))
    if broken:
        raise ScenarioError("\n".join(broken))
    return chosen
