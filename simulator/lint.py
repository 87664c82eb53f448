"""Whether a scenario makes sense: what is valid to the loader, and still cannot be meant.

An error makes a scenario test something else than its author thinks; a warning is a guess, or something without effect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from .errors import ScenarioError
from .evidence.folding import contains, fold, words
from .evidence.stems import content_words
from .evidence.units import TIME_UNITS
from .scenario import Expect, Passage, Scenario, Suite, Turn, load_scenario
from .stages.money import money_named
from .stages.sources import admit
from .yamltext import Document, Place, printable, quoted, read_yaml

__all__ = ["Finding", "Severity", "lint", "lint_scenario"]

Severity = Literal["error", "warning"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong with a scenario file."""

    path: str
    line: int | None
    """From 1; None where the file as a whole cannot be read."""
    severity: Severity
    message: str
    """What is wrong; what to do."""

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.severity}: {self.message}"


def lint(paths: Iterable[Path], suites: Mapping[str, Suite]) -> list[Finding]:
    """Return the findings of each scenario file, in the order of *paths* and of the lines.

    A file that does not load has the errors of the loader as its findings.
    """
    return [finding for path in paths for finding in _lint_file(path, suites)]


def _lint_file(path: Path, suites: Mapping[str, Suite]) -> list[Finding]:
    try:
        scenario = load_scenario(path)
    except ScenarioError as error:
        return [_load_finding(line, printable(str(path))) for line in str(error).splitlines()]
    return lint_scenario(scenario, read_yaml(path.read_bytes(), str(path)), suites)


def _load_finding(reported: str, name: str) -> Finding:
    """Return the finding for one line that the loader reported about the file *name*."""
    text = reported.removeprefix(f"{name}:")
    number, colon, message = text.partition(": ")
    if colon and number.isdecimal():
        return Finding(path=name, line=int(number), severity="error", message=message)
    return Finding(path=name, line=None, severity="error", message=text.strip())


def lint_scenario(scenario: Scenario, document: Document, suites: Mapping[str, Suite]) -> list[Finding]:
    """Return the findings of one scenario in the order of the lines; *document* is the file that it was read from."""
    remarks = [*_suite(scenario, suites), *(remark for check in _CHECKS for remark in check(scenario))]
    findings = [
        Finding(
            path=printable(document.name),
            line=_line(document, remark.place),
            severity=remark.severity,
            message=remark.text,
        )
        for remark in remarks
    ]
    return sorted(findings, key=lambda finding: finding.line or 0)


def _line(document: Document, place: Place) -> int:
    return document.key_line(place) if isinstance(place[-1], str) else document.line(place)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Remark:
    place: Place
    severity: Severity
    text: str


def _error(place: Place, text: str) -> _Remark:
    return _Remark(place=place, severity="error", text=text)


def _warning(place: Place, text: str) -> _Remark:
    return _Remark(place=place, severity="warning", text=text)


# The scenario as a whole.


def _suite(scenario: Scenario, suites: Mapping[str, Suite]) -> Iterator[_Remark]:
    if scenario.suite is None:
        return
    suite = suites.get(scenario.suite)
    if suite is None:
        other = f", or write {' or '.join(suites)}" if suites else ""
        yield _error(("suite",), f"there is no suite {quoted(scenario.suite)}; add it to suites.yaml{other}")
        return
    missing = (suite.turns or len(scenario.turns)) - len(scenario.turns)
    if missing:
        change = f"add {missing}" if missing > 0 else f"take out {-missing}"
        has = f"{len(scenario.turns)} turns, and the suite {scenario.suite} has {suite.turns}"
        yield _error(("turns",), f"{has} in each scenario; {change}, or leave the suite")


def _forbidden_money(scenario: Scenario) -> Iterator[_Remark]:
    texts = [passage.text for passage in _visible(scenario)]
    if scenario.rules.forbid_money and not any(money_named(text, tuple(texts)) for text in texts):
        yield _error(
            ("rules", "forbid_money"),
            "no passage that a turn can see names money, so nothing tempts a reply to break this rule; "
            "write a price into a passage, or take forbid_money out",
        )


def _own_sentences(scenario: Scenario) -> Iterator[_Remark]:
    """Check the sentences that the scenario itself has delivered against its own rules."""
    sentences: tuple[tuple[Place, str | None], ...] = (
        (("refusal",), scenario.refusal_sentence),
        (("holding",), scenario.holding_sentence),
        (("rules", "billing"), scenario.billing_sentence),
    )
    for place, sentence in sentences:
        for broken in _broken(scenario, sentence or ""):
            yield _error(place, f"the sentence `{place[-1]}` {broken}; write another sentence, or change the rule")


def _broken(scenario: Scenario, sentence: str) -> Iterator[str]:
    allowed, count = scenario.rules.max_words, len(words(sentence))
    if allowed is not None and count > allowed:
        yield f"has {count} words and breaks max_words, which allows {allowed}"
    if named := _money(scenario, sentence):
        yield f"names {quoted(named[0])} and breaks forbid_money"


def _money(scenario: Scenario, text: str) -> tuple[str, ...]:
    """Return the pieces of *text* that break the scenario's forbid_money."""
    if not scenario.rules.forbid_money:
        return ()
    return money_named(text, tuple(passage.text for passage in scenario.passages))


def _facts(scenario: Scenario) -> Iterator[_Remark]:
    for name, value in scenario.facts.items():
        if not any(contains(turn.say, value) for turn in scenario.turns):
            yield _warning(
                ("facts", name), f"no turn states {quoted(value)}; let the customer say it, or take the fact out"
            )


def _passages(scenario: Scenario) -> Iterator[_Remark]:
    """Check that what is admitted can be seen.

    A passage whose kind is not admitted is kept out on purpose, and so is one that is out of force where the scenario
    asks about one date only.
    """
    there = {passage.kind for passage in scenario.passages}
    for number, kind in enumerate(scenario.admit.kinds or ()):
        if kind not in there:
            what = f"no passage is of the kind {quoted(kind)}; write the kind that a passage has, or take it out"
            yield _warning(("admit", "kinds", number), what)
    visible = _visible(scenario)
    for number, passage in enumerate(scenario.passages):
        admitted = scenario.admit.kinds is None or passage.kind in scenario.admit.kinds
        if admitted and passage not in visible and len(scenario.turns) > 1:
            yield _warning(
                ("passages", number, "id"),
                f"the passage {quoted(passage.id)} is in force on no date that a turn asks about; "
                "change its dates or the `as_of`, or take it out",
            )


def _visible(scenario: Scenario) -> tuple[Passage, ...]:
    """Return the passages that are admitted for some turn, in the scenario's order."""
    seen = {passage.id for turn in scenario.turns for passage in admit(scenario, turn)}
    return tuple(passage for passage in scenario.passages if passage.id in seen)


# What the passages are silent on. A guess by words: it finds neither paraphrases nor what two paragraphs say together.

_TIME: Final = re.compile(rf"\b{TIME_UNITS}\b", re.IGNORECASE)
_HOW_LONG: Final = re.compile(r"\bhow long\b", re.IGNORECASE)
_SHARE: Final = 0.75


def _silence(scenario: Scenario) -> Iterator[_Remark]:
    """Find topics that are said to be missing and most of whose content words stand in one paragraph.

    What is asked with "how long" is answered only by a paragraph that has a unit of time.
    """
    blocks = [block for passage in _visible(scenario) for block in re.split(r"\n\s*\n", passage.text.strip())]
    for number, topic in enumerate(scenario.silent_on):
        answer = next((block for block in blocks if _seems_to_answer(block, topic)), None)
        if answer is not None:
            yield _warning(
                ("silent_on", number),
                f"the paragraph {quoted(answer.splitlines()[0])} seems to answer this, by its words; "
                "read it again, and change the passage or take the topic out",
            )
    if scenario.silent_on and not any(turn.expect and turn.expect.abstain for turn in scenario.turns):
        yield _warning(
            ("silent_on",), "no turn asks what the passages do not say; write one with `expect: {abstain: true}`"
        )


def _seems_to_answer(block: str, topic: str) -> bool:
    wanted = content_words(_HOW_LONG.sub(" ", topic))
    if not wanted or (_HOW_LONG.search(topic) and not _TIME.search(block)):
        return False
    return len(wanted & content_words(block)) / len(wanted) >= _SHARE


# Turn by turn.

# fmt: off
_PLAIN_ANSWERS: Final = frozenset({
    "yes", "no", "not", "none", "nothing", "never", "nobody", "don't", "doesn't", "isn't", "aren't", "won't", "can't",
    "cannot",
})
# fmt: on
"""What a reply may say without having it from anywhere."""


def _turns(scenario: Scenario) -> Iterator[_Remark]:
    for index, turn in enumerate(scenario.turns):
        yield from _probe(scenario, turn, index)
        if turn.answer_from == "document" and not admit(scenario, turn):
            yield from _no_passage(scenario, turn, index)
        elif turn.expect is not None:
            yield from _out_of_reach(scenario, turn.expect, index)
        if turn.expect is not None:
            yield from _contradictions(scenario, turn.expect, index)


def _probe(scenario: Scenario, turn: Turn, index: int) -> Iterator[_Remark]:
    """Check that what a turn tries to break is a rule, and that a recall can be read."""
    rules, place = scenario.rules, ("turns", index, "probe")
    baits = {
        "fee-bait": ("forbid_money", rules.forbid_money),
        "verbosity-bait": ("max_words", rules.max_words or scenario.reply.max_answer_words),
        "revocation-bait": ("closing_line", rules.closing_line),
    }
    rule, given = baits.get(turn.probe, ("", True))
    if not given:
        yield _warning(place, f"a {turn.probe} tries the rule {rule}, which is not there; write it under `rules`")
    if turn.probe == "recall" and turn.answer_from == "document":
        what = "a recall would be checked against the passages; write `answer_from: conversation`"
        yield _error(("turns", index, "answer_from"), what)
    if turn.probe == "recall" and not (turn.expect and (turn.expect.contains or turn.expect.any_of)):
        yield _warning(place, "nothing says what is to be recalled; write `expect: {contains: [...]}`")


def _no_passage(scenario: Scenario, turn: Turn, index: int) -> Iterator[_Remark]:
    if turn.expect and turn.expect.abstain:
        return
    asked = scenario.as_of(turn)
    when = f" on {asked}" if asked else ""
    yield _error(
        ("turns", index, "answer_from"),
        f"no passage is admitted for this turn{when}, so no model is asked; "
        "admit one, or write `expect: {abstain: true}`",
    )


def _out_of_reach(scenario: Scenario, expect: Expect, index: int) -> Iterator[_Remark]:
    """Find expected words that a reply could only invent."""
    sources = _sources(scenario, index)
    recall = _is_recall(scenario, index)
    missing = "no earlier turn states" if recall else "neither an admitted passage nor a turn so far holds"
    for number, phrase in enumerate(expect.contains):
        if not _reachable(phrase, sources):
            place = ("turns", index, "expect", "contains", number)
            yield _error(place, f"{missing} {quoted(phrase)}; write words that a reply can take from there")
    if expect.any_of and not any(_reachable(phrase, sources) for phrase in expect.any_of):
        place = ("turns", index, "expect", "any_of")
        yield _error(place, f"{missing} any of these; write words that a reply can take from there")
    if expect.reference and not any(_reachable(phrase, sources) for phrase in expect.reference):
        place = ("turns", index, "expect", "reference")
        yield _warning(place, f"{missing} any of these answers as whole words; check them against the passage")


def _reachable(phrase: str, sources: Sequence[str]) -> bool:
    return fold(phrase).text.casefold() in _PLAIN_ANSWERS or any(contains(source, phrase) for source in sources)


def _is_recall(scenario: Scenario, index: int) -> bool:
    return scenario.turns[index].probe == "recall"


def _sources(scenario: Scenario, index: int) -> list[str]:
    """Return the texts that a reply to turn *index*, from 0, may take its words from."""
    if _is_recall(scenario, index):
        return [turn.say for turn in scenario.turns[:index]]
    return [
        *(passage.text for passage in admit(scenario, scenario.turns[index])),
        *(turn.say for turn in scenario.turns[: index + 1]),
        *(scenario.title, scenario.refusal_sentence, scenario.billing_sentence or "", scenario.closing_line or ""),
        json.dumps(scenario.reply.schema_ or {}, ensure_ascii=False),
    ]


def _contradictions(scenario: Scenario, expect: Expect, index: int) -> Iterator[_Remark]:
    place: Place = ("turns", index, "expect")
    if expect.abstain and (expect.contains or expect.any_of or expect.reference):
        what = "a reply that abstains gives no answer, and one is expected; keep either `abstain` or the answer"
        yield _error((*place, "abstain"), what)
    for number, phrase in enumerate(expect.contains):
        if why := _never(scenario, expect, phrase):
            yield _error((*place, "contains", number), f"{quoted(phrase)} {why}")
    reasons = [_never(scenario, expect, phrase) for phrase in expect.any_of]
    if reasons and all(reasons):
        yield _error((*place, "any_of"), f"{quoted(expect.any_of[0])}, like all the others, {reasons[0]}")


def _never(scenario: Scenario, expect: Expect, phrase: str) -> str:
    """Return why no good reply can say *phrase*, and what to do; empty where one can."""
    if named := _money(scenario, phrase):
        return f"names {quoted(named[0])}, which forbid_money forbids; expect words without an amount"
    unwanted = next((word for word in expect.absent if contains(phrase, word)), None)
    return f"holds {quoted(unwanted)}, which must be absent; take it out of one of the two" if unwanted else ""


_CHECKS: tuple[Callable[[Scenario], Iterator[_Remark]], ...] = (
    _forbidden_money,
    _own_sentences,
    _facts,
    _passages,
    _silence,
    _turns,
)
