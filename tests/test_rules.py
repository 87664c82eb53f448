from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import BILLING, CLOSING, FEES, REFUSAL, in_json, quoting, scenario

from simulator.outcome import RuleResult
from simulator.scenario import Rules, Scenario
from simulator.scenario.schema import MAX_WORK
from simulator.stages.form import read_form, refusal_in_form
from simulator.stages.money import money_named
from simulator.stages.rules import body, read_rules, split_closing
from simulator.stages.sources import admit

ANSWERED = 'Answer: 7 days\nQuote: "It is valid for 7 days."'


def result(text: str, rule: str, scene: Scenario, **options: Any) -> RuleResult:
    """Return how *text* stands to one rule."""
    return next(result for result in read_rules(text, scene, **options) if result.rule == rule)


def standing(text: str, rule: str, scene: Scenario | None = None, **options: Any) -> str:
    """Return the standing of *text* to one rule, of the usual scenario unless another is given."""
    return result(text, rule, scene or scenario(), **options).standing


# Which rules there are.


def test_only_the_rules_of_the_scenario_are_read() -> None:
    """A rule that the scenario does not give has no result; the order is always the same."""
    assert [each.rule for each in read_rules("x", scenario())] == ["max_words", "forbid_money", "closing_line"]
    assert read_rules("x", scenario(rules={})) == ()
    assert [each.rule for each in read_rules("x", quoting())] == ["format", "quote"]


def test_a_json_format_without_a_quote_field_has_no_quote_rule() -> None:
    """Whether there is something to quote is for the schema to say."""
    scene = scenario(reply={"format": "json", "schema": {"type": "object"}}, rules={})
    assert [each.rule for each in read_rules("{}", scene)] == ["format"]


# max_words


def test_the_word_limit_leaves_out_the_closing_line() -> None:
    """Forty words and the closing line keep a limit of forty."""
    assert standing("word " * 40 + "\n" + CLOSING, "max_words") == "kept"


def test_a_broken_word_limit_says_how_many_words_there_were() -> None:
    """The detail has both numbers."""
    broken = result("word " * 46 + "\n" + CLOSING, "max_words", scenario())
    assert (broken.standing, broken.detail) == ("broken", "46 words, 40 allowed")


def test_a_second_closing_line_counts_as_words_of_the_body() -> None:
    """Only the last one is left out."""
    assert standing("word " * 38 + f"\n{CLOSING}\n{CLOSING}", "max_words") == "kept"
    assert standing("word " * 39 + f"\n{CLOSING}\n{CLOSING}", "max_words") == "broken"


def test_a_cut_off_reply_breaks_the_word_limit_only_if_it_does_so_already() -> None:
    """Words still to come cannot be counted; the beginning of the closing line is none of them."""
    assert standing("word " * 41, "max_words", truncated=True) == "broken"
    assert standing("word " * 40, "max_words", truncated=True) == "unknown"
    assert standing("word " * 40 + "\nRef: PK", "max_words", truncated=True) == "unknown"


# closing_line


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "  \n\t\n", "\u2028", "\u00a0", "\u200b", "\r", "\ufeff\n"])
def test_what_cannot_be_seen_behind_the_closing_line_does_not_matter(end: str) -> None:
    """White space, line ends and characters without width are overlooked at the end."""
    assert standing(f"It is free.\n\n{CLOSING}{end}", "closing_line") == "kept"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_real_line_end_may_stand_before_the_closing_line(line_end: str) -> None:
    """CR, LF and CRLF end a line."""
    assert standing(f"It is free.{line_end}{CLOSING}", "closing_line") == "kept"


@pytest.mark.parametrize(
    "text",
    [
        f"It is free.\n{CLOSING}.",
        f"It is free.\n**{CLOSING}**",
        f"It is free.\n  {CLOSING}",
        f"```\n{CLOSING}\n```",
        f"{CLOSING}\nAnything else?",
        f"It is free. {CLOSING}",
        f"It is free.\u2028{CLOSING}",
        f"It is free.\u0085{CLOSING}",
        f"It is free.\f{CLOSING}",
        "It is free.\nRef:\u00a0PK-3314",
        "It is free.\nref: pk-3314",
        "It is free.",
        "",
    ],
)
def test_anything_else_that_can_be_seen_breaks_the_closing_line(text: str) -> None:
    """A stop, bold marks, an indent, a fence, another spelling, a line that only looks like one: all are failures."""
    assert standing(text, "closing_line") == "broken"


def test_a_broken_closing_line_is_explained_so_that_the_difference_shows() -> None:
    """The detail has the last line with invisible characters spelled out, and says if the line stands earlier."""
    assert result("x\nRef:\u00a0PK-3314", "closing_line", scenario()).detail == r"the last line is 'Ref:\xa0PK-3314'"
    moved = result(f"{CLOSING}\nBye", "closing_line", scenario()).detail
    assert moved == "stands earlier, not last; the last line is 'Bye'"
    joined = result(f"Bye. {CLOSING}", "closing_line", scenario()).detail
    assert joined == f"not on a line of its own; the last line is 'Bye. {CLOSING}'"
    long = result("x" * 61, "closing_line", scenario()).detail
    assert long == f"the last line is '{'x' * 59}…'"


def test_the_end_of_a_cut_off_reply_is_not_known() -> None:
    """Neither with nor without the line at its end."""
    assert standing(f"x\n{CLOSING}", "closing_line", truncated=True) == "unknown"
    assert standing("x", "closing_line", truncated=True) == "unknown"


@given(st.text(max_size=60), st.sampled_from(["", "\n", "\r\n", " \n"]))
def test_splitting_off_the_closing_line_loses_nothing(text: str, end: str) -> None:
    """The two pieces are the text; the second begins with the closing line or is empty."""
    for whole in (text, f"{text}\n{CLOSING}{end}"):
        head, tail = split_closing(whole, scenario())
        assert head + tail == whole
        assert tail == "" or tail.startswith(CLOSING)
        assert body(whole, scenario()) == head.strip()


# forbid_money


@pytest.mark.parametrize(
    "text",
    [
        "It is $30.",
        "It is 30\u00a0\u20ac.",
        "About \u20b9500",
        "Only \uff0430",
        "30 USD",
        "EUR 30",
        "thirty bucks",
        "a few dollars",
        "50 cents",
        "It costs 30.",
        "It is 30 every day.",
        "Some 40 CAD",
        "About 40 \u20a6",
        "It costs 30.00 in all.",
        "It is thirty",
        "twenty\u2011five per bike",
        "15 per person",
        "Fifteen for one person",
        "$30 and under",
    ],
)
def test_money_is_named_by_signs_words_codes_and_the_prices_of_the_passages(text: str) -> None:
    """Digits or words, with or without cents; a price stays one where no other unit follows it."""
    assert standing(f"{text}\n{CLOSING}", "forbid_money") == "broken"


@pytest.mark.parametrize(
    "text",
    [
        "Children of 15 and under are free.",
        "Anyone aged 15 or younger comes in free.",
        "It takes up to 15 people.",
        "Fifteen passengers fit in.",
        "It is valid for 7 days.",
        "Your reference is TD-30.",
        "Case PK-15, gate #25",
        "On July 15 at 3:30 pm",
        "by 2026-12-25",
        "Twenty percent of visitors, 40 per cent",
        "Thirty-one days",
        "Come back within 30 days.",
        "4th grade, B25, https://pass.example/30",
        "Everything is free.",
        BILLING,
    ],
)
def test_a_number_that_the_passage_gives_another_unit_names_no_money(text: str) -> None:
    """Nor do numbers in names, dates and times, larger numbers that contain a price, and the billing sentence."""
    assert standing(f"{text}\n{CLOSING}", "forbid_money") == "kept"


def test_the_closing_line_and_the_billing_sentence_never_name_money() -> None:
    """They are required, whatever is in them."""
    rules = {"forbid_money": True, "closing_line": "Case $30", "billing": "Ask billing about dollars."}
    scene = scenario(rules=rules)
    assert standing("Free. Ask billing about dollars.\nCase $30", "forbid_money", scene) == "kept"
    assert standing("Free.\nCase $30\nCase $30", "forbid_money", scene) == "broken"


def test_what_named_money_is_shown() -> None:
    """The detail quotes the first pieces."""
    assert result("It is $30, or thirty.", "forbid_money", scenario()).detail == 'names "$30", "thirty"'
    assert money_named("35 USD or 20 dollars", ()) == ("35 USD", "20 dollars")


def test_a_range_of_prices_gives_two_prices() -> None:
    """A sign on one end of a range is meant for both."""
    assert money_named("It is 20.", ("Fee: $20-35",)) == ("20",)
    assert money_named("It is 20.", ("Fee: 20 to 35 dollars",)) == ("20",)
    assert money_named("It is 7.", ("Fee: $20. Valid 7 days.",)) == ()


def test_a_small_number_in_words_is_a_price_only_where_it_counts_nothing() -> None:
    """With a price of two in the passages, "two ways" names no money; "it is two" and "2 ways" do."""
    passages = ("Reservation: $2 per vehicle",)
    assert money_named("There are two ways to pay.", passages) == ()
    assert money_named("It is two per vehicle.", passages) == ("two",)
    assert money_named("There is a two fee.", passages) == ("two",)
    assert money_named("There are 2 ways.", passages) == ("2",)


def test_a_number_at_the_end_of_a_cut_off_reply_is_not_yet_money() -> None:
    """The words that would say its unit may be missing; a currency sign needs none."""
    assert standing("Free for those of 15", "forbid_money", truncated=True) == "unknown"
    assert standing("It is 15 per person and so on", "forbid_money", truncated=True) == "broken"
    assert standing("It is $1", "forbid_money", truncated=True) == "broken"


# format and quote: answer_quote


def test_two_labelled_lines_are_the_answer_and_its_quote() -> None:
    """Blank lines between and around do not matter; quote marks around the quote are not part of it."""
    form = read_form(f"\n{ANSWERED}\n", quoting())
    assert (form.problem, form.answer, form.quote) == ("", "7 days", "It is valid for 7 days.")
    assert [each.standing for each in read_rules(ANSWERED, quoting())] == ["kept", "kept"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("7 days", "not the two lines Answer: and Quote:"),
        (f"Sure!\n{ANSWERED}", "not the two lines Answer: and Quote:"),
        ("Quote: x\nAnswer: y", "not the two lines Answer: and Quote:"),
        ("answer: x\nquote: y", "not the two lines Answer: and Quote:"),
        ("**Answer:** x\n**Quote:** y", "not the two lines Answer: and Quote:"),
        ("Answer:\nQuote: It is valid for 7 days.", "the answer is empty"),
        ("Answer: it is seven days\nQuote: x", "answer of 4 words, 3 allowed"),
    ],
)
def test_anything_but_the_two_lines_is_out_of_format(text: str, problem: str) -> None:
    """It is reported and not repaired."""
    broken = result(text, "format", quoting(max_answer_words=3))
    assert (broken.standing, broken.detail) == ("broken", problem)


def test_the_refusal_sentence_alone_is_in_format_and_quotes_nothing() -> None:
    """Up to folding; a refusal in other words is out of format."""
    scene = quoting(refusal="The page doesn't say.")
    assert [each.standing for each in read_rules("The page doesn\u2019t say.", scene)] == ["kept", "not_applicable"]
    assert standing("The page is silent.", "format", scene) == "broken"


@pytest.mark.parametrize(
    "quote",
    [
        "It is valid for 7 days.",
        "\u201cvalid for\u00a07 days\u201d",
        "aged 15 and un\u00adder",
        "from 16 the price is due",
        "- It is valid for 7\u2009days.",
    ],
)
def test_a_contiguous_piece_of_an_admitted_passage_is_a_quote(quote: str) -> None:
    """Quote marks, spaces and soft hyphens are folded on both sides."""
    assert standing(f"Answer: x\nQuote: {quote}", "quote", quoting()) == "kept"


@pytest.mark.parametrize(
    "quote",
    [
        "",
        '""',
        "...",
        "\u200b",
        "It is valid for 8 days.",
        "It is valid 7 days.",
        "valid ... 7 days",
        "it is valid for 7 days",
        "One pass admits a single private vehicle. It is valid for 7 days.",
        "ree; from 16",
        "aged 15 and und",
    ],
)
def test_what_is_not_in_the_passage_word_for_word_is_no_quote(quote: str) -> None:
    """Nothing, a changed or dropped word, another case, two places put together, part of a word."""
    assert standing(f"Answer: x\nQuote: {quote}", "quote", quoting()) == "broken"


def test_only_an_admitted_passage_can_carry_a_quote() -> None:
    """Kind and date decide, the date of the turn where one is given."""
    passages = [
        {"id": "old", "kind": "policy", "effective": {"to": date(2025, 12, 31)}, "text": "The rate is three."},
        {"id": "note", "kind": "comment", "text": "The rate is nine."},
    ]
    turn = {"say": "And then?", "answer_from": "document", "as_of": date(2025, 6, 1)}
    scene = quoting(passages=passages, admit={"kinds": ("policy",), "as_of": date(2026, 6, 1)}, turns=[turn])
    reply = "Answer: three\nQuote: The rate is three."
    assert standing(reply, "quote", scene) == "broken"
    assert standing(reply, "quote", scene, turn=scene.turns[0]) == "kept"
    assert standing("Answer: nine\nQuote: The rate is nine.", "quote", scene, turn=scene.turns[0]) == "broken"


def test_a_turn_answered_from_the_conversation_quotes_nothing() -> None:
    """The quote rule does not apply there; the format does."""
    scene = quoting(turns=[{"say": "What was it?", "answer_from": "conversation"}])
    results = read_rules("Answer: TD-5208\nQuote: my own", scene, turn=scene.turns[0])
    assert [each.standing for each in results] == ["kept", "not_applicable"]


@pytest.mark.parametrize(
    ("text", "form", "quote"),
    [
        ("Ans", "unknown", "unknown"),
        ("Answer: 7 days\nQuote: It is valid for 7 d", "unknown", "unknown"),
        ("Answer: 7 days\nQuote: It was valid for 7 d", "unknown", "broken"),
        ("The park infor", "unknown", "unknown"),
        ("Sure, the ans", "broken", "unknown"),
        (f"{ANSWERED}\nI hope th", "broken", "unknown"),
    ],
)
def test_a_cut_off_reply_is_out_of_format_only_if_no_end_could_mend_it(text: str, form: str, quote: str) -> None:
    """What has not come yet may still be right, down to half a word at the end."""
    assert [each.standing for each in read_rules(text, quoting(), truncated=True)] == [form, quote]


# format and quote: json


def test_one_json_value_valid_under_the_schema_is_in_format() -> None:
    """Space around it does not matter, nor do keys that the schema does not mention."""
    text = '\n{"answer": "7 days", "quote": "valid for 7 days", "note": 1}\n'
    assert [each.standing for each in read_rules(text, in_json())] == ["kept", "kept"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('```json\n{"answer": null, "quote": ""}\n```', "not one JSON value: Expecting value at character 1"),
        ('{"answer": null, "quote": ""} {}', "not one JSON value: Extra data at character 31"),
        ('{"answer": NaN, "quote": ""}', "not one JSON value: NaN is no JSON"),
        ('{"answer": "a", "answer": "b", "quote": ""}', "not one JSON value: an object has the same key twice"),
        ("[" * 100_000, "not one JSON value: nested too deeply"),
        ('{"answer": 7, "quote": ""}', "against the schema at ['answer']: 7 is not of type 'string', 'null'"),
        ('"7 days"', "against the schema: '7 days' is not of type 'object'"),
    ],
)
def test_anything_else_is_out_of_format(text: str, problem: str) -> None:
    """A fence, a second value, what is no JSON, a key twice, too deep a nesting, another shape."""
    broken = result(text, "format", in_json())
    assert (broken.standing, broken.detail) == ("broken", problem)


def test_a_number_too_long_to_read_is_out_of_format() -> None:
    """It does not stop the reading."""
    assert standing("1" * 5000, "format", in_json()) == "broken"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"answer": "7 days", "quote": "valid for 7 days"}', "kept"),
        ('{"answer": "7 days", "quote": "valid for 9 days"}', "broken"),
        ('{"answer": "7 days", "quote": ""}', "broken"),
        ('{"answer": null, "quote": ""}', "not_applicable"),
        (f'{{"answer": "{REFUSAL}", "quote": ""}}', "not_applicable"),
        ("no JSON at all", "broken"),
    ],
)
def test_a_json_answer_needs_a_quote_and_a_json_refusal_does_not(text: str, expected: str) -> None:
    """A refusal has no answer, or the refusal sentence as its answer, and no quote."""
    assert standing(text, "quote", in_json()) == expected


def test_of_json_that_is_too_large_it_is_not_known_whether_it_is_in_format() -> None:
    """A reply with very many values is not held against the schema, and its quote is not looked for."""
    text = json.dumps({"answer": [0] * MAX_WORK, "quote": ""})
    results = read_rules(text, in_json())
    assert [(each.rule, each.standing) for each in results] == [("format", "unknown"), ("quote", "unknown")]
    assert {each.detail for each in results} == {"too large to be held against the schema"}


@pytest.mark.parametrize("closing_line", [None, "Ref: {case_id}"])
def test_the_refusal_in_form_keeps_every_rule(closing_line: str | None) -> None:
    """Whatever the format, it is the refusal that the format provides for, with the closing line where there is one."""
    for scene in (scenario(), quoting(3), in_json()):
        closed = scene.model_copy(update={"rules": Rules(max_words=40, closing_line=closing_line)})
        text = refusal_in_form(closed)
        assert {each.standing for each in read_rules(text, closed)} <= {"kept", "not_applicable"}
        assert text.endswith("\nRef: PK-3314") == (closing_line is not None)
        assert read_form(body(text, closed), closed).refused == (scene.reply.format != "text")


def test_a_refusal_in_form_says_the_refusal() -> None:
    """As a text it is the sentence, in JSON it is the answer where the schema allows one."""
    assert refusal_in_form(scenario(rules={})) == REFUSAL
    assert json.loads(refusal_in_form(in_json())) == {"answer": REFUSAL, "quote": ""}


def test_a_cut_off_json_reply_is_out_of_format_only_if_it_does_not_begin_as_json() -> None:
    """An unfinished object may have become a good one."""
    assert standing('{"answer": "7', "format", in_json(), truncated=True) == "unknown"
    assert standing("Here is the", "format", in_json(), truncated=True) == "broken"


# Sources.


def test_passages_are_admitted_by_kind_and_by_date_with_both_ends_included() -> None:
    """An open end is no limit; neither are kinds or a date that are not given."""
    passages = [
        {"id": "old", "kind": "policy", "effective": {"to": date(2025, 12, 31)}, "text": "a"},
        {"id": "new", "kind": "policy", "effective": {"from": date(2026, 1, 1)}, "text": "b"},
        {"id": "note", "kind": "comment", "text": "c"},
    ]

    def ids(**admit_fields: Any) -> list[str]:
        scene = scenario(passages=passages, admit=admit_fields)
        return [passage.id for passage in admit(scene, scene.turns[0])]

    assert ids() == ["old", "new", "note"]
    assert ids(kinds=("policy",)) == ["old", "new"]
    assert ids(as_of=date(2025, 12, 31)) == ["old", "note"]
    assert ids(as_of=date(2026, 1, 1), kinds=("policy",)) == ["new"]
    assert ids(kinds=("memo",)) == []


# Every rule.


@given(st.text(max_size=80), st.booleans())
def test_rules_can_be_read_on_any_text(text: str, truncated: bool) -> None:  # noqa: FBT001
    """No text stops the reading, and a text that was cut off keeps no rule for certain."""
    for scene in (scenario(), quoting(), in_json()):
        standings = {each.standing for each in read_rules(text, scene, truncated=truncated)}
        assert standings
        if truncated:
            assert standings <= {"broken", "unknown"}


def test_the_prices_of_the_passage_at_hand_are_the_ones_that_count() -> None:
    """The passage used in these tests has 15, 25 and 30 as prices and gives 15 an age and a count."""
    assert [number for number in range(40) if money_named(f"It is {number}.", (FEES,))] == [15, 25, 30]
