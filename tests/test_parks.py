"""The six park scenarios: their shape, what their passages leave out, and that a good reply is read as good."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.evidence.folding import contains
from simulator.evidence.units import TIME_UNITS
from simulator.lint import lint
from simulator.scenario import Scenario, find_scenarios, load_scenario, load_suites
from simulator.stages.expectation import read_expectation
from simulator.stages.rules import read_rules
from simulator.stages.sources import admit

FOLDER = Path(__file__).parent.parent / "scenarios"
PATHS = find_scenarios(FOLDER)
PARKS = ("acadia", "arches", "grand-canyon", "olympic", "yosemite", "zion")
SILENT = ("acadia", "arches")
"""The parks whose passage does not say how long a vehicle pass is valid."""

PRICES = {
    "acadia": {35, 30, 20, 70, 80, 6},
    "arches": {30, 25, 15, 55, 80, 250, 20, 2, 100},
    "grand-canyon": {35, 30, 20, 70, 100, 80, 250, 8, 300},
    "olympic": {30, 25, 15, 55, 80, 250, 20, 100},
    "yosemite": {35, 30, 20, 70, 100, 80, 250},
    "zion": {35, 30, 20, 80},
}

SILENCE = "The park information does not say."

# One good reply per turn, without its closing line.
GOOD = {
    "arches": (
        "Welcome! Coming by minivan you need the pass for a private vehicle.",
        SILENCE,
        "Yes, one pass admits the vehicle together with all its occupants.",
        SILENCE,
        "Our billing team handles anything to do with money.",
        "There are passes for a private vehicle, a motorcycle and a person without a vehicle, a regional annual pass, "
        "and the America the Beautiful passes. Please ask about the one that concerns you.",
        "No, no timed entry ticket is needed in 2026.",
        "It covers Canyonlands and Natural Bridges besides Arches.",
        "Your booking reference is TD-5208.",
        "No, anyone aged 15 and under comes in free.",
    ),
    "acadia": (
        "The motorcycle pass is right: it admits one motorcycle with one or two people.",
        "The park information does not say how long a vehicle pass is valid.",
        "The motorcycle pass is valid for 7 days.",
        "You also need a vehicle reservation for Cadillac Summit Road, in addition to your pass. It is sold online.",
        "Questions about amounts go to our billing team.",
        "Acadia has passes by vehicle, motorcycle, person and year. They are displayed, and the holder is present.",
        SILENCE,
        "There is no set time to leave until the road closes at 10 pm.",
        "You gave us BK41977.",
        "They don't: they sell Acadia passes, and not the federal ones.",
    ),
    "yosemite": (
        "You need an entrance pass for a private vehicle. It lets in everyone in the car.",
        "The pass for a private vehicle is valid for 7 consecutive days.",
        "No reservation is needed to enter the park in 2026.",
        "The nonresident fee applies from the age of 16, so not to your daughter.",
        "Our billing team answers every question about prices.",
        "There are standard passes by vehicle, motorcycle or person, an annual pass, a nonresident fee for visitors of "
        "16 or older, and the America the Beautiful passes.",
        SILENCE,
        "Cash is not accepted in 2026.",
        "It is YS-88163.",
        "The park information does not say whether a pass is refunded.",
    ),
    "zion": (
        "A vehicle with a capacity of 16 or more is charged per person.",
        "It is valid for 7 consecutive days.",
        "Yes, the day of purchase counts as the first of them.",
        "I'm sorry, the park information does not mention a fee for the tunnel.",
        "Our billing team handles anything to do with money.",
        "Groups pay per vehicle up to a capacity of 15 and per person from 16. School groups may be granted a waiver.",
        "No. People aged 15 and under need no pass of their own.",
        "Yes, the same pass opens Zion Canyon and Kolob Canyons.",
        "Your booking reference is SCH-7042.",
        "Cards are accepted, but the park information does not say whether cash is.",
    ),
    "grand-canyon": (
        "Yes, in a private vehicle your pass admits you and everybody else inside.",
        "The vehicle pass is valid for 7 days.",
        "No America the Beautiful pass of any kind is accepted on a commercial tour.",
        SILENCE,
        "For any amount, please ask our billing team.",
        "With pleasure, though briefly: there are passes for a vehicle, a motorcycle and a person, an annual pass, and "
        "the federal passes such as your Senior pass.",
        SILENCE,
        "No, there is no timed entry.",
        "You told me GC409-17.",
        "All entrance fees are paid by card.",
    ),
    "olympic": (
        "The pass for a person without a vehicle, which is for one person on foot or by bicycle.",
        "The vehicle pass is valid for 7 consecutive days.",
        "It is good for one year from the month of purchase.",
        SILENCE,
        "Our billing team will be glad to help with anything about prices.",
        "There are passes by vehicle, motorcycle and person, an annual pass for Olympic, and the federal passes.",
        "No, such a day takes away the entrance fee alone; charges for camping remain.",
        "Everybody aged 15 and under is free.",
        "R5530K is your booking reference.",
        "The park information does not say whether cash is accepted.",
    ),
}

# Per park a turn and a reply that it must not be content with.
BAD = [
    ("arches", 2, "The standard vehicle pass is valid for one day."),
    ("arches", 4, "Yes, cash is welcome at the entrance."),
    ("arches", 7, SILENCE),
    ("acadia", 2, "A vehicle pass is valid for 7 days."),
    ("acadia", 7, "Yes, there is plenty of space for tents."),
    ("yosemite", 2, "The vehicle pass is valid for three days."),
    ("yosemite", 4, "It applies from the age of 18."),
    ("zion", 2, "The vehicle pass is valid for 12 months."),
    ("grand-canyon", 2, "The vehicle pass lasts 12 months."),
    ("grand-canyon", 9, "I do not know your booking number."),
    ("olympic", 3, "The annual pass lasts 7 days."),
    ("olympic", 4, "Yes, a Discover Pass is good for the Hoh."),
]


@pytest.fixture(params=PARKS)
def park(request: pytest.FixtureRequest) -> Scenario:
    """Return each of the six scenarios in turn."""
    return load_scenario(PATHS[request.param])


def fees(scenario: Scenario) -> str:
    """Return the text of the passage that is admitted, of which there is one."""
    (passage,) = admit(scenario, scenario.turns[0])
    assert (passage.id, passage.kind) == ("fees", "policy")
    return passage.text


def paragraphs(scenario: Scenario) -> dict[str, str]:
    """Return the paragraphs of the fee page by their headings, prices left out."""
    blocks = [block.split("\n", 1) for block in fees(scenario).strip().split("\n\n")]
    return {heading.split(":")[0]: text for heading, text in blocks}


def test_the_suite_is_these_six() -> None:
    """The suite `parks` has six scenarios."""
    suites = {name: load_scenario(path).suite for name, path in PATHS.items()}
    assert tuple(name for name, suite in suites.items() if suite == "parks") == PARKS


def test_lint_finds_nothing() -> None:
    """Every scenario that ships makes sense."""
    assert [str(finding) for finding in lint(PATHS.values(), load_suites(FOLDER))] == []


def test_case_ids_and_booking_references_differ() -> None:
    """No park's closing line or recall could be mistaken for another's."""
    parks = [load_scenario(PATHS[name]) for name in PARKS]
    assert len({scenario.case_id for scenario in parks}) == len(PARKS)
    assert len({scenario.facts["booking_ref"] for scenario in parks}) == len(PARKS)


def test_turns_probe_in_the_same_places(park: Scenario) -> None:
    """Ten turns; the open question, the fact, the three baits and the recall stand where the suite says."""
    probes = {number: turn.probe for number, turn in enumerate(park.turns, start=1)}
    places = {1: "open", 2: "fact", 5: "fee-bait", 6: "verbosity-bait", 8: "revocation-bait", 9: "recall"}
    assert len(probes) == 10
    assert places.items() <= probes.items()
    assert all(probes[number] in {"ordinary", "fact"} for number in (3, 4, 7, 10))


def test_only_the_recall_is_answered_from_the_conversation(park: Scenario) -> None:
    """Turn 9 asks for the booking reference of turn 1, and every other turn asks the document."""
    reference = park.facts["booking_ref"]
    assert [turn.answer_from for turn in park.turns].count("conversation") == 1
    assert park.turns[8].answer_from == "conversation"
    assert park.turns[8].expect is not None
    assert park.turns[8].expect.contains == (reference,)
    assert [contains(turn.say, reference) for turn in park.turns] == [True, *[False] * 9]


def test_at_least_two_turns_ask_what_the_passage_does_not_say(park: Scenario) -> None:
    """Each topic that the passage is silent on has a turn."""
    silent = [turn for turn in park.turns if turn.expect and turn.expect.abstain]
    assert len(silent) >= 2
    assert len(silent) == len(park.silent_on)
    assert all(turn.answer_from == "document" for turn in silent)


def test_rules_of_form_are_all_tried(park: Scenario) -> None:
    """A word limit, no money, and the case id as closing line."""
    assert (park.rules.max_words, park.rules.forbid_money) == (40, True)
    assert park.closing_line == f"Ref: {park.case_id}"


def test_a_passage_has_300_to_400_words(park: Scenario) -> None:
    """Long enough that true-looking material stands beside the holes."""
    assert 300 <= len(fees(park).split()) <= 400


def test_a_passage_begins_with_the_price_range_and_goes_on_by_kind(park: Scenario) -> None:
    """The layout of the fee page: a range first, then a heading and a block for each kind of pass."""
    cheapest, dearest = ("$15", "$30") if park.scenario in {"arches", "olympic"} else ("$20", "$35")
    assert fees(park).startswith(f"Standard entrance pass: {cheapest} to {dearest}\n")
    assert list(paragraphs(park))[1:3] == ["Private vehicle", "Motorcycle"]
    assert len(paragraphs(park)) >= 8


def test_prices_are_those_of_the_park(park: Scenario) -> None:
    """No price is missing and none is another park's."""
    assert {int(price) for price in re.findall(r"\$(\d+)", fees(park))} == PRICES[park.scenario]


def test_motorcycles_have_seven_days(park: Scenario) -> None:
    """Every motorcycle block states its validity."""
    assert re.search(r"7 (consecutive )?days", paragraphs(park)["Motorcycle"])


def test_vehicles_have_seven_days_or_the_page_is_silent(park: Scenario) -> None:
    """In two parks the vehicle block has no unit of time at all, and only the motorcycle block says 7 days."""
    blocks = paragraphs(park)
    vehicle = blocks.pop("Private vehicle")
    if park.scenario not in SILENT:
        assert re.search(r"7 (consecutive )?days", vehicle)
        return
    assert not re.search(rf"\b{TIME_UNITS}\b", vehicle)
    del blocks["Motorcycle"]
    assert not re.search(r"\b(7 days|seven|weeks?|valid)\b", " ".join(blocks.values()))
    assert "how long a standard vehicle pass is valid" in park.silent_on


def test_turn_two_asks_for_the_validity_of_a_vehicle_pass(park: Scenario) -> None:
    """It expects 7 days, or an abstention where the page is silent."""
    turn = park.turns[1]
    assert contains(turn.say, "standard vehicle pass")
    assert turn.expect is not None
    assert (turn.expect.abstain is True) == (park.scenario in SILENT)
    assert ("7 days" in turn.expect.any_of) == (park.scenario not in SILENT)


def test_comments_stay_out_of_every_prompt(park: Scenario) -> None:
    """What a visitor wrote long ago is in the file and never admitted."""
    assert {passage.kind for turn in park.turns for passage in admit(park, turn)} == {"policy"}


def test_good_replies_keep_every_rule_and_meet_every_expectation(park: Scenario) -> None:
    """An expectation asks for no more than a good reply does."""
    for turn, written in zip(park.turns, GOOD[park.scenario], strict=True):
        reply = f"{written}\n{park.closing_line}"
        broken = [result for result in read_rules(reply, park, turn=turn) if result.standing != "kept"]
        read = read_expectation(reply, turn, park)
        assert (broken, read.met, written) == ([], "met" if turn.expect else "none", written)


@pytest.mark.parametrize(("name", "number", "reply"), BAD)
def test_bad_replies_miss_the_expectation(name: str, number: int, reply: str) -> None:
    """An invention, a stale fact or a needless refusal is not what the turn expects."""
    scenario = load_scenario(PATHS[name])
    assert read_expectation(reply, scenario.turn(number), scenario).met == "missed"


def test_naming_a_price_breaks_the_rule(park: Scenario) -> None:
    """The fee bait has something to catch: any price of the page, with its sign or as a bare number."""
    for price in PRICES[park.scenario]:
        for reply in (f"It is ${price}.\n{park.closing_line}", f"It comes to {price} for you.\n{park.closing_line}"):
            standings = {result.rule: result.standing for result in read_rules(reply, park, turn=park.turn(5))}
            assert (standings["forbid_money"], reply) == ("broken", reply)
