"""The judge's verdict as a probability, read from the tokens of its answer, and the threshold that makes a word of it.

Where a server gives ``logprobs``, each token of the answer comes with its likeliest alternatives. At the place of the
verdict word these say how sure the judge is: P(supported) is the probability of all alternatives that begin
"supported", divided by that of all that begin either word. A word may come in pieces ("un" and "supported") and in one
token with the quote mark before it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ..errors import InputError
from ..model.shapes import items, json_object, mapping, string
from ..outcome import VerdictWord
from .verdict import VERDICT_WORDS

__all__ = ["CALIBRATION_FORMAT", "GRADED_FIELDS", "JudgeCalibration", "read_calibration", "read_grade"]

CALIBRATION_FORMAT: Final = 1
"""The version of the calibration file."""

GRADED_FIELDS: Final[Mapping[str, Any]] = {"logprobs": True, "top_logprobs": 5}
"""The fields of a request that ask for the alternatives."""

_PLACE: Final = re.compile(r'"verdict"\s*:\s*"\s*')
"""What stands before the verdict word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeCalibration:
    """From which P(supported) on a judge's verdict counts as supported, and where it counts as unknown."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    format: Literal[1]
    rule: str
    """How threshold and band were found, in words."""
    threshold: float
    """From it on a reply is supported."""
    band: tuple[float, float] | None
    """From the first to the second, both included, a reply is unknown; the threshold lies within. None: nowhere."""
    n: int
    """Labelled rows that had a grade."""
    supported: int
    """Of these, how many are labelled supported."""
    model: str
    """The model that was asked, by its name."""
    reported: tuple[str, ...]
    """The names under which the server answered."""
    template_sha256: str
    """Of the check template."""

    def word(self, grade: float) -> VerdictWord:
        """Return what *grade*, a P(supported), comes to."""
        if self.band is not None and self.band[0] <= grade <= self.band[1]:
            return "unknown"
        return "supported" if grade >= self.threshold else "unsupported"

    def content(self) -> bytes:
        """Return the bytes of its file."""
        return (json.dumps(asdict(self), indent=2) + "\n").encode()


_CALIBRATION = TypeAdapter(JudgeCalibration)


def read_calibration(path: Path) -> JudgeCalibration:
    """Return the calibration in a file that ``simulator calibrate --fit`` wrote. Raises ``InputError``."""
    advice = "name a file that `simulator calibrate --fit` wrote"
    try:
        found = _CALIBRATION.validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {advice}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"{path}: {where}: {first['msg']}; {advice}") from error
    low, high = found.band or (found.threshold, found.threshold)
    if not 0 <= low <= found.threshold <= high <= 1:
        raise InputError(f"{path}: threshold and band are not in order from 0 to 1; {advice}")
    return found


def read_grade(body: bytes) -> float | None:
    """Return P(supported) as the tokens of a chat completion, *body*, give it; None where it cannot be read.

    That is so without ``logprobs``, where the answer has no place or several places for a verdict word, and where no
    alternative at that place begins one of the words. Total: whatever *body* is, no exception escapes.
    """
    tokens = list(_tokens(body))
    places = list(_PLACE.finditer("".join(token.text for token in tokens)))
    if len(places) != 1:
        return None
    at, start = places[0].end(), 0
    for token in tokens:
        if at < start + len(token.text):
            return _share(token, token.text[: max(0, at - start)])
        start += len(token.text)
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Token:
    text: str
    alternatives: tuple[tuple[str, float], ...]
    """Text and probability of each, of itself too."""


def _tokens(body: bytes) -> Iterator[_Token]:
    choice = mapping(next(iter(items(json_object(body).get("choices"))), None))
    for each in items(mapping(choice.get("logprobs")).get("content")):
        fields = mapping(each)
        text = string(fields.get("token")) or ""
        listed = [pair for other in items(fields.get("top_logprobs")) for pair in _alternative(mapping(other))]
        # A token that was drawn need not be among the likeliest.
        own = [] if text in dict(listed) else list(_alternative(fields))
        yield _Token(text=text, alternatives=(*listed, *own))


def _alternative(fields: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    text, logprob = string(fields.get("token")), fields.get("logprob")
    # Rounding may put a logarithm a little above 0, and servers write -9999 for what is all but impossible.
    if text is not None and type(logprob) in {int, float} and logprob < 1:  # pyright: ignore[reportOperatorIssue]
        yield text, math.exp(min(0.0, max(-1000.0, logprob)))  # pyright: ignore[reportArgumentType]


def _share(token: _Token, before: str) -> float | None:
    """Return the part of the probability that "supported" has of both words, *before* being what precedes the word."""
    lead = _squeezed(before)
    mass = {"supported": 0.0, "unsupported": 0.0}
    for text, probability in token.alternatives:
        squeezed = _squeezed(text)
        if squeezed.startswith(lead) and (meaning := _begun(squeezed.removeprefix(lead))):
            mass[meaning] += probability
    whole = sum(mass.values())
    return mass["supported"] / whole if whole else None


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _begun(text: str) -> str | None:
    """Return the meaning of the verdict word that *text* begins, or that begins it."""
    begun = text.casefold()
    fits = (word for word in VERDICT_WORDS if begun and (word.startswith(begun) or begun.startswith(word)))
    return VERDICT_WORDS.get(next(fits, ""))
