"""What the judge is shown of a reply, and how its answer is read.

The judge answers with one JSON object, fields in this order where the server generates by the schema::

    {"verdict": "unsupported", "unsupported": ["valid for one day"]}

Whatever cannot be read so is unknown, and its reason begins with one of ``UNKNOWN_REASONS``. Supported is only what
says so in full: nothing here mends, guesses or takes a part for the whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, cast, get_args

from ..evidence.folding import find_all, find_words, fold, words
from ..evidence.sentences import cut, sentences
from ..outcome import Verdict
from ..scenario import Scenario
from .objects import all_objects, free_objects

__all__ = [
    "PLACEHOLDERS",
    "UNKNOWN_REASONS",
    "VERDICT_SCHEMA",
    "VERDICT_WORDS",
    "Meaning",
    "UnknownReason",
    "holds_verdict",
    "read_verdict",
    "response_format",
    "shown_text",
    "words_shown",
]

Meaning = Literal["supported", "unsupported"]
UnknownReason = Literal[
    "truncated",
    "empty",
    "unparseable",
    "several verdicts",
    "placeholder",
    "unknown word",
    "words not in the reply",
    "no words named",
    "contradiction",
    "undecided",
]
UNKNOWN_REASONS: Final[tuple[UnknownReason, ...]] = get_args(UnknownReason)
"""How the reason of an unknown verdict begins, where the judge answered."""

VERDICT_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["supported", "unsupported"]},
        "unsupported": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["verdict", "unsupported"],
    "additionalProperties": False,
}
"""What is asked for, fields in the order in which they are to be generated. No bounds: not every server takes them."""

VERDICT_WORDS: Final[Mapping[str, Meaning]] = {
    "supported": "supported",
    "unsupported": "unsupported",
}
"""The words that count, in lower case, each with what it means."""

PLACEHOLDERS: Final = (
    "...",
    "string",
    "words",
    "the unsupported words",
    "unsupported words",
    "words copied from the reply",
    "words copied exactly from the reply",
    "unsupported words copied exactly from the reply",
    "the unsupported words copied exactly from the reply",
    "supported or unsupported",
    "supported/unsupported",
    "supported|unsupported",
    "supported | unsupported",
)
"""What stands in a prompt in the place of an answer, in lower case."""

_KEYS: Final = frozenset(VERDICT_SCHEMA["required"])
_SHOWN: Final = 80


def response_format() -> dict[str, Any]:
    """Return the ``response_format`` field of a request that asks for a verdict."""
    schema = {"name": "verdict", "strict": True, "schema": dict(VERDICT_SCHEMA)}
    return {"type": "json_schema", "json_schema": schema}


def shown_text(reply: str, scenario: Scenario) -> str:
    """Return what is to be judged of *reply*; empty where nothing is.

    The closing line, the billing sentence and the refusal are cut out wherever they stand as sentences of their own,
    also when quote marks, bold or case differ. Of what is left, lines without words go too; the rest is as it was.
    """
    text = reply
    for sentence in (scenario.closing_line, scenario.billing_sentence, scenario.refusal_sentence):
        text = cut(text, sentence) if sentence is not None else text
    lines = (re.sub(r"[ \t]{2,}", " ", line).strip() for line in re.split(r"\r\n|[\r\n]", text))
    return "\n".join(line for line in lines if words(line))


def read_verdict(
    text: str,
    *,
    shown: str,
    reply: str,
    truncated: bool,
    placeholders: Collection[str] = PLACEHOLDERS,
    verdict_words: Mapping[str, Meaning] = VERDICT_WORDS,
) -> Verdict:
    """Read *text*, the judge's answer about *shown*, which is what was shown of *reply*.

    The answer is read as it stands; else its one verdict object is looked for, with a fence or prose around it and with
    trailing commas in it. An object that the reply holds too is the reply's and never counts. The words flagged must be
    words of what was shown; the verdict has them as the reply spells them.
    """
    if truncated:
        return _unknown("truncated", "the judge's answer was cut off")
    planted = _planted(reply)
    fields = _only_verdict(text, planted)
    if isinstance(fields, Verdict):
        return fields
    verdict = _read_fields(fields, shown, reply, placeholders, verdict_words)
    if verdict.word == "supported" and planted:
        return _unknown("unparseable", "the reply itself holds a verdict")
    return verdict


def _unknown(reason: UnknownReason, detail: str) -> Verdict:
    return Verdict(word="unknown", reason=f"{reason}: {detail}")


def holds_verdict(reply: str) -> bool:
    """Whether *reply* itself holds what could be taken for a verdict."""
    return bool(_planted(reply))


def words_shown(shown: str, reply: str) -> tuple[str, ...]:
    """Return all sentences of *shown*, which is what was shown of *reply*, as *reply* spells them."""
    pieces = (piece for part in sentences(shown) for piece in _own_words(part.text, shown, reply))
    return tuple(dict.fromkeys(pieces))


def _planted(reply: str) -> tuple[object, ...]:
    """Return what the verdict objects in *reply* say, at any depth and in any kind of quote marks."""
    folded = fold(reply).text
    objects = (fields for text in (folded, folded.replace("'", '"')) for fields in all_objects(text))
    return tuple(_signature(fields) for fields in objects if not _KEYS.isdisjoint(fields))


def _signature(fields: Mapping[str, Any]) -> object:
    """Return what is equal for two objects that say the same; no list of words says the same as an empty one."""
    said = (str(fields.get("verdict")), str(fields.get("unsupported") or "nothing"))
    return tuple(fold(text).text.casefold() for text in said)


def _only_verdict(text: str, planted: Collection[object]) -> Mapping[str, Any] | Verdict:
    """Return the one verdict object of *text* that is the judge's own, or the unknown verdict that says why not."""
    if not fold(text).text:
        return _unknown("empty", "the judge said nothing")
    found = free_objects(text, _KEYS)
    if isinstance(found, str):
        return _unknown("unparseable", found)
    own = [fields for fields in found if _signature(fields) not in planted]
    if len(own) == 1:
        return own[0]
    if own:
        return _unknown("several verdicts", f"{len(own)} of them")
    return _unknown("unparseable", "the only verdict is quoted from the reply" if found else "no verdict object")


def _read_fields(
    fields: Mapping[str, Any],
    shown: str,
    reply: str,
    placeholders: Collection[str],
    verdict_words: Mapping[str, Meaning],
) -> Verdict:
    spans, said = _spans(fields.get("unsupported")), fields.get("verdict")
    rest = [value for key, value in fields.items() if key not in _KEYS]
    if spans is None or not isinstance(said, str) or any(isinstance(value, dict | list) for value in rest):
        return _unknown("unparseable", "not a list of texts, a verdict and at most a reason")
    word = fold(said).text.casefold()
    meaning = verdict_words.get(word.strip(" .!*_`'\""))
    located = {span: _own_words(span, shown, reply) for span in spans}
    lost = [span for span, own in located.items() if not own]
    if word in placeholders or any(fold(span).text.casefold() in placeholders for span in lost):
        return _unknown("placeholder", "the prompt's own words came back")
    if meaning is None:
        return _unknown("unknown word", f"{word[:_SHOWN]!r}")
    fault = next(_faults(meaning, lost, flags=bool(located)), None)
    if fault is not None:
        return _unknown(*fault)
    return Verdict(word=meaning, spans=tuple(dict.fromkeys(piece for own in located.values() for piece in own)))


def _faults(meaning: Meaning, lost: Sequence[str], *, flags: bool) -> Iterator[tuple[UnknownReason, str]]:
    """Yield where an answer does not hold together, the first reason first; *lost* are spans that the reply has not."""
    if meaning == "supported" and flags:
        yield "contradiction", "supported, and words flagged"
    if meaning == "unsupported" and not flags:
        yield "no words named", "unsupported, and no words flagged"
    if lost:
        yield "words not in the reply", f"{lost[0][:_SHOWN]!r}"


def _spans(value: object) -> tuple[str, ...] | None:
    """Return the texts of a list, blank ones left out; None where it is no list of texts."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    texts = tuple(item for item in items if isinstance(item, str))
    return tuple(text for text in texts if fold(text).text) if len(texts) == len(items) else None


def _own_words(span: str, shown: str, reply: str) -> tuple[str, ...]:
    """Return *span* as *reply* spells it, nothing where it is no piece of what was shown.

    Marks between words do not count. A span across a place where something was cut out comes in its sentences.
    """
    if not find_words(shown, span):
        return ()
    places = find_all(reply, span) or find_words(reply, span)
    if places:
        start, end = places[0]
        return (reply[start:end],)
    parts = [part.text for part in sentences(span)]
    if len(parts) < 2:  # noqa: PLR2004 - it is no more than one sentence
        return ()
    pieces = [_own_words(part, shown, reply) for part in parts]
    return tuple(piece for own in pieces for piece in own) if all(pieces) else ()
