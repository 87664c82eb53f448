"""Whether a scenario makes sense: what is valid to the loader, and still cannot be meant.

An error makes a scenario test something else than its author thinks; a warning is a guess, or something without effect.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

from .errors import ScenarioError, TemplateError
from .evidence.folding import contains, fold, words
from .evidence.stems import content_words
from .evidence.units import TIME_UNITS
from .prompt import load_templates
from .scenario import Expect, Passage, Scenario, Suite, Turn, scenario_of, yaml_bytes
from .stages.money import money_named
from .stages.pipeline import rehearse
from .stages.sources import admit
from .visible import escaped
from .yamltext import Document, Place, quoted, read_yaml

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


def lint(paths: Iterable[Path], suites: Mapping[str, Suite], templates: Sequence[Path] = ()) -> list[Finding]:
    """Return the findings of each scenario file, in the order of *paths* and of the lines.

    A file that does not load has the errors of the loader as its findings. With folders of *templates*, those that a
    scenario names are looked up there and rendered.
    """
    return [finding for path in paths for finding in _lint_file(path, suites, templates)]


def _lint_file(path: Path, suites: Mapping[str, Suite], templates: Sequence[Path]) -> list[Finding]:
    try:
        document = read_yaml(yaml_bytes(path), str(path))
        scenario = scenario_of(document, stem=path.stem)
    except ScenarioError as error:
        return _load_findings(str(error), escaped(str(path)))
    return [*lint_scenario(scenario, document, suites), *(_template_findings(path, scenario, templates))]


def _template_findings(path: Path, scenario: Scenario, folders: Sequence[Path]) -> list[Finding]:
    try:
        if folders:
            rehearse(scenario, load_templates(folders, [scenario]))
    except TemplateError as error:
        return [Finding(path=escaped(str(path)), line=None, severity="error", message=str(error))]
    return []


def _load_findings(reported: str, name: str) -> list[Finding]:
    """Return the findings for what the loader reported about the file *name*, and that they hide others."""
    *findings, last = (_load_finding(line, name) for line in reported.splitlines())
    if last.line is not None:
        waiting = f"; {len(_CHECKS)} further checks were not made until this is mended"
        last = replace(last, message=last.message + waiting)
    return [*findings, last]


def _load_finding(reported: str, name: str) -> Finding:
    """Return the finding for one line that the loader reported about the file *name*."""
    text = reported.removeprefix(f"{name}:")
    number, colon, message = text.partition(": ")
    if colon and number.isdecimal():
        return Finding(path=name, line=int(number), severity="error", message=message)
    return Finding(path=name, line=None, severity="error", message=text.strip())


def lint_scenario(scenario: Scenario, document: Document, suites: Mapping[str, Suite]) -> list[Finding]:
    """Return the findings of one scenario in the order of the lines; *document* is the file that it was read from."""
    subject = _Subject(scenario=scenario, suites=suites, visible=_visible(scenario), places=_Places(scenario))
    remarks = [remark for check in _CHECKS for remark in check(subject)]
    findings = [
        Finding(
            path=escaped(document.name),
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


class _Places:
    """Where phrases stand in the texts of one scenario; every text is folded once, and every phrase looked up once."""

    def __init__(self, scenario: Scenario) -> None:
        self._says = [_Text(turn.say) for turn in scenario.turns]
        self._passages = {passage.id: _Text(passage.text) for passage in scenario.passages}
        self._own = [
            _Text(text or "")
            for text in (
                *(scenario.title, scenario.refusal_sentence, scenario.billing_sentence, scenario.closing_line),
                scenario.reply.schema_text,
            )
        ]
        self.first_turn = cache(self._first_turn)
        self.in_passage = cache(self._in_passage)
        self.is_own = cache(self._is_own)

    def _first_turn(self, phrase: str) -> int | None:
        """Return the first turn, from 0, in which the customer says *phrase*."""
        return next((index for index, say in enumerate(self._says) if say.holds(phrase)), None)

    def _in_passage(self, name: str, phrase: str) -> bool:
        """Return whether *phrase* stands in the passage with the id *name*."""
        return self._passages[name].holds(phrase)

    def _is_own(self, phrase: str) -> bool:
        """Return whether *phrase* stands in the scenario's own sentences or in its schema."""
        return any(text.holds(phrase) for text in self._own)


class _Text:
    """A text to look for phrases in."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = _flat(text)

    def holds(self, phrase: str) -> bool:
        # The first is quick, and most phrases stand in few of many long texts.
        return _flat(phrase) in self._folded and contains(self._text, phrase)


def _flat(text: str) -> str:
    return fold(text).text.casefold()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Subject:
    """A scenario under scrutiny, and what several checks ask of it."""

    scenario: Scenario
    suites: Mapping[str, Suite]
    visible: tuple[Passage, ...]
    """The passages that are admitted for some turn."""
    places: _Places


# The scenario as a whole.


def _suite(subject: _Subject) -> Iterator[_Remark]:
    scenario, suites = subject.scenario, subject.suites
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


def _forbidden_money(subject: _Subject) -> Iterator[_Remark]:
    # A number is a price only where a passage names money in another way, so each can be asked by itself.
    if subject.scenario.rules.forbid_money and not any(money_named(passage.text, ()) for passage in subject.visible):
        yield _error(
            ("rules", "forbid_money"),
            "no passage that a turn can see names money, so nothing tempts a reply to break this rule; "
            "write a price into a passage, or take forbid_money out",
        )


def _own_sentences(subject: _Subject) -> Iterator[_Remark]:
    """Check the sentences that the scenario itself has delivered against its own rules."""
    scenario = subject.scenario
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


def _refusal_in_form(subject: _Subject) -> Iterator[_Remark]:
    scenario = subject.scenario
    if scenario.reply.format == "json" and scenario.refusal_body == scenario.refusal_sentence:
        yield _warning(
            ("reply", "schema"),
            "no reply that declines was found under this schema, so a refusal would be delivered as plain text; "
            "let `answer` be null or a text, let `quote` be null, and give other fields a `default`",
        )


def _facts(subject: _Subject) -> Iterator[_Remark]:
    for name, value in subject.scenario.facts.items():
        if subject.places.first_turn(value) is None:
            yield _warning(
                ("facts", name), f"no turn states {quoted(value)}; let the customer say it, or take the fact out"
            )


def _passages(subject: _Subject) -> Iterator[_Remark]:
    """Check that what is admitted can be seen.

    A passage whose kind is not admitted is kept out on purpose, and so is one that is out of force where the scenario
    asks about one date only.
    """
    scenario = subject.scenario
    there = {passage.kind for passage in scenario.passages}
    for number, kind in enumerate(scenario.admit.kinds or ()):
        if kind not in there:
            what = f"no passage is of the kind {quoted(kind)}; write the kind that a passage has, or take it out"
            yield _warning(("admit", "kinds", number), what)
    visible = {passage.id for passage in subject.visible}
    for number, passage in enumerate(scenario.passages):
        admitted = scenario.admit.kinds is None or passage.kind in scenario.admit.kinds
        if admitted and passage.id not in visible and len(scenario.turns) > 1:
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


def _silence(subject: _Subject) -> Iterator[_Remark]:
    """Find topics that are said to be missing and most of whose content words stand in one paragraph.

    What is asked with "how long" is answered only by a paragraph that has a unit of time.
    """
    scenario = subject.scenario
    blocks = [block for passage in subject.visible for block in re.split(r"\n\s*\n", passage.text.strip())]
    where = _where(blocks if scenario.silent_on else ())
    for number, topic in enumerate(scenario.silent_on):
        answer = next((blocks[at] for at in _near(topic, where) if _may_answer(blocks[at], topic)), None)
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


def _where(blocks: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """Return the blocks that hold each content word."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, block in enumerate(blocks):
        for word in content_words(block):
            found[word].append(number)
    return found


def _near(topic: str, where: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the blocks that hold most of the content words of *topic*, in order."""
    wanted = content_words(_HOW_LONG.sub(" ", topic))
    held = Counter(number for word in wanted for number in where.get(word, ()))
    return sorted(number for number, count in held.items() if count / len(wanted) >= _SHARE)


def _may_answer(block: str, topic: str) -> bool:
    return not _HOW_LONG.search(topic) or bool(_TIME.search(block))


# Turn by turn.

# fmt: off
_PLAIN_ANSWERS: Final = frozenset({
    "yes", "no", "not", "none", "nothing", "never", "nobody", "don't", "doesn't", "isn't", "aren't", "won't", "can't",
    "cannot",
})
# fmt: on
"""What a reply may say without having it from anywhere."""


def _turns(subject: _Subject) -> Iterator[_Remark]:
    scenario = subject.scenario
    for index, turn in enumerate(scenario.turns):
        yield from _probe(scenario, turn, index)
        if turn.answer_from == "document" and not admit(scenario, turn):
            yield from _no_passage(scenario, turn, index)
        elif turn.expect is not None:
            yield from _out_of_reach(subject, turn.expect, index)
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


def _out_of_reach(subject: _Subject, expect: Expect, index: int) -> Iterator[_Remark]:
    """Find expected words that a reply could only invent."""
    recall = subject.scenario.turns[index].probe == "recall"
    missing = "no earlier turn states" if recall else "neither an admitted passage nor a turn so far holds"
    reachable = _reach_of_recall(subject, index) if recall else _reach(subject, index)
    for number, phrase in enumerate(expect.contains):
        if not reachable(phrase):
            place = ("turns", index, "expect", "contains", number)
            yield _error(place, f"{missing} {quoted(phrase)}; write words that a reply can take from there")
    if expect.any_of and not any(map(reachable, expect.any_of)):
        place = ("turns", index, "expect", "any_of")
        yield _error(place, f"{missing} any of these; write words that a reply can take from there")
    if expect.reference and not any(map(reachable, expect.reference)):
        place = ("turns", index, "expect", "reference")
        yield _warning(place, f"{missing} any of these answers as whole words; check them against the passage")


def _reach_of_recall(subject: _Subject, index: int) -> Callable[[str], bool]:
    """Return whether a phrase was said before turn *index*, from 0."""

    def reachable(phrase: str) -> bool:
        first = subject.places.first_turn(phrase)
        return _flat(phrase) in _PLAIN_ANSWERS or (first is not None and first < index)

    return reachable


def _reach(subject: _Subject, index: int) -> Callable[[str], bool]:
    """Return whether a reply to turn *index*, from 0, may take a phrase from passages, customer or scenario."""
    admitted = [passage.id for passage in admit(subject.scenario, subject.scenario.turns[index])]
    recalled = _reach_of_recall(subject, index + 1)

    def reachable(phrase: str) -> bool:
        places = subject.places
        here = recalled(phrase) or places.is_own(phrase)
        return here or any(places.in_passage(name, phrase) for name in admitted)

    return reachable


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


_CHECKS: tuple[Callable[[_Subject], Iterator[_Remark]], ...] = (
    _suite,
    _forbidden_money,
    _own_sentences,
    _refusal_in_form,
    _facts,
    _passages,
    _silence,
    _turns,
)
