from __future__ import annotations

import io
import re
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import call, decided, transcript, turn, unplayed
from rich.console import Console
from scenes import REFUSAL, in_json, quoting, scenario

from simulator.outcome import ExpectationResult
from simulator.report.scores import render_score
from simulator.scenario import Scenario
from simulator.score import MEASURES, Rate, Score, ScoredTurn, interval, score
from simulator.transcript import TurnReading

ANSWER = {"reference": ["7 days", "a week"]}
NO_ANSWER = {"abstain": True}
GOOD = "Answer: 7 days\nQuote: It is valid for 7 days."


def scored(script: Scenario, *turns: TurnReading) -> Score:
    """Return the score of one attempt at *script*."""
    return score([transcript(*turns)], {"arches": script})


def readings(script: Scenario, reply: str, **fields: Any) -> dict[str, str]:
    """Return the readings of *reply* to the first turn of *script*, expectations left out."""
    read = dict(only(script, reply, **fields).readings)
    return {measure: word for measure, word in read.items() if measure not in {"met", "delivered_met"}}


def only(script: Scenario, reply: str | None, **fields: Any) -> ScoredTurn:
    """Return the one scored turn of a play of *script* to which *reply* came."""
    return scored(script, turn(1, reply, **fields)).turns[0]


def printed(result: Score, width: int = 80, most: int | None = None) -> str:
    """Return the page of *result* as it is written to a pipe."""
    file = io.StringIO()
    Console(file=file, width=width).print(render_score(result, most=most))
    return file.getvalue()


# Readings


def test_a_good_answer_is_read_as_one() -> None:
    """In its format, no refusal, quoted, verbatim, carried, and exactly a reference answer."""
    assert readings(quoting(expect=ANSWER), GOOD) == {
        "in_format": "yes",
        "refused_exactly": "no",
        "refused_otherwise": "no",
        "quoted": "yes",
        "verbatim": "yes",
        "carried": "yes",
        "reference_exact": "yes",
        "reference_held": "yes",
    }


@pytest.mark.parametrize(
    ("script", "reply", "exactly", "otherwise"),
    [
        (quoting(), REFUSAL, "yes", "no"),
        (quoting(), f"{REFUSAL} Sorry!", "no", "yes"),
        (quoting(), f"Answer: {REFUSAL}\nQuote: none", "no", "yes"),
        (quoting(), "Answer: the text does not mention it\nQuote: It is valid for 7 days.", "no", "yes"),
        (in_json(), '{"answer": null, "quote": ""}', "yes", "no"),
        (in_json(), '{"answer": "I do not know.", "quote": ""}', "no", "yes"),
        (scenario(rules={}), f" {REFUSAL}\n", "yes", "no"),
        (scenario(), f"{REFUSAL}\nRef: PK-3314", "yes", "no"),
        (scenario(rules={}), "There is no information about that.", "no", "yes"),
        (scenario(rules={}), "It is valid for 7 days.", "no", "no"),
    ],
)
def test_a_refusal_is_exact_or_in_own_words(script: Scenario, reply: str, exactly: str, otherwise: str) -> None:
    """Exact is the scenario's sentence and nothing else, or what the format provides; all others are own words."""
    found = readings(script, reply)
    assert (found["refused_exactly"], found["refused_otherwise"]) == (exactly, otherwise)
    assert ("quoted" in found) == (script.reply.format != "text" and {exactly, otherwise} == {"no"})


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Answer: 7 days\nQuote: It is  valid\u00a0for 7 days", {"quoted": "yes", "verbatim": "yes", "carried": "yes"}),
        ("Answer: 7 days\nQuote: It's valid for 7 days", {"quoted": "yes", "verbatim": "no"}),
        ("Answer: 7 days\nQuote: ...", {"quoted": "no"}),
        ("It is 7 days.", {"quoted": "no"}),
        ("Answer: 9 days\nQuote: It is valid for 7 days", {"quoted": "yes", "verbatim": "yes", "carried": "no"}),
        ("Answer: 7\nQuote: It is valid for 7 days", {"quoted": "yes", "verbatim": "yes", "carried": "yes"}),
        (
            "Answer: Das hat sich seit gestern kaum ver\u00e4ndert\nQuote: It is valid for 7 days",
            {"quoted": "yes", "verbatim": "yes", "carried": "unknown"},
        ),
    ],
)
def test_a_quote_is_read_as_far_as_it_goes(reply: str, expected: dict[str, str]) -> None:
    """Whether a quote is verbatim applies to quotes, and whether it carries the answer to verbatim ones."""
    found = readings(quoting(), reply)
    assert {name: found[name] for name in ("quoted", "verbatim", "carried") if name in found} == expected


def test_only_admitted_passages_carry_a_quote() -> None:
    """A quote from a comment that the prompt did not hold is not verbatim."""
    passages = [{"id": "fees", "text": "Fees."}, {"id": "talk", "kind": "comment", "text": "Mine was 3 days."}]
    reply = "Answer: 3 days\nQuote: Mine was 3 days."
    assert readings(quoting(passages=passages), reply)["verbatim"] == "yes"
    assert readings(quoting(passages=passages, admit={"kinds": ["policy"]}), reply)["verbatim"] == "no"


def test_what_the_quote_does_not_hold_is_named() -> None:
    """The words and quantities of the answer that are missing in its real quote."""
    made_up = only(quoting(), "Answer: 9 days by bicycle\nQuote: It is valid for 7 days")
    assert made_up.not_in_quote == ("9 days",)
    assert only(quoting(), GOOD).not_in_quote == ()


@pytest.mark.parametrize(
    ("answer", "exact", "held"),
    [
        ("The 7 days!", "yes", "yes"),
        ("it is valid for 7 days", "no", "yes"),
        ("Week", "yes", "yes"),
        ("17 days", "no", "no"),
        ("7", "no", "no"),
    ],
)
def test_references_are_compared_as_squad_does(answer: str, exact: str, held: str) -> None:
    """Exact match and containment are two readings; containment is of whole words."""
    found = readings(quoting(expect=ANSWER), f"Answer: {answer}\nQuote: It is valid for 7 days.")
    assert (found["reference_exact"], found["reference_held"]) == (exact, held)


def test_a_reference_of_articles_alone_is_held_by_nothing() -> None:
    """Normalised it is empty, and an empty text would stand in every answer."""
    assert readings(quoting(expect={"reference": ["The"]}), GOOD)["reference_held"] == "no"


def test_a_reply_that_was_cut_off_is_unknown() -> None:
    """What it would have said is neither good nor bad."""
    found = readings(quoting(expect=ANSWER), "Answer: 7 days\nQuote: It is va", calls=(call(outcome="truncated"),))
    assert set(found.values()) == {"unknown"}
    assert "carried" not in found


def test_a_reply_in_another_form_is_a_format_failure() -> None:
    """The problem is kept in words; plain text has no format to fail."""
    wrong = only(quoting(), "7 days")
    assert (wrong.readings["in_format"], wrong.format_problem) == ("no", "not the two lines Answer: and Quote:")
    assert "in_format" not in readings(scenario(), "7 days")


@pytest.mark.parametrize(
    ("fields", "met", "delivered"),
    [
        ({}, "yes", "no"),
        ({"expectation": ExpectationResult(met="unknown")}, "unknown", "no"),
        ({"expectation": ExpectationResult(met="none"), "delivered_expectation": ExpectationResult(met="none")}, *"--"),
        ({"decision": decided("held"), "delivered_expectation": ExpectationResult(met="none")}, "yes", "no"),
        ({"delivered_expectation": ExpectationResult(met="met")}, "yes", "yes"),
    ],
)
def test_reply_and_delivered_text_meet_the_expectation_apart(fields: dict[str, Any], met: str, delivered: str) -> None:
    """As recorded; a holding sentence answers nothing, and a turn without an expectation has no reading."""
    found = only(quoting(), GOOD, **{"delivered_expectation": ExpectationResult(met="missed"), **fields}).readings
    assert (found.get("met", "-"), found.get("delivered_met", "-")) == (met, delivered)


# Turns together


@pytest.mark.parametrize(
    ("expect", "kind", "words"),
    [
        (None, "unlabelled", ""),
        (ANSWER, "answerable", "answer 7 days / a week"),
        ({"contains": ["7"], "absent": ["9"]}, "answerable", "holds 7; without 9"),
        ({"any_of": ["7", "a"]}, "answerable", "holds one of 7, a"),
        ({"abstain": False}, "answerable", "answers"),
        ({**NO_ANSWER, "absent": ["9"]}, "unanswerable", "declines; without 9"),
        ({"absent": ["9"]}, "unlabelled", "without 9"),
    ],
)
def test_the_expectation_says_whether_a_question_has_an_answer(
    expect: dict[str, Any] | None, kind: str, words: str
) -> None:
    """What must only be absent says nothing about it."""
    found = only(quoting(expect=expect), GOOD)
    assert (found.kind, found.expected) == (kind, words)


def test_kinds_of_questions_are_counted_apart() -> None:
    """Each has its own turns, replies, decisions and rates."""
    script = quoting(
        turns=[
            {"say": "How long?", "answer_from": "document", "expect": ANSWER},
            {"say": "Who?", "answer_from": "document", "expect": NO_ANSWER},
            {"say": "Why?", "answer_from": "document", "expect": NO_ANSWER},
            {"say": "And I?", "answer_from": "conversation", "expect": NO_ANSWER},
        ]
    )
    result = scored(
        script,
        turn(1, GOOD),
        turn(2, None, decision=decided("abstained")),
        unplayed(3),
        turn(4, REFUSAL, answer_from="conversation"),
    )
    answerable, unanswerable, unlabelled = result.groups
    assert (answerable.turns, answerable.replies, answerable.abstained) == (1, 1, 0)
    assert (unanswerable.turns, unanswerable.replies, unanswerable.abstained) == (2, 0, 1)
    assert (answerable.decisions["released"], unanswerable.decisions["abstained"]) == (1, 1)
    assert answerable.rates["verbatim"].yes == 1
    assert unanswerable.rates["refused_exactly"] == Rate(yes=0, unknown=0, n=0, low=None, high=None)
    assert unlabelled.turns == 0


def test_unknown_readings_widen_a_rate() -> None:
    """The interval reaches from all unknown as no to all as yes."""
    script = quoting(expect=ANSWER)
    cut = {"calls": (call(outcome="truncated"),)}
    attempts = [transcript(turn(1, GOOD), attempt=1), transcript(turn(1, "Answer: 7", **cut), attempt=2)]
    rate = score(attempts, {"arches": script}).groups[0].rates["reference_held"]
    assert (rate.yes, rate.unknown, rate.n) == (1, 1, 2)
    assert (rate.low, rate.high) == (interval(1, 2)[0], interval(2, 2)[1])


def test_turns_with_one_question_stand_together() -> None:
    """The variants of a question follow one another, in the order in which the questions come."""
    names = ("all-a", "all-b", "some-a", "some-b")
    scripts = {name: quoting(scenario=name, turns=[{"say": "x", "answer_from": "document"}]) for name in names}
    plays = [transcript(turn(1, GOOD, say=f"{name[-1]}?"), scenario=name) for name in reversed(names)]
    assert [each.scenario for each in score(plays, scripts).turns] == ["all-a", "some-a", "all-b", "some-b"]


def test_the_three_lists_are_of_what_went_wrong() -> None:
    """An answer that its quote may or may not carry is listed too."""
    replies = (
        GOOD,
        "Answer: 9 days\nQuote: It is valid for 7 days",
        "Answer: Das hat sich seit gestern kaum ver\u00e4ndert\nQuote: It is valid for 7 days",
        "Answer: 7 days\nQuote: made up",
        "7 days",
    )
    plays = [transcript(turn(1, reply), attempt=number) for number, reply in enumerate(replies)]
    result = score(plays, {"arches": quoting()})
    lists = (result.not_carried, result.not_verbatim, result.out_of_format)
    assert [[each.attempt for each in turns] for turns in lists] == [[1, 2], [3], [4]]


def test_the_worst_stands_first() -> None:
    """Certain before unknown, and what the customer saw before what was held back."""
    wrong = "Answer: 9 days\nQuote: It is valid for 7 days"
    unknown = "Answer: Das hat sich seit gestern kaum ver\u00e4ndert\nQuote: It is valid for 7 days"
    plays = [
        transcript(turn(1, unknown), attempt=1),
        transcript(turn(1, wrong, decision=decided("held"), delivered="One moment."), attempt=2),
        transcript(turn(1, wrong), attempt=3),
    ]
    result = score(plays, {"arches": quoting()})
    assert [each.attempt for each in result.not_carried] == [3, 2, 1]


def test_questions_whose_replies_miss_most_stand_first() -> None:
    """By the number of replies that miss the expectation, then in the order in which they are asked."""
    says = ("How long?", "Who?", "Why?")
    script = quoting(turns=[{"say": say, "answer_from": "document", "expect": ANSWER} for say in says])
    missed = ExpectationResult(met="missed")
    plays = [
        transcript(
            turn(1, GOOD, say=says[0]),
            turn(2, GOOD, say=says[1], expectation=missed),
            turn(3, GOOD, say=says[2], **({"expectation": missed} if attempt == 1 else {})),
            attempt=attempt,
        )
        for attempt in (1, 2)
    ]
    asked = score(plays, {"arches": script}).questions
    assert [(turns[0].question, len(turns)) for turns in asked] == [("Who?", 2), ("Why?", 2), ("How long?", 2)]


@pytest.mark.parametrize(("most", "listed"), [(None, 3), (3, 3), (2, 2), (0, 0)])
def test_as_many_are_listed_as_asked_for(most: int | None, listed: int) -> None:
    """Where some are left out the heading says so, and how to see them."""
    plays = [transcript(turn(1, "7 days"), attempt=number) for number in range(3)]
    page = printed(score(plays, {"arches": quoting()}), most=most)
    assert page.count("out of format") == listed + 1
    assert ("--all" in page) == (listed < 3)


def test_what_people_said_is_counted_apart() -> None:
    """Each kind of question has a place for human judgements; where nobody has judged it says so."""
    result = scored(quoting(expect=ANSWER), turn(1, GOOD))
    assert [dict(group.judgements) for group in result.groups] == [{}, {}, {}]
    row = next(line for line in printed(result).splitlines() if line.startswith("human judgements"))
    assert row.split()[2:] == ["none", "yet"] * 2


@given(st.text(max_size=60), st.sampled_from([quoting(expect=ANSWER), in_json(expect=NO_ANSWER), scenario(rules={})]))
@settings(max_examples=150, deadline=None)
def test_any_reply_can_be_read(reply: str, script: Scenario) -> None:
    """Each reading has one of its words, and what applies is nested: carried within verbatim within quoted."""
    found = readings(script, reply or "x")
    assert set(found.values()) <= {"yes", "no", "unknown"}
    assert set(found) <= set(MEASURES)
    assert "carried" not in found or found["verbatim"] == "yes"
    assert "verbatim" not in found or found["quoted"] == "yes"
    assert (found["refused_exactly"], found["refused_otherwise"]) != ("yes", "yes")


# The interval


@pytest.mark.parametrize(
    ("yes", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.3085),
        (10, 10, 0.6915, 1.0),
        (1, 10, 0.0025, 0.4450),
        (5, 10, 0.1871, 0.8129),
        (1, 1, 0.025, 1.0),
        (81, 263, 0.2527, 0.3676),
        (1999, 2000, 0.9972, 1.0),
    ],
)
def test_intervals_are_those_of_the_tables(yes: int, n: int, low: float, high: float) -> None:
    """Values of Clopper and Pearson's method, computed by others."""
    assert interval(yes, n) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=60, deadline=None)
def test_an_interval_is_exact(case: tuple[int, int]) -> None:
    """At its ends the binomial tail is 2.5%, in exact arithmetic; it mirrors that of the opposite rate."""
    yes, n = case
    low, high = interval(yes, n)
    assert low <= yes / n <= high
    assert interval(n - yes, n) == pytest.approx((1 - high, 1 - low), abs=1e-11)
    if yes:
        p = Fraction(low)
        tail = sum(comb(n, each) * p**each * (1 - p) ** (n - each) for each in range(yes, n + 1))
        assert float(tail) == pytest.approx(0.025, abs=1e-9)


# The page


def test_a_run_without_anything_to_score_says_none() -> None:
    """Conversation turns alone leave every rate, list and table empty."""
    page = printed(scored(scenario(), turn(1, "Hello.", answer_from="conversation")))
    assert "verbatim quotes that do not carry the answer: none" in page
    assert "answers side by side: none" in page
    assert "%" not in page.replace("95%", "")


def test_each_failure_is_listed_with_its_words() -> None:
    """Scenario, question, reply, quote, what is not in it, and what was decided."""
    page = printed(scored(quoting(), turn(1, "Answer: 9 days\nQuote: It is valid for 7 days", say="How long?")))
    listed = page.partition("do not carry the answer: 1\n")[2].partition("quotes that stand")[0]
    assert [" ".join(row.split()) for row in listed.splitlines() if row.strip()] == [
        "arches#1, turn 1",
        "customer How long?",
        "model reply Answer: 9 days",
        "Quote: It is valid for 7 days",
        "quote It is valid for 7 days",
        "not in the quote 9 days (unsupported)",
        "application decision released",
        "human judgement none yet",
    ]


def test_reply_decision_and_judgement_have_columns_of_their_own() -> None:
    """Attempts that come to the same are one row."""
    plays = [transcript(turn(1, "7 days", decision=decided("held")), attempt=number) for number in (1, 2, 3)]
    page = printed(score(plays, {"arches": quoting(expect=ANSWER)}))
    head, _, row, times, *_ = page.partition("answers side by side")[2].split("\n", 4)[4].splitlines()
    assert head.split() == ["scenario", "expected", "model", "reply", "decision", "judgement"]
    assert row.split() == ["arches", "answer", "7", "days", "7", "days", "held", "none", "yet"]
    assert times.split() == ["3", "times", "/", "a", "week"]


def test_rates_are_printed_with_n_and_interval() -> None:
    """A rate with unknown readings is a range without a percentage of its own."""
    cut = {"calls": (call(outcome="truncated"),)}
    plays = [
        transcript(turn(1, GOOD), attempt=1),
        transcript(turn(1, REFUSAL), attempt=2),
        transcript(turn(1, "Answer: 7", **cut), attempt=3),
    ]
    lines = printed(score(plays, {"arches": quoting(expect=ANSWER)})).splitlines()
    rates = {cells[0]: cells[1:] for cells in (re.split(r"\s{2,}", line.strip()) for line in lines)}
    assert rates["exact refusals"] == ["1 to 2 of 3 (1 to 99%)", "none"]
    assert rates["verbatim quotes that"] == ["1 of 1, 100% (3 to 100%)", "none"]


def test_hostile_text_is_shown_and_not_obeyed() -> None:
    """Escapes and markup in replies, questions and quotes reach the page as text."""
    hostile = "\x1b[31mred [bold]x[/bold] \u202eevil"
    page = printed(scored(quoting(), turn(1, f"Answer: {hostile}\nQuote: {hostile}", say=hostile)), width=60)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "[bold]" in page
    assert max(map(len, page.splitlines())) <= 60
