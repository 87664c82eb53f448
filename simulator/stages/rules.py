"""The mechanical rules of form, read on one text.

One policy for all texts:

- ``closing_line``: the last line that shows anything equals the closing line, character for character. White space,
  line ends and characters without width behind it are overlooked; anything else, a full stop, bold marks, a fence, an
  indent, breaks it. Only CR, LF and CRLF end a line. An earlier copy of it is part of the body.
- ``max_words``: the words of the body, which is the text without a closing line that stands as it should.
- ``forbid_money``: the body without the billing sentence names no money (see ``money``).
- ``format``: the body has the form of the scenario's reply format (see ``form``); plain text has no such rule.
- ``quote``: where the format has a place for a quote, it is a contiguous piece of one admitted passage, whole words,
  both sides folded, upper and lower case apart. A quote without a letter or digit never is.

A text that was cut off breaks what it breaks already; of everything else it is unknown whether it would have been kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..evidence.folding import fold, words
from ..evidence.quotes import find_quote
from ..evidence.sentences import cut
from ..outcome import RuleResult
from ..scenario import Scenario, Turn
from .form import Form, has_quote, read_form, stray_start
from .money import money_named
from .sources import admit

__all__ = ["body", "read_rules", "split_closing"]

_SHOWN: Final = 3
_LONGEST: Final = 60


def read_rules(
    text: str, scenario: Scenario, *, turn: Turn | None = None, truncated: bool = False
) -> tuple[RuleResult, ...]:
    """Return how *text* stands to each rule that *scenario* has, always in the same order.

    A quote must come from the passages admitted for *turn*; without a turn, from those admitted on the scenario's own
    date. A turn that is answered from the conversation has nothing to quote.
    """
    return tuple(_results(text, scenario, turn, truncated=truncated))


def _results(text: str, scenario: Scenario, turn: Turn | None, *, truncated: bool) -> Iterator[RuleResult]:
    rules = scenario.rules
    if rules.max_words is not None:
        yield _max_words(text, scenario, rules.max_words, truncated=truncated)
    if rules.forbid_money:
        yield _forbid_money(text, scenario, truncated=truncated)
    if scenario.closing_line is not None:
        yield _closing_line(text, scenario, scenario.closing_line, truncated=truncated)
    if scenario.reply.format != "text":
        form = read_form(body(text, scenario), scenario)
        yield _format(form, text, scenario, truncated=truncated)
        if has_quote(scenario):
            yield _quote(form, scenario, turn, truncated=truncated)


def _result(rule: str, problem: str, *, truncated: bool) -> RuleResult:
    if problem:
        return RuleResult(rule=rule, standing="broken", detail=problem)
    if truncated:
        return RuleResult(rule=rule, standing="unknown", detail="the reply was cut off")
    return RuleResult(rule=rule, standing="kept")


def split_closing(text: str, scenario: Scenario) -> tuple[str, str]:
    """Return *text* in two pieces: before a closing line that stands as it should, and from there on.

    The second piece is empty where the rule is broken or the scenario has none.
    """
    start, end = _last_line(text)
    kept = scenario.closing_line is not None and text[start:end] == scenario.closing_line
    return (text[:start], text[start:]) if kept else (text, "")


def body(text: str, scenario: Scenario) -> str:
    """Return *text* without its closing line, if that stands as it should, and without blank ends."""
    return split_closing(text, scenario)[0].strip()


def _last_line(text: str) -> tuple[int, int]:
    """Return where the last line that shows anything begins and ends."""
    end = len(text)
    while end and not fold(text[end - 1]).text:
        end -= 1
    return max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1, end


def _max_words(text: str, scenario: Scenario, allowed: int, *, truncated: bool) -> RuleResult:
    counted = body(text, scenario)
    start, end = _last_line(counted)
    if truncated and (scenario.closing_line or "").startswith(counted[start:end]):
        counted = counted[:start]
    count = len(words(counted))
    problem = f"{count} words, {allowed} allowed" if count > allowed else ""
    return _result("max_words", problem, truncated=truncated)


def _forbid_money(text: str, scenario: Scenario, *, truncated: bool) -> RuleResult:
    free = body(text, scenario)
    if scenario.billing_sentence is not None:
        free = cut(free, scenario.billing_sentence)
    named = money_named(free, tuple(passage.text for passage in scenario.passages), cut_off=truncated)
    problem = "names " + ", ".join(f'"{piece}"' for piece in named[:_SHOWN]) if named else ""
    return _result("forbid_money", problem, truncated=truncated)


def _closing_line(text: str, scenario: Scenario, line: str, *, truncated: bool) -> RuleResult:
    if truncated:
        return _result("closing_line", "", truncated=True)
    if split_closing(text, scenario)[1]:
        return _result("closing_line", "", truncated=False)
    start, end = _last_line(text)
    last = text[start:end]
    earlier = any(each == line for each in text.replace("\r", "\n").split("\n"))
    problem = f"the last line is {_shown(last)}" if last else "there is no line at all"
    where = "stands earlier, not last; " if earlier else "not on a line of its own; " if last.endswith(line) else ""
    return _result("closing_line", where + problem, truncated=False)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def _format(form: Form, text: str, scenario: Scenario, *, truncated: bool) -> RuleResult:
    if form.unknown and not truncated:
        return RuleResult(rule="format", standing="unknown", detail=form.unknown)
    problem = stray_start(body(text, scenario), scenario) if truncated else form.problem
    return _result("format", problem, truncated=truncated)


def _quote(form: Form, scenario: Scenario, turn: Turn | None, *, truncated: bool) -> RuleResult:
    if turn is not None and turn.answer_from == "conversation":
        return RuleResult(rule="quote", standing="not_applicable", detail="the answer comes from the conversation")
    if form.refused and not truncated:
        return RuleResult(rule="quote", standing="not_applicable", detail="a refusal quotes nothing")
    if form.unknown and not truncated:
        return RuleResult(rule="quote", standing="unknown", detail=form.unknown)
    quote = form.quote or ""
    # The last word of a quote that was cut off may be half a word.
    certain = (quote.lstrip("\"'\u201c\u2018 ").rpartition(" ")[0] if truncated else quote).strip()
    if not any(map(str.isalnum, certain)):
        return _result("quote", "" if truncated else "there is no quote", truncated=truncated)
    carrier = find_quote(certain, [(passage.id, passage.text) for passage in admit(scenario, turn)])
    problem = "" if carrier else f"not a piece of an admitted passage: {_shown(quote)}"
    return _result("quote", problem, truncated=truncated)
