from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import BILLING, CLOSING, REFUSAL, in_json, quoting, scenario

from simulator.outcome import ExpectationResult
from simulator.scenario import Scenario
from simulator.stages.expectation import declines, read_expectation


def read(text: str, scene: Scenario | None = None, *, truncated: bool = False, **expect: Any) -> ExpectationResult:
    """Return how *text* does against an expectation, in the usual scenario unless another is given."""
    scene = scene or scenario(expect=expect)
    return read_expectation(text, scene.turns[0], scene, truncated=truncated)


def test_a_turn_without_an_expectation_has_none() -> None:
    """It is neither met nor missed."""
    scene = scenario()
    assert read_expectation("anything", scene.turns[0], scene) == ExpectationResult(met="none")


def test_every_phrase_of_contains_must_be_there() -> None:
    """As whole words, whatever the case and the marks around them; what is missing is named."""
    assert (
        read("It covers **canyonlands**, Natural\u00a0Bridges.", contains=("Canyonlands", "natural bridges")).met
        == "met"
    )
    missed = read("It covers Canyonland.", contains=("Canyonlands", "Arches", "It"))
    assert missed == ExpectationResult(met="missed", detail='does not say "Canyonlands", "Arches"')


def test_one_phrase_of_any_of_is_enough() -> None:
    """Without any it is missed, and all are named."""
    assert read("No, it isn't.", any_of=("no", "none")).met == "met"
    assert read("Nothing.", any_of=("no", "none")).detail == 'says none of "no", "none"'


def test_no_phrase_of_absent_may_be_there() -> None:
    """Those that are there are named; part of a number is not the number."""
    assert read("Valid for 17 days.", absent=("7 days",)).met == "met"
    missed = read("Valid for 7 days.", absent=("1 day", "7 days"))
    assert missed == ExpectationResult(met="missed", detail='says "7 days", which it should not')


def test_the_closing_line_neither_helps_nor_harms() -> None:
    """Every reply has it, so that nothing in it is an answer."""
    text = f"It is free.\n{CLOSING}"
    assert read(text, contains=("PK-3314",)).met == "missed"
    assert read(text, absent=("PK-3314",)).met == "met"


@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("It was the Eiffel Tower.", "Eiffel Tower"),
        ("It was eiffel tower", "The Eiffel Tower!"),
        ("About 1,200 people", "1200"),
        ("in the U.S. only", "US"),
    ],
)
def test_a_reference_is_compared_as_squad_compares_it(reply: str, reference: str) -> None:
    """Case, punctuation and articles make no difference."""
    assert read(reply, reference=("something else", reference)).met == "met"


@pytest.mark.parametrize("reference", ["Eiffel Towers", "iffel Tower", "the", "1889"])
def test_a_reference_must_be_in_the_reply_as_whole_words(reference: str) -> None:
    """One that is nothing but an article is in no reply."""
    missed = read("It was the Eiffel Tower.", reference=(reference,))
    assert missed == ExpectationResult(met="missed", detail=f'holds no reference answer: "{reference}"')


def test_the_reference_is_looked_for_in_the_answer_and_not_in_the_quote() -> None:
    """A quote that holds the right words does not make the answer right."""
    expect = {"reference": ("7 days",)}
    quoted = "Answer: a month\nQuote: It is valid for 7 days."
    in_quote = {"answer": "a month", "quote": "It is valid for 7 days."}
    turns = [{"say": "How long?", "answer_from": "document", "expect": expect}]
    assert read(quoted, quoting(turns=turns)).met == "missed"
    assert read(str(in_quote).replace("'", '"'), in_json(turns=turns)).met == "missed"
    assert read(quoted.replace("a month", "7 days"), quoting(turns=turns)).met == "met"


@pytest.mark.parametrize(
    "text",
    [
        f"{REFUSAL}\n{CLOSING}",
        REFUSAL.upper(),
        BILLING,
        "",
        "The page doesn\u2019t mention how long it is valid.",
        "The park information does not explicitly state this.",
        "It isn't specified.",
        "I'm sorry, but I don't have that information.",
        "I do not have any details on that.",
        "Unfortunately, no information about cash is given.",
        "There is no mention of it.",
        "We are unable to find this.",
        "I cannot confirm that.",
        "How long it is valid is not listed in the park information.",
        "The information provided does not include its validity.",
        "Details on how long the pass is valid are not provided.",
        "The document is silent on that.",
        "It is not clear whether it is 7 days or 1 day.",
        "The page says nothing about cash.",
        "I'm not sure.",
        "That cannot be determined from the page.",
    ],
)
def test_a_reply_that_declines_meets_an_expected_abstention(text: str) -> None:
    """The refusal, the billing sentence alone, no words, or one of the English phrases for not knowing."""
    assert declines(text.removesuffix(CLOSING), scenario())
    assert read(text, abstain=True) == ExpectationResult(met="met")
    assert read(text, abstain=False) == ExpectationResult(met="missed", detail="declines, and should have answered")


@pytest.mark.parametrize(
    "text",
    [
        "It is valid for one day.",
        "The pass does not include camping.",
        "The pass does not cover two vehicles.",
        "The page says that camping is not included.",
        "We don't have a shuttle.",
        "Cash is not accepted.",
        "There is no information desk.",
        "You can't find parking there.",
        "No pass is needed.",
        f"You need a vehicle pass. {BILLING}",
    ],
)
def test_a_reply_that_states_something_does_not_decline(text: str) -> None:
    """What a pass or a park does not do is a statement."""
    assert read(text, abstain=True) == ExpectationResult(met="missed", detail="answers, and should have declined")
    assert read(text, abstain=False) == ExpectationResult(met="met")


@pytest.mark.parametrize(
    "text",
    [
        "The page does not say. The motorcycle pass is valid for 7 days.",
        "I'm not sure, but it is one day.",
        "For a week, though the page does not say so.",
        "It does not specify; usually it is seven days.",
    ],
)
def test_a_reply_that_declines_and_states_a_quantity_may_be_either(text: str) -> None:
    """It is unknown whether it abstains, whichever was expected."""
    assert read(text, abstain=True).met == "unknown"
    assert read(text, abstain=False).met == "unknown"


def test_quantities_that_the_customer_named_are_not_stated_by_the_reply() -> None:
    """Nor are those in the scenario's facts, in names, or inside the declining clause."""
    turns = [{"say": "Is it 7 days for the five of us?", "answer_from": "document", "expect": {"abstain": True}}]
    scene = scenario(turns=turns, facts={"group": "party of nine"})
    text = "The page does not say if it is a day or two. Your pass is for five, party of nine, for seven days, TD-5208."
    assert read(text, scene).met == "met"


def test_what_is_asked_in_later_turns_is_not_yet_the_customers_word() -> None:
    """Only turns up to this one count."""
    turns = [
        {"say": "How long?", "answer_from": "document", "expect": {"abstain": True}},
        {"say": "Is it 7 days?", "answer_from": "document"},
    ]
    assert read("The page does not say. It is 7 days.", scenario(turns=turns)).met == "unknown"


def test_a_put_off_answer_neither_declines_nor_answers() -> None:
    """The holding sentence leaves it open."""
    holding = scenario().holding_sentence
    assert read(holding, abstain=True).met == "unknown"
    assert read(holding, abstain=False).met == "unknown"


def test_an_empty_json_answer_declines() -> None:
    """What its quote says does not matter."""
    turns = [{"say": "How long?", "answer_from": "document", "expect": {"abstain": True}}]
    assert read('{"answer": null, "quote": "valid for 7 days"}', in_json(turns=turns)).met == "met"
    assert read('{"answer": "7 days", "quote": "not stated"}', in_json(turns=turns)).met == "missed"


def test_one_part_missed_is_missed_and_one_unknown_is_unknown() -> None:
    """The details are those of the parts that decide."""
    both = read("It is 7 days.", contains=("TD-5208",), any_of=("7",), absent=("7 days",))
    assert both.detail == 'does not say "TD-5208"; says "7 days", which it should not'
    assert read("The page does not say. It is 7 days.", abstain=True, contains=("7",)).met == "unknown"


def test_a_cut_off_reply_meets_what_is_there_already() -> None:
    """What is missing may still have come; the last word may be half a word."""
    assert read("Canyonlands and more", truncated=True, contains=("Canyonlands",)).met == "met"
    assert read("Canyonlands", truncated=True, contains=("Canyonlands",)).met == "unknown"
    assert read("Canyon", truncated=True, any_of=("Canyonlands",)).met == "unknown"
    assert read("The Eiffel T", truncated=True, reference=("Eiffel Tower",)).met == "unknown"


def test_a_cut_off_reply_never_meets_an_absence_or_an_abstention() -> None:
    """The phrase, or the statement, may still have come; a phrase that is there already is there."""
    assert read("Nothing so far", truncated=True, absent=("7 days",)).met == "unknown"
    assert read("It is 7 days and", truncated=True, absent=("7 days",)).met == "missed"
    assert read("The page does not say", truncated=True, abstain=True).met == "unknown"


@given(st.text(max_size=80), st.booleans())
def test_an_expectation_can_be_read_on_any_text(text: str, truncated: bool) -> None:  # noqa: FBT001
    """No text stops the reading, and there is an outcome whenever there is an expectation."""
    for scene in (scenario(expect={"abstain": True, "reference": ("x",)}), scenario(expect={"any_of": ("7",)})):
        assert read(text, scene, truncated=truncated).met != "none"
