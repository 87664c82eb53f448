"""A reply taken apart by its format: the answer and the quote in it.

The formats, of a text without its closing line:

- ``text``: the whole text is the answer.
- ``answer_quote``: two lines, ``Answer: ...`` and ``Quote: ...``, or the refusal sentence alone.
- ``json``: one JSON value and nothing around it, valid under the scenario's schema. The fields ``answer`` and ``quote``
  of an object are the answer and the quote; without an answer (null, blank or the refusal) and a quote it is a refusal.

A text that is out of format is reported, never repaired. Of JSON that is too large to be held against its schema it is
not known whether it is in format.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, cast

from ..evidence.folding import fold, words
from ..scenario import Scenario, TooLargeError, mismatch

__all__ = ["Form", "has_quote", "read_form", "refusal_in_form", "stray_start"]

_ANSWER: Final = "Answer:"
_QUOTE: Final = "Quote:"
_JSON_START: Final = frozenset('{["-0123456789tfn')
_QUOTE_MARKS: Final = {"'": "'", '"': '"', "\u2018": "\u2019", "\u201c": "\u201d", "\u00ab": "\u00bb", "`": "`"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """The parts of one reply."""

    problem: str = ""
    """What is out of format; empty where nothing is, or where that is not known."""
    unknown: str = ""
    """Why it is not known whether the reply is in format; empty where it is known."""
    answer: str
    """The whole text where no answer can be told apart."""
    quote: str | None = None
    """Without quote marks around it; None where the reply has no place for a quote."""
    refused: bool = False
    """Whether it is the refusal that the format provides for."""


def read_form(body: str, scenario: Scenario) -> Form:
    """Return the parts of *body*, a reply without its closing line."""
    match scenario.reply.format:
        case "text":
            return Form(answer=body)
        case "answer_quote":
            return _answer_quote(body, scenario)
        case "json":
            return _json(body, scenario)


def has_quote(scenario: Scenario) -> bool:
    """Return whether the reply format has a place for a quote."""
    fields = (scenario.reply.schema_ or {}).get("properties", {})
    return scenario.reply.format == "answer_quote" or (scenario.reply.format == "json" and "quote" in fields)


def refusal_in_form(scenario: Scenario) -> str:
    """Return the refusal as a whole reply of *scenario*: in its format, and with the closing line where it has one."""
    closing = "" if scenario.closing_line is None else f"\n{scenario.closing_line}"
    return scenario.refusal_body + closing


def stray_start(body: str, scenario: Scenario) -> str:
    """Return why *body*, cut off, is out of format however it would go on; empty where it may still be in it."""
    begun = fold(body).text
    match scenario.reply.format:
        case "answer_quote":
            ways = (_ANSWER, fold(scenario.refusal_sentence).text)
            if not any(begun.startswith(way[: len(begun)]) or way.startswith(begun) for way in ways):
                return f"does not begin with {_ANSWER}"
            extra = len(_lines(body)) > 2  # noqa: PLR2004 - the two labelled lines
            return "more than two lines" if extra else ""
        case "json" if begun and begun[0] not in _JSON_START:
            return "does not begin as JSON"
        case _:
            return ""


def _lines(body: str) -> list[str]:
    return [line.strip() for line in re.split(r"[\r\n]+", body) if line.strip()]


def _answer_quote(body: str, scenario: Scenario) -> Form:
    if _same(body, scenario.refusal_sentence):
        return Form(answer=body, refused=True)
    lines = _lines(body)
    answer = _labelled(lines, _ANSWER)
    quote = _labelled(lines, _QUOTE)
    return Form(
        problem=_answer_quote_problem(lines, answer, scenario.reply.max_answer_words),
        answer=body if answer is None else answer,
        quote=None if quote is None else _bare(quote),
    )


def _labelled(lines: list[str], label: str) -> str | None:
    return next((line.removeprefix(label).strip() for line in lines if line.startswith(label)), None)


def _answer_quote_problem(lines: list[str], answer: str | None, allowed: int | None) -> str:
    labels = [line.startswith(label) for line, label in zip(lines, (_ANSWER, _QUOTE), strict=False)]
    if len(lines) != len((_ANSWER, _QUOTE)) or not all(labels):
        return f"not the two lines {_ANSWER} and {_QUOTE}"
    count = len(words(answer or ""))
    if not count:
        return "the answer is empty"
    return f"answer of {count} words, {allowed} allowed" if allowed is not None and count > allowed else ""


def _bare(quote: str) -> str:
    """Return *quote* without one pair of quote marks around it."""
    paired = len(quote) > 1 and _QUOTE_MARKS.get(quote[0]) == quote[-1]
    return quote[1:-1].strip() if paired else quote


def _json(body: str, scenario: Scenario) -> Form:
    try:
        value = json.loads(body, object_pairs_hook=_unique, parse_constant=_no_constant)
        problem = mismatch(value, scenario.reply.schema_ or {})
    except json.JSONDecodeError as error:
        return Form(problem=f"not one JSON value: {error.msg} at character {error.pos + 1}", answer=body)
    except ValueError as error:
        return Form(problem=f"not one JSON value: {str(error).partition(';')[0]}", answer=body)
    except RecursionError:
        return Form(problem="not one JSON value: nested too deeply", answer=body)
    except TooLargeError as error:
        return Form(unknown=str(error), answer=body)
    return _json_form(value, problem, body, scenario)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _json_form(value: object, problem: str, body: str, scenario: Scenario) -> Form:
    if not isinstance(value, dict):
        return Form(problem=problem, answer=body)
    fields = cast("dict[str, object]", value)
    answer, quote = fields.get("answer", body), fields.get("quote")
    said = "" if answer is None else answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    refused = not quote and (not said.strip() or _same(said, scenario.refusal_sentence))
    held = quote if isinstance(quote, str) else "" if "quote" in fields else None
    return Form(problem=problem, answer=said, quote=held, refused=refused)


def _same(one: str, other: str) -> bool:
    return fold(one).text == fold(other).text
