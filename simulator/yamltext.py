"""YAML read strictly: every value with the line it stands on, and no scalar changed on the way.

YAML 1.1 reads an unquoted ``0712345`` as octal, ``12:30`` as 750, ``no`` as false and ``2026-01-01`` as a date.
Such a scalar arrives here as a `Plain` that keeps its text, and the reader who knows what is meant there takes it
`as_text`, `as_count`, `as_flag`, `as_day` or `as_json`. Every other scalar is a ``str``; lists and mappings are
``list`` and ``dict`` with ``str`` keys.

PyYAML scans and parses. Nodes are composed here from its events, because its own composer recurses without bound,
keeps the last of two equal keys and expands aliases for free.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NoReturn, TypeAlias, cast

import yaml

from .errors import ScenarioError
from .visible import escaped

__all__ = [
    "MAX_ALIASED",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_PROBLEMS",
    "Document",
    "Place",
    "Plain",
    "Problem",
    "Value",
    "as_count",
    "as_day",
    "as_flag",
    "as_json",
    "as_text",
    "brief",
    "described",
    "quoted",
    "read_yaml",
    "refusal",
]

MAX_BYTES = 1 << 20
"""Size of a file."""
MAX_DEPTH = 40
"""Lists and mappings within each other, aliases followed."""
MAX_ALIASED = 100_000
"""Values that the aliases of a file stand for, all together. A file without aliases is bounded by its size alone."""

MAX_PROBLEMS = 50
"""Problems of a file that are told; of those beyond only the number is."""
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Plain:
    """An unquoted scalar that YAML 1.1 or 1.2 reads as something other than its text; empty if nothing is written."""

    text: str


Place: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the keys and, from 0, the places in lists that lead to it."""
Value: TypeAlias = "str | Plain | list[Value] | dict[str, Value]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What is wrong on one line of a file, and what to write instead."""

    line: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Node:
    value: Value
    line: int
    below: Mapping[str | int, _Node] = field(default_factory=dict[str | int, "_Node"])
    key_lines: Mapping[str, int] = field(default_factory=dict[str, int])
    size: int = 1
    """Values in it, itself included, aliases expanded."""
    height: int = 0
    """Lists and mappings within each other, itself included, aliases expanded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One YAML file as read.

    ``problems`` are those after which reading could go on: a value with problems may be checked further, but not used.
    """

    name: str
    value: Value
    problems: tuple[Problem, ...]
    _root: _Node

    def line(self, place: Place) -> int:
        """Return the line, from 1, of the value at *place*, or of the nearest value around it that exists."""
        return self._nearest(place).line

    def key_line(self, place: Place) -> int:
        """Return the line of the key that *place* ends with, or the line of the nearest value around it."""
        around = self._nearest(place[:-1])
        return around.key_lines.get(str(place[-1]), around.line) if place else around.line

    def _nearest(self, place: Place) -> _Node:
        node = self._root
        for step in place:
            if step not in node.below:
                break
            node = node.below[step]
        return node


def read_yaml(data: bytes, name: str) -> Document:
    """Read the one document of a YAML file; *name* is what errors call the file.

    Raises `ScenarioError` where reading cannot go on.
    """
    return _Composer(_decoded(data, name), name).document()


def refusal(name: str, problems: Iterable[Problem]) -> ScenarioError:
    """Return the error that reports *problems* of the file *name*, one line each, in the order of the file."""
    ordered = sorted(problems, key=lambda problem: problem.line)
    shown, left = ordered[:MAX_PROBLEMS], ordered[MAX_PROBLEMS:]
    if left:
        shown.append(
            Problem(line=left[0].line, text=f"{len(left)} more problems from here on; correct those above first")
        )
    return ScenarioError("\n".join(f"{escaped(name)}:{problem.line}: {problem.text}" for problem in shown))


def brief(text: str) -> str:
    """Return *text* on one line, cut after 60 characters."""
    return escaped(_cut(text))


def quoted(text: str) -> str:
    """Return *text* as a double-quoted YAML scalar on one line, cut after 60 characters."""
    plain = _cut(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else _escape(char) for char in plain) + '"'


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def described(value: object) -> str:
    """Return what was written for *value*, in words that an error can begin with."""
    match value:
        case Plain(""):
            return "nothing"
        case Plain(text):
            return brief(text)
        case str():
            return quoted(value)
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return f"a value of type {type(value).__name__}"


def as_text(value: object) -> str:
    """Return a text. Like its neighbours it takes a `Value`, or what it returns, and raises ``ValueError`` in words."""
    match value:
        case str():
            return value
        case Plain(""):
            raise ValueError("nothing is written here; write a text in double quotes, or take the field out")
        case Plain(text):
            raise ValueError(f"{brief(text)} is not text to YAML; write {quoted(text)}")
        case _:
            raise ValueError(f"{described(value)} stands where a text is meant; write {_as_written(value)}")


def as_count(value: object) -> int:
    """Return a whole number, written in decimal digits without quotes."""
    match value:
        case Plain(text) if _WHOLE.fullmatch(text):
            return int(text)
        case int() if not isinstance(value, bool):
            return value
        case _:
            raise ValueError(f"{described(value)} is not a whole number; write digits without quotes, such as 40")


def as_flag(value: object) -> bool:
    """Return a truth value, written ``true`` or ``false``."""
    match value:
        case Plain("true" | "false" as word):
            return word == "true"
        case bool():
            return value
        case _:
            raise ValueError(f"{described(value)} is neither true nor false; write true or false, without quotes")


def as_day(value: object) -> date:
    """Return a date, written YYYY-MM-DD in quotes."""
    match value:
        case str() if _DAY.fullmatch(value):
            try:
                return date.fromisoformat(value)
            except ValueError:
                raise ValueError(f"{described(value)} is not in the calendar; write the day that is meant") from None
        case Plain(text) if _DAY.fullmatch(text):
            raise ValueError(f"the date {text} is without quotes; write {quoted(text)}")
        case date() if not isinstance(value, datetime):
            return value
        case _:
            raise ValueError(f'{described(value)} is not a date; write it as in "2026-12-31", with quotes')


def as_json(value: object) -> str | float | bool | None:
    """Return a scalar of JSON: a quoted text, or a number, ``true``, ``false`` or ``null`` in JSON's spelling."""
    if isinstance(value, Plain):
        number = _NUMBER.fullmatch(value.text)
        if number or value.text in ("true", "false", "null"):
            return json.loads(value.text)
        raise ValueError(
            f"{described(value)} is neither a text nor a value of JSON; write {quoted(value.text)} or null"
        )
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"{described(value)} is no value of JSON; write a text, a number, true, false or null")


def _as_written(value: object) -> str:
    """Return the text that was meant where YAML saw a mapping, such as ``{name}`` and ``Ref: X``, in quotes."""
    entries = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    match list(entries.items()):
        case [(key, Plain(""))]:
            return quoted(f"{{{key}}}")
        case [(key, str(text) | Plain(text))]:
            return quoted(f"{key}: {text}")
        case _:
            return "it in double quotes"


_WHOLE = re.compile("-?(?:0|[1-9][0-9]{0,8})")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,16})(?:\.[0-9]{1,16})?(?:[eE][-+]?[0-9]{1,2})?")
"""A number of JSON that is finite as a float."""


def _escape(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    return short or (f"\\u{ord(char):04x}" if ord(char) < 1 << 16 else f"\\U{ord(char):08x}")


_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\r(?!\n)")
"""What YAML forbids, and those line ends of YAML 1.1 that editors do not count: they would change texts and lines."""


def _decoded(data: bytes, name: str) -> str:
    """Return the text of a file, without its byte order mark."""
    if len(data) > MAX_BYTES:
        raise refusal(
            name, [Problem(line=1, text=f"the file is larger than {MAX_BYTES:,} bytes; split it into several")]
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        offset = error.start + (len(data) - len(error.object))
        what = f"byte {offset} of the file (0x{data[offset]:02x}) is not UTF-8; save the file as UTF-8"
        raise refusal(name, [Problem(line=data.count(b"\n", 0, offset) + 1, text=what)]) from None
    if found := _UNREADABLE.search(text):
        what = f"the character U+{ord(found[0]):04X} has no place in a YAML file; write a space or a line break"
        raise refusal(name, [Problem(line=text.count("\n", 0, found.start()) + 1, text=what)])
    return text


_RESOLVER: Any = yaml.resolver.Resolver()
_TEXT_TAG = "tag:yaml.org,2002:str"
_OWN_TAGS = (None, _TEXT_TAG, "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")
"""Tags that say what is so anyway."""
_MERGE = "<<"
_HIDDEN = re.compile(r" +(#[^\s#][^\n]*)")
"""The rest of a text such as ``Is case #3314 open?``, which YAML takes for a comment."""
_ALSO_PLAIN = re.compile(r"[yYnN]|0o[0-7]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
"""What PyYAML takes for text and the specifications do not: y and n of YAML 1.1, some numbers of YAML 1.2."""


def _is_text(scalar: str) -> bool:
    """Whether YAML 1.1 and 1.2 both read the unquoted *scalar* as text."""
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, scalar, (True, False))
    return tag == _TEXT_TAG and not _ALSO_PLAIN.fullmatch(scalar)


_NodeEvent: TypeAlias = yaml.AliasEvent | yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent


class _Composer:
    """Builds the nodes of one file from PyYAML's events; its recursion is bounded by `MAX_DEPTH`."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._parser: Any = yaml.SafeLoader(text)
        self._anchors: dict[str, _Node | None] = {}
        self._unused: dict[str, int] = {}
        self._aliased = 0
        self._problems: list[Problem] = []

    def document(self) -> Document:
        """Read all events and return the one document in them."""
        self._next()
        if isinstance(start := self._next(), yaml.StreamEndEvent):
            self._fail(_line(start), "the file holds nothing; write `key: value` lines")
        root = self._node(self._next(), 1)
        self._next()
        if not isinstance(second := self._next(), yaml.StreamEndEvent):
            self._fail(
                _line(second),
                "a second document begins here; write one per file, and text that holds --- after `|`, indented",
            )
        for anchor, line in self._unused.items():
            self._note(line, f"the anchor &{brief(anchor)} is never used; put text that begins with & in double quotes")
        return Document(name=self._name, value=root.value, problems=tuple(self._problems), _root=root)

    def _next(self) -> Any:  # which events may come is PyYAML's grammar
        try:
            return self._parser.get_event()
        except yaml.MarkedYAMLError as error:
            self._fail(*_fault(error, self._text))
        except (ValueError, OverflowError):  # PyYAML bounds neither \U escapes nor the numbers of a %YAML line
            self._fail(self._parser.line + 1, "an escape or a number is too large; write the character itself")

    def _node(self, event: _NodeEvent, depth: int) -> _Node:
        """Return the node that *event* begins; *depth* is that of a list or mapping which would begin here."""
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        if event.tag not in _OWN_TAGS:
            self._refuse_tag(event.tag, _line(event))
        if event.anchor is None:
            return self._content(event, depth)
        self._anchors[event.anchor] = None
        self._unused[event.anchor] = _line(event)
        node = self._anchors[event.anchor] = self._content(event, depth)
        return node

    def _alias(self, event: yaml.AliasEvent, depth: int) -> _Node:
        """Return the node that an alias stands for, unless the values would be too many or too deep."""
        line, name = _line(event), str(event.anchor)
        node = self._anchors.get(name)
        if node is None:
            wrong = "stands inside its own anchor" if name in self._anchors else "has no anchor"
            self._fail(line, f"the alias *{brief(name)} {wrong}; put text that begins with * in double quotes")
        self._unused.pop(name, None)
        self._aliased += node.size
        if self._aliased > MAX_ALIASED:
            self._fail(line, f"the aliases up to here stand for more than {MAX_ALIASED:,} values; write the values out")
        self._bound(depth - 1 + node.height, line)
        return node

    def _content(self, event: yaml.ScalarEvent | yaml.SequenceStartEvent | yaml.MappingStartEvent, depth: int) -> _Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        self._bound(depth, _line(event))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(event, depth)
        return self._mapping(event, depth)

    def _scalar(self, event: yaml.ScalarEvent) -> _Node:
        bare = event.style is None
        if bare and event.end_mark and (hidden := _HIDDEN.match(self._text, event.end_mark.index)):
            what = f"{quoted(hidden[1])} is a comment to YAML; put the whole text in double quotes, or write `# `"
            self._note(_line(event), what)
        changed = bare and event.tag is None and not _is_text(event.value)
        return _Node(value=Plain(event.value) if changed else event.value, line=_line(event))

    def _list(self, start: yaml.SequenceStartEvent, depth: int) -> _Node:
        items: list[_Node] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return _around([item.value for item in items], dict(enumerate(items)), {}, _line(start))

    def _mapping(self, start: yaml.MappingStartEvent, depth: int) -> _Node:
        entries: dict[str, _Node] = {}
        lines: dict[str, int] = {}
        bases: list[_Node] = []
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event)
            if key in lines:
                self._note(
                    _line(event), f"the key {quoted(key)} stands here and on line {lines[key]}; keep one of the two"
                )
            lines[key] = _line(event)
            node = self._node(self._next(), depth + 1)
            if key == _MERGE and event.style is None:
                bases = self._bases(node)
            else:
                entries[key] = node
        return _merged(bases, entries, lines, _line(start))

    def _key(self, event: _NodeEvent) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            self._fail(_line(event), "a key must be text; put text that holds { } [ ] * or ? in double quotes")
        key = self._node(event, 0).value
        if isinstance(key, Plain) and key.text != _MERGE:
            written = f"the key {brief(key.text)} is not text to YAML" if key.text else "a key is missing"
            self._note(_line(event), f"{written}; write {quoted(key.text or 'key')}:")
        return event.value

    def _bases(self, node: _Node) -> list[_Node]:
        """Return the mappings that a merge key names."""
        bases = list(node.below.values()) if isinstance(node.value, list) else [node]
        if not all(isinstance(base.value, dict) for base in bases):
            self._note(node.line, "the key << merges mappings only; write `<<: *anchor`")
            return []
        return bases

    def _refuse_tag(self, tag: str | None, line: int) -> None:
        written = brief(str(tag).replace("tag:yaml.org,2002:", "!!"))
        self._note(
            line, f"the tag {written} is not allowed; take it out, and put text that begins with ! in double quotes"
        )

    def _bound(self, depth: int, line: int) -> None:
        if depth > MAX_DEPTH:
            self._fail(line, f"more than {MAX_DEPTH} lists and mappings within each other; write it flatter")

    def _note(self, line: int, text: str) -> None:
        self._problems.append(Problem(line=line, text=text))

    def _fail(self, line: int, text: str) -> NoReturn:
        raise refusal(self._name, [*self._problems, Problem(line=line, text=text)]) from None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _around(value: Value, below: Mapping[str | int, _Node], key_lines: Mapping[str, int], line: int) -> _Node:
    """Return the node of a list or mapping over the nodes *below* it."""
    return _Node(
        value=value,
        line=line,
        below=below,
        key_lines=key_lines,
        size=1 + sum(node.size for node in below.values()),
        height=1 + max((node.height for node in below.values()), default=0),
    )


def _merged(bases: Sequence[_Node], entries: Mapping[str, _Node], lines: Mapping[str, int], line: int) -> _Node:
    """Return the node of a mapping: its own entries override those of *bases*, an earlier base a later one."""
    below: dict[str | int, _Node] = {}
    key_lines: dict[str, int] = {}
    for base in reversed(bases):
        below.update(base.below)
        key_lines.update(base.key_lines)
    below.update(entries)
    key_lines.update(lines)
    return _around({str(key): node.value for key, node in below.items()}, below, key_lines, line)


_QUOTE = "put text with special characters in double quotes, or after `|` on lines of their own"
_ADVICE = (
    (
        r"found character '\t' that cannot start any token",
        "a tab stands here; indent with spaces, and put text that holds a tab in double quotes",
    ),
    (
        "mapping values are not allowed here",
        "a second `key:` stands here; indent it like its neighbours, or put the text in double quotes",
    ),
    ("could not find expected ':'", "this line has no `key: value`; indent the lines of a text further than its key"),
    ("found unexpected end of stream", 'the quotes that open here are never closed; write a " at the end of the text'),
)
_SECOND_COLON = re.compile(r"\s*(?:- +)*[\w-]+: +(.*)")


def _fault(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """Return the line and the wording of a syntax error."""
    problem = error.problem or "syntax error"
    begun_above = "end of stream" in problem or "expected ':'" in problem
    mark = error.context_mark if begun_above and error.context_mark else error.problem_mark
    line = mark.line if mark else 0
    if problem.startswith("mapping values") and mark:
        written = _SECOND_COLON.fullmatch(text.split("\n")[line].rstrip("\r"))
        if written and mark.column > written.start(1):
            return line + 1, f"the colon in this text begins a second key; write {quoted(written[1])}"
    wording = next((advice for found, advice in _ADVICE if found in problem), f"not YAML: {problem}; {_QUOTE}")
    return line + 1, wording
