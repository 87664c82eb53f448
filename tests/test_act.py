from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scenes import BILLING, CLOSING, REFUSAL, in_json, quoting, scenario

from simulator.evidence.folding import find_words
from simulator.evidence.sentences import cut, sentences
from simulator.outcome import Verdict
from simulator.scenario import Scenario
from simulator.stages.act import rewrite_failures, suppress
from simulator.stages.rules import read_rules, split_closing

DAY = "It is valid for one day."
FLAGGED = "valid for one day"
END = f"\n\n{CLOSING}"


def left(reply: str, *spans: str, scene: Scenario | None = None) -> str | None:
    """Return what suppression leaves of *reply*."""
    return suppress(reply, spans, scene or scenario()).text


# Suppression.


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (f"A pass is needed. {DAY} Bring a card.{END}", f"A pass is needed. Bring a card.{END}"),
        (f"A pass is needed. {DAY}{END}", f"A pass is needed.{END}"),
        (f"{DAY} A pass is needed.{END}", f"A pass is needed.{END}"),
        (f"A pass is needed.\n\n{DAY}\n\nBring a card.{END}", f"A pass is needed.\n\nBring a card.{END}"),
        (f"A pass is needed.\n{DAY}{END}", f"A pass is needed.{END}"),
        (f"A pass is needed.\r\n{DAY}\r\n{CLOSING}\r\n", f"A pass is needed.\r\n{CLOSING}\r\n"),
        (f"- A pass is needed.\n- {DAY}\n- Bring a card.{END}", f"- A pass is needed.\n- Bring a card.{END}"),
        (f"- {DAY} A pass is needed.\n- Bring a card.{END}", f"- A pass is needed.\n- Bring a card.{END}"),
        (f"1. {DAY}\n2. A pass is needed.{END}", f"2. A pass is needed.{END}"),
        (f"A pass is needed. **{DAY}** Bring a card.{END}", f"A pass is needed. Bring a card.{END}"),
        (f"A pass is needed. {DAY} Bring a card. {DAY}{END}", f"A pass is needed. Bring a card.{END}"),
        (f"A pass is needed. {DAY}", "A pass is needed."),
    ],
)
def test_the_whole_sentence_goes_and_nothing_else(reply: str, text: str) -> None:
    """Every other character stays, except the space, bullet or line that belonged to the sentence."""
    assert left(reply, FLAGGED) == text


def test_what_was_removed_and_what_was_lost_with_it_are_told() -> None:
    """The sentences that went, and the pieces of them that nothing was flagged in."""
    reply = f"A pass is needed. It covers your minivan, and it is {FLAGGED}. {DAY}{END}"
    done = suppress(reply, (FLAGGED,), scenario())
    assert done.text == f"A pass is needed.{END}"
    assert done.removed == (f"It covers your minivan, and it is {FLAGGED}.", DAY)
    assert done.lost == ("It covers your minivan, and it is",)


def test_words_flagged_across_two_sentences_take_both() -> None:
    """Every sentence that holds a part of them goes."""
    reply = f"A pass is needed. It is good. So is a card. Come early.{END}"
    assert left(reply, "is good. So is") == f"A pass is needed. Come early.{END}"


@pytest.mark.parametrize(
    "reply",
    [
        f"{DAY}{END}",
        f"Hello Anna! {DAY} Enjoy your visit!{END}",
        f"Yes. {DAY}{END}",
        f"Passes:\n- {DAY}{END}",
        f"{DAY} Do you come by car?{END}",
    ],
)
def test_the_refusal_stands_in_where_no_statement_is_left(reply: str) -> None:
    """Courtesy, a heading, a question and a bare yes state nothing; the closing line stays."""
    done = suppress(reply, (FLAGGED,), scenario())
    assert (done.text, done.reason) == (f"{REFUSAL}{END}", "the refusal stands in")
    assert any(FLAGGED in sentence for sentence in done.removed)


def test_the_refusal_that_stands_in_has_the_form_of_a_reply() -> None:
    """It is the application's own text, so it brings the closing line that the reply lacked."""
    assert left(DAY, FLAGGED) == f"{REFUSAL}\n{CLOSING}"


def test_the_billing_sentence_is_never_taken_out() -> None:
    """Not even when the flagged words occur in it too; beside it the refusal stands in."""
    assert left(f"{DAY} {BILLING}{END}", FLAGGED) == f"{REFUSAL} {BILLING}{END}"
    reply = f"Anything goes. A pass is needed. {BILLING}{END}"
    assert left(reply, "anything") == f"A pass is needed. {BILLING}{END}"


def test_the_billing_sentence_stays_alone_where_the_refusal_beside_it_would_be_too_long() -> None:
    """A text that keeps the word limit is preferred to one that says more."""
    scene = scenario(rules={"max_words": 14, "billing": BILLING, "closing_line": CLOSING})
    done = suppress(f"Valid one day. {BILLING}{END}", ("Valid one day",), scene)
    assert (done.text, done.reason) == (f"{BILLING}{END}", "the billing sentence is left")


@pytest.mark.parametrize("span", [CLOSING, BILLING, "valid for two days", ""])
def test_words_that_cannot_be_taken_out_hold_the_reply(span: str) -> None:
    """The closing line, the billing sentence, words that are not there, no words: no text, and a reason."""
    done = suppress(f"{DAY} {BILLING}{END}", (FLAGGED, span), scenario())
    assert (done.text, done.reason) == (None, "the flagged words are in no sentence that may be taken out")


def test_a_reply_in_which_nothing_was_flagged_is_not_suppressed() -> None:
    """Without words there is nothing to take out."""
    assert left(f"{DAY}{END}") is None


def test_a_refusal_that_would_break_a_kept_rule_holds_the_reply() -> None:
    """The limit is shorter than the refusal, or the refusal names money."""
    assert left("Valid one day.", "one day", scene=scenario(rules={"max_words": 3})) is None
    scene = scenario(rules={"forbid_money": True}, refusal="We do not talk about dollars.")
    done = suppress(DAY, (FLAGGED,), scene)
    assert (done.text, done.reason) == (None, "whatever could be left breaks a rule that the reply kept")


def test_a_rule_that_was_broken_may_stay_broken() -> None:
    """Only what was kept must be kept."""
    scene = scenario(rules={"max_words": 3, "closing_line": CLOSING})
    assert left(f"A pass is needed. {DAY}", FLAGGED, scene=scene) == "A pass is needed."


def test_an_answer_with_a_quote_is_replaced_by_the_refusal() -> None:
    """One of two lines cannot go; the refusal is the other form that the format has."""
    done = suppress("Answer: one day\nQuote: It is valid for 7 days.", ("one day",), quoting())
    assert (done.text, done.reason) == (REFUSAL, "the refusal stands in")
    assert done.removed == ("Answer: one day", "Quote: It is valid for 7 days.")


def test_a_json_reply_is_not_cut() -> None:
    """It is held, with the reason."""
    done = suppress('{"answer": "one day", "quote": ""}', ("one day",), in_json())
    assert (done.text, done.reason) == (None, "a JSON reply cannot be cut sentence by sentence")


FRAGMENTS = st.sampled_from(
    [
        *("A pass is needed. ", "It is valid for 7 days. ", "Children of 15 and under are free. ", "It costs $30. "),
        *("Yes. ", "Hello! ", "Passes:", "- ", "1. ", "**", "\n", "\r\n", "\n\n", "\u2028", "\u200b", " ", "Is it? "),
        *(BILLING, REFUSAL, CLOSING, f"**{CLOSING}**", "15 ", "and under. ", "fifteen ", "Mr. Smith says so. "),
        *("Answer: 7 days", "Quote: It is valid for 7 days.", '{"answer": null, "quote": ""}'),
    ]
)


def joined(parts: list[str], text: str, end: str) -> str:
    """Return a reply put together from fragments."""
    return "".join(parts) + text + end


REPLIES = st.builds(
    joined,
    st.lists(FRAGMENTS, max_size=9),
    st.text(max_size=12),
    st.sampled_from(["", "\n" + CLOSING, END, END + "\r\n", "\r" + CLOSING + " "]),
)
SCENES = st.sampled_from(
    [
        scenario(),
        scenario(rules={"max_words": 8, "closing_line": CLOSING}),
        scenario(rules={"max_words": 5, "forbid_money": True}, refusal="It costs nothing to ask us, not $1."),
        scenario(rules={"max_words": 12, "billing": BILLING, "forbid_money": True}, refusal="No."),
        quoting(max_answer_words=3),
        quoting(rules={"max_words": 6, "closing_line": CLOSING}),
        in_json(),
    ]
)


@st.composite
def flagged_replies(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """Return a reply and one or two pieces of it that have words."""
    reply = draw(REPLIES)
    assume(any(map(str.isalnum, reply)))
    words = reply.split()
    spans: list[str] = []
    for _ in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, len(words) - 1))
        piece = " ".join(words[start : start + draw(st.integers(1, 4))])
        spans += [reply[first:last] for first, last in find_words(reply, piece)[:1]]
    assume(spans)
    return reply, tuple(spans)


@given(flagged_replies(), SCENES)
def test_suppression_breaks_no_rule_that_the_reply_kept(flagged: tuple[str, tuple[str, ...]], scene: Scenario) -> None:
    """For every reply and every flagged piece of it, whatever the rules; the quote rule may cease to apply."""
    reply, spans = flagged
    text = suppress(reply, spans, scene).text
    if text is not None:
        kept = {result.rule for result in read_rules(reply, scene) if result.standing == "kept"}
        after = {result.rule: result.standing for result in read_rules(text, scene)}
        assert {after[rule] for rule in kept} <= {"kept", "not_applicable"}


@given(flagged_replies())
def test_suppression_adds_nothing_but_the_refusal(flagged: tuple[str, tuple[str, ...]]) -> None:
    """Every character that shows is one of the reply's, in order, or the refusal stands in."""
    reply, spans = flagged
    done = suppress(reply, spans, scenario())
    if done.text is not None and not done.reason:
        remaining = iter(reply)
        assert all(character in remaining for character in "".join(done.text.split()))
        assert done.removed


@given(flagged_replies())
def test_flagged_words_are_gone_from_all_that_may_be_cut(flagged: tuple[str, tuple[str, ...]]) -> None:
    """They are left only where the billing sentence, the closing line or the refusal has them too."""
    reply, spans = flagged
    text = suppress(reply, spans, scenario()).text
    if text is not None:
        rest = cut(cut(split_closing(text, scenario())[0], BILLING), REFUSAL)
        assert not any(find_words(sentence.text, span) for span in spans for sentence in sentences(rest))


# Rewrites.

ORIGINAL = f"The pass covers all five of you. {DAY}{END}"
UNSUPPORTED = Verdict(word="unsupported", spans=(FLAGGED,))
SUPPORTED = Verdict(word="supported")


def failures(rewrite: str, recheck: Verdict = SUPPORTED, **options: Any) -> tuple[str, ...]:
    """Return why *rewrite* may not stand for the original reply."""
    return rewrite_failures(ORIGINAL, rewrite, scenario(), recheck=recheck, original_verdict=UNSUPPORTED, **options)


@pytest.mark.parametrize(
    "rewrite",
    [
        f"The pass covers all five of you.{END}",
        f"The pass covers all five of you. The park information does not say how long it is valid.{END}",
        f"All five of you are covered by the pass.{END}",
        f"The pass covers all five of you. {REFUSAL}{END}",
    ],
)
def test_a_rewrite_that_only_takes_the_flagged_words_out_is_accepted(rewrite: str) -> None:
    """In other words, and with the refusal or another way of declining in the place of what went."""
    assert failures(rewrite) == ()


def test_a_rewrite_may_not_be_empty() -> None:
    """The closing line alone says nothing."""
    assert failures("") == failures(END) == failures("** **") == ("it is empty",)


def test_a_rewrite_may_not_be_cut_off() -> None:
    """Even where what is there is good; nothing else is read of it."""
    assert failures(f"The pass covers all five of you.{END}", truncated=True) == ("it was cut off",)


def test_a_rewrite_may_not_break_a_rule_that_the_reply_kept() -> None:
    """Each such rule is named with what was found; one that the reply broke already is none."""
    assert failures("The pass covers all five of you. Ref: PK-3314.") == (
        "it breaks closing_line: the last line is 'The pass covers all five of you. Ref: PK-3314.'",
    )
    original = f"The pass covers all five of you. {DAY}"
    rewrite = "The pass covers all five of you."
    assert rewrite_failures(original, rewrite, scenario(), recheck=SUPPORTED, original_verdict=UNSUPPORTED) == ()


def test_a_rewrite_must_pass_its_recheck() -> None:
    """Unsupported and unknown both fail it, and say why; nothing to check passes only where nothing is shown."""
    rewrite = f"The pass covers all five of you.{END}"
    flagged = Verdict(word="unsupported", spans=("all five",))
    assert failures(rewrite, flagged) == ('its recheck is unsupported: "all five"',)
    assert failures(rewrite, Verdict(word="unknown", reason="empty: nothing")) == (
        "its recheck is unknown: empty: nothing",
    )
    assert failures(rewrite, Verdict(word="none")) == ("its recheck is none",)
    assert (
        rewrite_failures(
            f"{DAY}{END}", f"{REFUSAL}{END}", scenario(), recheck=Verdict(word="none"), original_verdict=UNSUPPORTED
        )
        == ()
    )


def test_a_rewrite_may_not_keep_the_flagged_words() -> None:
    """Whatever a second check says of the same words."""
    assert failures(ORIGINAL) == ('it still says "valid for one day"',)
    assert failures(f"The pass covers all five of you, **valid** for one day.{END}") == (
        'it still says "valid for one day"',
    )


def test_a_rewrite_may_not_lose_a_sentence_in_which_nothing_was_flagged() -> None:
    """Most of its content words, and each of its numbers and names, must still be there."""
    lost = 'it loses "The pass covers all five of you."'
    assert failures(f"{REFUSAL}{END}", Verdict(word="none")) == (lost,)
    assert failures(f"The pass covers all of you.{END}") == (lost,)
    original = f"It covers Canyonlands and Natural Bridges for a year. {DAY}{END}"
    rewrite = f"It covers Natural Bridges for a year.{END}"
    assert rewrite_failures(original, rewrite, scenario(), recheck=SUPPORTED, original_verdict=UNSUPPORTED) == (
        'it loses "It covers Canyonlands and Natural Bridges for a year."',
    )


def test_a_rewrite_may_drop_every_sentence_that_flagged_words_run_through() -> None:
    """Words flagged across two sentences are flagged in both."""
    original = f"The pass covers you. It is for a day. So is Canyonlands.{END}"
    verdict = Verdict(word="unsupported", spans=("for a day. So is Canyonlands",))
    rewrite = f"The pass covers you.{END}"
    assert rewrite_failures(original, rewrite, scenario(), recheck=SUPPORTED, original_verdict=verdict) == ()


def test_a_rewrite_may_drop_courtesy_and_questions() -> None:
    """They state nothing that could be lost."""
    original = f"Hello Anna! The pass covers you. {DAY} Anything else?{END}"
    rewrite = f"The pass covers you.{END}"
    assert rewrite_failures(original, rewrite, scenario(), recheck=SUPPORTED, original_verdict=UNSUPPORTED) == ()


@pytest.mark.parametrize(
    ("text", "number"), [("for 7 days", "7 days"), ("for a week", "a week"), ("until July 4", "July 4")]
)
def test_a_rewrite_may_not_add_a_number(text: str, number: str) -> None:
    """Not one that the passage has, nor another unit with the same number, nor a date."""
    assert failures(f"The pass covers all five of you {text}.{END}") == (f'it adds "{number}"',)


def test_a_number_spelled_in_another_way_is_not_added() -> None:
    """Five is 5."""
    assert failures(f"The pass covers all 5 of you.{END}") == ()


def test_a_rewrite_may_not_add_a_statement() -> None:
    """A sentence of which most content words are new is one."""
    assert failures(f"The pass covers all five of you. Rangers sing in autumn.{END}") == (
        'it adds "Rangers sing in autumn."',
    )


def test_every_condition_that_failed_is_told() -> None:
    """In a fixed order: form, recheck, flagged words, losses, additions."""
    found = failures("Seven days.", Verdict(word="unknown", reason="truncated"))
    assert [reason.split(" ")[1] for reason in found] == ["breaks", "recheck", "loses", "adds"]


@given(REPLIES, REPLIES, st.booleans())
def test_an_accepted_rewrite_breaks_no_rule_that_was_kept(original: str, rewrite: str, truncated: bool) -> None:  # noqa: FBT001
    """For arbitrary texts; one that was cut off is never accepted."""
    verdict = Verdict(word="unsupported", spans=("no such words",))
    reasons = rewrite_failures(
        original, rewrite, scenario(), recheck=SUPPORTED, original_verdict=verdict, truncated=truncated
    )
    if not reasons:
        kept = {result.rule for result in read_rules(original, scenario()) if result.standing == "kept"}
        assert kept <= {result.rule for result in read_rules(rewrite, scenario()) if result.standing == "kept"}
        assert not truncated
