"""A prompt template: a small part of Jinja, checked when it is parsed and rendered within bounds.

Each block named after a role becomes one message, in the order of the file. In a block stand text, ``{{ }}``, ``if``,
``for`` and comments; in an expression the names that are handed over, their fields and items, texts and numbers,
comparisons, ``is`` tests, ``and``, ``or``, ``not``, ``a if b else c``, ``~``, ``+``, ``-`` and a few filters. Left out
is what a template could run or grow without end with: macros, assignments, calls, other templates, ``*`` and ``%``.

An undefined name is an error. The line of a block tag leaves nothing behind, and the single newline before ``endblock``
is the template's, not the message's. Every other byte is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes, pass_context
from jinja2 import Template as Compiled
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from .errors import TemplateError
from .visible import one_line

__all__ = ["MAX_CHARACTERS", "MAX_ROUNDS", "MAX_SOURCE", "Template", "parse_template"]

MAX_SOURCE: Final = 100_000
"""Characters of a template."""
MAX_CHARACTERS: Final = 4_000_000
"""Characters of all its messages together."""
MAX_ROUNDS: Final = 10_000
"""How often all its loops together go round."""

_FILTERS: Final = ("capitalize", "d", "default", "first", "last", "length", "lower", "trim", "upper")
_TAKEN: Final = (
    *(nodes.Output, nodes.TemplateData, nodes.If, nodes.For),
    *(nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Getattr, nodes.Getitem),
    *(nodes.Compare, nodes.Operand, nodes.Test, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr),
    *(nodes.Concat, nodes.Add, nodes.Sub, nodes.Neg, nodes.Filter),
)
_WORDS: Final[Mapping[type[nodes.Node], str]] = {
    nodes.Assign: "{% set %}",
    nodes.AssignBlock: "{% set %}",
    nodes.Block: "a block inside another",
    nodes.Call: "a call such as range(9)",
    nodes.CallBlock: "{% call %}",
    nodes.Dict: "a mapping",
    nodes.Div: "the operator /",
    nodes.Extends: "{% extends %}",
    nodes.FilterBlock: "{% filter %}",
    nodes.FloorDiv: "the operator //",
    nodes.FromImport: "{% from %}",
    nodes.Import: "{% import %}",
    nodes.Include: "{% include %}",
    nodes.Macro: "{% macro %}",
    nodes.Mod: "the operator %",
    nodes.Mul: "the operator *",
    nodes.Pow: "the operator **",
    nodes.Slice: "a slice",
    nodes.With: "{% with %}",
}
_ROUNDS: Final = "rounds left"
"""A name in the context that no template can write."""


class _TooMuchError(Exception):
    """A bound was reached while rendering."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """A template that was parsed; ``name`` is that of its file, without the ending."""

    name: str
    compiled: Compiled

    def render(self, values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the role and the text of each message. Raises `TemplateError`."""
        context = self.compiled.new_context({**values, _ROUNDS: iter(range(MAX_ROUNDS))})
        blocks = self.compiled.blocks
        try:
            texts = list(_bounded(block(context) for block in blocks.values()))
        except Exception as error:  # a template is its author's program, and anything may come of it
            raise _wrong(self.name, self._line(error), f"cannot be rendered: {_reason(error)}") from error
        return tuple((role, text.removesuffix("\n")) for role, text in zip(blocks, texts, strict=True))

    def _line(self, error: Exception) -> int:
        """Return the line of the template at which *error* was raised."""
        line, trace = 1, error.__traceback__
        while trace:
            if trace.tb_frame.f_globals.get("__jinja_template__") is self.compiled:
                line = self.compiled.get_corresponding_lineno(trace.tb_lineno)
            trace = trace.tb_next
        return line


def _bounded(blocks: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the text of each block, as long as all of them together stay within the bound."""
    left = MAX_CHARACTERS
    for block in blocks:
        pieces: list[str] = []
        for piece in block:
            left -= len(piece)
            if left < 0:
                raise _TooMuchError(f"its messages have more than {MAX_CHARACTERS:,} characters")
            pieces.append(piece)
        yield "".join(pieces)


@pass_context
def _counted(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    """Yield *items* as long as the loops of the template may go round."""
    left: Iterator[int] = context[_ROUNDS]
    for item in items:
        if next(left, None) is None:
            raise _TooMuchError(f"its loops go round more than {MAX_ROUNDS:,} times")
        yield item


def parse_template(name: str, source: str, roles: Iterable[str]) -> Template:
    """Return the template *source*, whose blocks are named after *roles*. Raises `TemplateError` with its line."""
    if len(source) > MAX_SOURCE:
        raise _wrong(name, 1, f"the template is longer than {MAX_SOURCE:,} characters; write a shorter one")
    environment = _environment()
    try:
        tree = environment.parse(source)
        refusal = next(_refusals(tree, tuple(roles)), None)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _counted.__name__, [], [], None, None, lineno=loop.lineno)
        compiled = None if refusal else environment.from_string(tree)
    except TemplateSyntaxError as error:
        raise _wrong(name, error.lineno, error.message or "syntax error") from error
    except Exception as error:  # Jinja recurses without bound, and makes Python of what it has parsed
        raise _wrong(name, 1, f"cannot be parsed: {_reason(error)}") from error
    if compiled is None:
        raise _wrong(name, *(refusal or (1, "")))
    return Template(name=name, compiled=compiled)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.clear()
    filters = cast("dict[str, Any]", environment.filters)
    filters[_counted.__name__] = _counted
    return environment


def _refusals(tree: nodes.Template, roles: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield the line of what has no place in a template, and why."""
    named = f"blocks are named after roles ({', '.join(roles)})"
    blocks = [node for node in tree.body if isinstance(node, nodes.Block)]
    if not blocks:
        yield 1, f"{named}; found none"
    for node in tree.body:
        if isinstance(node, nodes.Block):
            if node.name not in roles:
                yield node.lineno, f"{named}; found {node.name}"
            for each in node.body:
                yield from _strange(each)
        elif not _is_blank(node):
            yield node.lineno, "what stands outside the blocks reaches nobody; put it into one"


def _is_blank(node: nodes.Node) -> bool:
    pieces = node.nodes if isinstance(node, nodes.Output) else [node]
    return all(isinstance(piece, nodes.TemplateData) and not piece.data.strip() for piece in pieces)


def _strange(node: nodes.Node) -> Iterator[tuple[int, str]]:
    if not isinstance(node, _TAKEN):
        what = _WORDS.get(type(node), type(node).__name__.lower())
        yield node.lineno, f"{what} has no place in a prompt template; write text, if, for and {{{{ }}}}"
    elif isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        yield node.lineno, f"the filter {node.name} is not taken; write one of {', '.join(_FILTERS)}"
    elif isinstance(node, nodes.For) and node.recursive:
        yield node.lineno, "a loop that calls itself has no place in a prompt template; take `recursive` out"
    for each in node.iter_child_nodes():
        yield from _strange(each)


def _wrong(name: str, line: int, what: str) -> TemplateError:
    return TemplateError(f"{name}.jinja:{line}: {one_line(what)}")


def _reason(error: Exception) -> str:
    # What Python says of the code made from a template names a line of that code.
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return words or type(error).__name__
