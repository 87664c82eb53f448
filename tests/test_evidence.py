"""Replies read against a passage without a model."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import evidence
from simulator.evidence.claims import claims, is_statement
from simulator.evidence.quotes import find_quote, read_quoted
from simulator.evidence.reading import ClaimReading, Evidence, read_evidence
from simulator.evidence.stems import content_words, share_held
from simulator.evidence.stretches import prepare

PASSAGE = """\
Standard entrance pass: $15 to $30
You need a pass to enter Sandstone Park. What it costs depends on how you travel.

Private vehicle: $30
- One pass admits a single private vehicle and all its occupants.
- The vehicle must be built for 15 people or fewer.
- Off-highway vehicles are not allowed in the park.

Motorcycle: $25
- One pass admits a motorcycle and its riders.
- It is valid for 7 consecutive days.

Person without a vehicle: $15
- For one person who arrives with no car, such as a walker or a cyclist.
- Anyone aged 15 and under comes in free; from 16 the price is due.

Sandstone annual pass: $55
- Lasts 12 months, through the month in which it was bought.
- Good at Sandstone Park and at no other park.

Entering and paying
- Cash is not accepted at the entrance.
- No timed entry ticket is needed in 2026.
- The gate opens at 7 am and closes at 10 pm.
"""
PREPARED = prepare([("fees", PASSAGE)])
CLOSING = "Ref: PK-3314"
BILLING = "Our billing team handles anything to do with money."
REFUSAL = "The park information does not say."


def read(reply: str, *said: str) -> Evidence:
    """Return *reply* read against the passage, with the required sentences left out."""
    return read_evidence(reply, PREPARED, said=said, ignore=[CLOSING, BILLING, REFUSAL])


def only(reply: str, *said: str) -> ClaimReading:
    """Return the reading of the only claim of *reply*."""
    (claim,) = read(reply, *said).claims
    return claim


def test_an_invented_duration_is_unsupported() -> None:
    """A duration that the passage nowhere holds is found by the quantity alone."""
    claim = only("The standard vehicle pass is valid for one day.")
    assert (claim.word, claim.rule, claim.missing) == ("unsupported", "quantity", ("one day",))


def test_an_invented_duration_of_a_named_pass_is_unsupported() -> None:
    """The hyphenated form of a duration is held to the passage where it counts days."""
    assert only("It is a 3-day vehicle pass for all occupants.").rule == "quantity"


def test_a_name_with_a_number_is_no_duration() -> None:
    """Where the passage counts neither days nor weeks, "52-week" is a name; where it does, it is held to them."""
    (claim,) = read_evidence("The 52-week high was $80.", prepare([("fund", "Its high was $80.")])).claims
    assert claim.rule != "quantity"
    (claim,) = read_evidence("The 52-week high was $80.", prepare([("fund", "Its 13-week high was $80.")])).claims
    assert claim.rule == "quantity"


@pytest.mark.parametrize(
    "reply",
    [
        "The vehicle pass is valid for 7 days.",
        "Your private vehicle pass is good for a week.",
        "The vehicle pass admits all occupants and is valid for 7 days.",
        "The vehicle pass lasts 12 months.",
        "The vehicle pass costs $25.",
    ],
)
def test_a_quantity_of_the_neighbouring_pass_is_unsupported(reply: str) -> None:
    """What stands in the block of another pass does not carry a claim about this one; both places are shown."""
    claim = only(reply)
    assert (claim.word, claim.rule) == ("unsupported", "neighbour")
    assert len(claim.evidence) >= 2


def test_it_stands_for_what_was_asked_about() -> None:
    """A pronoun takes its subject from the customer's question."""
    reply = "It is valid for 7 days."
    assert only(reply, "How long is the standard vehicle pass valid?").rule == "neighbour"
    assert only(reply, "And the motorcycle pass, how long is it valid?").word == "supported"


def test_the_line_before_a_list_says_what_its_items_are_about() -> None:
    """A list item stands under the line that leads it in, which itself claims nothing."""
    assert [claim.rule for claim in read("Vehicle pass:\n- Valid for 7 days.").claims] == ["neighbour"]
    assert read("Motorcycle pass:\n- Valid for 7 days.").word == "supported"


def test_two_passes_in_one_claim_are_unsupported() -> None:
    """A claim that only two blocks together hold is put together from both, and both are named."""
    claim = only("The pass is valid for one year or seven days.")
    assert (claim.word, claim.rule) == ("unsupported", "welded")
    texts = [stretch.text for stretch in claim.evidence]
    assert any("12 months" in text for text in texts)
    assert any("7 consecutive days" in text for text in texts)


def test_two_facts_in_one_sentence_are_supported_each_by_its_own_block() -> None:
    """Clauses that each name their pass are read apart."""
    claim = only("The motorcycle pass is valid for 7 days, and the annual pass lasts 12 months.")
    assert (claim.word, claim.rule) == ("supported", "parts")


def test_only_the_invented_sentence_is_flagged() -> None:
    """Two true sentences beside an invented one stay supported."""
    reply = (
        "The vehicle pass admits one private vehicle and all its occupants. You can return it within 30 days. "
        "Off-highway vehicles are not allowed in the park."
    )
    found = read(reply)
    assert [claim.word for claim in found.claims] == ["supported", "unsupported", "supported"]
    assert found.word == "unsupported"
    assert reply[found.claims[1].start : found.claims[1].end] == "You can return it within 30 days."


def test_what_the_customer_stated_is_supported_by_the_conversation() -> None:
    """A booking reference is the customer's and is not held against the page."""
    said = "Hello, my booking reference is TD-5208. We are a party of four. Do I need a pass?"
    claim = only("Your booking reference is TD-5208.", said)
    assert (claim.word, claim.rule, claim.evidence) == ("supported", "conversation", ())
    assert only("Your party of four needs a pass to enter Sandstone Park.", said).word == "supported"


def test_a_question_states_nothing() -> None:
    """Repeating the duration that the customer asked about does not make it so."""
    claim = only("Yes, your vehicle pass is valid for 3 days.", "Is the vehicle pass valid for 3 days?")
    assert (claim.word, claim.rule) == ("unsupported", "quantity")


@pytest.mark.parametrize(
    "reply",
    [
        REFUSAL,
        f"{REFUSAL}\n{CLOSING}",
        BILLING,
        "The park information does not say how long the vehicle pass is valid for 3 days.",
        "The page doesn't mention whether dogs are allowed.",
        "I'm sorry, but I don't have information about camping.",
        "The validity of the pass is not stated in the information provided.",
        "Hello! Thank you for your question.",
        "You're welcome. Have a great trip!",
        "How long would you like to stay?",
        "",
        "...",
    ],
)
def test_a_refusal_a_required_sentence_or_courtesy_claims_nothing(reply: str) -> None:
    """What says that the passage is silent, what the rules ask for, questions and thanks are never flagged."""
    assert read(reply).claims == ()
    assert read(reply).word == "none"


def test_a_claim_beside_a_refusal_is_read() -> None:
    """What follows the "but" of a refusal is a claim of its own."""
    claim = only("The page does not say that, but the vehicle pass is usually valid for 5 days.")
    assert claim.text == "but the vehicle pass is usually valid for 5 days."
    assert claim.rule == "quantity"


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("Cash is accepted at the entrance.", "unsupported"),
        ("The entrance accepts cash.", "unsupported"),
        ("Cash is not accepted at the entrance.", "supported"),
        ("The park does not accept cash.", "supported"),
        ("A timed entry ticket is needed in 2026.", "unsupported"),
        ("You do not need a timed entry ticket in 2026.", "supported"),
        ("Off-highway vehicles are allowed in the park.", "unsupported"),
        ("The annual pass is good at other parks.", "unsupported"),
    ],
)
def test_a_negation_that_differs_is_unsupported(reply: str, word: str) -> None:
    """The same words with a "not" on one side only say the opposite."""
    assert read(reply).word == word


SALES = """\
Standard entrance pass: $20 to $35
A pass is needed in every month.

Motorcycle: $30
- Admits one motorcycle with one or two people on it.

Annual pass: $70
- Good at Acadia and at Saint Croix.

Federal passes
- Chambers of commerce nearby sell Acadia passes, but they do not sell these federal ones.
- No shuttle runs here. The office opens early in summer.

Paying
All passes are paid by card.
"""


@pytest.mark.parametrize(
    ("reply", "word", "rule"),
    [
        ("The motorcycle pass is good at Acadia and Saint Croix.", "unsupported", "neighbour"),
        ("The annual pass admits one motorcycle.", "unsupported", "neighbour"),
        ("The annual pass is good at Acadia and Saint Croix.", "supported", "coverage"),
        ("The motorcycle pass is paid by card.", "supported", "coverage"),
        ("Chambers of commerce sell federal passes.", "unsupported", "negation"),
        ("You can buy federal passes at the chambers of commerce nearby.", "unsupported", "negation"),
        ("Chambers of commerce sell Acadia passes.", "supported", "coverage"),
        ("A shuttle runs here.", "unsupported", "negation"),
        ("The office opens late in summer.", "unsupported", "negation"),
        ("The office opens early in summer.", "supported", "verbatim"),
    ],
)
def test_a_statement_about_another_kind_or_denied_by_the_passage_is_unsupported(
    reply: str, word: str, rule: str
) -> None:
    """Without any quantity: what stands under another kind's heading, in a negated clause, or with an opposite."""
    (claim,) = read_evidence(reply, prepare([("sales", SALES)])).claims
    assert (claim.word, claim.rule) == (word, rule)


def test_a_pronoun_takes_its_kind_from_the_question() -> None:
    """What holds for the annual pass does not hold for the motorcycle pass that was asked about."""
    prepared, reply = prepare([("sales", SALES)]), "It is good at Acadia and Saint Croix."
    (claim,) = read_evidence(reply, prepared, said=["Where is the motorcycle pass good?"]).claims
    assert (claim.word, claim.rule) == ("unsupported", "neighbour")
    assert read_evidence(reply, prepared, said=["Where is the annual pass good?"]).word == "supported"


def test_a_whole_date_may_be_given_in_two_places() -> None:
    """Day and year that both stand in the passages are no invented date; a day that does not is one."""
    prepared = prepare([("news", "Season of 2017.\n\nRowney played his first game on January 31.")])
    (claim,) = read_evidence("Rowney played his first game on January 31, 2017.", prepared).claims
    assert claim.rule != "quantity"
    (claim,) = read_evidence("Rowney played his first game on January 30, 2017.", prepared).claims
    assert claim.rule == "quantity"


def test_a_wrapped_passage_is_read_as_the_same_passage() -> None:
    """Line ends inside a paragraph or a bullet change nothing."""
    text = (
        "Passes are sold at every gate of the park, from the first day\nof May to the last of September. Cards only.\n"
    )
    wrapped, plain = prepare([("gates", text)]), prepare([("gates", text.replace("day\nof", "day of"))])
    assert [piece.line for piece in wrapped.pieces] == [piece.line for piece in plain.pieces]


PARAPHRASES = [
    ("It's good for a week.", "How long is the motorcycle pass valid?"),
    ("The motorcycle pass is valid for seven days.", ""),
    ("Your motorcycle pass lasts 7 days.", ""),
    ("The motorcycle pass admits a motorcycle and its riders.", ""),
    ("Yes, you need a pass to enter Sandstone Park.", "Do I need a pass?"),
    ("The vehicle pass covers the private vehicle and all of its occupants.", ""),
    ("One pass admits your vehicle and everyone in it, that is, all its occupants.", ""),
    ("The vehicle must be built for no more than 15 people.", ""),
    ("Kids aged 15 and under get in free.", ""),
    ("Children under 16 come in free.", ""),
    ("Your 12-year-old comes in free.", ""),
    ("From the age of 16 the price is due.", ""),
    ("The annual pass is valid for one year, through the month of purchase.", ""),
    ("The annual pass is good only at Sandstone Park.", ""),
    ("The gate closes at 22:00.", ""),
    ("The gate opens at 7:00 a.m. and closes at 10 p.m.", ""),
    ("No, cash is not accepted at the entrance.", "Can I pay in cash?"),
    ("No timed entry ticket is needed in 2026.", ""),
    ("Off-highway vehicles may not enter the park.", ""),
    ("A person who arrives without a car, such as a cyclist, needs a pass for one person.", ""),
]


def test_supported_paraphrases_are_not_flagged() -> None:
    """At most one of twenty true replies in other words is called unsupported."""
    flagged = [reply for reply, question in PARAPHRASES if read(reply, question).word == "unsupported"]
    assert len(flagged) <= 1, flagged


def test_a_reply_in_another_language_is_unknown() -> None:
    """What cannot be read here is neither supported nor unsupported."""
    assert only("Le billet pour les voitures comprend toutes les personnes assises dedans.").rule == "language"
    assert only("このパスは車両に乗っている全員に有効です。").word == "unknown"


def test_evidence_points_into_the_passage() -> None:
    """The stretch that carries a claim is a verbatim piece of its passage."""
    claim = only("One pass admits a single private vehicle and all its occupants.")
    (stretch,) = claim.evidence
    assert claim.rule == "verbatim"
    assert stretch.passage == "fees"
    assert PASSAGE[stretch.start : stretch.end] == stretch.text


def test_evidence_of_two_neighbours_is_one_piece_of_the_passage() -> None:
    """Two neighbouring sentences may carry a claim together; what is shown is what stands there."""
    text = "The lake lies in the north. It freezes in January. Boats are kept in the east shed."
    found = read_evidence("The lake in the north freezes in January.", prepare([("lake", text)]))
    (stretch,) = found.claims[0].evidence
    assert text[stretch.start : stretch.end] == stretch.text
    assert found.word == "supported"


def test_a_passage_without_headings_keeps_its_subjects_apart() -> None:
    """Where paragraphs take the place of headings, the first sentence says what they are about."""
    text = "Vehicle passes admit everyone inside.\n\nMotorcycle passes admit two riders. They are valid for 7 days.\n"
    prepared = prepare([("plain", text)])
    assert read_evidence("Vehicle passes are valid for 7 days.", prepared).word == "unsupported"
    assert read_evidence("Motorcycle passes are valid for 7 days.", prepared).word == "supported"


def test_a_marked_heading_holds_for_all_its_paragraphs() -> None:
    """Under a Markdown heading every paragraph is about what it names."""
    text = (
        "# Passes\n\nThere are two.\n\n## Vehicle\n\nAdmits all.\n\n## Motorcycle\n\nAdmits two.\n\nValid for 7 days.\n"
    )
    prepared = prepare([("marked", text)])
    assert read_evidence("The vehicle pass is valid for 7 days.", prepared).claims[0].rule == "neighbour"
    assert read_evidence("The motorcycle pass is valid for 7 days.", prepared).word == "supported"


def test_nothing_is_supported_by_no_passage() -> None:
    """Without passages no claim is supported."""
    found = read_evidence("The pass is valid for 7 days.", prepare([]))
    assert (found.word, found.claims[0].evidence) == ("unsupported", ())


def test_claims_keep_their_place_when_sentences_are_ignored() -> None:
    """Offsets point into the reply as given."""
    reply = f"{BILLING} Cash is not accepted.\n- Gates open at 7 am.\n{CLOSING}"
    found = claims(reply, ignore=[CLOSING, BILLING])
    assert [claim.text for claim in found] == ["Cash is not accepted.", "Gates open at 7 am."]
    assert all(reply[claim.start : claim.end] == claim.text for claim in found)


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_any_texts_can_be_read(reply: str, passage: str, said: str) -> None:
    """No texts raise; claims and evidence point into the texts as given, and a score is from 0 to 1."""
    found = read_evidence(reply, prepare([("any", passage)]), said=[said], ignore=[said])
    assert 0 <= found.score <= 1
    for claim in found.claims:
        assert reply[claim.start : claim.end] == claim.text
        assert all(passage[each.start : each.end] == each.text for each in claim.evidence)


@given(st.lists(st.sampled_from([line for line in PASSAGE.splitlines() if line.startswith("- ")]), max_size=4))
def test_sentences_of_the_passage_are_never_flagged(lines: list[str]) -> None:
    """A reply that repeats sentences of the passage under their own heading or alone holds nothing unsupported."""
    reply = "\n".join(line.removeprefix("- ") for line in lines)
    assert all(claim.word == "supported" or claim.rule == "neighbour" for claim in read(reply).claims)


def test_a_quote_is_a_contiguous_piece_of_a_passage() -> None:
    """Kinds of spaces and dashes make no difference; a changed word, a dropped "not" and an empty quote do."""
    passages = [("fees", PASSAGE)]
    found = find_quote("Cash is\u00a0not accepted", passages)
    assert found is not None
    assert PASSAGE[found.start : found.end] == "Cash is not accepted"
    assert find_quote("Off\u2011highway vehicles are not allowed", passages) is not None
    assert find_quote("Cash is accepted", passages) is None
    assert find_quote("", passages) is None
    assert find_quote("anything", [("empty", "")]) is None


def test_an_answer_is_read_against_its_quote() -> None:
    """A real quote that does not hold the answer's quantity carries nothing."""
    passages = [("fees", PASSAGE)]
    good = read_quoted("7 days", "It is valid for 7 consecutive days.", passages)
    assert good.carried
    bad = read_quoted("12 months", "It is valid for 7 consecutive days.", passages)
    assert bad.stretch is not None
    assert not bad.carried
    assert bad.evidence.claims[0].rule == "quantity"
    assert not read_quoted("7 days", "valid for 7 days", passages).carried


@pytest.mark.parametrize(
    ("sentence", "states"),
    [
        ("The pass is valid for 7 days.", True),
        ("- It is free.", True),
        ("Yes, a pass is needed.", True),
        ("Hello Anna!", False),
        ("Thank you for asking.", False),
        ("Let me know if you have any other questions.", False),
        ("Yes, it is.", False),
        ("You are covered by the pass.", True),
        ("Hello Anna, the pass is valid for 7 days.", True),
        ("The page does not say.", True),
        ("Do you travel by car?", False),
        ("**These passes exist:**", False),
        ("", False),
    ],
)
def test_a_statement_is_no_pleasantry_question_or_heading(sentence: str, states: bool) -> None:  # noqa: FBT001
    """What is left of a sentence without its opening courtesy must say something by itself."""
    assert is_statement(sentence) is states


def test_content_words_are_compared_without_endings_and_small_words() -> None:
    """Singular and plural, and the forms of a verb, are one word; articles and the like are none."""
    assert content_words("The vehicles cover all riders") == content_words("vehicle covers all of the rider")
    assert share_held("The pass covers motorcycles", content_words("a motorcycle pass")) == pytest.approx(2 / 3)
    assert share_held("It is", frozenset()) == 1.0


def test_a_salutation_is_no_part_of_a_claim() -> None:
    """A name behind a greeting is not held against the passage."""
    (claim,) = claims("Hello Anna, the motorcycle pass is valid for 7 days.")
    assert claim.text == "the motorcycle pass is valid for 7 days."


def test_the_map_of_evidence_is_followed() -> None:
    """The package docstring lists exactly the modules that there are, and each imports only those above it."""
    folder = Path(evidence.__file__).parent
    listed = re.findall(r"^    (\w+) {2,}\S", evidence.__doc__ or "", flags=re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    for at, name in enumerate(listed):
        nodes = ast.walk(ast.parse((folder / f"{name}.py").read_text()))
        inner = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 1}
        assert inner <= set(listed[:at]), name
