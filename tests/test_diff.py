from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from deepdiff import DeepDiff
from hypothesis import given, settings
from hypothesis import strategies as st
from made import call, decided, rules, transcript, turn, unplayed
from rich.console import Console

from simulator.diff import COUNTS_ONLY, AttemptDiff, Change, Kind, diff_attempts, diff_runs, diff_texts
from simulator.diff.fields import changed_fields
from simulator.diff.kinds import kind_between, kind_between_counts
from simulator.outcome import ExpectationResult, RuleResult, Verdict
from simulator.report import render_run_diff
from simulator.transcript import Transcript, TurnReading

MIRRORED: dict[Kind | None, Kind | None] = {
    "regression": "improvement",
    "improvement": "regression",
    "lost_sight": "regained_sight",
    "regained_sight": "lost_sight",
    "changed": "changed",
    "churn": "churn",
    None: None,
}

WORDS = st.lists(st.sampled_from(["a", "b", "c ", "\n", " ", "d\n\n", "\u00a0", "e"]), max_size=30).map("".join)
STANDINGS = st.sampled_from(["kept", "broken", "unknown", "not_applicable"])


@st.composite
def played(draw: st.DrawFn, number: int) -> TurnReading:
    """Draw a turn: mostly played, with every reading free."""
    if draw(st.integers(0, 5)) == 0:
        return unplayed(number, state=draw(st.sampled_from(["failed", "refused", "not_run"])))
    reply = draw(st.sampled_from(["A pass is needed.", "A pass is valid for a day.", None]))
    return turn(
        number,
        reply,
        rules=rules(max_words=draw(STANDINGS), **({"quote": draw(STANDINGS)} if draw(st.booleans()) else {})),
        expectation=ExpectationResult(met=draw(st.sampled_from(["met", "missed", "unknown", "none"]))),
        verdict=Verdict(word=draw(st.sampled_from(["supported", "unsupported", "unknown", "none"]))),
        decision=draw(st.sampled_from([None, decided("released"), decided("held"), decided("flagged")])),
        delivered=draw(st.sampled_from([reply, "Let me check.", None])),
        delivered_rules=rules(max_words=draw(STANDINGS)),
    )


TRANSCRIPTS = st.tuples(*(played(number) for number in (1, 2, 3))).map(lambda turns: transcript(*turns))


def only_change(a: TurnReading, b: TurnReading) -> Change:
    """Return the one change between two turns."""
    (found,) = diff_attempts(transcript(a), transcript(b)).turns
    (change,) = found.changes
    return change


def marked(a: str, b: str) -> str:
    """Return the diff of two texts as one line with marks."""
    marks = {"same": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
    return "".join(marks[piece.kind].format(piece.text) for piece in diff_texts(a, b).pieces)


# Texts


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("valid for 7 days now", "valid for a day now", "valid for [-7 days-]{+a day+} now"),
        ("The pass.", "The pass. It is cheap.", "The pass.{+ It is cheap.+}"),
        ("Hello there. The pass", "The pass", "[-Hello there. -]The pass"),
        ("one\n\nRef: X", "one Ref: X", "one[-\n\n-]{+ +}Ref: X"),
        ("same", "same", "same"),
        ("", "new", "{+new+}"),
        ("", "", ""),
        ("not supported", "supported", "[-not -]supported"),
    ],
)
def test_texts_are_compared_word_by_word(a: str, b: str, expected: str) -> None:
    """Words stay whole, and white space that stays is not marked."""
    assert marked(a, b) == expected


@given(WORDS, WORDS)
def test_a_text_diff_holds_both_texts(a: str, b: str) -> None:
    """Same and deleted pieces are the first text, same and inserted ones the second; no piece is empty."""
    pieces = diff_texts(a, b).pieces

    assert "".join(piece.text for piece in pieces if piece.kind != "inserted") == a
    assert "".join(piece.text for piece in pieces if piece.kind != "deleted") == b
    assert all(piece.text for piece in pieces)
    assert all(left.kind != right.kind for left, right in pairwise(pieces))


@given(WORDS, WORDS)
def test_a_text_diff_reads_the_same_backwards(a: str, b: str) -> None:
    """Exchanging the texts exchanges deleted and inserted, and leaves the similarity as it was."""
    there, back = diff_texts(a, b), diff_texts(b, a)

    assert there.similarity == back.similarity
    for kind in ("same", "deleted"):
        other = {"same": "same", "deleted": "inserted"}[kind]
        assert [p.text for p in there.pieces if p.kind == kind] == [p.text for p in back.pieces if p.kind == other]


@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [("", "", 1.0), ("a b", "a b", 1.0), ("a b", "c d", 0.0), ("a b c", "a", 0.5), ("a", "", 0.0)],
)
def test_similarity_is_the_share_of_words_in_common(a: str, b: str, similarity: float) -> None:
    """Twice the common words by the words of both."""
    assert diff_texts(a, b).similarity == similarity


def test_only_equal_words_are_wholly_in_common() -> None:
    """A word in a thousand is not rounded away."""
    assert diff_texts("a " * 999 + "b", "a " * 999 + "c").in_common == "99% of the words the same"
    assert diff_texts("a b", "a\nb").in_common == "100% of the words the same"


def test_a_text_too_long_for_words_is_compared_by_lines() -> None:
    """Six hundred different lines of the same few words: lines match, and the note says that lines were compared."""
    lines = [f"the a the b the {number}" for number in range(600)]
    diff = diff_texts("\n".join(lines), "\n".join([*reversed(lines[:3]), *lines[3:-1], "the end"]))

    assert diff.note.startswith("compared line by line")
    assert diff.similarity > 0.99


def test_a_megabyte_of_text_is_compared_as_a_whole_between_its_ends() -> None:
    """Where lines are too many as well, the common beginning and end are kept, and the note says so."""
    body = "a b\nc d\n" * 130_000
    diff = diff_texts(f"Hello. {body} x\nRef: 1", f"Hello. {'z ' + body} y\nRef: 1")

    assert diff.note.startswith("compared as a whole")
    assert [piece.kind for piece in diff.pieces] == ["same", "deleted", "inserted", "same"]
    assert (diff.pieces[0].text, diff.pieces[-1].text) == ("Hello. ", "\nRef: 1")


# Fields


@pytest.mark.parametrize(("old", "new"), [([2], [2.0]), ([True], [1]), (2, 2.0), (True, 1), ("2", 2), (None, "")])
def test_another_type_is_another_value(old: object, new: object) -> None:
    """A change of type is reported, in lists as well."""
    (change,) = changed_fields({"x": old}, {"x": new})

    assert change.step == "type_changed"


@pytest.mark.parametrize(("old", "new"), [([2], [2.0]), ([True], [1])])
def test_deepdiff_alone_takes_equal_numbers_in_lists_for_equal(old: list[Any], new: list[Any]) -> None:
    """What DeepDiff 9 does unless items are compared place by place; if this fails, the setting can go."""
    assert DeepDiff(old, new) == {}


def test_deepdiff_alone_hides_changes_where_few_keys_are_shared() -> None:
    """What DeepDiff 9 does unless the threshold is 0: one change of the root."""
    a, b = {"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 1, "z": 9}

    assert list(DeepDiff(a, b)) == ["values_changed"]
    assert [(change.pointer, change.step) for change in changed_fields(a, b)] == [
        ("/b", "removed"),
        ("/c", "removed"),
        ("/d", "removed"),
        ("/z", "added"),
    ]


def test_nan_equals_nan() -> None:
    """A value that is not a number on both sides has not changed."""
    assert changed_fields({"x": math.nan}, {"x": float("nan")}) == ()


def test_a_field_change_has_a_pointer_and_both_values() -> None:
    """Keys are escaped as in RFC 6901; long texts are given whole, though DeepDiff saw their digest."""
    (change,) = changed_fields({"a/b": {"~": "one\ntwo"}}, {"a/b": {"~": "one\nthree"}})

    assert change.to_json() == {"path": "/a~1b/~0", "step": "changed", "old": "one\ntwo", "new": "one\nthree"}


def test_turn_ten_comes_after_turn_nine() -> None:
    """Paths are ordered by number where they are numbers, also in lists and as keys."""
    a = {str(number): 0 for number in (10, 9, 1)}
    b = {**dict.fromkeys(a, 1), "x": [0]}

    assert [change.pointer for change in changed_fields({**a, "x": []}, b)] == ["/1", "/9", "/10", "/x/0"]


def test_what_differs_between_any_two_plays_is_no_change() -> None:
    """Run and attempt names, timings, tries, seeds, digests and token counts are left out."""
    again = call(seconds=9.0, tries=3, seed=8, request_digest="f" * 64, prompt_tokens=None, completion_tokens=11)
    diff = diff_attempts(
        transcript(turn(calls=(call(),))), transcript(turn(calls=(again,)), run="second", attempt=2, scenario="arches")
    )

    assert (diff.turns, diff.fields, diff.unchanged) == ((), (), (1,))


# Kinds


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("kept", "broken", "regression"),
        ("met", "missed", "regression"),
        ("supported", "unsupported", "regression"),
        ("broken", "kept", "improvement"),
        ("kept", "unknown", "lost_sight"),
        ("broken", "unknown", "lost_sight"),
        ("none", "unknown", "lost_sight"),
        ("unknown", "unsupported", "regained_sight"),
        ("unknown", "none", "regained_sight"),
        ("played", "failed", "lost_sight"),
        ("not_run", "played", "regained_sight"),
        ("failed", "refused", "changed"),
        ("none", "supported", "changed"),
        ("kept", "not_applicable", "changed"),
        ("released", "held", "changed"),
        ("kept", "kept", "churn"),
    ],
)
def test_the_kind_of_a_step(old: str, new: str, kind: Kind) -> None:
    """A step has the kind that its words give it, and the mirrored kind backwards."""
    assert kind_between(old, new) == kind
    assert kind_between(new, old) == MIRRORED[kind]


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ({"kept": 9, "broken": 1}, {"kept": 6, "broken": 4}, "regression"),
        ({"kept": 9, "broken": 1}, {"kept": 3, "broken": 1}, "regression"),
        ({"kept": 9, "broken": 1}, {"kept": 18, "broken": 2}, None),
        ({"supported": 10}, {"supported": 6, "unknown": 4}, "lost_sight"),
        ({"supported": 10}, {"supported": 6, "unknown": 3, "unsupported": 1}, "regression"),
        ({"supported": 5, "unknown": 5}, {"supported": 5, "unsupported": 5}, "regained_sight"),
        ({"none": 10}, {"supported": 10}, "changed"),
        ({"none": 10}, {"unknown": 10}, "lost_sight"),
        ({"supported": 8, "none": 2}, {"supported": 10}, "changed"),
        ({"met": 0, "missed": 3}, {"met": 1, "missed": 2}, "improvement"),
        ({"played": 3}, {"played": 2, "not_run": 1}, "lost_sight"),
        ({"released": 2, "held": 1}, {"released": 1, "held": 2}, "changed"),
        ({"released": 2, "held": 1}, {"released": 4, "held": 2}, None),
        ({}, {"kept": 1}, None),
        ({"kept": 1}, {}, None),
    ],
)
def test_the_kind_of_a_step_between_counts(a: dict[str, int], b: dict[str, int], kind: Kind | None) -> None:
    """Shares are compared, not numbers; an empty side gives no kind; backwards the kind is mirrored."""
    assert kind_between_counts(a, b) == kind
    assert kind_between_counts(b, a) == MIRRORED[kind]


# Attempts


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        (
            {"rules": (RuleResult(rule="max_words", standing="kept", detail="38 words"),)},
            {"rules": (RuleResult(rule="max_words", standing="broken", detail="46 words"),)},
            "regression",
            "rule max_words: kept (38 words) → broken (46 words)",
        ),
        ({"rules": ()}, {"rules": rules(quote="kept")}, "changed", "rule quote: absent → kept"),
        (
            {},
            {"expectation": ExpectationResult(met="missed", detail="TD-5208 not found")},
            "regression",
            "expectation: met → missed (TD-5208 not found)",
        ),
        (
            {},
            {"verdict": Verdict(word="unsupported", reason="not stated", spans=("a day",))},
            "regression",
            "verdict: supported → unsupported (not stated; “a day”)",
        ),
        (
            {},
            {"verdict": Verdict(word="unknown", reason="truncated")},
            "lost_sight",
            "verdict: supported → unknown (truncated)",
        ),
        ({}, {"verdict": Verdict(word="none")}, "changed", "verdict: supported → none"),
        (
            {},
            {"decision": decided("held", "unknown verdict")},
            "changed",
            "decision: released → held (unknown verdict)",
        ),
        ({}, {"decision": None}, "changed", "decision: released → none"),
        ({}, {"decision": decided("released", "asked for")}, "churn", "decision: released → released (asked for)"),
        ({}, {"finish": "length"}, "changed", "finish: stop → length"),
        ({}, {"delivered": "Let me check."}, "churn", "delivered: as the reply → text"),
        ({}, {"delivered": None}, "changed", "delivered: as the reply → none"),
        ({}, {"rewrite": "A pass."}, "changed", "rewrite: none → text"),
        ({}, {"calls": (call("check"),)}, "changed", "call 1.check.0: not made → reply"),
        (
            {"calls": (call("check"),)},
            {"calls": (call("check", outcome="failed", detail="timeout"),)},
            "changed",
            "call 1.check.0: reply → failed (timeout)",
        ),
        (
            {},
            {"delivered_expectation": ExpectationResult(met="missed")},
            "changed",
            "delivered expectation: none → missed",
        ),
    ],
)
def test_a_change_in_words(old: dict[str, Any], new: dict[str, Any], kind: Kind, words: str) -> None:
    """Each thing that can change has its kind and its line."""
    change = only_change(turn(**old), turn(**new))

    assert (change.kind, change.words) == (kind, words)


def test_a_reworded_reply_with_the_same_standing_is_churn() -> None:
    """The reply is given word by word; the delivered text that follows it is said to, and not given twice."""
    (found,) = diff_attempts(
        transcript(turn(reply="A pass is needed.")), transcript(turn(reply="A pass is due."))
    ).turns
    reply, delivered = found.changes

    assert found.kind == "churn"
    assert reply.words == "reply: text changed, 75% of the words the same"
    assert reply.text == diff_texts("A pass is needed.", "A pass is due.")
    assert (delivered.words, delivered.text) == ("delivered: as the reply in both", None)


def test_a_turn_is_of_its_gravest_kind_and_lists_it_first() -> None:
    """A broken rule outweighs an expectation now met, another decision and another text."""
    a = turn(expectation=ExpectationResult(met="missed"))
    b = turn(reply="Other.", rules=rules(max_words="broken"), decision=decided("held"), delivered="Let me check.")
    (found,) = diff_attempts(transcript(a), transcript(b)).turns

    assert [change.what for change in found.changes] == ["rule", "expectation", "decision", "reply", "delivered"]
    assert found.kind == "regression"


def test_what_the_delivered_text_shares_with_the_reply_is_said_once() -> None:
    """A rule that breaks in both is one change; one that breaks in the delivered text alone is a change of its own."""
    before = turn(rules=rules(max_words="kept", quote="kept"), delivered_rules=rules(max_words="kept", quote="kept"))
    after = replace(before, rules=rules(max_words="broken", quote="kept"))
    after = replace(after, delivered_rules=rules(max_words="broken", quote="broken"))
    (found,) = diff_attempts(transcript(before), transcript(after)).turns

    assert [change.label for change in found.changes] == ["rule max_words", "delivered rule quote"]


def test_a_turn_that_is_no_longer_played_is_lost_from_sight() -> None:
    """The state says it all; what could not be read is not listed as changed."""
    change = only_change(turn(), unplayed(problem="timeout"))

    assert (change.kind, change.words) == ("lost_sight", "state: played → failed (timeout)")


def test_another_problem_in_a_failed_turn_is_churn() -> None:
    """Failed stays failed, whatever the reason."""
    change = only_change(unplayed(problem="timeout"), unplayed(problem="connection refused"))

    assert (change.kind, change.words) == ("churn", "state: failed (timeout) → failed (connection refused)")


def test_turns_played_in_neither_attempt_are_not_unchanged() -> None:
    """They are listed apart, and counted apart in the summary."""
    a = transcript(turn(1), unplayed(2, state="not_run", problem=""))
    diff = diff_attempts(a, a)

    assert (diff.unchanged, diff.not_played) == ((1,), (2,))
    assert diff.summary == "2 turns: 1 unchanged, 1 played in neither"


def test_turns_are_ordered_by_gravity_and_summed_up() -> None:
    """Regressions first, churn last; the summary counts turns by their gravest change."""
    a = [turn(number) for number in range(1, 6)]
    b = [
        turn(1, reply="Other."),
        turn(2, verdict=Verdict(word="unknown")),
        turn(3, verdict=Verdict(word="unsupported")),
        turn(4),
        turn(5, rules=rules(max_words="broken")),
    ]
    diff = diff_attempts(transcript(*a), transcript(*b, attempt=2))

    assert [found.number for found in diff.turns] == [3, 5, 2, 1]
    assert [found.number for found in diff.regressions] == [3, 5]
    assert diff.summary == "5 turns: 2 regressed, 1 lost sight, 1 churned, 1 unchanged"


def test_another_model_is_a_change_of_the_attempt_not_of_each_turn() -> None:
    """A silent fallback shows in the models reported; turns that are otherwise equal stay unchanged."""
    a = transcript(turn(1, calls=(call(number=1),)), turn(2, calls=(call(number=2),)))
    b = transcript(turn(1, calls=(call(number=1),)), turn(2, calls=(call(number=2, model_reported="tiny"),)))
    diff = diff_attempts(a, b)

    assert [change.words for change in diff.changes] == ["model reported, stage answer: small → small, tiny"]
    assert diff.unchanged == (1, 2)


@pytest.mark.parametrize(
    ("a", "b", "problems"),
    [
        (
            transcript(turn()),
            transcript(turn(), scenario="zion"),
            ("A plays arches, B plays zion: different scenarios are not compared",),
        ),
        (
            transcript(turn(1), turn(2), turn(3)),
            transcript(turn(1)),
            ("A has 3 turns, B has 1: not compared, being only in A, turns 2, 3",),
        ),
        (
            transcript(turn(1)),
            transcript(turn(1), turn(2)),
            ("A has 1 turn, B has 2: not compared, being only in B, turn 2",),
        ),
        (
            transcript(turn(1), turn(2)),
            transcript(turn(1), turn(3)),
            (
                "A has 2 turns, B has 2: not compared, being only in A, turn 2",
                "A has 2 turns, B has 2: not compared, being only in B, turn 3",
            ),
        ),
        (
            transcript(turn()),
            transcript(turn(say="Or so?")),
            ("turn 1 is not compared: the customer says 'Question 1?' in A, 'Or so?' in B",),
        ),
        (
            transcript(turn()),
            transcript(turn(probe="recall")),
            ("turn 1 is tagged document, ordinary in A, document, recall in B",),
        ),
        (
            transcript(turn()),
            transcript(turn(), title="Zion"),
            ("the scenario is not the same: its title is 'Arches' in A, 'Zion' in B",),
        ),
        (
            transcript(turn(), complete=False, problem="interrupted"),
            transcript(turn(), complete=False),
            ("A is not complete: interrupted", "B is not complete: no reason recorded"),
        ),
    ],
)
def test_what_cannot_be_compared_is_reported(a: Transcript, b: Transcript, problems: tuple[str, ...]) -> None:
    """Scenarios, turns or messages that do not belong together are problems, and never paired by likeness."""
    assert diff_attempts(a, b).problems == problems


def test_turns_with_different_messages_have_no_changes() -> None:
    """Replies to different questions are not compared."""
    diff = diff_attempts(transcript(turn(reply="Yes.")), transcript(turn(say="Or so?", reply="No.")))

    assert (diff.turns, diff.unchanged, diff.fields) == ((), (), ())
    assert diff.summary == "no turn compared; 1 problem"


def test_an_attempt_diff_is_json_ready() -> None:
    """What ``to_json`` returns survives a round through JSON and names every field that differs."""
    value = diff_attempts(transcript(turn()), transcript(turn(verdict=Verdict(word="unknown")), attempt=2)).to_json()

    assert json.loads(json.dumps(value)) == value
    assert (value["a"], value["b"]) == ("first:arches#1", "first:arches#2")
    assert value["counts"]["lost_sight"] == 1
    assert [field["path"] for field in value["fields"]] == ["/turns/1/verdict/word"]


def kinds_by_turn(diff: AttemptDiff) -> dict[int, list[tuple[str, Kind | None]]]:
    """Return what changed in each turn, with its kind, in an order that does not depend on it."""
    return {found.number: sorted((change.label, change.kind) for change in found.changes) for found in diff.turns}


@settings(max_examples=50, deadline=None)
@given(TRANSCRIPTS)
def test_an_attempt_does_not_differ_from_itself(attempt: Transcript) -> None:
    """No changes, no fields, and every turn is accounted for."""
    diff = diff_attempts(attempt, attempt)

    assert (diff.turns, diff.changes, diff.fields, diff.problems) == ((), (), (), ())
    assert sorted([*diff.unchanged, *diff.not_played]) == [1, 2, 3]


@settings(max_examples=50, deadline=None)
@given(TRANSCRIPTS, TRANSCRIPTS)
def test_the_diff_backwards_has_the_mirrored_kinds(a: Transcript, b: Transcript) -> None:
    """What regresses one way improves the other way, and what is lost from sight is regained."""
    there, back = kinds_by_turn(diff_attempts(a, b)), kinds_by_turn(diff_attempts(b, a))

    assert {n: [(label, MIRRORED[kind]) for label, kind in found] for n, found in there.items()} == back


@settings(max_examples=50, deadline=None)
@given(TRANSCRIPTS, TRANSCRIPTS)
def test_every_turn_with_a_changed_field_is_a_changed_turn(a: Transcript, b: Transcript) -> None:
    """The reading in words leaves out no turn in which DeepDiff finds something."""
    diff = diff_attempts(a, b)

    assert {found.number for found in diff.turns} == {int(field.path[1]) for field in diff.fields}


# Runs


def attempts(*turns: TurnReading, **fields: Any) -> list[Transcript]:
    """Return one attempt per turn, numbered."""
    return [transcript(each, attempt=number, **fields) for number, each in enumerate(turns, start=1)]


def words_of(diff_turn: Any) -> list[str]:
    """Return the lines of a turn's tallies that have a kind."""
    return [tally.words for tally in diff_turn.tallies if tally.kind]


def test_runs_are_compared_by_counts() -> None:
    """Each reading is counted on both sides; a lower rate of kept is a regression, whatever the order of attempts."""
    a = attempts(*[turn()] * 9, turn(rules=rules(max_words="broken")))
    b = attempts(*[turn(rules=rules(max_words="broken"))] * 4, *[turn()] * 6, run="second")
    (found,) = diff_runs(a, b).turns

    assert found.kind == "regression"
    assert words_of(found) == ["rule max_words: 9 of 10 kept, 1 broken → 6 of 10 kept, 4 broken"]
    assert found.tallies[0].words == "state: 10 of 10 played in both"


def test_the_order_of_attempts_means_nothing() -> None:
    """Attempts are exchangeable: the same set in another order does not differ."""
    a = attempts(turn(), turn(reply="Other.", decision=decided("held")), turn())

    assert diff_runs(a, list(reversed(a))).summary == "1 turn: 1 unchanged"


def test_a_different_mix_of_texts_is_churn() -> None:
    """Readings in equal shares and replies that are not: churn."""
    a, b = attempts(turn(), turn(reply="Other.")), attempts(turn(reply="Other."), turn(reply="Other."))

    assert [found.kind for found in diff_runs(a, b).turns] == ["churn"]


def test_unknown_verdicts_are_counted_in_the_rate_and_named() -> None:
    """Unknown is in the denominator; none is not."""
    b = attempts(turn(), turn(verdict=Verdict(word="unknown")), turn(verdict=Verdict(word="none")))
    (found,) = diff_runs(attempts(turn(), turn()), b).turns

    assert found.kind == "lost_sight"
    assert words_of(found) == ["verdict: 2 of 2 supported → 1 of 2 supported, 1 none, 1 unknown"]


def test_a_side_that_did_not_play_a_turn_has_no_rates() -> None:
    """The state is what was lost; readings of nothing are not compared, and there is no pair of replies."""
    (found,) = diff_runs(attempts(turn(), turn()), attempts(unplayed(), unplayed())).turns

    assert (found.kind, found.closest, found.furthest) == ("lost_sight", None, None)
    assert words_of(found) == ["state: 2 of 2 played → 0 of 2 played, 2 failed"]
    assert "verdict: 2 of 2 supported → not played" in [tally.words for tally in found.tallies]


def test_a_rule_on_one_side_only_is_counted_as_absent_on_the_other() -> None:
    """A rule that a scenario gained is a change, not a regression."""
    (found,) = diff_runs(attempts(turn()), attempts(turn(rules=rules(max_words="kept", quote="broken")))).turns

    assert (found.kind, words_of(found)) == ("changed", ["rule quote: 1 no such rule → 0 of 1 kept, 1 broken"])


def test_readings_of_the_delivered_text_are_counted_where_they_are_its_own() -> None:
    """A delivered text that is read as the reply was adds no line."""
    same = turn(delivered_rules=rules(max_words="kept"), delivered_expectation=ExpectationResult(met="met"))
    other = replace(same, delivered_rules=rules(max_words="broken"))
    (once,) = diff_runs(attempts(same), attempts(same)).turns
    (own,) = diff_runs(attempts(same), attempts(other)).turns

    assert [tally.label for tally in once.tallies] == ["state", "rule max_words", "expectation", "verdict", "decision"]
    assert words_of(own) == ["delivered rule max_words: 1 of 1 kept → 0 of 1 kept, 1 broken"]


def test_the_closest_and_the_furthest_replies_are_shown() -> None:
    """Of all pairs of replies those with the most and the fewest words in common, with their attempts."""
    a = attempts(turn(reply="one two three four"), turn(reply="five six"))
    b = attempts(turn(reply="one two three"), turn(reply="seven"), run="second")
    (found,) = diff_runs(a, b).turns

    assert found.closest is not None
    assert found.furthest is not None
    assert (str(found.closest.a), str(found.closest.b)) == ("first:arches#1", "second:arches#1")
    assert found.closest.text == diff_texts("one two three four", "one two three")
    assert (str(found.furthest.a), str(found.furthest.b)) == ("first:arches#1", "second:arches#2")
    assert found.note == ""


def test_where_pairs_are_too_many_the_note_says_how_many_were_looked_at() -> None:
    """Twenty different replies of each side are paired; equal ones count once."""
    a = attempts(*(turn(reply=f"reply {number}") for number in range(25)))
    (found,) = diff_runs(a, [*a, *a]).turns

    assert found.note == "400 of 625 pairs of different replies were looked at"


def test_pairs_of_huge_replies_are_bounded_too() -> None:
    """After two million characters no further pair is looked at; the first always is."""
    a = attempts(turn(reply="x" * 1_500_000), turn(reply="y"))
    (found,) = diff_runs(a, attempts(turn(reply="z" * 1_500_000))).turns

    assert found.note == "1 of 2 pairs of different replies were looked at"


@pytest.mark.parametrize(
    ("a", "b", "problems"),
    [
        (
            attempts(turn()),
            attempts(turn(), scenario="zion"),
            ("scenario arches is only in A: not compared", "scenario zion is only in B: not compared"),
        ),
        (attempts(turn()), [], ("scenario arches is only in A: not compared",)),
        (
            [transcript(turn(1), turn(2))],
            [transcript(turn(1))],
            ("arches turn 2 is only in A: not compared",),
        ),
        (
            attempts(turn(), turn()),
            attempts(turn(), turn(say="Or so?")),
            ("arches turn 1 is not compared: the customer does not say the same in every attempt",),
        ),
        (
            attempts(turn()),
            attempts(turn(answer_from="conversation")),
            ("arches turn 1 does not have the same tag and probe in every attempt",),
        ),
        (
            [transcript(turn()), transcript(turn(), complete=False, problem="interrupted")],
            [transcript(turn(), complete=False)],
            (
                "A: 1 of 2 attempts of arches not complete: interrupted",
                "B: 1 of 1 attempt of arches not complete: no reason recorded",
            ),
        ),
    ],
)
def test_what_cannot_be_compared_between_runs_is_reported(
    a: list[Transcript], b: list[Transcript], problems: tuple[str, ...]
) -> None:
    """Scenarios and turns on one side only, and turns asked differently, are problems."""
    assert diff_runs(a, b).problems == problems


def test_a_run_diff_is_json_ready_and_claims_no_significance() -> None:
    """What ``to_json`` returns survives a round through JSON, regressions first, with the note on what counts mean."""
    a = [transcript(turn(1), turn(2), turn(3))]
    b = [transcript(turn(1, reply="Other."), turn(2), turn(3, verdict=Verdict(word="unsupported")), run="second")]
    diff = diff_runs(a, b)
    value = diff.to_json()

    assert json.loads(json.dumps(value)) == value
    assert [found["turn"] for found in value["turns"]] == [3, 1, 2]
    assert value["summary"] == "3 turns: 1 regressed, 1 churned, 1 unchanged"
    assert value["note"] == COUNTS_ONLY
    assert [found.number for found in diff.regressions] == [3]
    assert str(diff.b) == "second, 1 attempt"


@settings(max_examples=30, deadline=None)
@given(st.lists(TRANSCRIPTS, max_size=3), st.lists(TRANSCRIPTS, max_size=3))
def test_the_diff_of_runs_backwards_has_the_mirrored_kinds(a: list[Transcript], b: list[Transcript]) -> None:
    """What regresses one way improves the other way; a run does not differ from itself."""
    there = {(found.number, tally.label): tally.kind for found in diff_runs(a, b).turns for tally in found.tallies}
    back = {(found.number, tally.label): tally.kind for found in diff_runs(b, a).turns for tally in found.tallies}

    assert {key: MIRRORED[kind] for key, kind in there.items()} == back
    assert all(found.kind is None for found in diff_runs(a, a).turns)


def test_a_run_diff_counts_scenario_by_scenario() -> None:
    """Each scenario that was compared has its turns by kind, in the order of the names; the JSON has the same."""
    worse, same = turn(1, rules=rules(max_words="broken")), turn(2)
    a = [transcript(turn(1), same), transcript(turn(1), scenario="zion")]
    b = [transcript(worse, same), transcript(turn(1, "Another text."), scenario="zion")]
    diff = diff_runs(a, b)
    assert [
        (row.scenario, row.turns, row.kinds["regression"], row.kinds["churn"], row.unchanged) for row in diff.scenarios
    ] == [
        ("arches", 2, 1, 0, 1),
        ("zion", 1, 0, 1, 0),
    ]
    assert diff.compared == 3
    assert diff.to_json()["scenarios"][0]["regression"] == 1


@pytest.mark.parametrize("only", [(), ("regression",)])
def test_the_page_of_a_run_diff_begins_with_a_table(only: tuple[Kind, ...]) -> None:
    """The counts of every scenario stand above the first turn, whatever turns are asked for, in 80 columns."""
    a = [transcript(turn(1), scenario="grand-canyon"), transcript(turn(1), scenario="zion")]
    b = [
        transcript(turn(1, "x", verdict=Verdict(word="unsupported")), scenario=name)
        for name in ("grand-canyon", "zion")
    ]
    file = io.StringIO()
    Console(file=file, width=80).print(render_run_diff(diff_runs(a, b), only=only))
    head, _, _ = file.getvalue().partition("turn 1 \u00b7")
    assert [line.split() for line in head.splitlines() if line.startswith(("grand-canyon ", "zion "))] == [
        ["grand-canyon", "1", "1"],
        ["zion", "1", "1"],
    ]
