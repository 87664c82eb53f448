"""A turn and its history, rendered to messages.

Passages, customer messages and replies are data: they are handed to templates as values and never parsed, so ``{{ }}``
in them reaches the model byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from .errors import TemplateError
from .model import Message, Role
from .scenario import Passage, Scenario
from .template import MAX_SOURCE, Template, parse_template

__all__ = [
    "DEFAULT_TEMPLATES",
    "Prompt",
    "Templates",
    "answer_prompt",
    "check_prompt",
    "load_templates",
    "rewrite_prompt",
]

DEFAULT_TEMPLATES: Mapping[str, str] = {"system": "support", "check": "check", "rewrite": "rewrite"}
"""Template names by the role they play; a scenario's ``templates`` overrides them."""

_MAX_BYTES = 4 * MAX_SOURCE
"""A file with more has too many characters, whatever they are."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """Messages, and what they were made from."""

    messages: tuple[Message, ...]
    template: str
    values: Mapping[str, Any]
    """What the template was given; with the template's text it gives its messages again."""


class Templates:
    """Template sources by name, parsed when first rendered.

    Raises ``TemplateError`` from ``render`` for a template that does not parse, does not render or has no block.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = dict(sources)
        self._parsed: dict[str, Template] = {}

    def render(self, name: str, values: Mapping[str, Any]) -> tuple[Message, ...]:
        """Return one message per block of template *name*, in the order of the file."""
        if name not in self._parsed:
            self._parsed[name] = parse_template(name, self.sources[name], get_args(Role))
        texts = self._parsed[name].render(values)
        return tuple(Message(role=cast("Role", role), content=text) for role, text in texts)


def load_templates(folders: Sequence[Path], scenarios: Sequence[Scenario]) -> Templates:
    """Read every template that *scenarios* name, each from the first of *folders* that has it.

    Raises ``TemplateError`` naming the folders where it was looked for.
    """
    names = {name for scenario in scenarios for name in template_names(scenario).values()}
    return Templates({name: _read_template(name, folders) for name in sorted(names)})


def template_names(scenario: Scenario) -> dict[str, str]:
    """Return the template name for each role of *scenario*."""
    return {**DEFAULT_TEMPLATES, **scenario.templates}


def _read_template(name: str, folders: Sequence[Path]) -> str:
    if not _NAME.fullmatch(name):
        raise TemplateError(f"template {name!r}: a name has letters, digits, - and _ only, and no folder or ending")
    for folder in folders:
        path = folder / f"{name}.jinja"
        if path.is_file():
            return _decode(path)
    places = " or ".join(str(folder) for folder in folders)
    raise TemplateError(f"template {name}: no file {name}.jinja in {places}")


def _decode(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise TemplateError(f"{path}:1: the template is longer than {MAX_SOURCE:,} characters; write a shorter one")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise TemplateError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except OSError as error:
        raise TemplateError(f"{path}: cannot be read: {error.strerror}") from error


def answer_prompt(
    templates: Templates,
    scenario: Scenario,
    passages: Sequence[Passage],
    history: Sequence[tuple[str, str]],
    say: str,
) -> Prompt:
    """Return the prompt of an answer: the system message, *history* as pairs of customer and reply, and *say*."""
    name = template_names(scenario)["system"]
    values = {"title": scenario.title, "passages": _passage_values(passages), **_form(scenario)}
    past = [
        message
        for asked, replied in history
        for message in (Message(role="user", content=asked), Message(role="assistant", content=replied))
    ]
    messages = (*templates.render(name, values), *past, Message(role="user", content=say))
    return Prompt(messages=messages, template=name, values=values)


def check_prompt(
    templates: Templates, scenario: Scenario, passages: Sequence[Passage], question: str, shown: str
) -> Prompt:
    """Return the prompt of a check. What never changes within a scenario comes first, the reply last."""
    values = {"passages": _passage_values(passages), "question": question, "reply": shown}
    return _templated(templates, template_names(scenario)["check"], values)


def rewrite_prompt(
    templates: Templates,
    scenario: Scenario,
    passages: Sequence[Passage],
    question: str,
    reply: str,
    unsupported: Sequence[str],
) -> Prompt:
    """Return the prompt of a rewrite of *reply*, whose *unsupported* words are verbatim pieces of it."""
    values = {
        "passages": _passage_values(passages),
        "question": question,
        "reply": reply,
        "unsupported": list(unsupported),
        **_form(scenario),
    }
    return _templated(templates, template_names(scenario)["rewrite"], values)


def _templated(templates: Templates, name: str, values: Mapping[str, Any]) -> Prompt:
    return Prompt(messages=templates.render(name, values), template=name, values=values)


def _passage_values(passages: Sequence[Passage]) -> list[dict[str, str]]:
    return [{"id": passage.id, "text": passage.text} for passage in passages]


def _form(scenario: Scenario) -> dict[str, Any]:
    """Return what a reply must be like; None for what is not asked for."""
    return {
        "format": scenario.reply.format,
        "schema": scenario.reply.schema_text,
        "max_answer_words": scenario.reply.max_answer_words,
        "max_words": scenario.rules.max_words,
        "forbid_money": scenario.rules.forbid_money,
        "billing": scenario.billing_sentence,
        "closing_line": scenario.closing_line,
        "refusal": scenario.refusal_body,
    }
