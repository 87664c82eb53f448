"""Questions of a SQuAD v2.0 file, as scenarios: one question, its passage, its reference answers.

The file format and the normalisation of answers are those of SQuAD 2.0 (Rajpurkar, Jia and Liang 2018) and its
evaluation script.
"""

from __future__ import annotations

import re
import string
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from .canonical import digest_json, digest_text
from .errors import InputError, ScenarioError
from .evidence.folding import words
from .scenario import read_scenario
from .visible import escaped

__all__ = ["MAX_ANSWER_WORDS", "Question", "choose", "normalised", "read_squad", "scenario_text", "write_scenarios"]

MAX_ANSWER_WORDS: Final = 15
"""What the template ``answer_quote`` allows an answer."""

_VERSION: Final = "v2.0"
_SAFE_ID: Final = re.compile(r"[a-z0-9-]{1,58}")
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One question of a SQuAD file; its texts are those of the file, byte for byte."""

    id: str
    title: str
    """Of the article that the passage is from."""
    passage: str
    text: str
    answers: tuple[str, ...]
    """The reference answers, each once; none where the passage does not answer the question."""

    @property
    def name(self) -> str:
        """The scenario's name; an id that cannot stand in one is replaced by the head of its SHA-256."""
        return f"squad-{self.id if _SAFE_ID.fullmatch(self.id) else digest_text(self.id)[:24]}"


def normalised(text: str) -> str:
    """Return *text* as SQuAD compares answers: lower case, no ASCII punctuation, no articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


# The file.


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Answer(_Part):
    text: str


class _Asked(_Part):
    id: str
    question: str
    is_impossible: bool
    answers: list[_Answer]


class _Paragraph(_Part):
    context: str
    qas: list[_Asked]


class _Article(_Part):
    title: str
    paragraphs: list[_Paragraph]


class _File(_Part):
    version: str
    data: list[_Article]


def read_squad(path: Path) -> tuple[Question, ...]:
    """Return the questions of a SQuAD v2.0 file in its order. Raises ``InputError``."""
    questions = tuple(
        Question(
            id=asked.id,
            title=article.title,
            passage=paragraph.context,
            text=asked.question,
            answers=() if asked.is_impossible else tuple(dict.fromkeys(answer.text for answer in asked.answers)),
        )
        for article in _read(path).data
        for paragraph in article.paragraphs
        for asked in _answered_as_they_say(paragraph.qas, path)
    )
    twice = [question for question, count in Counter(question.id for question in questions).items() if count > 1]
    if twice:
        raise InputError(f"{path}: the id {escaped(twice[0])} stands at several questions; give each its own")
    return questions


def _read(path: Path) -> _File:
    try:
        file = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a SQuAD v2.0 file") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        problem = f"{where}: {first['msg']}" if where else first["msg"]
        raise InputError(f"{path}: not SQuAD v2.0 ({escaped(problem)}); name a file in that format") from error
    if file.version != _VERSION:
        raise InputError(f"{path}: SQuAD {escaped(file.version)}, which has other fields; name a {_VERSION} file")
    return file


def _answered_as_they_say(questions: Sequence[_Asked], path: Path) -> Sequence[_Asked]:
    for asked in questions:
        if asked.is_impossible == bool(asked.answers):
            what = "is marked impossible and has answers" if asked.answers else "has no answer and is not impossible"
            raise InputError(f"{path}: the question {escaped(asked.id)} {what}; correct one of the two")
    return questions


# The choice.


def choose(questions: Iterable[Question], count: int, seed: int) -> tuple[Question, ...]:
    """Return *count* questions, half of them with an answer, ordered by name.

    The choice follows from the seed and the ids alone: those whose SHA-256 together with the seed is lowest, so that a
    larger choice holds the smaller one. An answer must fit in ``MAX_ANSWER_WORDS``. Raises ``InputError``.
    """
    if count < 2 or count % 2:  # noqa: PLR2004 - one question of either kind
        raise InputError(f"{count} questions cannot be half with an answer, half without; write an even number from 2")
    ranked = sorted(questions, key=lambda question: digest_json([seed, question.id]))
    kinds = {
        "with an answer": [question for question in ranked if _has_short_answer(question)],
        "without an answer": [question for question in ranked if not question.answers],
    }
    for kind, there in kinds.items():
        if len(there) < count // 2:
            raise InputError(f"{len(there)} questions {kind}, {count // 2} wanted; ask for fewer")
    chosen = [question for there in kinds.values() for question in there[: count // 2]]
    return tuple(sorted(chosen, key=lambda question: question.name))


def _has_short_answer(question: Question) -> bool:
    return any(len(words(answer)) <= MAX_ANSWER_WORDS for answer in question.answers)


# The scenarios.

_SCENARIO: Final = """\
# Made by `simulator import squad`. SQuAD is under CC BY-SA 4.0; so is its text in here.
scenario: {name}
suite: squad
title: {title}
templates: {{system: answer_quote}}
reply: {{format: answer_quote, max_answer_words: {words}}}
refusal: The sources do not say.
passages:
  - id: passage
    source: {source}
    text: {passage}
turns:
  - say: {question}
    answer_from: document
    probe: fact
    expect: {expect}
"""
_SUITES: Final = """\
squad:
  title: Questions of SQuAD v2.0
  turns: 1
"""


def scenario_text(question: Question) -> str:
    """Return the scenario file of *question*, which loads. Raises ``InputError`` for a text that no scenario holds."""
    answers = ", ".join(map(_scalar, question.answers))
    text = _SCENARIO.format(
        name=question.name,
        title=_scalar(f"SQuAD, {question.title.replace('_', ' ')}"),
        words=MAX_ANSWER_WORDS,
        source=_scalar(f"SQuAD v2.0, {question.title}, question {question.id}"),
        passage=_scalar(question.passage),
        question=_scalar(question.text),
        expect=f"{{reference: [{answers}]}}" if answers else "{abstain: true}",
    )
    try:
        read_scenario(text.encode("utf-8", "surrogatepass"), question.name)
    except ScenarioError as error:
        first = str(error).splitlines()[0]
        raise InputError(f"the question {escaped(question.id)} cannot be a scenario: {first}") from error
    return text


def _scalar(text: str) -> str:
    """Return *text* as a double-quoted YAML scalar on one line."""
    line: str = yaml.dump(text, default_style='"', allow_unicode=True, width=sys.maxsize)  # pyright: ignore[reportUnknownMemberType]
    return line.removesuffix("\n")


def write_scenarios(folder: Path, questions: Sequence[Question]) -> tuple[Path, ...]:
    """Write a scenario file for each of *questions*, and the file of their suite, into *folder*; return the former.

    The folder is made where there is none, and must be empty where there is one. Nothing is written unless everything
    can be a scenario. Raises ``InputError``.
    """
    files = {f"{question.name}.yaml": scenario_text(question) for question in questions}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"{folder}: there are files in it already; name a new folder or an empty one")
        for name, text in {**files, "suites.yaml": _SUITES}.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror}); name another folder") from error
    return tuple(folder / name for name in files)
