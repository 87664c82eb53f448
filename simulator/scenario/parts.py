"""A scripted conversation as values: what it has, and what its fields say to each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated, Final, Literal, Self, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from ..errors import InputError
from ..yamltext import Place, brief, quoted
from .declining import declining_reply
from .fields import (
    Day,
    FactName,
    Flag,
    Line,
    Name,
    PassageText,
    Phrases,
    Role,
    Schema,
    Several,
    TemplateName,
    Text,
    Words,
    invalid,
    not_empty,
)
from .schema import schema_problems
from .wording import listed

__all__ = [
    "Admit",
    "AnswerFrom",
    "Effective",
    "Expect",
    "Part",
    "Passage",
    "Probe",
    "ReplyFormat",
    "Rules",
    "Scenario",
    "Turn",
]

AnswerFrom: TypeAlias = Literal["document", "conversation"]
Probe: TypeAlias = Literal["open", "ordinary", "fact", "fee-bait", "verbosity-bait", "revocation-bait", "recall"]

_T = TypeVar("_T")

_MAX_FACTS: Final = 100


class Part(BaseModel):
    """A mapping of a file: no field that is not known, and no value of another kind than is meant."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Effective(Part):
    """The dates on which a passage is in force, both included; an open end is left out."""

    from_: Day | None = Field(default=None, alias="from")
    to: Day | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_ and self.to and self.from_ > self.to:
            raise ValueError(
                f"it ends on {self.to}, before it begins on {self.from_}; write the earlier date as `from`"
            )
        return self


class Passage(Part):
    """A piece of source text."""

    id: Line
    kind: Line = "policy"
    effective: Effective = Effective()
    source: Line | None = None
    """Where the text came from."""
    text: PassageText


class Admit(Part):
    """Which passages may reach the prompt. No kinds: every kind. No date: no passage is left out for its dates."""

    kinds: Annotated[Several[Line], Field(json_schema_extra={"minItems": 1}), AfterValidator(not_empty)] | None = None
    as_of: Day | None = None


class ReplyFormat(Part):
    """The form a reply must have."""

    format: Literal["text", "answer_quote", "json"] = "text"
    schema_: Schema | None = Field(default=None, alias="schema")
    """The JSON Schema of a reply of format json."""
    max_answer_words: Words | None = None
    """Words allowed in the answer of format answer_quote."""

    @model_validator(mode="after")
    def _fits_the_format(self) -> Self:
        if self.format != "json" and self.schema_ is not None:
            raise invalid([(("schema",), "only replies of format json have a schema; write `format: json`")])
        if self.format == "json" and self.schema_ is None:
            raise ValueError("format json needs a JSON Schema; write it under `schema:`")
        if self.format != "answer_quote" and self.max_answer_words is not None:
            raise invalid([(("max_answer_words",), "only format answer_quote has it; write `max_words` under `rules`")])
        if self.schema_ is not None and (problems := list(schema_problems(self.schema_))):
            raise invalid((("schema", *place), problem) for place, problem in problems)
        return self

    @property
    def schema_text(self) -> str | None:
        """The schema as JSON on one line; None for the other formats."""
        return None if self.schema_ is None else json.dumps(self.schema_, ensure_ascii=False)


class Rules(Part):
    """Mechanical rules of form. A field that is not given is a rule that does not apply."""

    max_words: Words | None = None
    """Words allowed in a reply, its closing line not counted."""
    forbid_money: Flag = False
    closing_line: Line | None = None
    """The exact last line of every reply; ``{case_id}`` and ``{name of a fact}`` are filled in."""
    billing: Text | None = None
    """The sentence for questions about money, never judged; filled in like ``closing_line``."""


class Expect(Part):
    """What a good reply must do; all that is given must hold."""

    contains: Phrases = ()
    any_of: Phrases = ()
    absent: Phrases = ()
    abstain: Flag | None = None
    reference: Phrases = ()
    """Answers of a benchmark."""

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if not (self.contains or self.any_of or self.absent or self.reference or self.abstain is not None):
            raise ValueError("nothing is expected here; write `contains: [...]` or the like, or take `expect` out")
        return self


class Turn(Part):
    """One customer message."""

    say: Text
    answer_from: AnswerFrom
    probe: Probe = "ordinary"
    """What the turn tries."""
    expect: Expect | None = None
    as_of: Day | None = None
    """The date asked about, instead of the scenario's."""


class Scenario(Part):
    """One scripted conversation. Turns are numbered from 1."""

    scenario: Name
    """The scenario's name, and that of its file."""
    suite: Name | None = None
    title: Line
    case_id: Line | None = None
    facts: dict[FactName, Line] = {}
    """What the customer tells us, by name."""
    templates: dict[Role, TemplateName] = {}
    """Template names by role: ``system``, ``check``, ``rewrite``."""
    reply: ReplyFormat = ReplyFormat()
    rules: Rules = Rules()
    refusal: Text = "The provided information does not say."
    """Delivered when nothing else is left; filled in like ``closing_line``."""
    holding: Text = "Let me check that with a colleague."
    """What the customer sees of a held reply; filled in like ``closing_line``."""
    admit: Admit = Admit()
    passages: Annotated[Several[Passage], Field(max_length=200)] = ()
    silent_on: Phrases = ()
    """What the passages do not say."""
    turns: Annotated[Several[Turn], Field(max_length=500, json_schema_extra={"minItems": 1}), AfterValidator(not_empty)]

    @field_validator("facts")
    @classmethod
    def _are_facts(cls, facts: dict[str, str]) -> dict[str, str]:
        if "case_id" in facts:
            raise invalid([(("case_id",), "case_id is a field of its own; write it beside `facts`, not in it")])
        if len(facts) > _MAX_FACTS:
            raise ValueError(f"there are too many facts; write at most {_MAX_FACTS}")
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
            raise invalid(problems)
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
    def refusal_body(self) -> str:
        """The refusal as a reply without its closing line: the sentence, or an object of JSON in that format.

        Where the schema allows no object that declines, it is the sentence, which is out of format.
        """
        schema = self.reply.schema_text
        declining = None if schema is None else declining_reply(schema, self.refusal_sentence)
        return declining or self.refusal_sentence

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
        raise invalid(problems)
    return value


def _known_names(known: Iterable[str]) -> str:
    names = listed((f"{{{name}}}" for name in known), ", ")
    return f"write one of {names}" if names else "give the scenario a `case_id` or `facts` first"
