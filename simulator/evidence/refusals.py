"""Where a text says that something is not said or not known: a refusal. English phrases; it claims nothing."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["find_refusal"]

_DESK: Final = r"\b(?! (?:board|booth|cent(?:er|re)|desk|kiosk|sheet))"
_INFORMATION: Final = rf"(?:details?|info|information){_DESK}"
_SOURCE: Final = (
    r"(?:(?:articles?|context|documents?|excerpts?|materials?|notes?|pages?|paragraphs?|passages?|sections?|sources?|texts?|"
    rf"website)\b|{_INFORMATION})"
)
_NOT: Final = r"(?:(?:does|do|did|is|are|was|were)(?: not|n't)|'s not|never)"
_ADVERB: Final = r"(?: (?:actually|also|clearly|currently|directly|explicitly|even|really|specifically|yet)){0,2}"
_SAYS: Final = r"(?:says?|states?|shows?|tells?|that)\b"
_REFUSAL: Final = re.compile(
    "|".join(
        (
            # "the page does not say", "it is not specified": these verbs suit a text only.
            rf"(?<!you )(?<!they )(?<!\bhe )(?<!she )\b{_NOT}{_ADVERB} (?:say|mention|specify|state|indicate)\b",
            rf"\b{_NOT}{_ADVERB} (?:mentioned|specified|stated|indicated)\b",
            r"\b(?:says?|states?|mentions?) nothing\b|\bnothing (?:is |was )?(?:said|stated|mentioned)\b",
            # "the page does not cover that", "it is not listed here": a pass may not cover things either, so the source
            # must be named.
            rf"\b{_SOURCE}(?: [\w'-]+){{0,4}}? {_NOT}{_ADVERB} "
            r"(?:address|answer|contain|cover|describe|detail|give|have|include|list|provide|tell)\b",
            rf"\b{_NOT}{_ADVERB} (?:addressed|available|contained|covered|described|given|included|listed|provided) "
            rf"(?:here\b|above\b|(?:in|on|by|from|within) (?:[\w'-]+ ){{0,3}}?{_SOURCE})",
            rf"\b{_SOURCE}(?: (?!{_SAYS})[\w'-]+){{0,12}}? {_NOT}{_ADVERB} "
            r"(?:available|given|included|listed|provided)\b",
            rf"\bno (?:specific |further |more |clear |explicit )?(?:(?:data|indication|mention)\b|{_INFORMATION})",
            r"\b(?:is|are|remains?|stays?) silent (?:on|about|as to)\b",
            r"\b(?:not (?:clear|known)|unclear) (?:from|whether|if|how|when|what|which|where)\b",
            # "I don't have that", "we cannot confirm"
            r"\b(?:i|we)(?: currently)? (?:do not|don't)(?: currently)? (?:know|find|see)\b",
            r"\b(?:i|we)(?: currently)? (?:do not|don't)(?: currently)? have (?:(?:that|this|it|access)\b|"
            r"(?:(?:a|any|the|enough|exact|specific|more|further|such) ){0,3}"
            rf"(?:(?:answers?|data|records?)\b|{_SOURCE}))",
            r"\b(?:i|we)(?: am|'m| are|'re) not (?:sure|certain|aware)\b",
            r"\b(?:unable|not able) to (?:answer|confirm|determine|find|locate|provide|say|see|tell|verify)\b",
            r"(?:\b(?:i|we) |^(?:sorry,? )?)(?:cannot|can't|can not|could not|couldn't)(?: \w+)? "
            r"(?:answer|confirm|determine|find|locate|say|see|tell|verify)\b",
            r"\b(?:cannot|can't) be (?:answered|confirmed|determined|found|verified)\b",
        )
    ),
    re.IGNORECASE,
)


def find_refusal(text: str) -> re.Match[str] | None:
    """Return where *text*, one clause with straight apostrophes, says that something is not said or not known."""
    return _REFUSAL.search(text)
