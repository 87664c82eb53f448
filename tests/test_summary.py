from __future__ import annotations

import json

from made import decided, rules, transcript, turn, unplayed

from simulator.outcome import ExpectationResult, Verdict
from simulator.summary import summarise, summarise_run


def test_turns_are_counted_as_played_and_as_in_the_scenario() -> None:
    """A turn that was not played is in the scenario's turns only."""
    counts = summarise(transcript(turn(1), unplayed(2), unplayed(3, state="not_run"))).counts

    assert (counts.turns, counts.played) == (3, 1)


def test_a_turn_keeps_every_rule_when_no_rule_that_applies_is_broken_or_unknown() -> None:
    """A rule that does not apply neither helps nor harms; unknown beside broken is broken."""
    counts = summarise(
        transcript(
            turn(1, rules=rules(max_words="kept", quote="not_applicable")),
            turn(2, rules=rules(max_words="kept", closing_line="broken")),
            turn(3, rules=rules(max_words="unknown", closing_line="kept")),
            turn(4, rules=rules(max_words="unknown", closing_line="broken")),
        )
    ).counts

    assert (counts.kept, counts.ruled, counts.rules_unknown) == (1, 4, 1)


def test_a_turn_without_rules_neither_keeps_nor_breaks_any() -> None:
    """No rules, or none that applies: the turn is not among those that rules are counted over."""
    counts = summarise(transcript(turn(1, rules=()), turn(2, rules=rules(quote="not_applicable")))).counts

    assert (counts.kept, counts.ruled) == (0, 0)


def test_verdicts_are_counted_by_word_and_add_up_to_the_turns_checked() -> None:
    """A verdict of none is not a check; a check of a conversation turn is counted apart from document turns."""
    summary = summarise(
        transcript(
            turn(1),
            turn(2, verdict=Verdict(word="unknown")),
            turn(3, verdict=Verdict(word="none")),
            turn(4, answer_from="conversation", verdict=Verdict(word="unsupported")),
        )
    )

    counts = summary.counts
    assert (counts.documents, counts.checked, counts.checked_elsewhere) == (3, 2, 1)
    assert counts.verdicts == {"supported": 1, "unsupported": 1, "unknown": 1}


def test_expectations_met_are_of_those_there_are() -> None:
    """A turn without an expectation is not in the denominator, an unknown one is."""
    words = ("met", "missed", "unknown", "none")
    turns = (turn(number, expectation=ExpectationResult(met=met)) for number, met in enumerate(words, start=1))
    counts = summarise(transcript(*turns)).counts

    assert (counts.met, counts.expected, counts.expectations_unknown) == (1, 3, 1)


def test_every_decision_is_counted_also_those_not_taken() -> None:
    """Each word of a decision has a count."""
    counts = summarise(transcript(turn(1), turn(2, decision=decided("held")), turn(3))).counts

    assert counts.decisions == {
        "released": 2,
        "flagged": 0,
        "suppressed": 0,
        "rewritten": 0,
        "abstained": 0,
        "held": 1,
    }


def test_a_run_lists_attempts_in_order_and_adds_them_up() -> None:
    """Attempts come by scenario and number; the total counts the turns of all; the incomplete ones are named."""
    broken = transcript(turn(1), unplayed(2), attempt=2, complete=False, problem="the endpoint failed")
    zion = transcript(turn(1), scenario="zion")
    summary = summarise_run([zion, broken, transcript(turn(1), turn(2))])

    assert [(each.scenario, each.attempt) for each in summary.attempts] == [("arches", 1), ("arches", 2), ("zion", 1)]
    assert (summary.total.turns, summary.total.played, summary.total.met) == (5, 4, 4)
    assert [each.problem for each in summary.incomplete] == ["the endpoint failed"]


def test_a_summary_is_json_ready() -> None:
    """What ``to_json`` returns survives a round through JSON."""
    value = summarise_run([transcript(turn(1))]).to_json()

    assert json.loads(json.dumps(value)) == value
    assert value["attempts"][0]["counts"] == value["total"]
