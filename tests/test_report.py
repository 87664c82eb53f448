from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import decided, rules, transcript, turn, unplayed
from rich.cells import cell_len
from rich.console import Console, RenderableType

from simulator.diff import COUNTS_ONLY, diff_attempts, diff_runs, diff_texts
from simulator.outcome import ExpectationResult, RuleResult, Verdict
from simulator.report import (
    mark_words,
    render_attempt_diff,
    render_run_diff,
    render_summary,
    render_transcript,
)
from simulator.summary import summarise_run
from simulator.transcript import Transcript, TurnReading
from simulator.visible import visible

HOSTILE = "\x1b[31mred\x1b[0m [bold]not bold[/bold] \u202eevil\u202c \x07\r\n<script>\u200b:smile: \ud800 \x9b2J"


def printed(page: RenderableType, width: int = 80, **console: Any) -> str:
    """Return *page* as it is written to a pipe, or as *console* says, *width* columns wide."""
    file = io.StringIO()
    Console(file=file, width=width, **console).print(page)
    return file.getvalue()


def wide_turn(number: int, reply: str = HOSTILE, **fields: Any) -> Any:
    """Return a turn with something in every field."""
    whole: dict[str, Any] = {
        "say": HOSTILE * 4,
        "rules": (RuleResult(rule="max_words", standing="broken", detail=HOSTILE), *rules(quote="kept")),
        "expectation": ExpectationResult(met="missed", detail="x" * 200),
        "verdict": Verdict(word="unsupported", reason=HOSTILE, spans=(HOSTILE, "界" * 100)),
        "decision": decided("rewritten", HOSTILE),
        "rewrite": "界" * 100,
        "delivered": "y" * 300,
    }
    return turn(number, reply, **{**whole, **fields})


PAGES: dict[str, RenderableType] = {
    "transcript": render_transcript(transcript(wide_turn(1), unplayed(2, problem=HOSTILE), title=HOSTILE)),
    "attempt diff": render_attempt_diff(
        diff_attempts(
            transcript(wide_turn(1), turn(2), turn(3, say="a" * 500)),
            transcript(wide_turn(1, "z" * 500, delivered=HOSTILE), unplayed(2), turn(3, say=HOSTILE), run="r" * 100),
        )
    ),
    "run diff": render_run_diff(
        diff_runs(
            [transcript(wide_turn(1), turn(2))],
            [transcript(wide_turn(1, "z" * 500, verdict=Verdict(word="unknown")), unplayed(2), run="r" * 100)],
        )
    ),
    "summary": render_summary(
        summarise_run(
            [
                transcript(
                    wide_turn(1), wide_turn(2, decision=decided("held")), turn(3), turn(4, decision=decided("flagged"))
                ),
                transcript(unplayed(1), scenario="s" * 60, complete=False, problem=HOSTILE),
            ]
        )
    ),
}


# Visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, Ünïcödé, 界, 🙂 and \u00a0", "plain text, Ünïcödé, 界, 🙂 and \u00a0"),
        ("line\n\ttab", "line\n\ttab"),
        ("\x1b[2J", "␛[2J"),
        ("a\r\nb", "a␍\nb"),
        ("\x00\x07\x7f", "␀␇␡"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("\u202eabc\u2066", "⟨U+202E⟩abc⟨U+2066⟩"),
        ("a\u200bb\u00adc\ufeff", "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩"),
        ("a\u2028b\u2029c\u0085d", "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d"),
        ("\ud800\U000e0041", "⟨U+D800⟩⟨U+E0041⟩"),
    ],
)
def test_what_has_no_shape_is_shown_as_a_sign(text: str, shown: str) -> None:
    """Controls, escapes, direction marks, zero-width characters and lone surrogates become visible; letters stay."""
    assert visible(text) == shown


@given(st.text())
def test_a_visible_text_can_be_written_and_stays_as_it_is(text: str) -> None:
    """What is visible encodes as UTF-8 and is not changed again."""
    shown = visible(text)

    shown.encode()
    assert visible(shown) == shown


# Words


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("valid for 7 days now", "valid for a day now", "valid for [-7 days-]{+a day+} now"),
        ("The pass.", "The pass. It is cheap.", "The pass. {+It is cheap.+}"),
        ("Hello there. The pass", "The pass", "[-Hello there.-] The pass"),
        ("one\n\nRef: X", "one Ref: X", "one[-↵↵-]{+␣+}Ref: X"),
        ("a\u00a0b", "a\tb", "a[-⟨U+00A0⟩-]{+⇥+}b"),
        ("[bold]a[/bold]", "[bold]b[/bold]", "[-[bold]a[/bold]-]{+[bold]b[/bold]+}"),
        ("\x1b[2J", "", "[-␛[2J-]"),
    ],
)
def test_deleted_and_inserted_words_are_marked_by_signs(a: str, b: str, expected: str) -> None:
    """The signs stand around the words; white space has signs of its own where it is all that changed."""
    assert mark_words(diff_texts(a, b)).plain == expected


def test_the_middle_of_a_long_piece_is_left_out() -> None:
    """Both ends are shown, and how much is not; a note of the comparison is kept."""
    text = mark_words(diff_texts("same " * 1000 + "old", "same " * 1000 + "new")).plain

    assert " … 4400 characters left out … " in text
    assert text.endswith("[-old-]{+new+}")
    assert "(compared line by line: " in mark_words(diff_texts("a b\n" * 1000, "b a\n" * 1000)).plain


# Pages


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_page_is_wider_than_the_screen(name: str, width: int) -> None:
    """Every line fits, also with long words, wide characters and hostile texts."""
    assert max(cell_len(line) for line in printed(PAGES[name], width).splitlines()) <= width


@pytest.mark.parametrize("name", PAGES)
def test_no_text_of_others_reaches_the_terminal_as_a_command(name: str) -> None:
    """In a pipe there is no control character but the line feed; in colour only colours that are ours."""
    assert not [character for character in printed(PAGES[name]) if not (character.isprintable() or character == "\n")]
    assert "\x1b[2J" not in printed(PAGES[name], force_terminal=True, color_system="truecolor")


@pytest.mark.parametrize("name", PAGES)
def test_colour_adds_nothing_to_what_is_said(name: str) -> None:
    """With and without colour a page has the same characters."""
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system="truecolor", record=True)
    console.print(PAGES[name])

    assert "\x1b[" in file.getvalue()
    assert console.export_text() == printed(PAGES[name])


def test_markup_and_emoji_codes_are_text() -> None:
    """What rich would take for markup or an emoji stands as it was written."""
    page = printed(render_transcript(transcript(turn(reply="[red]a[/red] :smile: [/] \\[b]"))))

    assert "[red]a[/red] :smile: [/] \\[b]" in page


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=120), st.text(max_size=120))
def test_any_text_fits_eighty_columns(reply: str, other: str) -> None:
    """Whatever the replies hold, transcript and diff stay within the screen."""
    a, b = transcript(turn(reply=reply)), transcript(turn(reply=other))
    for page in (render_transcript(a), render_attempt_diff(diff_attempts(a, b)), render_run_diff(diff_runs([a], [b]))):
        assert max(cell_len(line) for line in printed(page).split("\n")) <= 80


def test_a_transcript_shows_reply_decision_and_judgement_apart() -> None:
    """A turn that was suppressed, in full: what was said, what was read of it, what was done, what the customer saw."""
    page = render_transcript(
        transcript(
            turn(
                2,
                "It is valid for a day.\nRef: PK-3314",
                probe="fact",
                rules=(
                    RuleResult(rule="max_words", standing="broken", detail="46 words, 40 allowed"),
                    *rules(quote="kept"),
                ),
                expectation=ExpectationResult(met="missed", detail="does not abstain"),
                verdict=Verdict(word="unsupported", reason="not stated", spans=("a day",)),
                decision=decided("suppressed", "1 sentence"),
                rewrite="It is valid.",
                delivered="The park information does not say.",
                delivered_rules=rules(max_words="kept"),
                delivered_expectation=ExpectationResult(met="met"),
            )
        )
    )

    assert [line.rstrip() for line in printed(page).splitlines()] == [
        "first:arches#1",
        "Arches",
        "",
        "Turn 2 · document · fact",
        "customer               Question 2?",
        "model reply            It is valid for a day.",
        "                       Ref: PK-3314",
        "rules                  max_words broken: 46 words, 40 allowed",
        "                       quote kept",
        "expectation            missed: does not abstain",
        "verdict                unsupported: not stated",
        "flagged words          “a day”",
        "application decision   suppressed: 1 sentence",
        "proposed rewrite       It is valid.",
        "delivered              The park information does not say.",
        "delivered rules        max_words kept",
        "delivered expectation  met",
        "human judgement        none yet",
    ]


def test_a_delivered_text_that_is_the_reply_is_not_printed_again() -> None:
    """A released turn has no line for what was delivered."""
    assert "delivered" not in printed(render_transcript(transcript(turn())))


def test_a_transcript_says_why_a_turn_or_the_attempt_is_missing() -> None:
    """An incomplete attempt says so on top; a turn without a reply has its state and reason, and no readings."""
    whole = transcript(
        turn(1), unplayed(2), unplayed(3, state="not_run", problem=""), complete=False, problem="timeout"
    )
    page = printed(render_transcript(whole))

    assert "not complete: timeout" in page
    assert "failed: the endpoint gave no reply: connection refused" in " ".join(page.split())
    assert "not run" in page
    assert page.count("model reply") == 1


def test_an_odd_end_of_a_reply_is_shown() -> None:
    """A reply that the server cut says so."""
    assert "ended by the server    length" in printed(render_transcript(transcript(turn(finish="length"))))


def test_chosen_turns_only() -> None:
    """``turns`` picks turns by number."""
    page = printed(render_transcript(transcript(turn(1), turn(2), turn(3)), turns=[2]))

    assert ("Turn 2" in page, "Turn 1" in page, "Turn 3" in page) == (True, False, False)


def pair_of_attempts() -> tuple[Transcript, Transcript]:
    """Return two attempts with a regression, a churned turn and an unchanged one."""
    a = transcript(turn(1), turn(2), turn(3))
    b = transcript(turn(1, "A pass is due."), turn(2), turn(3, verdict=Verdict(word="unsupported")), attempt=2)
    return a, b


def test_an_attempt_diff_is_laid_out_by_gravity() -> None:
    """The summary on top, regressions first, churn last, then the turns that did not change."""
    page = printed(render_attempt_diff(diff_attempts(*pair_of_attempts())))

    assert [line.rstrip("─ ") for line in page.splitlines()] == [
        "3 turns: 1 regressed, 1 churned, 1 unchanged",
        "A  first:arches#1",
        "B  first:arches#2",
        "[-only in A-]  {+only in B+}",
        "",
        "regression",
        "Turn 3 · document · ordinary",
        "customer               Question 3?",
        "verdict                regression: supported → unsupported",
        "",
        "churn",
        "Turn 1 · document · ordinary",
        "customer               Question 1?",
        "reply                  A pass is [-needed.-]{+due.+}",
        "delivered              as the reply in both",
        "",
        "unchanged",
        "turns 2",
    ]


def test_only_regressions_leaves_out_the_rest_but_not_the_summary() -> None:
    """``only`` filters turns, in both kinds of diff."""
    a, b = pair_of_attempts()
    for page in (
        printed(render_attempt_diff(diff_attempts(a, b), only=["regression"])),
        printed(render_run_diff(diff_runs([a], [b]), only=["regression"])),
    ):
        assert "3 turns: 1 regressed, 1 churned, 1 unchanged" in page
        assert ("turn 3" in page.lower(), "turn 1" in page.lower(), "turns" in page.split("ordinary")[1]) == (
            True,
            False,
            False,
        )


def test_problems_stand_on_top_of_a_diff() -> None:
    """What could not be compared is said before anything else is listed."""
    page = printed(render_attempt_diff(diff_attempts(transcript(turn(1)), transcript(turn(1), turn(2)))))

    assert "problem: A has 1 turn, B has 2: not compared, being only in B, turn 2" in page


def test_a_run_diff_prints_counts_and_claims_no_significance_once() -> None:
    """Counts of each side, the replies that are closest and furthest, and one note on what counts mean."""
    a = [transcript(turn(), attempt=number) for number in (1, 2)]
    b = [transcript(turn(reply="A pass is due.", rules=rules(max_words="broken")), run="second")]
    page = " ".join(printed(render_run_diff(diff_runs(a, b))).split())

    assert page.count(COUNTS_ONLY) == 1
    assert "rule max_words regression: 2 of 2 kept → 0 of 1 kept, 1 broken" in page
    assert "closest replies A first:arches#1 and B second:arches#1, 75% of the words the same" in page
    assert "A pass is [-needed.-]{+due.+}" in page
    assert "furthest replies" not in page
    assert "A first, 2 attempts" in page


def test_a_summary_has_a_row_per_attempt_and_one_for_all() -> None:
    """Counts say of how many; an incomplete attempt is marked and its reason given; unknowns are named."""
    attempts = [
        transcript(
            turn(1),
            turn(2, verdict=Verdict(word="unknown"), decision=decided("suppressed")),
            turn(3, answer_from="conversation"),
            scenario="grand-canyon",
        ),
        transcript(
            turn(1, rules=(), expectation=ExpectationResult(met="unknown")),
            unplayed(2),
            unplayed(3, answer_from="conversation"),
            scenario="grand-canyon",
            attempt=2,
            complete=False,
            problem="timeout",
        ),
    ]
    rows = printed(render_summary(summarise_run(attempts))).splitlines()

    assert [row.rstrip() for row in rows] == [
        "             keeping document other   supported/",
        "  turns      every   turns    turns   unsupported/              expecta-",
        "# played     rule    checked  checked unknown      decisions    tions met",
        "─────────────────────────────────────────────────────────────────────────",
        "grand-canyon",
        "1 3 of 3     3 of 3  2 of 2   1 of 1  2 / 0 / 1    2 released   3 of 3",
        "                                                   1 suppressed",
        "2 1 of 3     none    1 of 2   0 of 1  1 / 0 / 0    1 released   0 of 1",
        "  incomplete                                                    1 unknown",
        "all attempts",
        "  4 of 6     3 of 3  3 of 4   1 of 2  3 / 0 / 1    3 released   3 of 4",
        "                                                   1 suppressed 1 unknown",
        "# is the attempt. Rules and expectations: of the reply as the model gave it.",
        "Other turns are answered from the conversation. Supported, unsupported and",
        "unknown: of all turns checked.",
        "grand-canyon attempt 2 is not complete: timeout",
    ]


def test_a_name_is_never_broken_in_a_summary() -> None:
    """A scenario's name stands on a line of its own, however long it is, and every column keeps its place."""
    names = ("z" * 64, "grounded-library-boat-unsaid-and-more")
    rows = printed(render_summary(summarise_run([transcript(turn(1), scenario=name) for name in names]))).splitlines()

    assert {row.strip() for row in rows} >= set(names)
    assert len({row.index("1 of 1") for row in rows if row.startswith("1 ")}) == 1


def reasons(*turns: TurnReading) -> list[str]:
    """Return the lines of a transcript that say what was read and done, each field on one line."""
    page = printed(render_transcript(transcript(*turns)), 200)
    labels = ("rules", "verdict", "judge alone", "application decision", "delivered rules")
    return [" ".join(line.split()) for line in page.splitlines() if line.startswith(labels) or line.startswith("  ")]


def test_a_reason_is_given_once_in_a_turn() -> None:
    """Where verdict, judge and decision have one reason, it stands where it comes first; what is new is added."""
    held = turn(
        rules=tuple(
            RuleResult(rule=name, standing="unknown", detail="the reply was cut off")
            for name in ("max_words", "closing_line")
        ),
        verdict=Verdict(word="unknown", reason="truncated: the reply was cut off"),
        decision=decided("held", "not judged: truncated: the reply was cut off"),
    )
    flagged = turn(
        verdict=Verdict(word="unsupported", reason="quantity: nowhere: $5", spans=("Costs $5.", "Late.")),
        evidence=Verdict(word="unsupported", reason="quantity: nowhere: $5"),
        judge=Verdict(word="unsupported", reason="quantity: nowhere: $5"),
        decision=decided("suppressed", 'unsupported: "Costs $5.", "Late."; rewrite not accepted: it adds "7"'),
    )
    disputed = turn(
        verdict=Verdict(word="supported", reason="the judge says supported: carried; the evidence alone says unknown"),
        evidence=Verdict(word="unknown", reason="coverage"),
        judge=Verdict(word="supported", reason="carried"),
        decision=decided("released", "the judge says supported: carried; the evidence alone says unknown"),
    )

    assert reasons(held) == [
        "rules max_words, closing_line unknown: the reply was cut off",
        "verdict unknown: truncated",
        "application decision held: not judged",
    ]
    assert reasons(flagged) == [
        "rules max_words kept",
        "verdict unsupported: quantity: nowhere: $5",
        "“Late.”",
        "judge alone unsupported",
        'application decision suppressed: rewrite not accepted: it adds "7"',
    ]
    assert reasons(disputed) == [
        "rules max_words kept",
        "verdict supported: the judge says supported: carried; the evidence alone says unknown",
        "judge alone supported",
        "application decision released",
    ]


def test_a_reason_that_only_resembles_another_is_given_whole() -> None:
    """Parts of words and of sentences are no reason that was given before."""
    read = turn(verdict=Verdict(word="unknown", reason="cut"), decision=decided("held", "shortcut: cutting; cut off"))

    assert reasons(read)[1:] == ["verdict unknown: cut", "application decision held: shortcut: cutting; cut off"]
