"""A turn as it passes the stages: each takes a draft and returns a new one.

The stages of a turn are two lists. ``ANSWER`` ends with a reply in hand; ``REVIEW`` says what the customer sees of
it. A turn without a reply leaves the first list early, with the draft as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ..evidence import ClaimReading, Evidence
from ..model import Exchange, Reply
from ..outcome import Decision, ExpectationResult, RuleResult, Verdict
from ..prompt import Prompt, Templates, answer_prompt, check_prompt, rewrite_prompt
from ..scenario import Passage, Scenario, Turn
from .act import rewrite_failures, suppress
from .check import CheckBy, ask_judge, combine, evidence_verdict, read_reply
from .expectation import read_expectation
from .form import refusal_in_form
from .graded import JudgeCalibration
from .recall import read_recall
from .rules import read_rules
from .sources import admit
from .verdict import response_format, shown_text

__all__ = [
    "ANSWER",
    "CHECKS",
    "REVIEW",
    "Ask",
    "CheckBy",
    "Checked",
    "Draft",
    "OnUnsupported",
    "Policy",
    "Route",
    "Stage",
    "rehearse",
]

CHECKS = 2
"""The version of the readings that stages make. It goes up when the same reply would be read differently."""

OnUnsupported = Literal["flag", "suppress", "rewrite"]
Route = Literal["tagged", "all"]


class Ask(Protocol):
    """Puts one prompt to a model and records the call."""

    def __call__(
        self, stage: str, repeat: int, prompt: Prompt, *, response_format: Mapping[str, Any] | None = None
    ) -> Exchange:
        """Return what became of the call, whatever that is."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """What is done with replies: the settings that the stages follow."""

    check: CheckBy = "evidence"
    judge_calibration: JudgeCalibration | None = None
    """What the judge's P(supported) comes to; None: its plain word counts."""
    on_unsupported: OnUnsupported = "suppress"
    route: Route = "tagged"
    control: bool = False
    """Whether the document check also reads conversation turns, deciding nothing there, to count what routing saves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """A verdict on a text, and the readings that it was made of."""

    verdict: Verdict = Verdict(word="none")
    claims: tuple[ClaimReading, ...] = ()
    """What the evidence said of each claim; empty where it was not asked or found none."""
    evidence: Verdict | None = None
    """The evidence alone; None where it was not asked."""
    judge: Verdict | None = None
    """The judge alone; None where it was not asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """What is known of a turn so far."""

    scenario: Scenario
    templates: Templates
    policy: Policy
    number: int
    turn: Turn
    history: Sequence[tuple[str, str]]
    passages: tuple[Passage, ...] = ()
    reply: Reply | None = None
    """None until asked; its text is None where the endpoint failed or refused."""
    rules: tuple[RuleResult, ...] = ()
    expectation: ExpectationResult = ExpectationResult(met="none")
    checked: Checked = Checked()
    control: Checked | None = None
    """The document check of a conversation turn, which decided nothing."""
    decision: Decision | None = None
    rewrite: str | None = None
    rewrite_failures: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    """The sentences that suppression took out."""
    delivered: str | None = None
    delivered_rules: tuple[RuleResult, ...] = ()
    delivered_expectation: ExpectationResult = ExpectationResult(met="none")

    @property
    def text(self) -> str:
        """The reply's text; empty where there is none."""
        return (self.reply.text if self.reply else None) or ""

    @property
    def answered(self) -> bool:
        """Whether later turns have something to see: a text that came, or an abstention."""
        return bool(self.text) or self.decision is not None

    @property
    def verdict(self) -> Verdict:
        """The verdict that decides."""
        return self.checked.verdict

    @property
    def said(self) -> tuple[str, ...]:
        """The customer's messages, the one that is answered last."""
        return (*(say for say, _ in self.history), self.turn.say)

    @property
    def truncated(self) -> bool:
        """Whether the reply was cut off."""
        return self.reply is not None and self.reply.outcome == "truncated"


Stage = Callable[[Draft, Ask], Draft]


def sources(draft: Draft, _ask: Ask) -> Draft:
    """Admit passages. A document turn that is left with none abstains, and nothing is asked."""
    passages = admit(draft.scenario, draft.turn)
    if passages or draft.turn.answer_from == "conversation":
        return replace(draft, passages=passages)
    reason = "no passage is admitted and in force on the date asked about"
    return _deliver(draft, refusal_in_form(draft.scenario), Decision(word="abstained", reason=reason))


def answer(draft: Draft, ask: Ask) -> Draft:
    """Ask for the reply, unless the turn abstained."""
    if draft.decision is not None:
        return draft
    prompt = answer_prompt(draft.templates, draft.scenario, draft.passages, draft.history, draft.turn.say)
    return replace(draft, reply=ask("answer", 0, prompt, response_format=_reply_format(draft.scenario)).reply)


def _reply_format(scenario: Scenario) -> Mapping[str, Any] | None:
    """Return the ``response_format`` that asks for a reply under the scenario's schema; None without one."""
    if scenario.reply.schema_ is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": scenario.reply.schema_}}


def rules(draft: Draft, _ask: Ask) -> Draft:
    """Read the rules of form and the expectation on the reply."""
    if not draft.text:
        return draft
    return replace(
        draft,
        rules=read_rules(draft.text, draft.scenario, turn=draft.turn, truncated=draft.truncated),
        expectation=read_expectation(draft.text, draft.turn, draft.scenario, truncated=draft.truncated),
    )


def check(draft: Draft, ask: Ask) -> Draft:
    """Read the reply against what it should come from, unless it is not to be judged."""
    if draft.decision is not None:
        return draft
    if draft.truncated:
        return replace(
            draft, checked=Checked(verdict=Verdict(word="unknown", reason="truncated: the reply was cut off"))
        )
    if draft.turn.answer_from == "document" or draft.policy.route == "all":
        return replace(draft, checked=_check(draft, ask, "check", draft.text))
    recalled = Checked(verdict=read_recall(shown_text(draft.text, draft.scenario), draft.said))
    control = _check(draft, ask, "control", draft.text) if draft.policy.control else None
    return replace(draft, checked=recalled, control=control)


def _check(draft: Draft, ask: Ask, stage: str, text: str) -> Checked:
    """Read *text* against the passages as the policy says: by evidence, by the judge or by both."""
    if draft.policy.check == "judge":
        judged = _judge(draft, ask, stage, text)
        return Checked(verdict=judged, judge=judged)
    read = read_reply(text, draft.scenario, draft.passages, draft.said)
    evidence = evidence_verdict(read)
    claims = read.claims if isinstance(read, Evidence) else ()
    if draft.policy.check == "evidence" or evidence.word == "none":
        return Checked(verdict=evidence, claims=claims, evidence=evidence)
    judged = _judge(draft, ask, stage, text)
    return Checked(verdict=combine(read, judged), claims=claims, evidence=evidence, judge=judged)


def _judge(draft: Draft, ask: Ask, stage: str, text: str) -> Verdict:
    """Ask the judge about *text*."""
    shown = shown_text(text, draft.scenario)
    if not shown:
        return Verdict(word="none", reason="the reply makes no claim that could be judged")
    prompt = check_prompt(draft.templates, draft.scenario, draft.passages, draft.turn.say, shown)

    def send(repeat: int) -> Exchange:
        return ask(stage, repeat, prompt, response_format=response_format())

    return ask_judge(send, shown=shown, text=text, calibration=draft.policy.judge_calibration)


def act(draft: Draft, ask: Ask) -> Draft:
    """Decide what the customer sees."""
    if draft.decision is not None:
        return draft
    match draft.verdict.word:
        case "supported" | "none":
            return _deliver(draft, draft.text, Decision(word="released", reason=draft.verdict.reason or "supported"))
        case "unsupported":
            return _UNSUPPORTED[draft.policy.on_unsupported](draft, ask)
        case _:
            return _hold(draft, f"not judged: {draft.verdict.reason}")


def _hold(draft: Draft, reason: str) -> Draft:
    """Keep the reply for a human. The customer sees no reply meanwhile, and no rule of replies is read on that."""
    return replace(draft, decision=Decision(word="held", reason=reason), delivered=draft.scenario.holding_sentence)


def _flag(draft: Draft, _ask: Ask) -> Draft:
    return _deliver(draft, draft.text, Decision(word="flagged", reason=_words(draft)))


def _suppress(draft: Draft, _ask: Ask) -> Draft:
    return _suppressed(draft, _words(draft))


def _suppressed(draft: Draft, reason: str) -> Draft:
    result = suppress(draft.text, draft.verdict.spans, draft.scenario, turn=draft.turn)
    if result.text is None:
        return _hold(draft, f"{reason}; {result.reason}")
    return _deliver(replace(draft, removed=result.removed), result.text, Decision(word="suppressed", reason=reason))


def _rewrite(draft: Draft, ask: Ask) -> Draft:
    """Have the reply rewritten; fall back to suppression unless the rewrite is acceptable in every respect."""
    prompt = rewrite_prompt(
        draft.templates, draft.scenario, draft.passages, draft.turn.say, draft.text, draft.verdict.spans
    )
    rewritten = ask("rewrite", 0, prompt).reply
    if rewritten.text is None or rewritten.outcome != "reply":
        what = "was cut off" if rewritten.outcome == "truncated" else f"{rewritten.outcome}: {rewritten.detail}"
        return _suppressed(draft, f"{_words(draft)}; rewrite not accepted: it {what}")
    recheck = _check(draft, ask, "recheck", rewritten.text).verdict
    failures = rewrite_failures(
        draft.text, rewritten.text, draft.scenario, turn=draft.turn, recheck=recheck, original_verdict=draft.verdict
    )
    tried = replace(draft, rewrite=rewritten.text, rewrite_failures=failures)
    if failures:
        return _suppressed(tried, f"{_words(draft)}; rewrite not accepted: {'; '.join(failures)}")
    return _deliver(tried, rewritten.text, Decision(word="rewritten", reason=_words(draft)))


_UNSUPPORTED: Mapping[OnUnsupported, Stage] = {"flag": _flag, "suppress": _suppress, "rewrite": _rewrite}


def _words(draft: Draft) -> str:
    return "unsupported: " + ", ".join(f'"{span}"' for span in draft.verdict.spans)


def _deliver(draft: Draft, text: str, decision: Decision) -> Draft:
    """Set what the customer sees, and read its rules and expectation as the reply's were read."""
    cut = draft.truncated and text == draft.text
    return replace(
        draft,
        decision=decision,
        delivered=text,
        delivered_rules=read_rules(text, draft.scenario, turn=draft.turn, truncated=cut),
        delivered_expectation=read_expectation(text, draft.turn, draft.scenario, truncated=cut),
    )


ANSWER: tuple[Stage, ...] = (sources, answer, rules)
REVIEW: tuple[Stage, ...] = (check, act)


def rehearse(scenario: Scenario, templates: Templates) -> None:
    """Render every prompt of *scenario* once, so that a template that fails does so before a call is paid for.

    Raises ``TemplateError``.
    """
    for turn in scenario.turns:
        passages = admit(scenario, turn)
        answer_prompt(templates, scenario, passages, [], turn.say)
        check_prompt(templates, scenario, passages, turn.say, "A reply.")
        rewrite_prompt(templates, scenario, passages, turn.say, "A reply.", ["reply"])
